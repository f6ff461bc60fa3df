//! MAP-T and the CLAT of 464XLAT: the tester with reference devices in memory, right ones and rigged ones.

use crate::common::*;
use crate::reference::datagram::Datagram;
use crate::reference::map::{Domain, MapTBr, MapTCe};
use crate::reference::{Mistake, Rig, all_received, every_hundredth, profiles, ten_caught};
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::trial::{PhaseOne, TrialResult, TrialSpec, Verdict};
use std::net::Ipv6Addr;

const OFFSETS: [u32; 2] = [0, 6];

/// Tests a BR that makes every hundredth frame of a direction wrong, for both PSID offsets.
fn rigged_br(direction: Direction, rig: fn(Domain) -> Rig) {
    for offset in OFFSETS {
        let domain = Domain::of_the_papers(offset);
        let (device, log) = crate::reference::rigged(MapTBr(vec![domain]), direction, rig(domain));
        ten_caught(&trial(profiles::map_t(domain), device), &log, direction);
    }
}

#[test]
fn a_br_of_map_t_returns_every_frame_of_many_ces() {
    for offset in OFFSETS {
        let domain = Domain::of_the_papers(offset);
        let (device, log) = crate::reference::device(MapTBr(vec![domain]));
        all_received(&trial(profiles::map_t(domain), device), &log);
        let ces = log.lock().expect("a log").sources.len();
        assert!(profiles::is_drawn_well(ces), "{ces} CEs");
    }
}

#[test]
fn a_br_with_two_rules_returns_every_frame_of_the_ces_of_both() {
    let rules = vec![Domain::of_the_papers(0), Domain::second(6)];
    let (device, log) = crate::reference::device(MapTBr(rules));
    all_received(&trial(profiles::map_t_of_two_rules(), device), &log);
    let log = log.lock().expect("a log");
    let prefix = |source: &std::net::IpAddr| {
        if let std::net::IpAddr::V6(ce) = source {
            ce.segments()[2]
        } else {
            0
        }
    };
    let of = |word| {
        log.sources
            .iter()
            .filter(|source| prefix(source) == word)
            .count()
    };
    assert_eq!((of(0xce), of(0xcf), log.sources.len()), (250, 750, 1000));
}

#[test]
fn a_br_that_forgot_its_second_rule_loses_every_frame_of_it_and_no_other() {
    let (device, log) = crate::reference::device(MapTBr(vec![Domain::of_the_papers(0)]));
    let result = trial(profiles::map_t_of_two_rules(), device);
    let received: u64 = result.directions.iter().map(|d| d.received).sum();
    assert_eq!(received + log.lock().expect("a log").dropped, 2 * FRAMES);
    assert_eq!(received, 2 * 250);
}

/// Returns the CE with the same IPv4 address and the lowest bit of the PSID inverted.
fn neighbour(domain: Domain, ce: Ipv6Addr) -> Ipv6Addr {
    let [_, _, _, prefix, _, _, low, psid] = ce.segments();
    assert_eq!(prefix % 32, psid);
    domain.ce((low % 256) as u8, psid ^ 1)
}

#[test]
fn a_br_that_returns_a_frame_to_the_ce_of_another_psid_is_caught() {
    rigged_br(Direction::Reverse, |domain| {
        every_hundredth(move |right| {
            let ce = right.destination6().expect("a CE");
            let other = neighbour(domain, ce);
            let wrong = Datagram {
                destination: other.into(),
                ..right.clone()
            }
            .sealed();
            Mistake::new(&wrong, "destination address", ce, other)
        })
    });
}

#[test]
fn a_br_that_takes_a_port_outside_the_set_for_the_right_ce_is_caught() {
    rigged_br(Direction::Reverse, |domain| {
        every_hundredth(move |right| {
            let port = right.destination_port();
            // The next higher port, or a lower one, that belongs to another subscriber.
            let other = (port..=u16::MAX)
                .find(|p| domain.psid(*p) != domain.psid(port) && domain.psid(*p).is_some());
            let other = other.unwrap_or(1024);
            Mistake::new(
                &right.clone().with_destination_port(other).sealed(),
                "destination port",
                port,
                other,
            )
        })
    });
}

#[test]
fn a_br_that_forgets_the_interface_identifier_is_caught() {
    rigged_br(Direction::Reverse, |_| {
        every_hundredth(|right| {
            let ce = right.destination6().expect("a CE");
            let [a, b, c, d, ..] = ce.segments();
            let bare = Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0);
            let wrong = Datagram {
                destination: bare.into(),
                ..right.clone()
            }
            .sealed();
            Mistake::new(&wrong, "destination address", ce, bare)
        })
    });
}

#[test]
fn a_br_that_writes_the_psid_into_the_wrong_end_of_the_identifier_is_caught() {
    rigged_br(Direction::Reverse, |_| {
        every_hundredth(|right| {
            let ce = right.destination6().expect("a CE");
            let [a, b, c, d, zero, high, low, psid] = ce.segments();
            let shifted = Ipv6Addr::new(a, b, c, d, high, low, psid, zero);
            let wrong = Datagram {
                destination: shifted.into(),
                ..right.clone()
            }
            .sealed();
            Mistake::new(&wrong, "destination address", ce, shifted)
        })
    });
}

#[test]
fn a_br_that_gives_ces_the_address_of_others_is_caught() {
    rigged_br(Direction::Forward, |_| {
        every_hundredth(|right| {
            let address = right.source4().expect("an address");
            let [a, b, c, last] = address.octets();
            let other = std::net::Ipv4Addr::new(a, b, c, last ^ 1);
            let wrong = Datagram {
                source: other.into(),
                ..right.clone()
            }
            .sealed();
            Mistake::new(&wrong, "source address", address, other)
        })
    });
}

#[test]
fn a_br_that_does_not_lower_the_hop_limit_is_caught() {
    rigged_br(Direction::Forward, |_| {
        every_hundredth(|right| {
            Mistake::new(
                &Datagram {
                    hops: 64,
                    ..right.clone()
                },
                "hop limit",
                63,
                64,
            )
        })
    });
}

#[test]
fn a_br_of_another_psid_offset_drops_what_the_tester_sends() {
    // With offset 0 the PSID is the first bits of the port; with offset 6 it begins after six bits: the device refuses nearly all sources.
    let (device, log) = crate::reference::device(MapTBr(vec![Domain::of_the_papers(6)]));
    let result = trial(profiles::map_t(Domain::of_the_papers(0)), device);
    let dropped = log.lock().expect("a log").dropped;
    let not_received: u64 = result
        .directions
        .iter()
        .map(|d| d.offered - d.received)
        .sum();
    // A frame that arrives on the right has a CE with either offset, but usually a different one.
    let mistranslated = result.directions[1].mistranslated;
    assert!(
        dropped > 900 && mistranslated > 900,
        "{dropped} dropped, {mistranslated} wrong"
    );
    assert_eq!(not_received, dropped + mistranslated);
}

#[test]
fn a_clat_translates_every_frame_of_many_clients() {
    let (device, log) = crate::reference::device(crate::reference::clat::Clat);
    all_received(&trial(profiles::clat(), device), &log);
    let clients = log.lock().expect("a log").sources.len();
    assert!(profiles::is_drawn_well(clients), "{clients} clients");
}

#[test]
fn a_clat_that_swaps_two_clients_is_caught() {
    let swap = every_hundredth(|right| {
        let client = right.destination4().expect("a client");
        let [a, b, c, d] = client.octets();
        let other = std::net::Ipv4Addr::new(a, b, c, d ^ 1);
        let wrong = Datagram {
            destination: other.into(),
            ..right.clone()
        }
        .sealed();
        Mistake::new(&wrong, "destination address", client, other)
    });
    let (device, log) =
        crate::reference::rigged(crate::reference::clat::Clat, Direction::Reverse, swap);
    ten_caught(&trial(profiles::clat(), device), &log, Direction::Reverse);
}

/// Returns a trial with phase 1, then 1000 frames each way.
fn use_them(profile: TrafficProfile, device: LoopbackDevice) -> TrialResult {
    let phase_one = Some(PhaseOne {
        connections: profiles::CONNECTIONS,
        rate: FrameRate(5_000),
    });
    trial_of(
        profile,
        device,
        TrialSpec {
            phase_one,
            ..TrialSpec::constant(FrameRate(5_000), 200_000_000)
        },
    )
}

fn establish(profile: TrafficProfile, device: LoopbackDevice) -> TrialResult {
    let settings = profile.gateway.as_ref().expect("stateful").settings;
    let result = trial_of(
        profile,
        device,
        settings.establishing(profiles::CONNECTIONS, FrameRate(5_000)),
    );
    // These are the counts of a tester that kept its schedule, which this machine may not have allowed.
    TrialResult {
        faults: vec![],
        ..result
    }
}

fn ce() -> MapTCe {
    MapTCe::new(Domain::of_the_papers(0))
}

#[test]
fn a_ce_of_map_t_opens_every_connection_out_of_its_port_set() {
    let (device, log) = crate::reference::device(ce());
    let result = establish(profiles::map_t_ce(), device);
    assert_eq!(
        result.verdict(LossRatio::ZERO),
        Verdict::Passed,
        "{result:?}"
    );
    let connections = result.phase_one_result().expect("phase 1");
    assert_eq!(
        (
            connections.established,
            connections.mapping.seen,
            connections.mapping.ports_preserved
        ),
        (600, 600, 0)
    );
    assert_eq!(log.lock().expect("a log").dropped, 0);
    let (device, log) = crate::reference::device(ce());
    all_received(&use_them(profiles::map_t_ce(), device), &log);
}

#[test]
fn a_ce_that_leaves_its_port_set_is_caught_when_it_opens_a_connection() {
    let leave = every_hundredth(|right| {
        let outside = right.source_port() - 2048;
        // For a source that is not yet learned, the tester gives the first one of the set.
        Mistake::new(
            &right.clone().with_source_port(outside).sealed(),
            "source port",
            55_296,
            outside,
        )
    });
    let (device, log) = crate::reference::rigged(ce(), Direction::Forward, leave);
    let result = establish(profiles::map_t_ce(), device);
    let forward = &result.directions[0];
    assert_eq!(
        (forward.received, forward.mistranslated),
        (594, 6),
        "{forward:?}"
    );
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Lost);
    assert_eq!(
        result.phase_one_result().expect("phase 1").examples[..5],
        log.lock().expect("a log").complaints[..5]
    );
}

#[test]
fn a_ce_that_returns_a_frame_to_another_port_of_its_host_is_caught() {
    let mix_up = every_hundredth(|right| {
        let port = right.destination_port();
        let other = if port == 5000 { 5029 } else { port - 1 };
        Mistake::new(
            &right.clone().with_destination_port(other).sealed(),
            "destination port",
            port,
            other,
        )
    });
    let (device, log) = crate::reference::rigged(ce(), Direction::Reverse, mix_up);
    ten_caught(
        &use_them(profiles::map_t_ce(), device),
        &log,
        Direction::Reverse,
    );
}
