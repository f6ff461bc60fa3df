//! The frames on the wire, and the effect of a trial's shape on them, over devices in memory.

use crate::common::*;
use sixbench_engine::frames::profile::{AddressVariation, TrafficProfile};
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::plan::{AddressPart, Flows, Ports, ValueOrder, ValueRange};
use sixbench_method::terms::{Directions, FrameRate, Share};
use sixbench_method::trial::{Tagging, TrialKind, TrialSpec};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Returns a wire that keeps a copy of the frames sent on the left.
fn tapped() -> (LoopbackDevice, Arc<Mutex<Vec<Vec<u8>>>>) {
    let frames = Arc::new(Mutex::new(Vec::new()));
    let kept = frames.clone();
    let device: LoopbackDevice = Box::new(move |frame, from_left, out| {
        if from_left {
            kept.lock().expect("no panic").push(frame.to_vec());
        }
        out.push((from_left, frame.to_vec()));
    });
    (device, frames)
}

/// Returns the frames that leave on the left, all of which must arrive right.
fn sent(profile: TrafficProfile) -> Vec<Vec<u8>> {
    let (device, frames) = tapped();
    let result = trial(profile, device);
    result
        .directions
        .iter()
        .for_each(|d| assert_eq!((d.received, d.foreign), (FRAMES, 0), "{d:?}"));
    frames.lock().expect("no panic").clone()
}

fn part(first: u32, last: u32, order: ValueOrder) -> AddressVariation {
    AddressVariation::Part(AddressPart {
        range: ValueRange { first, last, order },
        ipv4_offset: 2,
        ipv6_offset: 12,
    })
}

fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

#[test]
fn two_hundred_and_fifty_six_networks_are_all_sent_to_and_sources_stay() {
    let networks = AddressVariation::Networks(256);
    let frames = sent(TrafficProfile {
        left_variation: networks,
        right_variation: networks,
        ..ipv4()
    });
    let third: BTreeSet<u8> = frames.iter().map(|f| f[32]).collect();
    assert!(third.len() > 200, "{}", third.len());
    assert!(
        frames
            .iter()
            .all(|f| f[26..30] == [198, 18, 0, 2] && f[33] == 2)
    );
    let six = TrafficProfile {
        right_variation: networks,
        ..ipv6_with_background(Share::ALL)
    };
    let frames = sent(six);
    let eighth: BTreeSet<u8> = frames.iter().map(|f| f[14 + 24 + 7]).collect();
    assert!(eighth.len() > 200, "{}", eighth.len());
    assert!(frames.iter().all(|f| f[14 + 24 + 6] == 0x80));
}

#[test]
fn addresses_count_up_and_down_within_their_range() {
    let (left, right) = (
        part(2, 5, ValueOrder::Increasing),
        part(10, 12, ValueOrder::Decreasing),
    );
    let frames = sent(TrafficProfile {
        left_variation: left,
        right_variation: right,
        ..ipv4()
    });
    let pairs: Vec<_> = frames[..5]
        .iter()
        .map(|f| (word(f, 28), word(f, 32)))
        .collect();
    assert_eq!(pairs, [(2, 12), (3, 11), (4, 10), (5, 12), (2, 11)]);
}

/// Returns the 32 bits of an IPv6 frame's destination that hold the varying ones, 10 octets from its beginning.
fn varying_destination(frame: &[u8]) -> u32 {
    u32::from_be_bytes([frame[48], frame[49], frame[50], frame[51]])
}

#[test]
fn each_of_131072_destinations_is_sent_to_and_the_one_that_ends_at_the_other_responder_is_found() {
    const DESTINATIONS: u64 = 131_072;
    // 50 addresses into those of the second responder.
    const LED_ASTRAY: u32 = 65_536 + 50;
    let seen = Arc::new(Mutex::new(vec![0u32; DESTINATIONS as usize]));
    let kept = seen.clone();
    let device = each(move |_, mut frame| {
        let destination = varying_destination(&frame);
        kept.lock().expect("no panic")[destination as usize] += 1;
        if destination == LED_ASTRAY {
            frame[49] = 0;
        }
        vec![frame]
    });
    let profile = TrafficProfile {
        right_variation: part(0, 131_071, ValueOrder::Increasing),
        directions: Directions::Forward,
        ..ipv6_with_background(Share::ALL)
    };
    let spec = TrialSpec::constant(FrameRate(DESTINATIONS / 4), 4_000_000_000);
    let result = trial_of(profile, device, spec);
    let forward = &result.directions[0];
    assert_eq!(
        (forward.offered, forward.received, forward.mistranslated),
        (DESTINATIONS, DESTINATIONS - 1, 1),
        "{result:?}"
    );
    assert!(
        seen.lock()
            .expect("no panic")
            .iter()
            .all(|times| *times == 1)
    );
    let expected = "destination address: expected 2001:2:0:8000:0:1:32:2, got 2001:2:0:8000::32:2";
    assert!(
        forward.examples[0].ends_with(expected),
        "{:?}",
        forward.examples
    );
}

#[test]
fn ports_of_the_directions_are_their_own() {
    let range = |first, last, order| ValueRange { first, last, order };
    let forward = Ports {
        source: range(5000, 5001, ValueOrder::Increasing),
        destination: range(9, 9, ValueOrder::Fixed),
    };
    let frames = sent(TrafficProfile {
        forward_ports: forward,
        ..ipv4()
    });
    let ports: BTreeSet<_> = frames.iter().map(|f| (word(f, 34), word(f, 36))).collect();
    assert_eq!(
        ports.into_iter().collect::<Vec<_>>(),
        [(5000, 9), (5001, 9)]
    );
}

#[test]
fn mixed_traffic_uses_up_the_whole_range_of_each_kind() {
    // Every second frame is foreground: if places were counted by the frames of the stream, only half of a range of even size would be used.
    let forward = Ports::in_order(ValueOrder::Increasing);
    let share = Share {
        foreground: 1,
        of: 2,
    };
    let frames = sent(TrafficProfile {
        forward_ports: forward,
        ..ipv6_with_background(share)
    });
    let sources: BTreeSet<u16> = frames.iter().map(|f| word(f, 54)).collect();
    assert_eq!(sources, (1024..1024 + FRAMES as u16 / 2).collect());
}

#[test]
fn frames_take_turns_among_ten_flows() {
    let frames = sent(TrafficProfile {
        flows: Some(Flows {
            count: 10,
            step_ns: 0,
        }),
        ..ipv4()
    });
    let flows: BTreeSet<_> = frames.iter().map(|f| (word(f, 34), word(f, 36))).collect();
    assert_eq!(flows.len(), 10);
}

#[test]
fn flows_that_start_one_after_the_other_are_told_apart_in_time() {
    let (device, frames) = tapped();
    let kind = TrialKind::Ramp {
        flows: 4,
        step_ns: 50_000_000,
    };
    let spec = TrialSpec {
        kind,
        ..TrialSpec::constant(FrameRate(4000), 200_000_000)
    };
    let flows = Some(Flows {
        count: 4,
        step_ns: 50_000_000,
    });
    let result = trial_of(
        TrafficProfile {
            flows,
            directions: Directions::Forward,
            ..ipv4()
        },
        device,
        spec,
    );
    assert_eq!(
        (result.directions[0].offered, result.directions[0].received),
        (500, 500)
    );
    let frames = frames.lock().expect("no panic");
    let flows = |from: usize, to: usize| {
        frames[from..to]
            .iter()
            .map(|f| word(f, 34))
            .collect::<BTreeSet<_>>()
            .len()
    };
    assert_eq!((flows(0, 50), flows(50, 150), flows(300, 500)), (1, 2, 4));
}

#[test]
fn tagged_frames_are_spread_over_the_time_after_the_wait() {
    let tagging = Some(Tagging {
        after_ns: 100_000_000,
        frames: 100,
    });
    let spec = TrialSpec {
        tagging,
        ..TrialSpec::constant(FrameRate(5000), 200_000_000)
    };
    let result = trial_of(ipv4(), each(|_, frame| vec![frame]), spec);
    for direction in &result.directions {
        assert_eq!(direction.tagged.as_ref().map(|t| t.count), Some(100));
        assert_eq!(direction.delay.as_ref().map(|d| d.count), Some(1000));
        assert_eq!(direction.delays.iter().map(|b| b.frames).sum::<u64>(), 1000);
    }
}

#[test]
fn neighbours_are_paired_for_ipdv_only_where_it_is_asked_for() {
    let lossy = || each(|number, frame| if number == 500 { vec![] } else { vec![frame] });
    assert!(trial(ipv4(), lossy()).directions[0].ipdv.is_none());
    let result = trial(
        TrafficProfile {
            ipdv: true,
            ..ipv4()
        },
        lossy(),
    );
    assert_eq!(result.directions[0].ipdv.map(|v| v.pairs), Some(FRAMES - 3));
}

#[test]
fn an_outage_is_the_longest_silence_and_its_last_frame_is_known() {
    let result = trial(
        ipv4(),
        each(|number, frame| {
            if (300..700).contains(&number) {
                vec![]
            } else {
                vec![frame]
            }
        }),
    );
    let forward = &result.directions[0];
    assert_eq!(forward.last_missing_ns, Some(699 * 200_000));
    let silence = forward.silence.expect("a silence");
    let length_ns = silence.to_ns - silence.from_ns;
    // 400 frames at 5000 frames/s, with a wide margin, since this machine may pause and catch up.
    assert!(
        (20_000_000..1_000_000_000).contains(&length_ns),
        "{silence:?}"
    );
    assert!(silence.from_ns < 1_000_000_000, "{silence:?}");
}

#[test]
fn late_frames_are_not_received_and_still_have_a_delay() {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let device = each(move |number, frame| match number {
        100..110 => {
            kept.push(frame);
            vec![]
        }
        999 => kept.drain(..).chain([frame]).collect(),
        _ => vec![frame],
    });
    let profile = TrafficProfile {
        directions: Directions::Forward,
        ..ipv4()
    };
    // They are held for at least 178 ms; the others for as long as this machine pauses.
    let result = trial_with_timeout(profile, device, Duration::from_millis(150));
    let forward = &result.directions[0];
    assert_eq!(
        (forward.received, forward.late, forward.lost()),
        (FRAMES - 10, 10, 0)
    );
    assert_eq!(forward.delays.iter().map(|b| b.frames).sum::<u64>(), FRAMES);
    assert_eq!(forward.loss_ratio_at(150_000_000).0, 0.01);
    assert_eq!(
        forward.loss_ratio_at(10_000_000_000).0,
        0.0,
        "with a longer timeout nothing would have been lost"
    );
}
