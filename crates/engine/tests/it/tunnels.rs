//! Encapsulated traffic: MAP-E, lightweight 4over6, DS-Lite, 6to4 and 6rd with reference devices in memory, right ones and rigged ones.

use crate::common::*;
use crate::reference::datagram::Datagram;
use crate::reference::map::{Domain, MapEBr};
use crate::reference::six_in_four::{Relay, SIX_TO_FOUR};
use crate::reference::softwires::{AFTR, AFTR_HOPS, Aftr, LwAftr, b4};
use crate::reference::{Mistake, Rig, Shared, all_received, every_hundredth, profiles, ten_caught};
use Direction::{Forward, Reverse};
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::trial::{DirectionResult, PhaseOne, TrialResult, TrialSpec, Verdict};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn honest(profile: TrafficProfile, (device, log): (LoopbackDevice, Shared)) {
    all_received(&trial(profile, device), &log);
    let subscribers = log.lock().expect("a log").sources.len();
    assert!(
        profiles::is_drawn_well(subscribers),
        "{subscribers} subscribers"
    );
}

#[test]
fn a_br_of_map_e_returns_every_frame_of_many_ces() {
    for offset in [0, 6] {
        let domain = Domain::of_the_papers(offset);
        honest(
            profiles::map_e(domain),
            crate::reference::device(MapEBr(domain)),
        );
    }
}

#[test]
fn a_lightweight_aftr_returns_every_frame_of_many_b4s() {
    honest(
        profiles::lw4o6(),
        crate::reference::device(LwAftr::new(1000)),
    );
}

#[test]
fn a_relay_of_6to4_returns_every_frame_of_many_sites() {
    honest(
        profiles::six_to_four(),
        crate::reference::device(Relay::six_to_four()),
    );
}

#[test]
fn a_border_relay_of_6rd_returns_every_frame_of_many_ces() {
    honest(
        profiles::six_rd(),
        crate::reference::device(Relay::six_rd()),
    );
}

fn rigged_lw(rig: Rig) {
    let (device, log) = crate::reference::rigged(LwAftr::new(1000), Reverse, rig);
    ten_caught(&trial(profiles::lw4o6(), device), &log, Reverse);
}

fn rigged_6to4(direction: Direction, rig: Rig) {
    let (device, log) = crate::reference::rigged(Relay::six_to_four(), direction, rig);
    ten_caught(&trial(profiles::six_to_four(), device), &log, direction);
}

/// Returns another B4 to replace this one.
fn another(b4: IpAddr) -> Ipv6Addr {
    let IpAddr::V6(address) = b4 else {
        panic!("{b4} is no B4")
    };
    self::b4(address.segments()[3] ^ 1)
}

#[test]
fn an_aftr_that_swaps_two_subscribers_is_caught_by_the_outer_destination() {
    rigged_lw(every_hundredth(|right| {
        let other = another(right.destination);
        let wrong = Datagram {
            destination: other.into(),
            ..right.clone()
        };
        Mistake::new(
            &wrong,
            "outer destination address",
            right.destination,
            other,
        )
    }));
}

#[test]
fn an_aftr_that_gives_the_right_b4_anothers_ports_is_caught() {
    rigged_lw(every_hundredth(|right| {
        let inner = right.inside().expect("IPv4");
        let (port, other) = (inner.destination_port(), inner.destination_port() ^ 1024);
        let wrong =
            inner
                .with_destination_port(other)
                .sealed()
                .within(AFTR, b4_of(right), AFTR_HOPS);
        Mistake::new(&wrong, "destination port", port, other)
    }));
}

fn b4_of(encapsulated: &Datagram) -> IpAddr {
    encapsulated.destination
}

#[test]
fn a_br_of_map_e_that_returns_a_frame_to_the_ce_of_another_psid_is_caught() {
    for offset in [0, 6] {
        let domain = Domain::of_the_papers(offset);
        let rig = every_hundredth(move |right| {
            let [_, _, _, prefix, ..] = right.destination6().expect("a CE").segments();
            let other = domain.ce((prefix / 32) as u8, (prefix % 32) ^ 1);
            let wrong = Datagram {
                destination: other.into(),
                ..right.clone()
            };
            Mistake::new(
                &wrong,
                "outer destination address",
                right.destination,
                other,
            )
        });
        let (device, log) = crate::reference::rigged(MapEBr(domain), Reverse, rig);
        ten_caught(&trial(profiles::map_e(domain), device), &log, Reverse);
    }
}

#[test]
fn a_br_of_map_e_that_forgets_the_interface_identifier_is_caught() {
    let rig = every_hundredth(|right| {
        let [a, b, c, d, ..] = right.destination6().expect("a CE").segments();
        let bare = Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0);
        let wrong = Datagram {
            destination: bare.into(),
            ..right.clone()
        };
        Mistake::new(&wrong, "outer destination address", right.destination, bare)
    });
    let domain = Domain::of_the_papers(6);
    let (device, log) = crate::reference::rigged(MapEBr(domain), Reverse, rig);
    ten_caught(&trial(profiles::map_e(domain), device), &log, Reverse);
}

#[test]
fn a_relay_with_the_wrong_outer_source_is_caught() {
    let own = Ipv4Addr::new(192, 88, 99, 2);
    rigged_6to4(
        Reverse,
        every_hundredth(move |right| {
            let wrong = Datagram {
                source: own.into(),
                ..right.clone()
            };
            Mistake::new(&wrong, "outer source address", SIX_TO_FOUR, own)
        }),
    );
}

#[test]
fn a_relay_whose_outer_address_does_not_match_the_inner_one_is_caught() {
    rigged_6to4(
        Reverse,
        every_hundredth(|right| {
            let [a, b, c, d] = right.destination4().expect("a site").octets();
            let other = Ipv4Addr::new(a, b, c, d ^ 1);
            let wrong = Datagram {
                destination: other.into(),
                ..right.clone()
            };
            Mistake::new(
                &wrong,
                "outer destination address",
                right.destination,
                other,
            )
        }),
    );
}

/// Returns the address of the site whose IPv4 address has its last bit inverted.
fn other_site(address: IpAddr) -> Ipv6Addr {
    let IpAddr::V6(address) = address else {
        panic!("{address} is of no site")
    };
    Ipv6Addr::from_bits(address.to_bits() ^ 1 << 80)
}

#[test]
fn a_relay_whose_inner_address_does_not_match_the_outer_one_is_caught() {
    rigged_6to4(
        Reverse,
        every_hundredth(|right| {
            let inner = right.inside().expect("IPv6");
            let (site, other) = (inner.destination, other_site(inner.destination));
            let changed = Datagram {
                destination: other.into(),
                ..inner
            }
            .sealed();
            let wrong = changed.within(right.source, right.destination, right.hops);
            Mistake::new(&wrong, "destination address", site, other)
        }),
    );
}

#[test]
fn a_relay_that_lets_out_the_address_of_another_site_is_caught() {
    rigged_6to4(
        Forward,
        every_hundredth(|right| {
            let other = other_site(right.source);
            let wrong = Datagram {
                source: other.into(),
                ..right.clone()
            }
            .sealed();
            Mistake::new(&wrong, "source address", right.source, other)
        }),
    );
}

#[test]
fn an_outer_hop_limit_that_is_not_as_stated_is_caught() {
    let lower = |by: u8| {
        move |right: &Datagram| {
            let wrong = Datagram {
                hops: right.hops - by,
                ..right.clone()
            };
            Mistake::new(&wrong, "outer hop limit", right.hops, wrong.hops)
        }
    };
    rigged_lw(every_hundredth(lower(1)));
    rigged_6to4(Reverse, every_hundredth(lower(1)));
}

#[test]
fn an_outer_header_with_a_traffic_class_nobody_asked_for_is_caught() {
    // The class is in the second octet of IPv4, and spans the first two of IPv6; the header's checksum is corrected.
    rigged_lw(every_hundredth(|right| {
        let mut mistake = Mistake::new(right, "outer traffic class", 0, 8);
        mistake.instead[0][1] |= 0x80;
        mistake
    }));
    rigged_6to4(
        Reverse,
        every_hundredth(|right| {
            let mut mistake = Mistake::new(right, "outer traffic class", 0, 8);
            let octets = &mut mistake.instead[0];
            octets[1] = 8;
            let checksum = u16::from_be_bytes([octets[10], octets[11]]);
            let mended = if checksum >= 8 {
                checksum - 8
            } else {
                checksum.wrapping_sub(9)
            };
            octets[10..12].copy_from_slice(&mended.to_be_bytes());
            mistake
        }),
    );
}

#[test]
fn an_inner_hop_limit_that_was_not_lowered_is_caught() {
    rigged_lw(every_hundredth(|right| {
        let inner = Datagram {
            hops: 64,
            ..right.inside().expect("IPv4")
        };
        Mistake::new(
            &inner.within(AFTR, b4_of(right), AFTR_HOPS),
            "hop limit",
            63,
            64,
        )
    }));
}

#[test]
fn a_plain_frame_where_an_encapsulated_one_is_due_is_caught() {
    rigged_lw(every_hundredth(|right| {
        let expected = format!("an outer header from {AFTR} to {}", right.destination);
        Mistake::new(
            &right.inside().expect("IPv4"),
            "encapsulation",
            expected,
            "no outer header",
        )
    }));
}

#[test]
fn an_encapsulated_frame_where_a_plain_one_is_due_is_caught() {
    rigged_6to4(
        Forward,
        every_hundredth(|right| {
            let (source, destination) = (Ipv4Addr::new(198, 18, 0, 1), SIX_TO_FOUR);
            let wrong = right.within(source, destination, 64);
            Mistake::new(
                &wrong,
                "encapsulation",
                "no outer header",
                format!("one from {source} to {destination}"),
            )
        }),
    );
}

#[test]
fn an_outer_header_of_the_other_version_is_caught() {
    rigged_lw(every_hundredth(|right| {
        let (source, destination) = (SIX_TO_FOUR, Ipv4Addr::new(198, 18, 0, 1));
        let wrong = right
            .inside()
            .expect("IPv4")
            .within(source, destination, AFTR_HOPS);
        let expected = format!("an outer header from {AFTR} to {}", right.destination);
        Mistake::new(
            &wrong,
            "encapsulation",
            expected,
            format!("one from {source} to {destination}"),
        )
    }));
}

/// Returns an encapsulated datagram with extra octets after the inner one, and a length that includes them.
fn padded(right: &Datagram, header: usize) -> Mistake {
    let longer = Datagram {
        payload: [&right.payload[..], &[0; 8]].concat(),
        ..right.clone()
    };
    let frame = 14 + header + right.payload.len();
    Mistake::new(&longer, "outer length", frame, frame + 8)
}

#[test]
fn an_outer_length_beyond_the_inner_datagram_is_caught() {
    rigged_lw(every_hundredth(|right| padded(right, 40)));
    rigged_6to4(Reverse, every_hundredth(|right| padded(right, 20)));
}

/// Checks that no tag could be read from ten frames: they are lost, and the frames sent instead do not belong to the trial.
fn ten_lost(
    profile: TrafficProfile,
    (device, log): (LoopbackDevice, Shared),
    direction: Direction,
) -> DirectionResult {
    let result = trial(profile, device);
    let caught = result.directions[direction as usize].clone();
    assert_eq!(
        (caught.received, caught.lost(), caught.mistranslated),
        (FRAMES - 10, 10, 0),
        "{caught:?}"
    );
    assert_eq!(log.lock().expect("a log").complaints.len(), 10);
    assert_eq!(result.directions[1 - direction as usize].received, FRAMES);
    caught
}

/// Returns the mistake of sending these octets, about which the tester makes no complaint by name.
fn unread(instead: Vec<Vec<u8>>) -> Mistake {
    Mistake {
        instead,
        complaint: "unreadable".to_owned(),
    }
}

#[test]
fn an_outer_length_that_cuts_the_inner_datagram_off_loses_the_frame() {
    let cut = every_hundredth(|right| {
        let mut octets = right.octets();
        octets[5] -= 8;
        unread(vec![octets])
    });
    let caught = ten_lost(
        profiles::lw4o6(),
        crate::reference::rigged(LwAftr::new(1000), Reverse, cut),
        Reverse,
    );
    assert_eq!(caught.foreign, 10);
}

#[test]
fn a_wrong_checksum_of_the_outer_ipv4_header_is_caught() {
    rigged_6to4(
        Reverse,
        every_hundredth(|right| {
            let mut mistake = Mistake::new(
                right,
                "outer IPv4 header checksum",
                "the right one",
                "a wrong one",
            );
            mistake.instead[0][10] ^= 1;
            mistake
        }),
    );
}

#[test]
fn a_reserved_flag_that_is_set_in_an_outer_header_or_in_the_datagram_is_caught() {
    const RESERVED: u16 = 0x8000;
    rigged_6to4(
        Reverse,
        every_hundredth(|right| {
            let wrong = Datagram {
                flags: right.flags | RESERVED,
                ..right.clone()
            };
            Mistake::new(&wrong, "outer reserved flag", 0, 1)
        }),
    );
    rigged_lw(every_hundredth(|right| {
        let inner = right.inside().expect("IPv4");
        let wrong = Datagram {
            flags: inner.flags | RESERVED,
            ..inner
        }
        .within(AFTR, b4_of(right), AFTR_HOPS);
        Mistake::new(&wrong, "reserved flag", 0, 1)
    }));
}

#[test]
fn an_outer_fragment_that_holds_the_whole_datagram_is_caught_by_name() {
    const MORE_FRAGMENTS: u16 = 0x2000;
    rigged_6to4(
        Reverse,
        every_hundredth(|right| {
            let wrong = Datagram {
                flags: MORE_FRAGMENTS,
                ..right.clone()
            };
            Mistake::new(
                &wrong,
                "outer fragmentation",
                "a whole datagram",
                "a fragment",
            )
        }),
    );
}

#[test]
fn a_relay_that_fragments_the_outer_datagram_loses_the_frame_and_the_fragments_are_counted() {
    let fragment = every_hundredth(|right| {
        let (first, second) = right.payload.split_at(48);
        let first = Datagram {
            flags: 0x2000,
            payload: first.to_vec(),
            ..right.clone()
        };
        let second = Datagram {
            flags: 48 / 8,
            payload: second.to_vec(),
            ..right.clone()
        };
        unread(vec![first.octets(), second.octets()])
    });
    let device = crate::reference::rigged(Relay::six_to_four(), Reverse, fragment);
    let caught = ten_lost(profiles::six_to_four(), device, Reverse);
    assert_eq!((caught.foreign, caught.fragments), (20, 20));
}

#[test]
fn an_aftr_that_fragments_the_outer_datagram_loses_the_frame_and_the_fragments_are_counted() {
    const FRAGMENT: u8 = 44;
    /// Returns a fragment by RFC 8200 section 4.5: next header, reserved, offset and M, identification.
    fn part(right: &Datagram, offset: usize, payload: &[u8], is_last: bool) -> Vec<u8> {
        let offset = (offset as u16 | u16::from(!is_last)).to_be_bytes();
        let header = [right.protocol, 0, offset[0], offset[1], 0, 0, 0, 1];
        Datagram {
            protocol: FRAGMENT,
            payload: [&header, payload].concat(),
            ..right.clone()
        }
        .octets()
    }
    let fragment = every_hundredth(|right| {
        let (first, second) = right.payload.split_at(24);
        unread(vec![
            part(right, 0, first, false),
            part(right, 24, second, true),
        ])
    });
    let device = crate::reference::rigged(LwAftr::new(1000), Reverse, fragment);
    let caught = ten_lost(profiles::lw4o6(), device, Reverse);
    assert_eq!((caught.foreign, caught.fragments), (20, 20));
}

fn establish(aftr: Aftr) -> (TrialResult, Shared) {
    let profile = profiles::ds_lite();
    let settings = profile.gateway.as_ref().expect("stateful").settings;
    let (device, log) = crate::reference::device(aftr);
    let result = trial_of(
        profile,
        device,
        settings.establishing(profiles::CONNECTIONS, FrameRate(5_000)),
    );
    // These are the counts of a tester that kept its schedule, which this machine may not have allowed.
    (
        TrialResult {
            faults: vec![],
            ..result
        },
        log,
    )
}

/// Returns a trial with phase 1, then 1000 frames each way.
fn use_them((device, log): (LoopbackDevice, Shared)) -> (TrialResult, Shared) {
    let phase_one = Some(PhaseOne {
        connections: profiles::CONNECTIONS,
        rate: FrameRate(5_000),
    });
    let spec = TrialSpec {
        phase_one,
        ..TrialSpec::constant(FrameRate(5_000), 200_000_000)
    };
    (trial_of(profiles::ds_lite(), device, spec), log)
}

#[test]
fn an_aftr_of_ds_lite_opens_every_connection_of_b4s_with_equal_inner_addresses() {
    let (result, log) = establish(Aftr::default());
    assert_eq!(
        result.verdict(LossRatio::ZERO),
        Verdict::Passed,
        "{result:?}"
    );
    let ways: Vec<_> = result
        .directions
        .iter()
        .map(|d| (d.direction, d.received))
        .collect();
    assert_eq!(ways, [(Forward, 600), (Reverse, 600)]);
    assert_eq!(
        result
            .phase_one_result()
            .expect("phase 1")
            .mapping
            .collisions,
        0
    );
    let b4s: Vec<IpAddr> = log.lock().expect("a log").sources.iter().copied().collect();
    assert_eq!(
        b4s,
        (0..10)
            .map(|number| b4(number).into())
            .collect::<Vec<IpAddr>>()
    );
    let (result, log) = use_them(crate::reference::device(Aftr::default()));
    all_received(&result, &log);
}

#[test]
fn an_aftr_that_knows_connections_by_their_inner_addresses_alone_is_caught_in_phase_1() {
    let (result, _) = establish(Aftr::without_softwires());
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Lost);
    let connections = result.phase_one_result().expect("phase 1");
    // 10 B4s with 60 connections each: of every ten with the same inner addresses and ports, nine collide.
    assert_eq!(
        (connections.mapping.collisions, connections.established),
        (540, 60)
    );
    assert!(
        connections.examples[0].ends_with("have the same four-tuple behind the DUT"),
        "{:?}",
        connections.examples
    );
}

#[test]
fn an_aftr_that_sends_a_reply_into_the_softwire_of_another_b4_is_caught_in_phase_2() {
    let rig = every_hundredth(|right| {
        let other = another(right.destination);
        let wrong = Datagram {
            destination: other.into(),
            ..right.clone()
        };
        Mistake::new(
            &wrong,
            "outer destination address",
            right.destination,
            other,
        )
    });
    let (result, log) = use_them(crate::reference::rigged(Aftr::default(), Reverse, rig));
    ten_caught(&result, &log, Reverse);
}

#[test]
fn an_aftr_that_exchanges_two_subscribers_for_good_is_caught_in_every_frame_of_theirs() {
    let rig: Rig = Box::new(|_, right| {
        let is_theirs = [b4(2), b4(3)]
            .map(IpAddr::from)
            .contains(&right.destination);
        let other = another(right.destination);
        let wrong = Datagram {
            destination: other.into(),
            ..right.clone()
        };
        is_theirs.then(|| {
            Mistake::new(
                &wrong,
                "outer destination address",
                right.destination,
                other,
            )
        })
    });
    let (result, log) = use_them(crate::reference::rigged(Aftr::default(), Reverse, rig));
    let (complaints, reverse) = (
        &log.lock().expect("a log").complaints,
        &result.directions[1],
    );
    // A fifth of all frames, to within six standard deviations (13).
    assert!(
        (124..=276).contains(&complaints.len()),
        "{}",
        complaints.len()
    );
    assert_eq!(reverse.mistranslated, complaints.len() as u64);
    assert_eq!(reverse.received + reverse.mistranslated, FRAMES);
    assert_eq!(reverse.examples[..], complaints[..5]);
}

#[test]
fn an_aftr_that_returns_the_reply_of_another_connection_of_the_same_b4_is_caught() {
    let rig = every_hundredth(|right| {
        let inner = right.inside().expect("IPv4");
        let port = inner.destination_port();
        let other = if port == 5000 { 5002 } else { port - 1 };
        let wrong =
            inner
                .with_destination_port(other)
                .sealed()
                .within(AFTR, b4_of(right), AFTR_HOPS);
        Mistake::new(&wrong, "destination port", port, other)
    });
    let (result, log) = use_them(crate::reference::rigged(Aftr::default(), Reverse, rig));
    ten_caught(&result, &log, Reverse);
}
