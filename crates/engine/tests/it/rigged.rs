//! The whole tester with rigged devices in memory: every fault of the device must be counted, exactly, under its own name.

use crate::common::*;
use sixbench_engine::frames::profile::{AddressVariation, TrafficProfile, WireAddresses};
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::plan::{AddressPart, ValueOrder, ValueRange};
use sixbench_method::terms::{Direction, Directions, FrameSize, LossRatio, Share};
use sixbench_method::trial::{DirectionResult, Fault, LengthDistribution, TrialResult, Verdict};

/// Returns a device that applies `change` to every hundredth frame, without updating the UDP checksum.
fn every_hundredth(change: impl Fn(&mut Vec<u8>) + Send + 'static) -> LoopbackDevice {
    each(move |number, mut frame| {
        if number % 100 == 50 {
            change(&mut frame);
        }
        vec![frame]
    })
}

/// Returns the same counts for a tester that kept its schedule, which this machine may not have allowed.
fn on_time(result: TrialResult) -> TrialResult {
    TrialResult {
        faults: vec![],
        ..result
    }
}

fn forward(result: &TrialResult) -> &DirectionResult {
    let forward = &result.directions[0];
    assert_eq!(forward.direction, Direction::Forward);
    assert_eq!((forward.intended, forward.offered), (FRAMES, FRAMES));
    forward
}

#[test]
fn a_wire_returns_every_frame_of_both_directions() {
    let result = trial(ipv4(), each(|_, frame| vec![frame]));
    assert_eq!(result.directions.len(), 2);
    for direction in &result.directions {
        assert_eq!(direction.received, FRAMES, "{direction:?}");
        assert_eq!(direction.delay.as_ref().expect("delays").count, FRAMES);
        assert!(direction.lost_by_bin.is_empty());
    }
    assert_eq!(result.not_received(), 0);
}

/// Exchanges source and destination of the Ethernet header.
fn exchange(frame: &mut [u8]) {
    let (destination, rest) = frame.split_at_mut(6);
    destination.swap_with_slice(&mut rest[..6]);
}

#[test]
fn the_hardware_addresses_behind_a_wire_are_verified_be_they_kept_or_exchanged() {
    let profile = |wire| TrafficProfile {
        wire: Some(wire),
        ..ipv4()
    };
    let exchanging = || {
        each(|_, mut frame| {
            exchange(&mut frame);
            vec![frame]
        })
    };
    let all = |result: TrialResult| {
        result
            .directions
            .iter()
            .all(|direction| direction.received == FRAMES)
    };
    assert!(all(trial(
        profile(WireAddresses::Kept),
        each(|_, frame| vec![frame])
    )));
    assert!(all(trial(profile(WireAddresses::Exchanged), exchanging())));
    let (_, example) = wrong_fields(
        every_hundredth(|frame| exchange(frame)),
        profile(WireAddresses::Kept),
    );
    assert!(
        example.contains("Ethernet destination: expected 02:00:00:00:00:02, got 02:00:00:00:00:01"),
        "{example}"
    );
    let kept = trial(
        profile(WireAddresses::Exchanged),
        each(|_, frame| vec![frame]),
    );
    assert!(
        kept.directions
            .iter()
            .all(|direction| direction.mistranslated == FRAMES),
        "{kept:?}"
    );
}

#[test]
fn mixed_traffic_is_told_apart_and_complete() {
    let share = Share {
        foreground: 9,
        of: 10,
    };
    let result = trial(ipv6_with_background(share), each(|_, frame| vec![frame]));
    assert_eq!(forward(&result).received, FRAMES);
}

#[test]
fn many_addresses_are_verified_frame_by_frame() {
    let part = AddressPart {
        range: ValueRange {
            first: 2,
            last: 65534,
            order: ValueOrder::Pseudorandom,
        },
        ipv4_offset: 2,
        ipv6_offset: 12,
    };
    let many = || TrafficProfile {
        left_variation: AddressVariation::Part(part),
        right_variation: AddressVariation::Part(part),
        ..ipv4()
    };
    let result = trial(many(), each(|_, frame| vec![frame]));
    assert_eq!(forward(&result).received, FRAMES);
    // One bit of the variable part: this is wrong, although another frame may have had that address.
    let (_, example) = wrong_fields(every_hundredth(|frame| frame[29] ^= 1), many());
    assert!(
        example.contains("source address: expected 198.18."),
        "{example}"
    );
}

#[test]
fn lost_frames_are_counted_and_placed_in_time() {
    let result = trial(
        ipv4(),
        each(|number, frame| {
            if number % 100 == 50 {
                vec![]
            } else {
                vec![frame]
            }
        }),
    );
    let forward = forward(&result);
    assert_eq!((forward.received, forward.lost()), (990, 10));
    assert_eq!(forward.lost_by_bin, [5, 5]);
    let judged = on_time(result.clone());
    assert_eq!(judged.verdict(LossRatio::ZERO), Verdict::Lost);
    assert_eq!(judged.verdict(LossRatio(0.01)), Verdict::Passed);
}

/// Returns how many lengths there are, and their classes.
fn lengths(of: &Option<LengthDistribution>) -> Option<(u64, Vec<(u64, u64)>)> {
    let classes = |of: &LengthDistribution| {
        of.by_length
            .iter()
            .map(|class| (class.up_to, class.count))
            .collect()
    };
    of.as_ref().map(|of| (of.count, classes(of)))
}

fn one_way() -> TrafficProfile {
    TrafficProfile {
        directions: Directions::Forward,
        ..ipv4()
    }
}

#[test]
fn gaps_are_counted_with_their_lengths_and_the_distances_between_them() {
    // Gaps of 1, 2, 5 and 8 frames at 100, 200, 300 and 400; the last frame is damaged, so it is not received, but it arrives.
    let device = each(|number, mut frame| match number {
        100 | 200..=201 | 300..=304 | 400..=407 => vec![],
        999 => {
            frame[29] = 9;
            vec![frame]
        }
        _ => vec![frame],
    });
    let result = trial(one_way(), device);
    let forward = forward(&result);
    assert_eq!((forward.lost(), forward.mistranslated), (16, 1));
    assert_eq!(
        lengths(&forward.gaps),
        Some((4, vec![(1, 1), (2, 1), (8, 2)]))
    );
    let gaps = forward.gaps.as_ref().expect("gaps");
    assert_eq!((gaps.shortest, gaps.longest, gaps.total), (1, 8, 16));
    let distances = forward.gap_distances.as_ref().expect("distances");
    assert_eq!(
        (
            distances.count,
            distances.shortest,
            distances.longest,
            distances.total
        ),
        (3, 96, 100, 100 + 99 + 96)
    );
    let nothing = trial(one_way(), each(|_, frame| vec![frame]));
    let nothing = &nothing.directions[0];
    assert_eq!(
        (
            &nothing.gaps,
            &nothing.gap_distances,
            &nothing.reordering_extents,
            &nothing.duplicate_distances
        ),
        (&None, &None, &None, &None)
    );
}

#[test]
fn a_dead_device_is_one_gap() {
    let result = trial(one_way(), each(|_, _| vec![]));
    assert_eq!(lengths(&forward(&result).gaps), Some((1, vec![(1024, 1)])));
    assert_eq!(forward(&result).gap_distances, None);
}

/// Returns a device that holds every hundredth frame back until `later` further frames have passed.
fn holding_back(later: u64) -> LoopbackDevice {
    let mut held = None;
    each(move |number, frame| {
        if number % 100 == 50 {
            held = Some((number, frame));
            return vec![];
        }
        let is_due = held
            .as_ref()
            .is_some_and(|(since, _)| number == since + later);
        let due = held.take_if(|_| is_due).map(|(_, frame)| frame);
        [Some(frame), due].into_iter().flatten().collect()
    })
}

#[test]
fn the_reordering_extent_is_the_number_of_frames_that_a_frame_was_held_back_for() {
    for later in [1, 3, 17] {
        let result = trial(one_way(), holding_back(later));
        let forward = forward(&result);
        assert_eq!(
            (forward.received, forward.reordered, forward.lost()),
            (FRAMES, 10, 0)
        );
        let extents = forward.reordering_extents.as_ref().expect("extents");
        assert_eq!(
            (extents.count, extents.shortest, extents.longest),
            (10, later, later)
        );
        assert_eq!(forward.gaps, None);
    }
}

#[test]
fn in_mixed_traffic_the_extent_counts_the_frames_of_the_same_kind() {
    let share = Share {
        foreground: 9,
        of: 10,
    };
    let mixed = TrafficProfile {
        directions: Directions::Forward,
        ..ipv6_with_background(share)
    };
    // Frame 50 and every tenth before and after it are background: only frame 60 is of the same kind as the one held back.
    let result = trial(mixed, holding_back(12));
    let forward = forward(&result);
    assert_eq!(
        (forward.received, forward.reordered, forward.lost()),
        (FRAMES, 10, 0)
    );
    assert_eq!(
        lengths(&forward.reordering_extents),
        Some((10, vec![(1, 10)]))
    );
}

#[test]
fn a_copy_is_as_far_behind_as_the_frames_that_passed_it() {
    let mut held = None;
    let device = each(move |number, frame| match number % 100 {
        // A copy right behind its original, and one after five further frames.
        10 => vec![frame.clone(), frame],
        50 => {
            held = Some(frame.clone());
            vec![frame]
        }
        55 => vec![frame, held.take().expect("held")],
        _ => vec![frame],
    });
    let result = trial(one_way(), device);
    let forward = forward(&result);
    assert_eq!(
        (forward.received, forward.duplicate, forward.reordered),
        (FRAMES, 20, 0)
    );
    assert_eq!(
        lengths(&forward.duplicate_distances),
        Some((20, vec![(0, 10), (8, 10)]))
    );
    let distances = forward.duplicate_distances.as_ref().expect("distances");
    assert_eq!((distances.longest, distances.total), (5, 50));
}

#[test]
fn a_duplicate_does_not_hide_a_loss() {
    let device = each(|number, frame| match number % 100 {
        50 => vec![],
        51 => vec![frame.clone(), frame],
        _ => vec![frame],
    });
    let result = trial(ipv4(), device);
    let forward = forward(&result);
    assert_eq!(
        (forward.received, forward.lost(), forward.duplicate),
        (990, 10, 10)
    );
}

#[test]
fn frames_that_overtake_each_other_are_counted_as_reordered() {
    let mut held = None;
    let device = each(move |number, frame| match number % 100 {
        50 => {
            held = Some(frame);
            vec![]
        }
        51 => vec![frame, held.take().expect("held")],
        _ => vec![frame],
    });
    let result = trial(
        TrafficProfile {
            directions: Directions::Forward,
            ..ipv4()
        },
        device,
    );
    let forward = forward(&result);
    assert_eq!(
        (forward.received, forward.reordered, forward.lost()),
        (FRAMES, 10, 0)
    );
}

fn wrong_fields(device: LoopbackDevice, profile: TrafficProfile) -> (DirectionResult, String) {
    let result = trial(profile, device);
    let forward = forward(&result);
    assert_eq!(
        (forward.received, forward.mistranslated),
        (990, 10),
        "{forward:?}"
    );
    assert_eq!(forward.examples.len(), 5, "the first few are kept");
    (forward.clone(), forward.examples[0].clone())
}

#[test]
fn a_rewritten_port_is_a_mistranslation_told_in_one_line() {
    let (_, example) = wrong_fields(
        every_hundredth(|frame| frame[36..38].copy_from_slice(&[0, 53])),
        ipv4(),
    );
    assert!(
        example.starts_with("forward frame 50: destination port: expected "),
        "{example}"
    );
    assert!(example.ends_with(", got 53"), "{example}");
}

#[test]
fn a_vlan_tag_and_trailing_octets_are_mistranslations() {
    let (_, example) = wrong_fields(
        every_hundredth(|frame| drop(frame.splice(12..12, [0x81, 0, 0, 7]))),
        ipv4(),
    );
    assert_eq!(
        example,
        "forward frame 50: VLAN tag: expected none, got one of VLAN 7"
    );
    let (_, example) = wrong_fields(every_hundredth(|frame| frame.push(0)), ipv4());
    assert_eq!(
        example,
        "forward frame 50: octets after the datagram: expected none, got 1"
    );
}

#[test]
fn a_wrong_address_is_a_mistranslation() {
    let (_, example) = wrong_fields(every_hundredth(|frame| frame[29] = 9), ipv4());
    assert_eq!(
        example,
        "forward frame 50: source address: expected 198.18.0.2, got 198.18.0.9"
    );
}

#[test]
fn a_hop_limit_that_fell_too_far_is_a_mistranslation() {
    let profile = ipv6_with_background(Share::ALL);
    let (_, example) = wrong_fields(every_hundredth(|frame| frame[21] -= 2), profile);
    assert_eq!(example, "forward frame 50: hop limit: expected 64, got 62");
}

#[test]
fn wrong_checksums_are_mistranslations_each_under_its_name() {
    let (_, example) = wrong_fields(every_hundredth(|frame| frame[24] ^= 1), ipv4());
    assert!(example.contains("IPv4 header checksum"), "{example}");
    let (_, example) = wrong_fields(every_hundredth(|frame| frame[40] ^= 1), ipv4());
    assert!(example.contains("UDP checksum: expected 0x"), "{example}");
    let no_checksum = every_hundredth(|frame| frame[40..42].fill(0));
    let (_, example) = wrong_fields(no_checksum, ipv4());
    assert!(example.ends_with("got 0x0000"), "{example}");
}

/// Changes a word of the IPv4 header and updates its checksum (RFC 1624).
fn rewrite_word(frame: &mut [u8], at: usize, word: u16) {
    let read = |at: usize| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    let sum = (!read(24) & 0xffff) + (!read(at) & 0xffff) + u32::from(word);
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    frame[at..at + 2].copy_from_slice(&word.to_be_bytes());
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
}

#[test]
fn what_a_datagram_says_of_fragmentation_is_kept_unless_its_header_is_made_anew() {
    let (_, example) = wrong_fields(every_hundredth(|frame| rewrite_word(frame, 20, 0)), ipv4());
    assert_eq!(
        example,
        "forward frame 50: don't-fragment flag: expected set, as it was sent, got not set"
    );
    let (_, example) = wrong_fields(every_hundredth(|frame| rewrite_word(frame, 18, 7)), ipv4());
    assert_eq!(
        example,
        "forward frame 50: identification: expected 0, as it was sent, got 7"
    );
    let translated = TrafficProfile {
        keeps_identification: false,
        ..ipv4()
    };
    let result = trial(
        translated,
        every_hundredth(|frame| rewrite_word(frame, 18, 7)),
    );
    assert_eq!(forward(&result).received, FRAMES);
}

#[test]
fn a_fragment_and_a_wrong_length_are_mistranslations() {
    // More fragments is set, and the header checksum is updated (0x2000 more in the header is 0x2000 less in its complement).
    let fragment = every_hundredth(|frame| {
        frame[20] |= 0x20;
        let checksum = u16::from_be_bytes([frame[24], frame[25]]);
        let mended = if checksum >= 0x2000 {
            checksum - 0x2000
        } else {
            checksum.wrapping_sub(0x2001)
        };
        frame[24..26].copy_from_slice(&mended.to_be_bytes());
    });
    let (_, example) = wrong_fields(fragment, ipv4());
    assert!(
        example.contains("expected a whole datagram, got a fragment"),
        "{example}"
    );
    let large = TrafficProfile {
        frame_size: FrameSize(128),
        ..ipv6_with_background(Share::ALL)
    };
    let cut = every_hundredth(|frame| {
        frame.truncate(frame.len() - 8);
        frame[19] -= 8;
        frame[59] -= 8;
    });
    let (_, example) = wrong_fields(cut, large);
    assert_eq!(example, "forward frame 50: length: expected 110, got 102");
}

#[test]
fn a_damaged_payload_is_corrupt_not_mistranslated() {
    let profile = TrafficProfile {
        frame_size: FrameSize(512),
        ..ipv4()
    };
    let result = trial(
        profile,
        every_hundredth(|frame| *frame.last_mut().expect("octets") ^= 0x80),
    );
    let forward = forward(&result);
    assert_eq!(
        (
            forward.received,
            forward.corrupt,
            forward.mistranslated,
            forward.lost()
        ),
        (990, 10, 0, 0)
    );
}

#[test]
fn frames_of_somebody_else_are_ignored_and_counted() {
    let device = each(|number, frame| {
        let mut foreign = frame.clone();
        foreign[42..46].copy_from_slice(b"none");
        if number % 100 == 50 {
            vec![foreign, frame]
        } else {
            vec![frame]
        }
    });
    let result = trial(ipv4(), device);
    let forward = forward(&result);
    assert_eq!((forward.received, forward.foreign), (FRAMES, 10));
    assert_eq!(
        on_time(result.clone()).verdict(LossRatio::ZERO),
        Verdict::Passed
    );
}

#[test]
fn a_frame_sent_back_to_where_it_came_from_is_misdirected() {
    let mut number = 0;
    let device: LoopbackDevice = Box::new(move |frame, from_left, out| {
        number += u64::from(from_left);
        let goes_back = from_left && number % 100 == 50;
        out.push((from_left != goes_back, frame.to_vec()));
    });
    let result = trial(ipv4(), device);
    assert_eq!(forward(&result).lost(), 10);
    let reverse = &result.directions[1];
    assert_eq!(
        reverse.received, FRAMES,
        "a strange frame takes no number from the right ones: {reverse:?}"
    );
    assert_eq!((reverse.misdirected, reverse.duplicate), (10, 0));
}

#[test]
fn a_dead_device_loses_everything_and_the_trial_still_ends() {
    let result = trial(ipv4(), each(|_, _| vec![]));
    let forward = forward(&result);
    assert_eq!((forward.received, forward.lost()), (0, FRAMES));
    assert!(forward.delay.is_none());
}

#[test]
fn a_tester_that_cannot_keep_up_says_so() {
    // The delay is what is tested: the device takes 2 ms for each frame, out of the tester's time, so 5000 frames/s cannot be offered.
    let device = each(|_, frame| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        vec![frame]
    });
    let result = trial(
        TrafficProfile {
            directions: Directions::Forward,
            ..ipv4()
        },
        device,
    );
    assert!(
        result
            .faults
            .iter()
            .any(|f| matches!(f, Fault::SentTooSlowly { .. })),
        "{:?}",
        result.faults
    );
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Invalid);
}

#[test]
fn each_direction_can_be_loaded_alone() {
    for (directions, expected) in [
        (Directions::Forward, Direction::Forward),
        (Directions::Reverse, Direction::Reverse),
    ] {
        let result = trial(
            TrafficProfile {
                directions,
                ..ipv4()
            },
            each(|_, frame| vec![frame]),
        );
        let counted: Vec<_> = result
            .directions
            .iter()
            .map(|d| (d.direction, d.received))
            .collect();
        assert_eq!(counted, [(expected, FRAMES)]);
    }
}

/// Returns an IPv4 datagram with the frame's own addresses and another protocol and payload.
fn ipv4_of(frame: &[u8], protocol: u8, flags: u16) -> Vec<u8> {
    let mut other = frame.to_vec();
    other[20..22].copy_from_slice(&flags.to_be_bytes());
    other[23] = protocol;
    other[24..26].fill(0);
    let sum = other[14..34]
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum::<u32>();
    let folded = (sum & 0xffff) + (sum >> 16);
    other[24..26].copy_from_slice(&(!(folded as u16 + (folded >> 16) as u16)).to_be_bytes());
    other
}

#[test]
fn a_device_that_answers_with_icmp_errors_is_told_from_one_that_is_silent() {
    let result = trial(
        ipv4(),
        each(|number, frame| {
            vec![if number % 100 == 50 {
                ipv4_of(&frame, 1, 0x4000)
            } else {
                frame
            }]
        }),
    );
    let forward = forward(&result);
    assert_eq!(
        (
            forward.received,
            forward.lost(),
            forward.foreign,
            forward.icmp
        ),
        (990, 10, 10, 10)
    );
}

#[test]
fn a_device_that_fragments_loses_the_frame_and_the_fragments_are_counted() {
    // The first says that more fragments follow; the second begins at octet 8.
    let fragments = |frame: &[u8]| vec![ipv4_of(frame, 17, 0x2000), ipv4_of(frame, 17, 0x0001)];
    let result = trial(
        ipv4(),
        each(move |number, frame| {
            if number % 100 == 50 {
                fragments(&frame)
            } else {
                vec![frame]
            }
        }),
    );
    let forward = forward(&result);
    assert_eq!((forward.received, forward.not_received()), (990, 10));
    // The first part still carries the tag, which identifies the frame; the second cannot be assigned to a frame.
    assert_eq!(
        (forward.mistranslated, forward.fragments),
        (10, 10),
        "{forward:?}"
    );
    assert!(
        forward.examples[0].contains("fragmentation: expected a whole datagram"),
        "{:?}",
        forward.examples
    );
}

#[test]
fn a_flood_of_somebody_elses_datagrams_takes_no_frame_away() {
    let device = each(|_, frame| {
        let mut foreign = frame.clone();
        foreign[42..46].copy_from_slice(b"none");
        std::iter::repeat_n(foreign, 20).chain([frame]).collect()
    });
    let result = trial(ipv4(), device);
    let forward = forward(&result);
    assert_eq!(
        (forward.received, forward.foreign, forward.icmp),
        (FRAMES, 20 * FRAMES, 0)
    );
}

/// Returns the frame in which the device answers `frame` with this error; it quotes the datagram and comes from 198.18.0.1.
fn error_about(frame: &[u8], kind: u8, code: u8, value: u16) -> Vec<u8> {
    let mut message = [
        &[kind, code, 0, 0, 0, 0][..],
        &value.to_be_bytes(),
        &frame[14..],
    ]
    .concat();
    let sum: u32 = message
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    message[2..4].copy_from_slice(&(!(folded as u16 + (folded >> 16) as u16)).to_be_bytes());
    crate::common::floods::to_all(
        crate::common::floods::IPV4,
        &crate::common::floods::ipv4_datagram(1, &message),
    )
}

/// A device that answers each frame of the forward direction with an error, at the port from which it came.
fn refusing(kind: u8, code: u8, value: u16) -> LoopbackDevice {
    Box::new(move |frame, from_left, out| {
        if from_left {
            out.push((false, error_about(frame, kind, code, value)));
        } else {
            out.push((false, frame.to_vec()));
        }
    })
}

#[test]
fn a_device_that_refuses_every_frame_is_quoted_in_the_direction_that_it_refuses() {
    let result = trial(ipv4(), refusing(3, 4, 1280));
    let [forward, reverse] = &result.directions[..] else {
        panic!("{result:?}")
    };
    assert_eq!((forward.received, reverse.received), (0, FRAMES));
    let [errors] = &forward.icmp_errors[..] else {
        panic!("{forward:?}")
    };
    let (counts, of) = (
        [
            errors.messages,
            errors.quoting,
            errors.background,
            errors.wrong_checksum,
        ],
        errors.to_string(),
    );
    assert_eq!(counts, [FRAMES, FRAMES, 0, 0]);
    assert_eq!(
        of,
        "ICMP Destination Unreachable, fragmentation needed and DF set, MTU 1280 (from 198.18.0.1)"
    );
    assert!(forward.icmp_errors_in_words()[0].starts_with(&format!(
        "the device answered {FRAMES} of {FRAMES} frames with ICMP"
    )));
    // They arrived where reverse frames do, and are counted there as frames that do not belong to the trial.
    assert_eq!(
        (reverse.icmp, &reverse.icmp_errors[..], forward.icmp),
        (FRAMES, &[][..], 0)
    );
}

#[test]
fn a_refusal_is_quoted_even_if_nothing_is_sent_in_the_direction_in_which_it_comes() {
    let one_way = TrafficProfile {
        directions: Directions::Forward,
        ..ipv4()
    };
    let result = trial(one_way, refusing(3, 13, 0));
    let [forward] = &result.directions[..] else {
        panic!("{result:?}")
    };
    assert_eq!(forward.answered_with_errors(), FRAMES, "{forward:?}");
}

#[test]
fn errors_about_other_traffic_are_told_apart() {
    let other =
        |frame: &[u8]| error_about(&crate::common::floods::of_another_tester(frame), 3, 1, 0);
    let result = trial(
        ipv4(),
        Box::new(move |frame, from_left, out| out.push((!from_left, other(frame)))),
    );
    let errors = &forward(&result).icmp_errors[0];
    assert_eq!((errors.messages, errors.quoting), (FRAMES, 0));
}
