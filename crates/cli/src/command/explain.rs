//! `sixbench explain`: definition, clause, how it is measured here, unit.

use crate::config::nearest;
use crate::exit::{Exit, Failed};

/// A term of the field.
struct Term {
    name: &'static str,
    definition: &'static str,
    clause: &'static str,
    here: &'static str,
    unit: &'static str,
}

const TERMS: [Term; 12] = [
    Term {
        name: "throughput",
        definition: "The highest rate at which the DUT forwards every frame it is offered.",
        clause: "RFC 2544 section 26.1, RFC 8219 section 7.1",
        here: "A search over loads; at each a trial in which every frame is numbered, verified and accounted for. It passes only if every \
               offered frame came back right, in every loaded direction, and the tester kept its schedule.",
        unit: "frames per second, per direction",
    },
    Term {
        name: "intended-load",
        definition: "The rate the tester is told to offer.",
        clause: "RFC 2285 section 3.5.1",
        here: "Frame i is due at start + i / rate, counted from the start; a late frame does not move the next.",
        unit: "frames per second, per direction",
    },
    Term {
        name: "offered-load",
        definition: "What really left the tester.",
        clause: "RFC 2285 section 3.5.2",
        here: "Counted when the kernel has taken the frame. A trial whose sending took longer than 1.00001 of nominal is invalid.",
        unit: "frames",
    },
    Term {
        name: "loss-ratio",
        definition: "Frames that were offered and not received right and in time, over frames offered.",
        clause: "RFC 1242 section 3.6, RFC 2544 section 26.3",
        here: "By sequence number, one bit a frame: a duplicate never makes up for a lost frame. The larger ratio of the two directions \
               is held against the goal.",
        unit: "0..1 inside, per cent in reports",
    },
    Term {
        name: "verdict",
        definition: "What a trial says of a load: passed, lost, or invalid.",
        clause: "siitperf's tolerance of 1.00001 for the duration of sending; the rest is sixbench's own",
        here: "Invalid is a trial in which the tester fell short: it sent too slowly, or it stalled, overran its receive ring or was asked \
               anew for its hardware address, and that can explain what is missing. Invalid trials are repeated, never held against the DUT.",
        unit: "-",
    },
    Term {
        name: "mistranslated",
        definition: "A frame that came back with a field that is not the right translation of what was sent.",
        clause: "RFC 7915, RFC 7757, RFC 6052; RFC 2544 section 10",
        here: "Addresses, ports, hop limit, traffic class, flow label, lengths, fragmentation and both checksums are compared with what the \
               profile, the seed and the sequence number demand. The first few are kept in words.",
        unit: "frames",
    },
    Term {
        name: "foreground",
        definition: "Traffic that is translated or encapsulated; background traffic is native IPv6 that the DUT only forwards.",
        clause: "RFC 8219 section 5.3",
        here: "m of every n frames, evenly interleaved (Bresenham's rule).",
        unit: "per cent of all frames",
    },
    Term {
        name: "frame-size",
        definition: "Octets of the Ethernet frame, FCS included.",
        clause: "RFC 2544 section 9.1, RFC 8219 section 5.1.1",
        here: "The size names the IPv6 frame; the IPv4 frame of the same test is 20 octets shorter. 84 takes the place of 64.",
        unit: "octets",
    },
    Term {
        name: "delay",
        definition: "The time from handing a frame to the port until the receiver sees it.",
        clause: "RFC 1242 section 3.8",
        here: "A time stamp in the frame, one clock reading for each batch of at most 64. What throughput trials show is no latency by \
               RFC 8219 section 7.2.",
        unit: "milliseconds",
    },
    Term {
        name: "mlrsearch",
        definition: "Multiple Loss Ratio search: one search for several loss goals, short trials first.",
        clause: "draft-ietf-bmwg-mlrsearch",
        here: "Loads are classified from all their trials. With the goal of RFC 2544 one trial of full length decides.",
        unit: "-",
    },
    Term {
        name: "binary-search",
        definition: "Halves the interval between a passing and a losing load.",
        clause: "customary; RFC 2544 section 26.1 names no algorithm",
        here: "Both ends of the result were tried. Later repetitions start near the median of the earlier ones.",
        unit: "-",
    },
    Term {
        name: "siit",
        definition: "Stateless IP/ICMP translation.",
        clause: "RFC 7915, with explicit mappings by RFC 7757 or a prefix by RFC 6052",
        here: "The recipe states the mappings; they configure the DUT's test traffic and every frame is verified against them.",
        unit: "-",
    },
];

/// Explains a term, or lists all.
pub(crate) fn explain(term: Option<&str>) -> Result<Exit, Failed> {
    let Some(wanted) = term else {
        TERMS.iter().for_each(|term| println!("{:<15} {}", term.name, term.definition));
        return Ok(Exit::Done);
    };
    let Some(term) = TERMS.iter().find(|term| term.name == wanted) else {
        let names: Vec<&str> = TERMS.iter().map(|term| term.name).collect();
        let hint = nearest(wanted, &names).map_or_else(|| names.join(", "), |near| format!("did you mean {near}?"));
        return Err(Failed::usage(format!("no explanation of `{wanted}`; {hint}")));
    };
    println!("{}\n\n{}\n", term.name, term.definition);
    println!("clause  {}\nhere    {}\nunit    {}", term.clause, term.here, term.unit);
    Ok(Exit::Done)
}
