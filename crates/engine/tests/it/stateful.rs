//! Stateful trials with a NAT in memory, a right one and rigged ones: every connection is accounted for, and every mix-up is detected.

use crate::common::nat::{Nat, POOL};
use crate::common::*;
use sixbench_engine::frames::profile::{
    AddressVariation, Encapsulation, Path, Paths, TrafficProfile,
};
use sixbench_engine::frames::stateful::{StatefulGateway, TranslationPool};
use sixbench_io::loopback::{QueueChoice, pair_with_queues};
use sixbench_method::plan::{AddressPart, Ports, Stateful, ValueOrder, ValueRange};
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::trial::{
    Connections, Fault, PhaseOne, TrialKind, TrialResult, TrialSpec, Verdict,
};

const CONNECTIONS: u64 = 600;

fn range<V>(first: V, last: V) -> ValueRange<V> {
    ValueRange {
        first,
        last,
        order: ValueOrder::Pseudorandom,
    }
}

/// Returns the profile of 600 connections: 30 source ports of one client, and 5 ports on each of 4 servers.
pub(crate) fn nat44() -> TrafficProfile {
    let path = |sent: [&str; 2], expected: [&str; 2]| Paths {
        foreground: Path {
            sent: Encapsulation::plain(ends(sent[0], sent[1])),
            expected: Encapsulation::plain(ends(expected[0], expected[1])),
            hops: 0,
        },
        background: None,
    };
    let ports = Ports {
        source: range(5000, 5029),
        destination: range(80, 84),
    };
    TrafficProfile {
        forward: path(["10.0.0.2", "198.19.0.2"], [POOL, "198.19.0.2"]),
        reverse: path(["198.19.0.2", POOL], ["198.19.0.2", "10.0.0.2"]),
        forward_ports: ports,
        reverse_ports: ports,
        right_variation: AddressVariation::Part(AddressPart {
            range: range(2, 5),
            ipv4_offset: 2,
            ipv6_offset: 14,
        }),
        gateway: Some(gateway(Direction::Forward)),
        ..ipv4()
    }
}

fn gateway(opens: Direction) -> StatefulGateway {
    let settings = Stateful::new(CONNECTIONS, FrameRate(5_000), 200_000_000);
    StatefulGateway {
        opens,
        settings,
        pool: TranslationPool {
            parts: vec![(1, 1)],
            ports: (1024, 65535),
        },
    }
}

fn establish(profile: TrafficProfile, nat: Nat) -> TrialResult {
    let settings = profile.gateway.as_ref().expect("stateful").settings;
    on_time(trial_of(
        profile,
        nat.device(),
        settings.establishing(CONNECTIONS, FrameRate(5_000)),
    ))
}

/// Returns a trial with phase 1, then 1000 frames each way.
pub(crate) fn use_them(profile: TrafficProfile, nat: Nat) -> TrialResult {
    let phase_one = Some(PhaseOne {
        connections: CONNECTIONS,
        rate: FrameRate(5_000),
    });
    let spec = TrialSpec {
        phase_one,
        ..TrialSpec::constant(FrameRate(5_000), 200_000_000)
    };
    trial_of(profile, nat.device(), spec)
}

/// Returns the same counts for a tester that kept its schedule, which this machine may not have allowed.
fn on_time(result: TrialResult) -> TrialResult {
    TrialResult {
        faults: vec![],
        ..result
    }
}

fn connections(result: &TrialResult) -> &Connections {
    result.phase_one_result().expect("phase 1")
}

#[test]
fn every_connection_is_opened_once_and_validated() {
    let result = establish(nat44(), Nat::default());
    assert_eq!(
        result.verdict(LossRatio::ZERO),
        Verdict::Passed,
        "{result:?}"
    );
    let ways: Vec<_> = result
        .directions
        .iter()
        .map(|d| (d.direction, d.offered, d.received, d.foreign))
        .collect();
    assert_eq!(
        ways,
        [
            (Direction::Forward, 600, 600, 0),
            (Direction::Reverse, 600, 600, 0)
        ]
    );
    let connections = connections(&result);
    assert_eq!(
        (
            connections.offered,
            connections.established,
            connections.mapping.seen
        ),
        (600, 600, 600)
    );
    assert_eq!(
        (
            connections.mapping.ports_preserved,
            connections.mapping.endpoint_independent
        ),
        (600, 30)
    );
}

#[test]
fn connections_are_opened_and_used_by_several_queues() {
    let settings = nat44().gateway.expect("stateful").settings;
    let phase_one = Some(PhaseOne {
        connections: CONNECTIONS,
        rate: FrameRate(5_000),
    });
    let use_all = TrialSpec {
        phase_one,
        ..TrialSpec::constant(FrameRate(5_000), 200_000_000)
    };
    for queues in [2, 4] {
        for spec in [
            settings.establishing(CONNECTIONS, FrameRate(5_000)),
            use_all,
        ] {
            let mut arrived = 0;
            let in_turn: QueueChoice = Box::new(move |_| {
                arrived += 1;
                arrived
            });
            let ports = pair_with_queues(Nat::default().device(), queues, in_turn);
            let result = trial_between(ports, nat44(), spec);
            assert_eq!(result.not_received(), 0, "{queues} queues: {result:?}");
            let connections = connections(&result);
            assert_eq!(
                (connections.established, connections.mapping.seen),
                (600, 600),
                "{queues} queues"
            );
        }
    }
}

#[test]
fn a_nat_counts_as_many_connections_as_the_tester() {
    let nat = Nat::default();
    let opened = nat.opened.clone();
    establish(nat44(), nat);
    assert_eq!(
        opened.load(std::sync::atomic::Ordering::Relaxed),
        CONNECTIONS
    );
}

#[test]
fn phase_2_opens_no_connection_and_every_frame_of_it_is_verified() {
    let nat = Nat::default();
    let opened = nat.opened.clone();
    let result = use_them(nat44(), nat);
    assert_eq!(result.not_received(), 0, "{result:?}");
    assert_eq!(
        result
            .directions
            .iter()
            .map(|d| d.offered)
            .collect::<Vec<_>>(),
        [1000, 1000]
    );
    assert_eq!(
        opened.load(std::sync::atomic::Ordering::Relaxed),
        CONNECTIONS
    );
    assert!(
        connections(&result).delay_ns >= 520_000_000,
        "N / R + 2 T: {}",
        connections(&result).delay_ns
    );
}

#[test]
fn background_frames_keep_out_of_phase_1_and_open_nothing_in_phase_2() {
    let share = sixbench_method::terms::Share {
        foreground: 4,
        of: 5,
    };
    let native = |profile: TrafficProfile| {
        let six = ipv6_with_background(share);
        let (forward, reverse) = (six.forward.background, six.reverse.background);
        let with = |paths: Paths, background| Paths {
            background,
            ..paths
        };
        TrafficProfile {
            forward: with(profile.forward, forward),
            reverse: with(profile.reverse, reverse),
            share,
            ..profile
        }
    };
    let nat = Nat::default();
    let opened = nat.opened.clone();
    let result = use_them(native(nat44()), nat);
    assert_eq!(result.not_received(), 0, "{result:?}");
    assert_eq!(
        (
            connections(&result).established,
            connections(&result).mapping.seen
        ),
        (CONNECTIONS, CONNECTIONS)
    );
    assert_eq!(
        opened.load(std::sync::atomic::Ordering::Relaxed),
        CONNECTIONS
    );
    assert_eq!(
        on_time(establish(native(nat44()), Nat::default())).verdict(LossRatio::ZERO),
        Verdict::Passed
    );
}

#[test]
fn ports_that_change_are_learned_and_told() {
    let result = establish(
        nat44(),
        Nat {
            port_step: 777,
            ..Nat::default()
        },
    );
    assert_eq!(
        result.verdict(LossRatio::ZERO),
        Verdict::Passed,
        "{result:?}"
    );
    assert_eq!(connections(&result).mapping.ports_preserved, 0);
    assert_eq!(
        use_them(
            nat44(),
            Nat {
                port_step: 777,
                ..Nat::default()
            }
        )
        .not_received(),
        0
    );
}

#[test]
fn a_lost_connection_is_named() {
    let result = establish(
        nat44(),
        Nat {
            loses: Some(17),
            ..Nat::default()
        },
    );
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Lost);
    assert_eq!(
        result.directions.len(),
        1,
        "nothing to validate after a lost frame"
    );
    let examples = &connections(&result).examples;
    assert!(
        examples[0].starts_with("connection 17, 10.0.0.2:50")
            && examples[0].ends_with("its frame did not arrive"),
        "{examples:?}"
    );
}

#[test]
fn a_connection_without_a_way_back_is_named_by_its_validation() {
    let result = establish(
        nat44(),
        Nat {
            forgets: Some(17),
            ..Nat::default()
        },
    );
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Lost);
    assert_eq!(
        result
            .directions
            .iter()
            .map(|d| d.received)
            .collect::<Vec<_>>(),
        [600, 599]
    );
    let examples = &connections(&result).examples;
    assert!(
        examples[0].starts_with("connection 17, 10.0.0.2:50")
            && examples[0].ends_with("did not come back"),
        "{examples:?}"
    );
}

#[test]
fn a_phase_1_that_lost_a_frame_has_no_phase_2() {
    let result = use_them(
        nat44(),
        Nat {
            loses: Some(17),
            ..Nat::default()
        },
    );
    assert!(result.directions.is_empty());
    // Faults of the tester itself may follow, as this machine may be busy.
    assert_eq!(
        result.faults.first(),
        Some(&Fault::PhaseOneIncomplete {
            lost: 1,
            of: 600,
            rate: 5_000
        })
    );
    assert_eq!(result.verdict(LossRatio(0.5)), Verdict::Invalid);
}

#[test]
fn two_connections_with_one_four_tuple_are_caught_in_phase_1() {
    let result = establish(
        nat44(),
        Nat {
            collides: true,
            ..Nat::default()
        },
    );
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Lost);
    let connections = connections(&result);
    assert_eq!(
        (connections.mapping.collisions, connections.established),
        (1, 599)
    );
    assert!(
        connections.examples[0].ends_with("have the same four-tuple behind the DUT"),
        "{:?}",
        connections.examples
    );
}

#[test]
fn replies_to_the_wrong_connection_are_caught_in_phase_2() {
    let result = use_them(
        nat44(),
        Nat {
            swaps: true,
            ..Nat::default()
        },
    );
    let [forward, reverse] = &result.directions[..] else {
        panic!("two directions")
    };
    assert_eq!(forward.received, 1000);
    assert!(
        reverse.mistranslated > 0 && reverse.received + reverse.mistranslated == 1000,
        "{reverse:?}"
    );
    assert!(
        reverse.examples[0].contains("port: expected 50"),
        "{:?}",
        reverse.examples
    );
}

#[test]
fn a_mapping_that_changes_after_phase_1_is_caught() {
    let result = use_them(
        nat44(),
        Nat {
            remaps_after: Some(CONNECTIONS),
            ..Nat::default()
        },
    );
    let forward = &result.directions[0];
    assert_eq!((forward.received, forward.mistranslated), (0, 1000));
    assert!(
        forward.examples[0].contains("source port: expected"),
        "{:?}",
        forward.examples
    );
}

#[test]
fn a_source_outside_the_pool_is_wrong() {
    let mut profile = nat44();
    profile.gateway.as_mut().expect("stateful").pool.ports = (1024, 4_000);
    let result = establish(profile, Nat::default());
    assert_eq!(
        (
            result.directions[0].received,
            result.directions[0].mistranslated
        ),
        (0, 600)
    );
}

#[test]
fn a_ring_keeps_the_last_connections_for_the_responder_alone() {
    let mut profile = nat44();
    profile
        .gateway
        .as_mut()
        .expect("stateful")
        .settings
        .state_table = 50;
    let nat = Nat::default();
    let opened = nat.opened.clone();
    assert_eq!(establish(profile.clone(), nat).directions[1].offered, 50);
    assert_eq!(
        opened.load(std::sync::atomic::Ordering::Relaxed),
        CONNECTIONS
    );
    assert_eq!(use_them(profile, Nat::default()).not_received(), 0);
}

#[test]
fn the_initiator_may_be_on_the_right() {
    let forward = nat44();
    let mirrored = TrafficProfile {
        forward: forward.reverse,
        reverse: forward.forward,
        left_variation: forward.right_variation,
        right_variation: forward.left_variation,
        gateway: Some(gateway(Direction::Reverse)),
        ..forward
    };
    let result = establish(
        mirrored.clone(),
        Nat {
            initiator_is_right: true,
            ..Nat::default()
        },
    );
    let ways: Vec<_> = result
        .directions
        .iter()
        .map(|d| (d.direction, d.received))
        .collect();
    assert_eq!(ways, [(Direction::Reverse, 600), (Direction::Forward, 600)]);
    assert_eq!(
        use_them(
            mirrored,
            Nat {
                initiator_is_right: true,
                ..Nat::default()
            }
        )
        .not_received(),
        0
    );
}

#[test]
fn a_responder_that_sees_nothing_is_an_error_that_says_where_to_look() {
    let spec = gateway(Direction::Forward)
        .settings
        .establishing(CONNECTIONS, FrameRate(5_000));
    let error = try_trial(nat44(), each(|_, _| vec![]), spec)
        .expect_err("nothing arrived")
        .to_string();
    assert!(
        error.starts_with("the Responder saw none of the 600 frames of phase 1; does the device"),
        "{error}"
    );
}

#[test]
fn more_connections_than_combinations_are_an_error_with_both_numbers() {
    let spec = gateway(Direction::Forward)
        .settings
        .establishing(601, FrameRate(5_000));
    let error = try_trial(nat44(), each(|_, frame| vec![frame]), spec)
        .expect_err("too many")
        .to_string();
    assert!(
        error.starts_with("601 connections need as many combinations")
            && error.contains("the test's ranges have 600"),
        "{error}"
    );
}

#[test]
fn a_tear_down_ends_with_phase_1() {
    let spec = gateway(Direction::Forward).settings.tearing_down();
    assert_eq!(
        spec.kind,
        TrialKind::TearDown {
            connections: CONNECTIONS
        }
    );
    let result = trial_of(nat44(), Nat::default().device(), spec);
    assert_eq!(
        (result.directions.len(), connections(&result).established),
        (1, CONNECTIONS)
    );
}
