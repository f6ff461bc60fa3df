//! ICMPv6 echoes: requests from left to right, replies back (RFC 4443 section 4), through a wire in memory that may be rigged.

use crate::common::*;
use crate::reference::datagram::{Datagram, ICMPV6};
use crate::reference::{Mistake, Reference, Rig, every_hundredth};
use sixbench_engine::profile::TrafficProfile;
use sixbench_method::plan::Payload;
use sixbench_method::terms::{Direction, FrameSize, Share};
use sixbench_method::trial::TrialResult;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const REQUEST: u8 = 128;
const REPLY: u8 = 129;

/// Forwards requests to the right and replies to the left, and nothing else; records identifier and sequence number of each.
#[derive(Default)]
struct Wire(Arc<Mutex<BTreeSet<(u16, u16)>>>);

impl Wire {
    fn pass(&self, datagram: Datagram, kind: u8) -> Option<Datagram> {
        self.0.lock().expect("a set").insert((word(&datagram, 4), word(&datagram, 6)));
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
    TrafficProfile { payload: Payload::Echo, ..ipv6_with_background(Share::ALL) }
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
        let (counted, complaints) = (&result.directions[direction as usize], &log.lock().expect("a log").complaints);
        assert_eq!((counted.received, counted.mistranslated, complaints.len()), (FRAMES - 10, 10, 10), "{counted:?}");
        assert_eq!(counted.examples[..], complaints[..5]);
        assert_eq!(result.directions[1 - direction as usize].received, FRAMES);
    }
}

fn received(result: &TrialResult) -> Vec<u64> {
    result.directions.iter().map(|direction| direction.received).collect()
}

#[test]
fn requests_and_replies_of_every_size_come_back() {
    for size in [84, 85, 128, 1518] {
        let (device, log) = crate::reference::device(Wire::default());
        let result = trial(TrafficProfile { frame_size: FrameSize(size), ..echoes() }, device);
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
    assert!(seen.len() > 1990, "2000 pairs of 64,512 times 49,151: {}", seen.len());
    assert!(seen.iter().all(|(identifier, _)| *identifier > 0), "{seen:?}");
}

#[test]
fn background_frames_beside_echoes_are_udp() {
    let share = Share { foreground: 9, of: 10 };
    let (device, log) = crate::reference::device(Wire::default());
    let result = trial(TrafficProfile { payload: Payload::Echo, ..ipv6_with_background(share) }, device);
    assert_eq!((received(&result), log.lock().expect("a log").dropped), (vec![900, 900], 200));
}

#[test]
fn a_reply_for_a_request_and_the_reverse_is_caught() {
    caught(|| {
        every_hundredth(|right| {
            let is_request = right.payload[0] == REQUEST;
            let (expected, got) = if is_request { ("request", "reply") } else { ("reply", "request") };
            let other = if is_request { REPLY } else { REQUEST };
            let (expected, got) = (format!("an ICMPv6 echo {expected}"), format!("an ICMPv6 echo {got}"));
            Mistake::new(&with(right, 0, u16::from(other) << 8), "kind of datagram", expected, got)
        })
    });
}

#[test]
fn a_wrong_identifier_is_caught() {
    caught(|| {
        every_hundredth(|right| {
            let identifier = word(right, 4);
            Mistake::new(&with(right, 4, identifier ^ 1), "echo identifier", identifier, identifier ^ 1)
        })
    });
}

#[test]
fn a_wrong_sequence_number_is_caught() {
    caught(|| {
        every_hundredth(|right| {
            let number = word(right, 6);
            Mistake::new(&with(right, 6, number ^ 0x100), "echo sequence number", number, number ^ 0x100)
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
    let rig = every_hundredth(|right| Mistake::new(&with(right, 0, UNREACHABLE), "none", "none", "none"));
    let (device, _) = crate::reference::rigged(Wire::default(), Direction::Forward, rig);
    let forward = &trial(echoes(), device).directions[0];
    assert_eq!((forward.received, forward.lost(), forward.foreign, forward.icmp), (FRAMES - 10, 10, 10, 10));
}
