//! Every field of an arriving frame is changed by a device in memory, which also corrects the checksums: each change must be counted, exactly,
//! under the name of its field, with one, two and four queues.

use crate::common::by_number::*;
use crate::common::*;
use sixbench_engine::frames::profile::{TrafficProfile, WireAddresses};
use sixbench_io::loopback::pair_with_queues;
use sixbench_method::terms::{Direction, FrameRate, FrameSize, Share};
use sixbench_method::trial::{DirectionResult, TrialSpec};
use sixbench_wire::{Ipv4View, checksum};

/// Returns the forward direction of a trial with this number of queues, in which the device changes the chosen frames.
fn forward(queues: usize, profile: TrafficProfile, change: fn(&mut Vec<u8>)) -> DirectionResult {
    let device = rigged(move |mut frame| {
        change(&mut frame);
        vec![frame]
    });
    let spec = TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000);
    let result = trial_between(pair_with_queues(device, queues, in_turn()), profile, spec);
    assert_eq!(
        result.directions[1].received, FRAMES,
        "the other direction is as it was"
    );
    let forward = result.directions[0].clone();
    assert_eq!(
        (forward.direction, forward.offered),
        (Direction::Forward, FRAMES)
    );
    forward
}

/// Checks that a change of each chosen frame is reported as `words`, and nothing else is reported.
fn is_told(profile: &TrafficProfile, change: fn(&mut Vec<u8>), words: &str) {
    for queues in QUEUES {
        let forward = forward(queues, profile.clone(), change);
        let counts = [
            forward.received,
            forward.mistranslated,
            forward.corrupt,
            forward.lost(),
        ];
        assert_eq!(
            counts,
            [FRAMES - CHOSEN, CHOSEN, 0, 0],
            "{words}, {queues} queues: {:?}",
            forward.examples
        );
        let field = words[2..].split(": expected").next().expect("a field");
        assert_eq!(
            forward.wrong_fields_in_words(),
            Some(format!("{field} {CHOSEN}"))
        );
        assert_eq!(forward.examples.len(), 5);
        assert!(
            forward
                .examples
                .iter()
                .all(|example| example.ends_with(words)),
            "{words}: {:?}",
            forward.examples
        );
    }
}

/// The offset at which an IPv4 header begins.
const IP: usize = 14;

/// Changes an IPv4 header and updates its checksum.
fn in_ipv4(frame: &mut [u8], change: impl Fn(&mut [u8])) {
    let header = &mut frame[IP..IP + 20];
    change(header);
    header[10..12].fill(0);
    let checksum = checksum::finish(checksum::sum(header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Changes the tag's time of sending in a UDP datagram over IPv4, and updates its checksum.
fn at_time(frame: &mut [u8], change: impl Fn(u64) -> u64) {
    const UDP: usize = IP + 20;
    let time = frame[UDP + 18..].first_chunk_mut::<8>().expect("a tag");
    *time = change(u64::from_be_bytes(*time)).to_be_bytes();
    frame[UDP + 6..UDP + 8].fill(0);
    let sum = Ipv4View::new(&frame[IP..])
        .expect("a datagram")
        .pseudo_header()
        + checksum::sum(&frame[UDP..]);
    frame[UDP + 6..UDP + 8].copy_from_slice(&checksum::finish_udp(sum).to_be_bytes());
}

/// Checks that an impossible time of sending makes the payload corrupt; `is_told` gets the frame's number and the two times of an example.
fn is_corrupt(change: fn(&mut Vec<u8>), words: &str, is_told: fn(u64, [i64; 2]) -> bool) {
    for queues in QUEUES {
        let forward = forward(queues, ipv4(), change);
        let counts = [
            forward.received,
            forward.mistranslated,
            forward.corrupt,
            forward.lost(),
        ];
        assert_eq!(
            counts,
            [FRAMES - CHOSEN, 0, CHOSEN, 0],
            "{words}, {queues} queues: {:?}",
            forward.examples
        );
        assert_eq!(
            forward.wrong_fields_in_words(),
            Some(format!("sending time {CHOSEN}"))
        );
        assert_eq!(forward.examples.len(), 5);
        for example in &forward.examples {
            let numbers: Vec<i64> = example
                .split(|c: char| c != '-' && !c.is_ascii_digit())
                .flat_map(str::parse)
                .collect();
            let [number, expected, got] = numbers[..] else {
                panic!("{example}")
            };
            assert!(
                example.contains(": sending time: expected ") && example.contains(words),
                "{example}"
            );
            assert!(is_told(number as u64, [expected, got]), "{example}");
        }
    }
}

#[test]
fn a_time_of_sending_that_cannot_be_is_told() {
    // Frame n is due n times 200 us after the first, and is sent within a second of that.
    const PERIOD_NS: i64 = 200_000;
    let early = " ns or later, when it was due, got ";
    is_corrupt(
        |frame| at_time(frame, |_| 1),
        early,
        |number, [due, sent]| due == number as i64 * PERIOD_NS && sent < 0,
    );
    let late = " ns or earlier, when it arrived, got ";
    is_corrupt(
        |frame| at_time(frame, |time| time + 10_000_000_000),
        late,
        |number, [arrived, sent]| {
            arrived >= number as i64 * PERIOD_NS && sent > arrived + 8_000_000_000
        },
    );
}

#[test]
fn a_damaged_octet_of_the_payload_is_told_by_its_place() {
    let profile = TrafficProfile {
        frame_size: FrameSize(512),
        ..ipv4()
    };
    for queues in QUEUES {
        let forward = forward(queues, profile.clone(), |frame| frame[42 + 300] ^= 0x80);
        assert_eq!(
            (forward.received, forward.corrupt),
            (FRAMES - CHOSEN, CHOSEN),
            "{:?}",
            forward.examples
        );
        let words = ": payload: expected the fill pattern, got another octet at 300";
        assert!(
            forward.examples.len() == 5 && forward.examples.iter().all(|e| e.ends_with(words)),
            "{:?}",
            forward.examples
        );
    }
}

#[test]
fn frames_wrong_in_different_ways_are_counted_by_field_each_once_however_many_copies_come() {
    let hop_limit = |frame: &[u8]| {
        let mut wrong = frame.to_vec();
        in_ipv4(&mut wrong, |header| header[8] -= 1);
        wrong
    };
    for queues in QUEUES {
        let device = device(move |number, frame| {
            let (mut other, copy) = (frame.clone(), hop_limit(&frame));
            in_ipv4(&mut other, |header| header[6] |= 0x80);
            match number % 100 {
                1 => vec![copy],
                2 | 3 => vec![other],
                // Of two wrong copies only one counts; of a right and a wrong one, the right one.
                4 => vec![copy.clone(), copy],
                5 => vec![frame, copy],
                _ => vec![frame],
            }
        });
        let spec = TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000);
        let result = trial_between(pair_with_queues(device, queues, in_turn()), ipv4(), spec);
        let forward = &result.directions[0];
        assert_eq!(
            (forward.received, forward.mistranslated, forward.duplicate),
            (FRAMES - 40, 40, 20),
            "{queues} queues"
        );
        assert_eq!(
            forward.wrong_fields_in_words().as_deref(),
            Some("hop limit 20, reserved flag 20"),
            "{queues} queues"
        );
    }
}

/// Returns the profile of IPv6 without background, through a wire with known hardware addresses.
fn ipv6() -> TrafficProfile {
    TrafficProfile {
        wire: Some(WireAddresses::Kept),
        ..ipv6_with_background(Share::ALL)
    }
}

#[test]
fn the_reserved_flag_of_ipv4_is_told_be_the_identification_kept_or_not() {
    for keeps_identification in [true, false] {
        let profile = TrafficProfile {
            keeps_identification,
            ..ipv4()
        };
        is_told(
            &profile,
            |frame| in_ipv4(frame, |header| header[6] |= 0x80),
            ": reserved flag: expected 0, got 1",
        );
    }
}

#[test]
fn the_flow_label_and_the_identification_are_told_where_they_are_to_be_kept() {
    is_told(
        &ipv6(),
        |frame| frame[IP + 3] = 7,
        ": flow label: expected 0, got 7",
    );
    is_told(
        &ipv6(),
        |frame| frame[IP + 1] |= 8,
        ": flow label: expected 0, got 524288",
    );
    let changed = |frame: &mut Vec<u8>| in_ipv4(frame, |header| header[5] = 9);
    is_told(
        &ipv4(),
        changed,
        ": identification: expected 0, as it was sent, got 9",
    );
}

#[test]
fn octets_behind_the_datagram_are_told_and_whether_they_may_be_memory() {
    // The shortest frames, of 60 octets: even these are not padded.
    is_told(
        &ipv4(),
        |frame| frame.extend([0; 4]),
        ": octets after the datagram: expected none, got 4",
    );
    is_told(
        &ipv4(),
        |frame| frame.extend([0, 0, 7]),
        ": octets after the datagram: expected none, got 3, not all zero",
    );
    is_told(
        &ipv6(),
        |frame| frame.push(0),
        ": octets after the datagram: expected none, got 1",
    );
    // If a datagram was shortened within a frame of the same length, Ethernet did not have to pad it.
    let shortened = |frame: &mut Vec<u8>| {
        in_ipv4(frame, |header| header[3] -= 2);
        frame[IP + 25] -= 2;
    };
    let profile = TrafficProfile {
        frame_size: FrameSize(128),
        ..ipv4()
    };
    is_told(&profile, shortened, ": length: expected 90, got 88");
}

#[test]
fn the_hardware_addresses_are_told_by_name() {
    is_told(
        &ipv6(),
        |frame| frame[5] = 7,
        ": Ethernet destination: expected 02:00:00:00:00:02, got 02:00:00:00:00:07",
    );
    is_told(
        &ipv6(),
        |frame| frame[0] |= 1,
        ": Ethernet destination: expected 02:00:00:00:00:02, got 03:00:00:00:00:02",
    );
    is_told(
        &ipv6(),
        |frame| frame[11] = 7,
        ": Ethernet source: expected 02:00:00:00:00:01, got 02:00:00:00:00:07",
    );
}
