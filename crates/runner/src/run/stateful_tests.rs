//! Tests real stateful gateways in namespaces: their counts and sixbench's must agree exactly, and every connection that a rule prevents must be
//! detected. These tests need root, and fail rather than skip without it.

use super::rigged_tests::{ONE_AT_A_TIME, perform, recipe};
use super::session::Session;
use crate::profile;
use crate::request::{SessionRequest, Site};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Measure, Plan, Profile, Stateful, Tcp, Test};
use sixbench_method::record::{DropPlace, Watch};
use sixbench_method::terms::{Direction, FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{Connections, PhaseOne, TrialResult, TrialSpec, Verdict};
use sixbench_plan::{Links, standard_search, standard_trial};
use sixbench_testbed::{Recipe, Shell};
use std::sync::Arc;

const CONNECTIONS: u64 = 1_000;

/// A rate so low that every machine keeps up. Stalls are tolerated.
const RATE: FrameRate = FrameRate(1_000);

fn stateful() -> Stateful {
    Stateful {
        validation: 1.0,
        ..Stateful::new(CONNECTIONS, RATE, 1_000_000_000)
    }
}

fn test(dut: &str) -> Test {
    Test {
        stateful: Some(stateful()),
        frame_sizes: vec![FrameSize(84)],
        ..Test::new("t", dut)
    }
}

/// With other work on the machine, a gateway may lose frames in some trials, for instance in TAYGA's queue of 500. An error of gateway or tester
/// occurs in all.
const ATTEMPTS: usize = 20;

/// Repeats trials of the spec, each with a new device, until one is as expected; returns the last.
fn repeated(
    recipe: &Recipe,
    test: &Test,
    spec: &TrialSpec,
    is_expected: impl Fn(&TrialResult) -> bool,
) -> (TrialResult, Watch) {
    let once = || {
        let (result, watch, ()) = perform(recipe, test, spec, |_| ());
        (result, watch)
    };
    (1..ATTEMPTS)
        .map(|_| once())
        .find(|(result, _)| is_expected(result))
        .unwrap_or_else(once)
}

/// Opens the connections until this number of them is lost on the way.
fn establish(recipe: &Recipe, lost: u64) -> (TrialResult, Watch) {
    let spec = stateful().establishing(CONNECTIONS, RATE);
    repeated(recipe, &test(&recipe.name), &spec, |result| {
        connections(result).lost() == lost
    })
}

fn connections(result: &TrialResult) -> &Connections {
    result.phase_one_result().expect("phase 1")
}

/// Returns the verdict without faults: this tester may have missed its schedule, and this machine may have disturbed the DUT.
fn verdict(result: TrialResult) -> Verdict {
    TrialResult {
        faults: vec![],
        ..result
    }
    .verdict(LossRatio::ZERO)
}

/// All gateways that can run here, each with a flag that is true if it keeps source ports.
const GATEWAYS: [(&str, bool); 7] = [
    ("iptables-nat44", true),
    ("nft-nat44", true),
    ("nft-nat44-pool", true),
    ("nft-nat44-random", false),
    ("nft-nat66", true),
    ("tayga-nat46", true),
    ("tayga-nat64", true),
];

#[test]
fn every_gateway_opens_as_many_connections_as_it_counts_and_answers_on_each() {
    let _guard = ONE_AT_A_TIME.lock();
    for (name, keeps_ports) in GATEWAYS {
        let (result, watch) = establish(&recipe(name, &[]), 0);
        let connections = connections(&result);
        assert_eq!(connections.lost(), 0, "{name}: {connections:?}");
        assert_eq!(
            connections.opened_by_the_dut(),
            Some(CONNECTIONS),
            "{name}: {connections:?}"
        );
        assert!(
            result.directions.iter().all(|d| d.mistranslated == 0),
            "{name}: {:?}",
            connections.examples
        );
        assert_eq!(connections.mapping.collisions, 0, "{name}");
        assert_eq!(
            connections.mapping.ports_preserved * 10 > connections.mapping.seen * 9,
            keeps_ports,
            "{name}: {connections:?}"
        );
        assert!(
            watch
                .connections
                .iter()
                .max()
                .is_some_and(|most| *most >= CONNECTIONS * 9 / 10),
            "{name}: {watch:?}"
        );
        assert_eq!(result.directions[1].direction, Direction::Reverse);
        assert!(
            result.directions[1].received > CONNECTIONS * 9 / 10,
            "{name}: {connections:?}"
        );
    }
}

#[test]
fn phase_2_opens_no_connection_and_its_frames_come_back_right() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in ["nft-nat44", "tayga-nat64"] {
        let phase_one = Some(PhaseOne {
            connections: CONNECTIONS,
            rate: RATE,
        });
        let spec = TrialSpec {
            phase_one,
            ..TrialSpec::constant(RATE, 1_000_000_000)
        };
        // On a busy machine, frames of either phase are lost before they reach the device.
        let has_come = |result: &TrialResult| {
            let both =
                result.directions.len() == 2 && result.directions.iter().all(|d| d.received > 900);
            both && connections(result).counted == Some(CONNECTIONS)
        };
        let (result, _) = repeated(&recipe(name, &[]), &test(name), &spec, has_come);
        let connections = connections(&result);
        assert_eq!(
            (connections.counted, connections.counted_after),
            (Some(CONNECTIONS), Some(CONNECTIONS)),
            "{name}"
        );
        assert!(
            has_come(&result) && result.directions.iter().all(|d| d.mistranslated == 0),
            "{name}: {connections:?}"
        );
    }
}

/// A chain for the frames received on the left.
const CHAIN: &str = "add chain netdev rig in { type filter hook ingress device left priority 0 ; }";

#[test]
fn connections_whose_frame_a_rule_drops_are_lost_to_the_last_one_and_named() {
    let _guard = ONE_AT_A_TIME.lock();
    let rule = "add rule netdev rig in udp sport 1024-65535 numgen inc mod 100 0 counter drop";
    let (result, _) = establish(&recipe("nft-nat44", &[CHAIN, rule]), 10);
    let connections = connections(&result);
    assert_eq!(
        (connections.lost(), connections.opened_by_the_dut()),
        (10, Some(990))
    );
    assert_eq!(
        result.directions.len(),
        1,
        "nothing is validated that was not opened"
    );
    assert_eq!(verdict(result.clone()), Verdict::Lost);
    let is_named =
        |example: &String| example.starts_with("connection ") && example.contains(", 10.0.0.2:");
    assert_eq!(
        connections
            .examples
            .iter()
            .filter(|example| is_named(example))
            .count(),
        5,
        "{:?}",
        connections.examples
    );
}

#[test]
fn connections_without_a_way_back_are_found_by_their_validation() {
    let _guard = ONE_AT_A_TIME.lock();
    let chain = "add chain netdev rig back { type filter hook ingress device right priority 0 ; }";
    let rule = "add rule netdev rig back udp dport 1024-65535 numgen inc mod 100 0 counter drop";
    let spec = stateful().establishing(CONNECTIONS, RATE);
    let lost_back = |result: &TrialResult| result.directions.get(1).map(|back| back.not_received());
    let recipe = recipe("nft-nat44", &[chain, rule]);
    let (result, _) = repeated(&recipe, &test(&recipe.name), &spec, |result| {
        lost_back(result) == Some(10)
    });
    assert_eq!(lost_back(&result), Some(10));
    assert!(
        connections(&result).examples[0].ends_with("did not come back"),
        "{:?}",
        connections(&result).examples
    );
}

#[test]
fn a_full_table_that_makes_room_is_found_by_the_validation_and_its_reason_kept() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut small = recipe("nft-nat44", &[]);
    small.state.as_mut().expect("state").table_size = Some(500);
    let (result, watch) = establish(&small, 0);
    // Every frame arrives, but new connections replace old ones.
    let counted = connections(&result).opened_by_the_dut().expect("a count");
    assert!(counted <= 500, "{counted}");
    assert_eq!(verdict(result), Verdict::Lost);
    let early = watch
        .drops
        .iter()
        .find(|drops| drops.place == DropPlace::Conntrack && drops.way == "early_drop");
    assert!(
        early.is_some_and(|drops| drops.samples.iter().sum::<u64>() >= 400),
        "{:?}",
        watch.drops
    );
    let limit =
        std::fs::read_to_string("/proc/sys/net/netfilter/nf_conntrack_max").expect("a limit");
    assert_ne!(limit.trim(), "500", "set back when the device is gone");
}

/// Returns the error of a session that checks the table before the first trial.
fn refusal(recipe: &Recipe, test: &Test) -> String {
    let (links, stop) = (Links::default(), Arc::default());
    let site = Site {
        shell: Shell::new(),
        links: &links,
        stop,
        isolation: Isolation::Unknown,
        pcap: None,
    };
    let plan = Plan {
        name: "p".to_owned(),
        profile: Profile::Custom,
        seed: 1,
        trial: standard_trial(Profile::Draft),
        search: standard_search(Profile::Draft),
        patience_ns: 0,
        link_rate: None,
        interleave: false,
        exports: Vec::new(),
        reference: None,
        tests: vec![test.clone()],
    };
    let job = profile::job(recipe, test, FrameSize(84), 1, plan.trial).expect("a job");
    let session = Session::open(&site, &SessionRequest::alone(recipe, FrameSize(84)), job)
        .expect("a session");
    session
        .check_state(test, &plan)
        .expect_err("refused")
        .to_string()
}

#[test]
fn a_table_too_small_and_a_timeout_too_short_are_told_before_the_first_trial() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut small = recipe("nft-nat44", &[]);
    small.state.as_mut().expect("state").table_size = Some(500);
    let error = refusal(&small, &test("nft-nat44"));
    assert!(
        error.contains("holds 500 connections, but the test opens 1000; raise `table-size`"),
        "{error}"
    );
    let mut short = recipe("nft-nat44", &[]);
    short
        .files
        .iter_mut()
        .for_each(|file| file.content = file.content.replace("86400", "5"));
    let error = refusal(&short, &test("nft-nat44"));
    assert!(
        error.contains("keeps an idle connection for 5 s") && error.contains("raise its timeout"),
        "{error}"
    );
}

#[test]
fn a_gateway_that_is_restarted_before_every_trial_is_ready_for_it() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut restarted = recipe("tayga-nat64", &[]);
    restarted.state.as_mut().expect("state").restart = true;
    let (result, _) = establish(&restarted, 0);
    assert_eq!(
        connections(&result).opened_by_the_dut(),
        Some(CONNECTIONS),
        "{:?}",
        connections(&result)
    );
}

#[test]
fn a_tear_down_leaves_no_connection_and_is_timed() {
    let _guard = ONE_AT_A_TIME.lock();
    let count = |dut: &Shell| dut.line("conntrack -C").expect("a count").trim().to_owned();
    let once = |_| {
        perform(
            &recipe("nft-nat44", &[]),
            &test("nft-nat44"),
            &stateful().tearing_down(),
            count,
        )
    };
    let opened = (0..ATTEMPTS)
        .map(once)
        .find(|(result, ..)| connections(result).lost() == 0);
    let (result, _, left) = opened.expect("a trial that opened all connections");
    assert_eq!(left, "0");
    assert!(connections(&result).torn_down_ns.is_some_and(|ns| ns > 0));
}

#[test]
fn tcp_connections_pass_every_gateway_and_bring_their_object() {
    let _guard = ONE_AT_A_TIME.lock();
    for (name, _) in GATEWAYS {
        // The time limit is long, so that the result does not depend on other work on this machine.
        let tcp = Tcp {
            object_octets: 64,
            time_limit_ns: 10_000_000_000,
            close: Default::default(),
            server_ports: (80, 80),
        };
        let test = Test {
            measure: Measure::TcpEstablishmentRate(tcp),
            ..Test::new("t", name)
        };
        let kind = sixbench_method::trial::TrialKind::TcpRate;
        let spec = TrialSpec {
            kind,
            ..TrialSpec::constant(FrameRate(200), 1_000_000_000)
        };
        let (result, _, ()) = perform(&recipe(name, &[]), &test, &spec, |_| ());
        let tcp = result.tcp().expect("TCP");
        assert_eq!(
            (tcp.connections.attempted, tcp.connections.completed),
            (200, 200),
            "{name}: {tcp:?}"
        );
        let server = tcp.server.as_ref().expect("our own server");
        assert_eq!(
            (server.outside_pool, server.source_addresses > 0),
            (0, true),
            "{name}: {server:?}"
        );
    }
}
