//! The terms of the field: definition, clause, how sixbench measures it, and unit.

use sixbench_method::measures::Term;

/// All terms that are neither a measure nor a technology.
pub(super) const TERMS: [Term; 50] = [
    Term {
        name: "trust",
        definition: "How far the figures of a run may be trusted: high, fair or low, with the reasons in numbers.",
        clause: "this project",
        here: "Each rule looks at one thing, and the worst of them is the level of the run. The rules are below.",
        unit: "none",
    },
    Term {
        name: "imix",
        definition: "Internet mix: frames of several sizes in one trial, in fixed shares.",
        clause: "RFC 6985",
        here: "`frame-sizes = \"imix\"` in a test: 7 frames of 84 octets (for 64) to 4 of 594 to 1 of 1518. A genome, `imix:aaabg`, has its sequence of sizes; \
sizes with weights, `84:7,1518:1`, come in an order that follows from the seed. Every frame is verified, its length too, and the frames of each size that were \
not received are counted by their numbers.",
        unit: "none",
    },
    Term {
        name: "reference",
        definition: "A test of a device that does not change, in both of two runs that are compared: it shows whether the machine changed between them.",
        clause: "this project",
        here: "The plan's key `reference`, or `compare --reference TEST`. Its ratio of B to A, with its interval, is what the machine may have changed by; a \
               difference stands only beyond it. Without a reference, 5 % is assumed. Runs that took turns need none.",
        unit: "none",
    },
    Term {
        name: "recipe",
        definition: "A file that says how a device under test is set up, and what traffic it understands.",
        clause: "this project",
        here: "Its commands are run by the user who starts the run, mostly root: it is code, where a plan is data. One that a plan brings \
               along is run only after a yes, or with --trust-recipes; reports list the files with their SHA-256.",
        unit: "none",
    },
    Term {
        name: "intended-load",
        definition: "The rate that the tester is told to offer.",
        clause: "RFC 2285 section 3.5.1",
        here: "Frame i is due at start + i / rate, counted from the start; a late frame does not move the next.",
        unit: "frames per second, per direction",
    },
    Term {
        name: "offered-load",
        definition: "The rate at which frames actually left the tester.",
        clause: "RFC 2285 section 3.5.2",
        here: "Counted when the kernel has taken the frame. A trial in which sending took longer than 1.00001 times the nominal duration is invalid.",
        unit: "frames",
    },
    Term {
        name: "loss-ratio",
        definition: "Frames that were offered but not received correctly and in time, divided by the frames offered.",
        clause: "RFC 1242 section 3.6, RFC 2544 section 26.3",
        here: "By sequence number, one bit a frame: a duplicate never makes up for a lost frame. The larger ratio of the two \
               directions is compared with the goal.",
        unit: "0..1 inside, per cent in reports",
    },
    Term {
        name: "verdict",
        definition: "What a trial says about a load: passed, lost or invalid.",
        clause: "siitperf's tolerance of 1.00001 for the duration of sending; the rest is sixbench's own",
        here: "Invalid is a trial in which the tester fell short: it sent too slowly, or it stalled, overran its receive ring \
               or was asked again for its hardware address, and that can explain what is missing. Invalid trials are repeated \
               and never count against the device.",
        unit: "-",
    },
    Term {
        name: "mistranslated",
        definition: "A frame that came back with a field that is not the correct translation of what was sent.",
        clause: "RFC 7915, RFC 7757, RFC 6052; RFC 2544 section 10",
        here: "Every field from the hardware addresses to the last octet is compared with what the profile, the seed and the \
               sequence number require (docs/VERIFICATION.md); what the technology's RFC leaves to the device is free. Frames are \
               counted by the first field that is wrong, and the first few are described in words.",
        unit: "frames",
    },
    Term {
        name: "refusal",
        definition: "What a device itself says of frames that it does not deliver: an ICMP error that quotes them, or a counter of its kernel.",
        clause: "RFC 792, RFC 4443 section 3",
        here: "ICMP errors are counted by type, code, MTU or pointer, and source, in the direction of the frames that they answer. Counters (rules of \
               netfilter, IP, interfaces) are compared before and after a trial in which a tenth of the frames is missing.",
        unit: "frames",
    },
    Term {
        name: "foreground",
        definition: "Traffic that is translated or encapsulated; background traffic is native IPv6 that the device only forwards.",
        clause: "RFC 8219 section 5.3",
        here: "m of every n frames, evenly interleaved (Bresenham's rule).",
        unit: "per cent of all frames",
    },
    Term {
        name: "frame-size",
        definition: "Octets of the Ethernet frame, including the FCS.",
        clause: "RFC 2544 section 9.1, RFC 8219 section 5.1.1",
        here: "The size names the IPv6 frame; the IPv4 frame of the same test is 20 octets shorter. 84 replaces 64.",
        unit: "octets",
    },
    Term {
        name: "delay",
        definition: "The time from handing a frame to the port until the receiver sees it.",
        clause: "RFC 1242 section 3.8",
        here: "A time stamp in the frame, one clock reading for each batch of at most 64. The delays in throughput trials are \
               not latency by RFC 8219 section 7.2.",
        unit: "milliseconds",
    },
    Term {
        name: "mlrsearch",
        definition: "Multiple Loss Ratio search: one search for several loss goals, short trials first.",
        clause: "RFC 9971 section 4",
        here: "Loads are classified from all their trials. With the goal of RFC 2544 one trial of full length decides; `duration-sum` \
               and `exceed-ratio` of a plan ask for more trials and accept lossy ones among them.",
        unit: "-",
    },
    Term {
        name: "binary-search",
        definition: "Halves the interval between a passing and a losing load.",
        clause: "customary; RFC 2544 section 26.1 names no algorithm",
        here: "Both ends of the result were measured. Repetitions start cold with the profile rfc, otherwise dithered: \
               at a pseudorandom load around the median of the earlier ones.",
        unit: "-",
    },
    Term {
        name: "siit",
        definition: "Stateless IP/ICMP translation.",
        clause: "RFC 7915, with explicit mappings by RFC 7757 or a prefix by RFC 6052",
        here: "The recipe states the mappings; they configure the device's test traffic and every frame is verified against them.",
        unit: "-",
    },
    Term {
        name: "overload",
        definition: "How much worse a benchmark becomes with n network flows than with one.",
        clause: "RFC 8219 section 10",
        here: "`flows = [1, 25, 50, 75, 100]`: frames take turns among this number of combinations of ports and addresses, all \
               from the start or, with `flow-step`, one starting after the other. (Xn - X1) / X1 where lower is better, (X1 - \
               Xn) / X1 where higher is.",
        unit: "per cent",
    },
    Term {
        name: "frame-timeout",
        definition: "A frame that comes back later than this does not count as received.",
        clause: "Lencse and Shima, Performance analysis of SIIT implementations, section 5; RFC 2544 section 23 waits 2 s after the last frame",
        here: "Judged frame by frame. The delay of every correct frame is recorded whatever the timeout is, so one trial \
               yields the loss at every timeout.",
        unit: "milliseconds",
    },
    Term {
        name: "repetitions",
        definition: "How often a measurement is made from the start.",
        clause: "RFC 8219 sections 7.2, 7.3 and 12 (at least 20); RFC 9004 section 6.3",
        here: "A fixed number, or adaptive: until both ends of the 95 % order-statistic interval of the median lie within the \
               wanted share of it; the interval is wider where repetitions seem to follow each other. Repetitions cycle through all points of a device. A small n may miss a rare mode of the \
               device, so n is printed.",
        unit: "-",
    },
    Term {
        name: "summary",
        definition: "Median, 1st and 99th percentile of the repetitions.",
        clause: "RFC 8219 section 12, RFC 2330 section 11.3",
        here: "The percentile is the smallest value x of the sample with F(x) >= p; the median of an even sample the mean of the two \
               central values. With fewer than 100 repetitions P1 and P99 are minimum and maximum, and the report says so.",
        unit: "that of the values",
    },
    Term {
        name: "bottleneck",
        definition: "The resource that was exhausted when the device began to lose frames.",
        clause: "RFC 5180 section 4 welcomes watching the device out of band",
        here: "Processor time per core, memory and drop counters at 10 Hz, in the losing trials at the lowest loads and the \
               passing ones at the highest. The sentence is given with its numbers; it is a judgement, not a proof.",
        unit: "-",
    },
    Term {
        name: "core-scaling",
        definition: "How a benchmark grows with the cores the device may use.",
        clause: "no RFC; Lencse and Nagy, Towards the scalability comparison of 464XLAT and MAP-T, section 3 (Int J Commun Syst, 2022)",
        here: "`cores = [1, 2, 4, 8]`: the same search with each. Reported are median, minimum and maximum, the proportion of each median to the \
               one before, speed-up, efficiency, two laws fitted to the medians, and the idle time of every core at the found rate. In a \
               chain each device has so many.",
        unit: "-",
    },
    Term {
        name: "speed-up",
        definition: "The rate with n cores divided by that with one core. Divided by n, it is the efficiency.",
        clause: "customary; not defined in an RFC",
        here: "Calculated from the medians. If one core was not measured, there is no speed-up, and the efficiency is relative \
               to the fewest cores. If something other than the device ended a search, it is a bound and printed with its sign.",
        unit: "-; efficiency in per cent",
    },
    Term {
        name: "amdahls-law",
        definition: "X(n) = λ n / (1 + σ (n - 1)): the share σ of the work that only one core at a time can do limits any number of cores to 1 / σ times the rate of one.",
        clause: "Amdahl, AFIPS, 1967",
        here: "Least squares of the relative residuals of the medians, from three numbers of cores on; σ is never below 0. The \
               interval is that of 1,000 fits to resampled repetitions, 2.5th to 97.5th percentile, and assumes that the law \
               holds; the distance of the medians from it is printed as well. Steps that were ended by something other than \
               the device are left out.",
        unit: "λ in the unit of the rate, σ as a share of 1",
    },
    Term {
        name: "universal-scalability-law",
        definition: "X(n) = λ n / (1 + σ (n - 1) + κ n (n - 1)): besides the contention σ, keeping each pair of cores in step \
                     costs κ, so the rate falls again beyond sqrt((1 - σ) / κ) cores.",
        clause: "Gunther, Guerrilla Capacity Planning, 2007",
        here: "As Amdahl's law, from four numbers of cores on. With κ = 0 it is Amdahl's law. A peak beyond the cores that \
               were measured is a guess, and the report says so.",
        unit: "λ in the unit of the rate, σ and κ as shares of 1",
    },
    Term {
        name: "cpu-idle-time",
        definition: "The share of the time in which a core of the device had nothing to do.",
        clause: "Lencse and Nagy, section 3.4; RFC 5180 section 4 welcomes watching the device out of band",
        here: "Sampled at 10 Hz. For a device on this host, from /proc/stat, for each core. For a virtual machine, from \
               outside: the time of its cores that its processes did not use, for all cores together. A machine that waits for \
               a core of its host also looks idle.",
        unit: "per cent",
    },
    Term {
        name: "dut",
        definition: "The device under test: the device that gets frames or queries from the tester, and whose response is measured.",
        clause: "RFC 2285 section 3.1.1",
        here: "One device or several in a row, described by a recipe. Nothing that belongs to the tester counts as a part of it.",
        unit: "-",
    },
    Term {
        name: "at-least",
        definition: "≥: a lower bound. The true value is the one shown or higher.",
        clause: "sixbench's own",
        here: "Printed where something else than the device ended the search: the tester fell short, other programs disturbed it, or the \
               plan's maximum was reached. Two values of which one has this sign can be compared in one direction only.",
        unit: "that of the value",
    },
    Term {
        name: "at-most",
        definition: "≤: an upper bound. The true value is the one shown or lower.",
        clause: "sixbench's own",
        here: "Printed for a delay if the tester saw frames too long after they arrived, and for a value relative to one that is only a \
               lower bound.",
        unit: "that of the value",
    },
    Term {
        name: "about",
        definition: "≈: a value that is bounded on neither side. The true value may be lower or higher than the one shown.",
        clause: "sixbench's own",
        here: "Printed for a summary of some values that are lower bounds and others that are upper bounds.",
        unit: "that of the value",
    },
    Term {
        name: "single-dut",
        definition: "The tester on both sides of one device. For double translation and encapsulation it then speaks the technology itself on one \
                     side.",
        clause: "RFC 8219 section 4.1",
        here: "With every recipe, the tester is at the left and the right link of the device and verifies what comes out on each of them.",
        unit: "-",
    },
    Term {
        name: "dual-dut",
        definition: "Two devices in a chain between the sides of the tester, such as CLAT and PLAT: the first translates or encapsulates, the \
                     second undoes it.",
        clause: "RFC 8219 section 4.2, which calls for single-DUT tests as well, because a chain hides which of the two limits it",
        here: "The idle time of both at the found rate shows it: the bottleneck is the device whose busiest core is less idle \
               by at least 10 points. If the difference is smaller, or both share a core of the host, it is undecided.",
        unit: "-",
    },
    Term {
        name: "initiator",
        definition: "The side that opens connections: the client's.",
        clause: "RFC 9693",
        here: "The side that the recipe's [state] names, or left if it names none. It sends alone in phase 1, and in phase 2 \
               on connections of phase 1 only.",
        unit: "-",
    },
    Term {
        name: "responder",
        definition: "The side that answers: the server's. It learns from what arrives how the device translated the sources.",
        clause: "RFC 9693",
        here: "Every frame of phase 1 is verified in every field except the translated source, which must be in the recipe's \
               pool and is stored. In phase 2 the Responder takes four-tuples from its state table, ends swapped, in \
               `responder-order`.",
        unit: "-",
    },
    Term {
        name: "phase-1",
        definition: "The part of a stateful test in which every frame opens a connection.",
        clause: "RFC 9693",
        here: "N frames at rate R, each with a four-tuple of its own: a keyed permutation numbers all combinations of the \
               ranges, so no table of them is needed, however many there are. If a frame is lost, there is no phase 2, and the \
               trial is invalid.",
        unit: "-",
    },
    Term {
        name: "phase-2",
        definition: "The part of a stateful test in which no frame opens a connection: the classic measures on the connections of phase 1.",
        clause: "RFC 9693",
        here: "Begins D after phase 1 began, by default N / R + 2 T. Every frame is verified in every field, because it is \
               known how the device translated each connection. If the device counts other connections afterwards, the trial is \
               invalid.",
        unit: "-",
    },
    Term {
        name: "four-tuple",
        definition: "Source and destination address, source and destination port: what distinguishes the connections of one protocol.",
        clause: "RFC 9693, RFC 4814 section 4.5",
        here: "On the Initiator's link made from `ports` and addresses that vary; on the Responder's as the device translated it.",
        unit: "-",
    },
    Term {
        name: "state-table",
        definition: "The tester's memory of the four-tuples that arrived at the Responder in phase 1.",
        clause: "RFC 9693",
        here: "A ring of M entries, eight octets each: the last M that arrived. Not the connection tracking table, which is the device's.",
        unit: "four-tuples",
    },
    Term {
        name: "connection-tracking-table",
        definition: "The device's memory of its connections.",
        clause: "RFC 9693",
        here: "Emptied by the recipe's `flush` before every trial, counted by `count` before and after each phase; its size by \
               `limit`, how long it keeps idle connections by `timeout`. Anything that the recipe does not provide is not \
               checked.",
        unit: "connections",
    },
    Term {
        name: "validation",
        definition: "After phase 1: a check that the connections that were opened really exist.",
        clause: "RFC 9693",
        here: "The Responder sends one frame on every connection of its state table, at half the rate at which they were \
               opened; all must reach the Initiator, each on its own connection.",
        unit: "-",
    },
    Term {
        name: "endpoint-independent-mapping",
        definition: "A behaviour of NATs: an internal address and port are always mapped to the same external ones, whatever \
                     the destination is. Otherwise the mapping is address-dependent, or address and port-dependent.",
        clause: "RFC 4787 section 4.1",
        here: "Derived from the state table, for sources that opened connections to several destinations; if there are many, \
               from a sample of about 200,000 connections. This is an observation, not a benchmark: with pseudorandom ports of \
               a wide range few sources have several destinations.",
        unit: "sources",
    },
    Term {
        name: "port-preservation",
        definition: "A behaviour of NATs: the source port is kept if possible.",
        clause: "RFC 4787 section 4.2.1",
        here: "Counted over the state table. A device that preserves ports must find another port if two clients use the same \
               one, which affects the establishment rate.",
        unit: "connections",
    },
    Term {
        name: "certified-rate",
        definition: "r: the highest rate of queries at which this tester may test a DNS server.",
        clause: "RFC 8219 section 9.2.1",
        here: "The self-test's result. A trial above it is invalid, so a faster server has \"at least\" that rate, limited by the tester.",
        unit: "queries per second",
    },
    Term {
        name: "self-test",
        definition: "The tester's client connected directly to its authoritative server, without the device, to make sure that the tester is not the limit.",
        clause: "RFC 8219 section 9.2.1",
        here: "Before the first trial of a server: at 2 (r + d) queries/s with d = 0.1 r every answer must come within a quarter of the timeout. The \
               highest r that passes is searched for and reported.",
        unit: "queries per second",
    },
    Term {
        name: "cached",
        definition: "The share of the queries that are for names that the server has resolved before.",
        clause: "RFC 8219 section 9.2: 0 % is required; 20, 40, 60, 80 and 100 % may be tested",
        here: "This share of the queries is for names that were answered correctly before the trial and are queried again \
               while they are in the cache; the others are for names that were never queried before.",
        unit: "per cent",
    },
    Term {
        name: "with-aaaa",
        definition: "The share of the names that have an AAAA record of their own: nothing is synthesised for them.",
        clause: "RFC 8219 section 9.2: 0 % is required; 20, 40, 60, 80 and 100 % may be tested",
        here: "Which names these are is calculated from the name, so client and authority agree without a zone.",
        unit: "per cent",
    },
    Term {
        name: "hit-rate",
        definition: "The share of the answers that a DNS server gave from its cache.",
        clause: "RFC 8219 section 9.2 calls for cached names, but does not say how this is verified; Lencse, dns64perf++ extension for caching",
        here: "Seen at the authority: an answer whose name did not reach it during the trial came from the cache. A trial in \
               which the hit rate is not the intended one is invalid.",
        unit: "per cent",
    },
    Term {
        name: "status",
        definition: "The outcome of a planned point: a result, a lower bound, no result and why, or not run and why.",
        clause: "RFC 2544 section 26 asks for results; to name points without one is a rule of sixbench",
        here: "Derived from the plan, the trials on record and the facts of the run; every output names every planned point.",
        unit: "none",
    },
    Term {
        name: "disturbed",
        definition: "Other work used the device's processors in the trials that decided, or the loss was a single event on the machine.",
        clause: "no RFC: sixbench claims nothing about a device that its evidence does not support",
        here: "Detected by processor time that was stolen by the host or taken by other processes, and by loss that falls \
               within one moment of a trial while the device's cores had idle time. The rate is then a lower bound, and no \
               statement is made about what limits the device.",
        unit: "none",
    },
    Term {
        name: "run",
        definition: "One execution of a plan: every point with its repetitions, on one machine.",
        clause: "RFC 2544 section 23 describes a trial; a run is all of them",
        here: "Its date is that of its trials, from the start of the first to the end of the last; a resumed run has several parts.",
        unit: "none",
    },
];
