//! Real kernel forwarding in namespaces, rigged with nftables: what the rules counted and what sixbench counted must agree exactly.
//! Needs root; without it these tests fail, they do not skip.

use super::session::{Session, Site};
use crate::config::{Links, standard_trial};
use crate::profile;
use sixbench_method::plan::{Measure, Ports, Profile, Test};
use sixbench_method::terms::{Directions, FrameRate, FrameSize, Share};
use sixbench_method::trial::{TrialResult, TrialSpec};
use sixbench_testbed::{Library, Recipe, Shell};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// The testbed of a process has one name: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Few frames, so that no machine is too slow for them.
const SPEC: TrialSpec = TrialSpec { rate: FrameRate(10_000), duration_ns: 1_000_000_000 };

fn recipe(name: &str, rules: &[&str]) -> Recipe {
    let mut recipe = Library::load::<&Path>(&[]).expect("recipes").get(name).expect("the recipe").clone();
    let mut lines = vec!["nft add table netdev rig".to_owned()];
    lines.extend(rules.iter().map(|rule| format!("nft {rule}")));
    recipe.setup.extend(lines.into_iter().map(|run| sixbench_testbed::recipe::Step { run }));
    recipe
}

fn test(directions: Directions) -> Test {
    Test {
        name: "rigged".to_owned(),
        title: "rigged".to_owned(),
        dut: String::new(),
        measure: Measure::Throughput,
        frame_sizes: vec![FrameSize(84)],
        directions,
        foreground: Share::ALL,
        ports: Ports::RFC_4814,
        repetitions: 1,
        expect: None,
    }
}

/// One trial through a recipe; returns the counts and the packets of every nftables counter, in the order of the rules.
fn trial(recipe: &Recipe, directions: Directions) -> (TrialResult, Vec<u64>) {
    let shell = Shell::new();
    let links = Links::default();
    let stop = Arc::new(AtomicBool::new(false));
    let site = Site { shell: &shell, links: &links, trial: standard_trial(Profile::Smoke), stop, pcap: None };
    let profile = profile::of(recipe, &test(directions), FrameSize(84), 42).expect("a profile");
    let mut session = Session::open(&site, recipe, profile, FrameSize(84)).expect("a session (these tests need root)");
    let (result, _) = session.measure(&SPEC).expect("a trial");
    let listing = session.dut_shell().expect("a namespace").line("nft list ruleset").expect("rules");
    let after = |text: &str| text.split_whitespace().next().and_then(|n| n.parse().ok());
    let counters = listing.split("counter packets ").skip(1).filter_map(after).collect();
    (result, counters)
}

/// A chain on the frames that come in on the left: the forward direction.
const CHAIN: &str = "add chain netdev rig in { type filter hook ingress device left priority 0 ; }";

#[test]
fn frames_that_a_rule_drops_are_lost_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    let rule = "add rule netdev rig in udp sport 1024-65535 numgen inc mod 1000 0 counter drop";
    let (result, counters) = trial(&recipe("linux-ipv4", &[CHAIN, rule]), Directions::Forward);
    let forward = &result.directions[0];
    assert_eq!(forward.offered, 10_000);
    assert_eq!(counters, [10]);
    assert_eq!((forward.lost(), forward.received, forward.mistranslated), (counters[0], 9_990, 0));
}

#[test]
fn frames_that_a_rule_doubles_are_duplicates_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    // Out on the right, every thousandth frame leaves twice; the copy passes the rule again, and is known by its mark.
    let chain = "add chain netdev rig out { type filter hook egress device right priority 0 ; }";
    let rule =
        "add rule netdev rig out udp sport 1024-65535 meta mark 0 numgen inc mod 1000 0 counter meta mark set 1 dup to right";
    let (result, counters) = trial(&recipe("linux-ipv4", &[chain, rule]), Directions::Forward);
    let forward = &result.directions[0];
    assert_eq!(counters, [10]);
    assert_eq!((forward.duplicate, forward.received, forward.lost()), (counters[0], 10_000, 0));
}

#[test]
fn frames_whose_port_a_rule_rewrites_are_mistranslated_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    let rule = "add rule netdev rig in udp sport 1024-65535 numgen inc mod 1000 0 counter udp dport set 53";
    let (result, counters) = trial(&recipe("linux-ipv6", &[CHAIN, rule]), Directions::Both);
    let forward = &result.directions[0];
    assert_eq!(counters, [10]);
    assert_eq!((forward.mistranslated, forward.received, forward.lost()), (counters[0], 9_990, 0));
    assert!(forward.examples[0].contains("destination port: expected ") && forward.examples[0].ends_with("got 53"));
    assert_eq!(result.directions[1].received, 10_000, "the other direction is untouched");
}

#[test]
fn tayga_translates_every_frame_right_and_native_frames_pass_beside_it() {
    let _guard = ONE_AT_A_TIME.lock();
    let recipe = recipe("tayga-siit", &[]);
    let mixed = Test { foreground: Share { foreground: 9, of: 10 }, ..test(Directions::Both) };
    let profile = profile::of(&recipe, &mixed, FrameSize(512), 42).expect("a profile");
    let (shell, links) = (Shell::new(), Links::default());
    let stop = Arc::new(AtomicBool::new(false));
    let site = Site { shell: &shell, links: &links, trial: standard_trial(Profile::Smoke), stop, pcap: None };
    let mut session = Session::open(&site, &recipe, profile, FrameSize(512)).expect("a session (these tests need root)");
    let spec = TrialSpec { rate: FrameRate(1000), duration_ns: 1_000_000_000 };
    let (result, watch) = session.measure(&spec).expect("a trial");
    for direction in &result.directions {
        assert_eq!((direction.mistranslated, direction.corrupt), (0, 0), "{:?}", direction.examples);
        // A stall of this machine may cost frames; a translation must not.
        assert!(direction.received > 500, "{direction:?}");
    }
    assert!(watch.cores.iter().any(|core| core.role == "dut"));
}
