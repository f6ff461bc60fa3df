//! Tests kernel forwarding in namespaces with nftables rules, whose counts and sixbench's must agree exactly. These tests need root, and fail
//! rather than skip without it.

use super::session::Session;
use crate::profile;
use crate::request::{SessionRequest, Site};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{AddressPart, Profile, SizeMix, Test, ValueOrder, ValueRange};
use sixbench_method::record::Watch;
use sixbench_method::terms::{Directions, FrameRate, FrameSize, Share};
use sixbench_method::trial::{SizeCounts, TrialResult, TrialSpec};
use sixbench_plan::{Links, standard_trial};
use sixbench_testbed::{Library, Recipe, Shell};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// A process has only one name for its testbed, so tests run one at a time.
pub(crate) static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A rate so low that all frames of a trial fit into any queue on the way, even on a slow machine.
const RATE: FrameRate = FrameRate(1_000);

/// The maximum number of trials until the tester keeps up.
const TRIES: u32 = 10;

pub(crate) fn recipe(name: &str, rules: &[&str]) -> Recipe {
    let mut recipe = Library::load::<&Path>(&[])
        .expect("recipes")
        .get(name)
        .expect("the recipe")
        .clone();
    let mut lines = vec!["nft add table netdev rig".to_owned()];
    lines.extend(rules.iter().map(|rule| format!("nft {rule}")));
    recipe.setup.extend(
        lines
            .into_iter()
            .map(|run| sixbench_testbed::recipe::RecipeCommand { run }),
    );
    recipe
}

/// Performs one trial of `test` through a recipe at `rate`. Also returns what `look` sees in the device's namespace afterwards.
fn through<T>(
    recipe: &Recipe,
    test: &Test,
    rate: FrameRate,
    look: impl Fn(&Shell) -> T,
) -> (TrialResult, Watch, T) {
    perform(
        recipe,
        test,
        &TrialSpec::constant(rate, 1_000_000_000),
        look,
    )
}

pub(crate) fn perform<T>(
    recipe: &Recipe,
    test: &Test,
    spec: &TrialSpec,
    look: impl Fn(&Shell) -> T,
) -> (TrialResult, Watch, T) {
    let (shell, links) = (Shell::new(), Links::default());
    let stop = Arc::new(AtomicBool::new(false));
    let site = Site {
        shell: shell.clone(),
        links: &links,
        stop,
        isolation: Isolation::Unknown,
        pcap: None,
    };
    let size = test.frame_sizes[0];
    let job = profile::job(recipe, test, size, 42, standard_trial(Profile::Smoke)).expect("a job");
    let mut session = Session::open(
        &site,
        &SessionRequest {
            filters: test.filters,
            ..SessionRequest::alone(recipe, test.largest_frame())
        },
        job,
    )
    .expect("a session (these tests need root)");
    let (result, watch) = session.measure(spec).expect("a trial");
    let seen = look(&session.dut_shell().expect("a namespace"));
    (result, watch, seen)
}

/// Performs one trial through a recipe. Returns the result, and the packet count of every nftables counter in the order of the rules.
fn trial(recipe: &Recipe, directions: Directions) -> (TrialResult, Vec<u64>) {
    let test = Test {
        directions,
        ..Test::new("rigged", &recipe.name)
    };
    // If the machine keeps the tester from receiving in time, the trial is invalid and says nothing about the rules.
    trial_of(recipe, &test, |result| result.faults.is_empty())
}

/// Does the same for a test all of whose frames come back. A device in a process loses some while another program has its core, so such a trial is made again.
fn lossless_trial(recipe: &Recipe, test: &Test) -> (TrialResult, Vec<u64>) {
    let is_lossless =
        |result: &TrialResult| result.directions.iter().all(|of| of.received == of.offered);
    trial_of(recipe, test, |result| {
        result.faults.is_empty() && is_lossless(result)
    })
}

/// Performs trials of a test until one is fit to judge the rules by, and returns the last one.
fn trial_of(
    recipe: &Recipe,
    test: &Test,
    is_fit: impl Fn(&TrialResult) -> bool,
) -> (TrialResult, Vec<u64>) {
    let once = |_| {
        through(recipe, test, RATE, |dut| {
            dut.line("nft list ruleset").expect("rules")
        })
    };
    let (result, _, listing) = (1..TRIES)
        .map(once)
        .find(|(result, ..)| is_fit(result))
        .unwrap_or_else(|| once(TRIES));
    (result, counters(&listing))
}

/// Returns the packet count of every nftables counter, in the order of the rules.
pub(crate) fn counters(listing: &str) -> Vec<u64> {
    let after = |text: &str| text.split_whitespace().next().and_then(|n| n.parse().ok());
    listing
        .split("counter packets ")
        .skip(1)
        .filter_map(after)
        .collect()
}

/// A chain for the frames received on the left: the forward direction.
const CHAIN: &str = "add chain netdev rig in { type filter hook ingress device left priority 0 ; }";

#[test]
fn frames_that_a_rule_drops_are_lost_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    let rule = "add rule netdev rig in udp sport 1024-65535 numgen inc mod 100 0 counter drop";
    let (result, counters) = trial(&recipe("linux-ipv4", &[CHAIN, rule]), Directions::Forward);
    let forward = &result.directions[0];
    assert_eq!(forward.offered, 1_000);
    assert_eq!(counters, [10]);
    assert_eq!(
        (forward.lost(), forward.received, forward.mistranslated),
        (counters[0], 990, 0)
    );
}

#[test]
fn every_frame_meets_the_filters_and_passes_the_last_of_them_alone() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in ["linux-ipv4", "tayga-siit"] {
        let plain = recipe(name, &[]);
        let mut filtering = plain.with_filters(25);
        let counted = ["left", "right"].map(|chain| sixbench_testbed::recipe::RecipeCommand {
            run: format!("nft insert rule inet sixbench_filters {chain} counter"),
        });
        filtering.after.extend(counted);
        let (result, counters) = lossless_trial(&filtering, &Test::new("rigged", name));
        for direction in &result.directions {
            assert_eq!(
                (direction.offered, direction.received),
                (1_000, 1_000),
                "{name}"
            );
        }
        assert_eq!(counters, [1_000, 1_000], "{name}");
        // The same filters for another pair of addresses permit no test frame.
        let mut other = plain.clone();
        for ends in [&mut other.foreground.left, &mut other.foreground.right] {
            std::mem::swap(&mut ends.source, &mut ends.destination);
        }
        let denying = Recipe {
            foreground: plain.foreground.clone(),
            ..other.with_filters(1)
        };
        let (result, _) = trial(&denying, Directions::Both);
        for direction in &result.directions {
            assert_eq!(
                (direction.offered, direction.lost()),
                (1_000, 1_000),
                "{name}"
            );
        }
    }
}

#[test]
fn broadcast_frames_reach_the_device_in_place_of_test_frames_and_are_no_loss() {
    let _guard = ONE_AT_A_TIME.lock();
    let rule = "add rule netdev rig in ether daddr ff:ff:ff:ff:ff:ff ether type 0x88b5 counter";
    for name in ["linux-ipv4", "tayga-siit"] {
        let recipe = recipe(name, &[CHAIN, rule]);
        let mut test = Test::new("rigged", &recipe.name);
        test.traffic.broadcast_every = Some(100);
        let (result, counters) = lossless_trial(&recipe, &test);
        assert_eq!(counters, [10], "{name}");
        for direction in &result.directions {
            assert_eq!(
                (direction.offered, direction.received),
                (990, 990),
                "{name}"
            );
            let of = direction.broadcasts.expect("broadcast frames");
            assert_eq!((of.sent, of.forwarded), (10, 0), "{name}");
        }
    }
}

/// A policer is a buffer of 20 frames that is emptied faster than frames come, so it takes single frames and loses the most of each burst.
#[test]
fn of_a_burst_that_a_policer_does_not_take_every_frame_is_counted_and_single_frames_pass() {
    let _guard = ONE_AT_A_TIME.lock();
    let rule = "add rule netdev rig in udp sport 1024-65535 limit rate over 4000/second burst 20 packets counter drop";
    let recipe = recipe("linux-ipv4", &[CHAIN, rule]);
    let mut test = Test {
        directions: Directions::Forward,
        ..Test::new("rigged", &recipe.name)
    };
    let (single, dropped) = lossless_trial(&recipe, &test);
    assert_eq!((single.not_received(), dropped[0]), (0, 0));
    assert_eq!(single.directions[0].bursts, None);
    test.traffic.burst = NonZeroU32::new(100);
    let (result, dropped) = trial_of(&recipe, &test, |result| result.faults.is_empty());
    let forward = &result.directions[0];
    assert_eq!((forward.offered, forward.lost()), (1_000, dropped[0]));
    assert!(dropped[0] > 300, "{dropped:?}");
    let bursts = forward.bursts.expect("bursts");
    assert!(bursts.frames == 100 && bursts.bursts > 0, "{bursts:?}");
}

#[test]
fn a_device_has_the_filters_that_a_test_asks_for() {
    let _guard = ONE_AT_A_TIME.lock();
    let recipe = recipe("linux-ipv6", &[]);
    for (filters, rules) in [(0, 0), (1, 2), (25, 50)] {
        let test = Test {
            filters,
            ..Test::new("rigged", &recipe.name)
        };
        let (_, _, listing) = through(&recipe, &test, RATE, |dut| {
            dut.line("nft list ruleset").expect("rules")
        });
        assert_eq!(listing.matches(" ip6 daddr ").count(), rules, "{listing}");
    }
}

#[test]
fn the_frames_of_a_ramp_are_counted_apart_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    // The device loses everything until it has seen so many octets, which are fewer than those of the ramp.
    let rule = "add rule netdev rig in udp sport 1024-65535 quota until 1000 bytes counter drop";
    let recipe = recipe("linux-ipv4", &[CHAIN, rule]);
    let mut test = Test {
        directions: Directions::Forward,
        ..Test::new("rigged", &recipe.name)
    };
    test.traffic.ramp_ns = Some(200_000_000);
    let (result, _, listing) = through(&recipe, &test, RATE, |dut| {
        dut.line("nft list ruleset").expect("rules")
    });
    let (forward, dropped) = (&result.directions[0], counters(&listing)[0]);
    let ramp = forward.ramp.expect("a ramp");
    assert!(dropped > 0 && ramp.offered > dropped, "{ramp:?}");
    assert_eq!(
        (ramp.lost(), ramp.received, ramp.wrong()),
        (dropped, ramp.offered - dropped, 0)
    );
    assert_eq!(
        (forward.offered, forward.received, forward.gaps.as_ref()),
        (1_000, 1_000, None)
    );
    test.traffic.ramp_ns = None;
    let (result, _, listing) = through(&recipe, &test, RATE, |dut| {
        dut.line("nft list ruleset").expect("rules")
    });
    let forward = &result.directions[0];
    assert_eq!(
        (forward.lost(), forward.ramp),
        (counters(&listing)[0], None)
    );
}

#[test]
fn frames_of_one_size_that_a_rule_drops_are_lost_there_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    // The IPv4 datagram in the frame that is 594 octets long as IPv6.
    let rule = "add rule netdev rig in udp sport 1024-65535 ip length 556 counter drop";
    let recipe = recipe("linux-ipv4", &[CHAIN, rule]);
    let mix: SizeMix = "imix".parse().expect("a mix");
    let mut test = Test {
        frame_sizes: vec![mix.nominal()],
        ..Test::new("rigged", &recipe.name)
    };
    test.traffic.size_mix = Some(mix);
    let (result, _, listing) = through(&recipe, &test, RATE, |dut| {
        dut.line("nft list ruleset").expect("rules")
    });
    let (dropped, forward) = (counters(&listing)[0], &result.directions[0]);
    let counts = |of: &SizeCounts| (of.frame_size.0, of.not_received);
    let lost: Vec<(u16, u64)> = forward.sizes.iter().map(counts).collect();
    assert_eq!(lost, [(84, 0), (594, dropped), (1518, 0)]);
    assert_eq!(
        (forward.sizes[1].offered, forward.lost()),
        (dropped, dropped)
    );
    assert!(
        (332..=336).contains(&dropped),
        "4 of each 12 of 1,000 frames: {dropped}"
    );
    assert_eq!(result.directions[1].not_received(), 0);
}

#[test]
fn frames_that_a_rule_doubles_are_duplicates_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    // Every hundredth frame is sent twice on the right. The copy passes through the rule again and is identified by its mark.
    let chain = "add chain netdev rig out { type filter hook egress device right priority 0 ; }";
    let rule = "add rule netdev rig out udp sport 1024-65535 meta mark 0 numgen inc mod 100 0 counter meta mark set 1 dup to right";
    let (result, counters) = trial(&recipe("linux-ipv4", &[chain, rule]), Directions::Forward);
    let forward = &result.directions[0];
    assert_eq!(counters, [10]);
    assert_eq!(
        (forward.duplicate, forward.received, forward.lost()),
        (counters[0], 1_000, 0)
    );
}

#[test]
fn frames_whose_port_a_rule_rewrites_are_mistranslated_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    let rule =
        "add rule netdev rig in udp sport 1024-65535 numgen inc mod 100 0 counter udp dport set 53";
    let (result, counters) = trial(&recipe("linux-ipv6", &[CHAIN, rule]), Directions::Both);
    let forward = &result.directions[0];
    assert_eq!(counters, [10]);
    assert_eq!(
        (forward.mistranslated, forward.received, forward.lost()),
        (counters[0], 990, 0)
    );
    assert!(
        forward.examples[0].contains("destination port: expected ")
            && forward.examples[0].ends_with("got 53")
    );
    assert_eq!(
        result.directions[1].received, 1_000,
        "the other direction is untouched"
    );
}

#[test]
fn tayga_translates_every_frame_right_and_native_frames_pass_beside_it() {
    let _guard = ONE_AT_A_TIME.lock();
    let mixed = Share {
        foreground: 9,
        of: 10,
    };
    let test = Test {
        foreground: mixed,
        frame_sizes: vec![FrameSize(512)],
        ..Test::new("mixed", "tayga-siit")
    };
    let (result, watch, ()) = through(&recipe("tayga-siit", &[]), &test, FrameRate(1000), |_| ());
    for direction in &result.directions {
        assert_eq!(
            (direction.mistranslated, direction.corrupt),
            (0, 0),
            "{:?}",
            direction.examples
        );
        // A stall of this machine may lose frames; a translation must not.
        assert!(direction.received > 500, "{direction:?}");
    }
    assert!(watch.dut_cores().next().is_some());
    assert!(
        watch.memory.iter().any(|octets| *octets > 100_000),
        "TAYGA is a process: {watch:?}"
    );
}

#[test]
fn many_addresses_and_networks_pass_a_router_without_a_neighbour_entry_each() {
    let _guard = ONE_AT_A_TIME.lock();
    let part = |first, last| {
        let range = ValueRange {
            first,
            last,
            order: ValueOrder::Pseudorandom,
        };
        Some(AddressPart {
            range,
            ipv4_offset: 2,
            ipv6_offset: 12,
        })
    };
    let mut addresses = Test::new("addresses", "linux-ipv4");
    (
        addresses.traffic.left_addresses,
        addresses.traffic.right_addresses,
    ) = (part(4, 65534), part(256, 1255));
    let mut networks = Test::new("networks", "linux-ipv6");
    (
        networks.traffic.left_networks,
        networks.traffic.right_networks,
    ) = (256, 256);
    for test in [addresses, networks] {
        let neighbours = |dut: &Shell| {
            dut.line("ip neigh show")
                .expect("neighbours")
                .lines()
                .count()
        };
        let (result, _, entries) =
            through(&recipe(&test.dut, &[]), &test, FrameRate(2000), neighbours);
        for direction in &result.directions {
            assert_eq!(direction.mistranslated, 0, "{:?}", direction.examples);
            // A stall of this machine may lose frames; a missing route would lose nearly all.
            assert!(direction.received > 1000, "{}: {direction:?}", test.name);
        }
        assert!(entries < 10, "{entries}");
    }
}

#[test]
fn half_of_131072_destinations_pass_a_router_by_each_of_two_next_hops() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut router = recipe(
        "linux-ipv6",
        &[
            "add table ip6 hops",
            "add chain ip6 hops out { type filter hook postrouting priority 0 ; }",
            "add rule ip6 hops out udp sport 1024-65535 rt ip6 nexthop 2001:2:0:8000::2 counter",
            "add rule ip6 hops out udp sport 1024-65535 rt ip6 nexthop 2001:2:0:8000::3 counter",
        ],
    );
    // Like the two Responders in the recipes of 6to4 relays.
    router
        .right
        .tester
        .push("2001:2:0:8000::3".parse().expect("an address"));
    let run = "ip -6 route add 2001:2:0:8000:0:1::/96 via 2001:2:0:8000::3".to_owned();
    router
        .setup
        .push(sixbench_testbed::recipe::RecipeCommand { run });
    let mut test = Test {
        directions: Directions::Forward,
        ..Test::new("destinations", "linux-ipv6")
    };
    let range = ValueRange {
        first: 0,
        last: 131_071,
        order: ValueOrder::Pseudorandom,
    };
    test.traffic.right_addresses = Some(AddressPart {
        range,
        ipv4_offset: 2,
        ipv6_offset: 12,
    });
    let (result, _, listing) = through(&router, &test, FrameRate(2000), |dut| {
        dut.line("nft list ruleset").expect("rules")
    });
    let forward = &result.directions[0];
    assert_eq!(
        (forward.offered, forward.mistranslated),
        (2000, 0),
        "{:?}",
        forward.examples
    );
    // A stall of this machine may lose frames; a next hop that does not answer would lose half of them.
    let [first, second] = counters(&listing)[..] else {
        panic!("{listing}")
    };
    assert!(
        first + second >= forward.received && first.min(second) > 600,
        "{first} {second} {forward:?}"
    );
    assert!(forward.received > 1500, "{forward:?}");
}

#[test]
fn frames_that_a_shaper_drops_are_lost() {
    let _guard = ONE_AT_A_TIME.lock();
    // Traffic is shaped to 1 Mbit/s behind a queue of 2 frames, so most of 5000 frames/s of 80 octets must be dropped on the right.
    let mut shaped = recipe("linux-ipv4", &[]);
    let run = "tc qdisc add dev right root tbf rate 1mbit burst 1600 limit 1600".to_owned();
    shaped
        .setup
        .push(sixbench_testbed::recipe::RecipeCommand { run });
    let test = Test {
        directions: Directions::Forward,
        ..Test::new("shaped", "linux-ipv4")
    };
    let counted = |dut: &Shell| dut.line("tc -s qdisc show dev right").expect("a queue");
    let (result, _, queue) = through(&shaped, &test, FrameRate(5000), counted);
    let dropped = queue
        .split("dropped ")
        .nth(1)
        .and_then(|rest| rest.split(&[',', ' '][..]).next()?.parse::<u64>().ok());
    let (dropped, lost) = (dropped.expect("a counter"), result.directions[0].lost());
    // The shaper also drops the kernel's own frames: one or two neighbour solicitations.
    assert!(
        (lost..lost + 10).contains(&dropped) && lost > 1000,
        "{lost}; {queue}"
    );
}
