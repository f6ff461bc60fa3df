//! Echoes of ICMP and ICMPv6: requests from left to right, replies back (RFC 4443 section 4), through a wire or a translator (RFC 7915) in memory that
//! may be rigged.

use crate::common::*;
use crate::reference::datagram::{Datagram, ICMP, ICMPV6};
use crate::reference::map::{behind_dmr, out_of_dmr};
use crate::reference::{Mistake, Reference, Rig, every_hundredth, profiles};
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_method::plan::Payload;
use sixbench_method::terms::{Direction, FrameRate, FrameSize, Share};
use sixbench_method::trial::{TrialResult, TrialSpec};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const REQUEST: u8 = 128;
const REPLY: u8 = 129;

/// Forwards requests to the right and replies to the left, and nothing else; records identifier and sequence number of each.
#[derive(Default)]
struct Wire(Arc<Mutex<BTreeSet<(u16, u16)>>>);

impl Wire {
    fn pass(&self, datagram: Datagram, kind: u8) -> Option<Datagram> {
        self.0
            .lock()
            .expect("a set")
            .insert((word(&datagram, 4), word(&datagram, 6)));
        (datagram.protocol == ICMPV6 && datagram.payload[..2] == [kind, 0]).then_some(datagram)
    }
}

impl Reference for Wire {
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        self.pass(datagram, REQUEST)
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        self.pass(datagram, REPLY)
    }
}

fn echoes() -> TrafficProfile {
    TrafficProfile {
        payload: Payload::Echo,
        ..ipv6_with_background(Share::ALL)
    }
}

fn word(datagram: &Datagram, at: usize) -> u16 {
    u16::from_be_bytes([datagram.payload[at], datagram.payload[at + 1]])
}

/// Returns the message with another word at this octet, and the checksum corrected.
fn with(right: &Datagram, at: usize, word: u16) -> Datagram {
    let mut wrong = right.clone();
    wrong.payload[at..at + 2].copy_from_slice(&word.to_be_bytes());
    wrong.sealed()
}

/// Checks for each direction in turn that ten frames are wrong and reported with the expected message.
fn caught(rig: fn() -> Rig) {
    for direction in [Direction::Forward, Direction::Reverse] {
        let (device, log) = crate::reference::rigged(Wire::default(), direction, rig());
        let result = trial(echoes(), device);
        let (counted, complaints) = (
            &result.directions[direction as usize],
            &log.lock().expect("a log").complaints,
        );
        assert_eq!(
            (counted.received, counted.mistranslated, complaints.len()),
            (FRAMES - 10, 10, 10),
            "{counted:?}"
        );
        assert_eq!(counted.examples[..], complaints[..5]);
        assert_eq!(result.directions[1 - direction as usize].received, FRAMES);
    }
}

fn received(result: &TrialResult) -> Vec<u64> {
    result
        .directions
        .iter()
        .map(|direction| direction.received)
        .collect()
}

#[test]
fn requests_and_replies_of_every_size_come_back() {
    for size in [84, 85, 128, 1518] {
        let (device, log) = crate::reference::device(Wire::default());
        let result = trial(
            TrafficProfile {
                frame_size: FrameSize(size),
                ..echoes()
            },
            device,
        );
        assert_eq!(received(&result), [FRAMES, FRAMES], "{size}");
        assert_eq!(log.lock().expect("a log").dropped, 0);
    }
}

#[test]
fn identifiers_and_sequence_numbers_vary_as_ports_do() {
    let wire = Wire::default();
    let seen = wire.0.clone();
    trial(echoes(), crate::reference::device(wire).0);
    let seen = seen.lock().expect("a set");
    assert!(
        seen.len() > 1990,
        "2000 pairs of 64,512 times 49,151: {}",
        seen.len()
    );
    assert!(
        seen.iter().all(|(identifier, _)| *identifier > 0),
        "{seen:?}"
    );
}

#[test]
fn background_frames_beside_echoes_are_udp() {
    let share = Share {
        foreground: 9,
        of: 10,
    };
    let (device, log) = crate::reference::device(Wire::default());
    let result = trial(
        TrafficProfile {
            payload: Payload::Echo,
            ..ipv6_with_background(share)
        },
        device,
    );
    assert_eq!(
        (received(&result), log.lock().expect("a log").dropped),
        (vec![900, 900], 200)
    );
}

#[test]
fn a_reply_for_a_request_and_the_reverse_is_caught() {
    caught(|| {
        every_hundredth(|right| {
            let is_request = right.payload[0] == REQUEST;
            let (expected, got) = if is_request {
                ("request", "reply")
            } else {
                ("reply", "request")
            };
            let other = if is_request { REPLY } else { REQUEST };
            let (expected, got) = (
                format!("an ICMPv6 echo {expected}"),
                format!("an ICMPv6 echo {got}"),
            );
            Mistake::new(
                &with(right, 0, u16::from(other) << 8),
                "kind of datagram",
                expected,
                got,
            )
        })
    });
}

#[test]
fn a_wrong_identifier_is_caught() {
    caught(|| {
        every_hundredth(|right| {
            let identifier = word(right, 4);
            Mistake::new(
                &with(right, 4, identifier ^ 1),
                "echo identifier",
                identifier,
                identifier ^ 1,
            )
        })
    });
}

#[test]
fn a_wrong_sequence_number_is_caught() {
    caught(|| {
        every_hundredth(|right| {
            let number = word(right, 6);
            Mistake::new(
                &with(right, 6, number ^ 0x100),
                "echo sequence number",
                number,
                number ^ 0x100,
            )
        })
    });
}

#[test]
fn a_wrong_checksum_is_caught() {
    caught(|| {
        every_hundredth(|right| {
            let (due, written) = (word(right, 2), word(right, 2) ^ 1);
            let (expected, got) = (format!("{due:#06x}"), format!("{written:#06x}"));
            let mut mistake = Mistake::new(right, "ICMPv6 checksum", expected, got);
            mistake.instead[0][42..44].copy_from_slice(&written.to_be_bytes());
            mistake
        })
    });
}

#[test]
fn an_error_message_in_place_of_a_request_is_counted_as_icmp() {
    const UNREACHABLE: u16 = 1 << 8;
    let rig =
        every_hundredth(|right| Mistake::new(&with(right, 0, UNREACHABLE), "none", "none", "none"));
    let (device, _) = crate::reference::rigged(Wire::default(), Direction::Forward, rig);
    let forward = &trial(echoes(), device).directions[0];
    assert_eq!(
        (
            forward.received,
            forward.lost(),
            forward.foreign,
            forward.icmp
        ),
        (FRAMES - 10, 10, 10, 10)
    );
}

/// A stateless translator between 64:ff9b::/96 and IPv4, which forwards nothing but echoes.
struct Siit;

impl Siit {
    fn translate(datagram: Datagram) -> Option<Datagram> {
        let is_echo = matches!(
            (datagram.protocol, datagram.payload[0]),
            (ICMP, 8 | 0) | (ICMPV6, 128 | 129)
        );
        match (datagram.source6(), datagram.destination6()) {
            _ if !is_echo => None,
            (Some(source), Some(destination)) => {
                Some(datagram.translated(out_of_dmr(source)?, out_of_dmr(destination)?))
            }
            _ => {
                let (source, destination) = (
                    behind_dmr(datagram.source4()?),
                    behind_dmr(datagram.destination4()?),
                );
                Some(datagram.translated(source, destination))
            }
        }
    }
}

impl Reference for Siit {
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        Self::translate(datagram)
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        Self::translate(datagram)
    }
}

fn translated(is_ipv4_left: bool) -> TrafficProfile {
    TrafficProfile {
        payload: Payload::Echo,
        ..profiles::siit(is_ipv4_left)
    }
}

#[test]
fn echoes_of_either_version_come_back_through_a_translator() {
    for (is_ipv4_left, size) in [(false, 84), (true, 84), (false, 85), (true, 1518)] {
        let (device, log) = crate::reference::device(Siit);
        let result = trial(
            TrafficProfile {
                frame_size: FrameSize(size),
                ..translated(is_ipv4_left)
            },
            device,
        );
        crate::reference::all_received(&result, &log);
    }
}

#[test]
fn each_request_through_a_translator_is_answered_by_the_reply_of_the_other_version() {
    for is_ipv4_left in [false, true] {
        let (device, log) = crate::reference::device(Siit);
        let result = trial_of(
            translated(is_ipv4_left),
            device,
            TrialSpec::response(FrameRate(FRAMES * 5), 200_000_000),
        );
        crate::reference::all_received(&result, &log);
    }
}

/// Checks for both directions of both kinds of translator that ten echoes are wrong and reported with the expected message.
fn caught_translated(wrong: fn(&Datagram) -> Mistake) {
    for (is_ipv4_left, direction) in [
        (false, Direction::Forward),
        (false, Direction::Reverse),
        (true, Direction::Forward),
        (true, Direction::Reverse),
    ] {
        let (device, log) = crate::reference::rigged(Siit, direction, every_hundredth(wrong));
        crate::reference::ten_caught(&trial(translated(is_ipv4_left), device), &log, direction);
    }
}

/// Returns the name of the protocol of an echo, and its checksum's octet within the datagram.
fn echo_of(right: &Datagram) -> (&'static str, usize) {
    if right.protocol == ICMP {
        ("ICMP", 22)
    } else {
        ("ICMPv6", 42)
    }
}

#[test]
fn a_translated_checksum_that_still_has_or_lacks_the_pseudo_header_is_caught() {
    caught_translated(|right| {
        let (protocol, at) = echo_of(right);
        // Over the addresses of the datagram, the one checksum is made that of the other protocol.
        let other = if right.protocol == ICMP { ICMPV6 } else { ICMP };
        let written = word(
            &Datagram {
                protocol: other,
                ..right.clone()
            }
            .sealed(),
            2,
        );
        let expected = format!("{:#06x}", word(right, 2));
        let mut mistake = Mistake::new(
            right,
            &format!("{protocol} checksum"),
            expected,
            format!("{written:#06x}"),
        );
        mistake.instead[0][at..at + 2].copy_from_slice(&written.to_be_bytes());
        mistake
    });
}

#[test]
fn a_type_that_is_not_translated_is_caught() {
    const TYPES: [(u8, u8, &str); 4] = [
        (8, 128, "request"),
        (0, 129, "reply"),
        (128, 8, "request"),
        (129, 0, "reply"),
    ];
    caught_translated(|right| {
        let (_, other, kind) = TYPES
            .into_iter()
            .find(|(own, ..)| *own == right.payload[0])
            .expect("an echo");
        let expected = format!("an {} echo {kind}", echo_of(right).0);
        let got =
            format!("an echo {kind} with the type of one version in the protocol of the other");
        Mistake::new(
            &with(right, 0, u16::from(other) << 8),
            "kind of datagram",
            expected,
            got,
        )
    });
}

#[test]
fn an_identifier_that_a_translator_changes_is_caught() {
    caught_translated(|right| {
        let identifier = word(right, 4);
        Mistake::new(
            &with(right, 4, identifier ^ 1),
            "echo identifier",
            identifier,
            identifier ^ 1,
        )
    });
}
