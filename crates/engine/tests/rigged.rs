//! The whole tester against rigged devices in memory: every wrong the device does must be counted, exactly, under its own name.

use sixbench_engine::profile::{AddressOrder, Ends, Path, Paths, Profile};
use sixbench_engine::{FrameTester, Layout};
use sixbench_io::loopback::{Device, pair_with};
use sixbench_method::plan::{Ports, TrialSettings};
use sixbench_method::terms::{Direction, Directions, FrameRate, FrameSize, LossRatio, Share};
use sixbench_method::trial::{DirectionResult, Fault, Measurer, TrialResult, TrialSpec, Verdict};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const FRAMES: u64 = 1000;

fn ends(source: &str, destination: &str) -> Ends {
    Ends { source: source.parse().expect("address"), destination: destination.parse().expect("address") }
}

/// Frames come back as they were sent: what a wire does.
fn unchanged(source: &str, destination: &str) -> Path {
    Path { sent: ends(source, destination), expected: ends(source, destination), hops: 0 }
}

fn ipv4() -> Profile {
    let path = |a, b| Paths { foreground: unchanged(a, b), background: None };
    Profile {
        frame_size: FrameSize(84),
        directions: Directions::Both,
        forward: path("198.18.0.2", "198.19.0.2"),
        reverse: path("198.19.0.2", "198.18.0.2"),
        share: Share::ALL,
        ports: Ports::RFC_4814,
        addresses: AddressOrder::Fixed,
        zero_checksum_is_known: false,
        seed: 42,
        left: vec![],
        right: vec![],
    }
}

fn ipv6_with_background(share: Share) -> Profile {
    let paths =
        |a: [&str; 2], b: [&str; 2]| Paths { foreground: unchanged(a[0], b[0]), background: Some(unchanged(a[1], b[1])) };
    let (left, right) = (["2001:2::2", "2001:2::3"], ["2001:2:0:8000::2", "2001:2:0:8000::3"]);
    let base = ipv4();
    Profile { forward: paths(left, right), reverse: paths(right, left), share, ..base }
}

/// One trial of a fifth of a second through `device`.
fn trial(profile: Profile, device: Device) -> TrialResult {
    trial_of(profile, device, TrialSpec { rate: FrameRate(FRAMES * 5), duration_ns: 200_000_000 })
}

fn trial_of(profile: Profile, device: Device, spec: TrialSpec) -> TrialResult {
    let (left, right) = pair_with(device);
    // Counts are what is tested here, not timing: a stall of this busy machine must not get into the way.
    let settings = TrialSettings {
        duration_ns: spec.duration_ns,
        residual_ns: 50_000_000,
        rest_ns: 0,
        frame_timeout_ns: 0,
        stall_ns: 1_000_000_000,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let ports = (Box::new(left) as _, Box::new(right) as _);
    let mut tester = FrameTester::new(ports, profile, settings, Layout::default(), stop);
    tester.measure(&spec).expect("a trial")
}

/// Passes every frame through `change`, which gets the frame's number among those of its direction, and leaves all of what it returns
/// on the far side.
fn each(mut change: impl FnMut(u64, Vec<u8>) -> Vec<Vec<u8>> + Send + 'static) -> Device {
    let mut counts = [0, 0];
    Box::new(move |frame, from_left, out| {
        let count: &mut u64 = &mut counts[usize::from(from_left)];
        out.extend(change(*count, frame.to_vec()).into_iter().map(|frame| (from_left, frame)));
        *count += 1;
    })
}

/// Applies `change` to every hundredth frame, and keeps a valid UDP checksum out of the way by leaving it as it was.
fn every_hundredth(change: impl Fn(&mut Vec<u8>) + Send + 'static) -> Device {
    each(move |number, mut frame| {
        if number % 100 == 50 {
            change(&mut frame);
        }
        vec![frame]
    })
}

/// The same counts by a tester that kept its schedule: this machine may not have let it.
fn on_time(result: TrialResult) -> TrialResult {
    TrialResult { faults: vec![], ..result }
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

#[test]
fn mixed_traffic_is_told_apart_and_complete() {
    let share = Share { foreground: 9, of: 10 };
    let result = trial(ipv6_with_background(share), each(|_, frame| vec![frame]));
    assert_eq!(forward(&result).received, FRAMES);
}

#[test]
fn many_addresses_are_verified_frame_by_frame() {
    let many = || Profile { addresses: AddressOrder::Pseudorandom, ..ipv4() };
    let result = trial(many(), each(|_, frame| vec![frame]));
    assert_eq!(forward(&result).received, FRAMES);
    // One bit of the variable part: wrong, although another frame may well have had that address.
    let (_, example) = wrong_fields(every_hundredth(|frame| frame[29] ^= 1), many());
    assert!(example.contains("source address: expected 198.18."), "{example}");
}

#[test]
fn lost_frames_are_counted_and_placed_in_time() {
    let result = trial(ipv4(), each(|number, frame| if number % 100 == 50 { vec![] } else { vec![frame] }));
    let forward = forward(&result);
    assert_eq!((forward.received, forward.lost()), (990, 10));
    assert_eq!(forward.lost_by_bin, [5, 5]);
    let judged = on_time(result.clone());
    assert_eq!(judged.verdict(LossRatio::ZERO), Verdict::Lost);
    assert_eq!(judged.verdict(LossRatio(0.01)), Verdict::Passed);
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
    assert_eq!((forward.received, forward.lost(), forward.duplicate), (990, 10, 10));
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
    let result = trial(Profile { directions: Directions::Forward, ..ipv4() }, device);
    let forward = forward(&result);
    assert_eq!((forward.received, forward.reordered, forward.lost()), (FRAMES, 10, 0));
}

fn wrong_fields(device: Device, profile: Profile) -> (DirectionResult, String) {
    let result = trial(profile, device);
    let forward = forward(&result);
    assert_eq!((forward.received, forward.mistranslated), (990, 10), "{forward:?}");
    assert_eq!(forward.examples.len(), 5, "the first few are kept");
    (forward.clone(), forward.examples[0].clone())
}

#[test]
fn a_rewritten_port_is_a_mistranslation_told_in_one_line() {
    let (_, example) = wrong_fields(every_hundredth(|frame| frame[36..38].copy_from_slice(&[0, 53])), ipv4());
    assert!(example.starts_with("forward frame 50: destination port: expected "), "{example}");
    assert!(example.ends_with(", got 53"), "{example}");
}

#[test]
fn a_wrong_address_is_a_mistranslation() {
    let (_, example) = wrong_fields(every_hundredth(|frame| frame[29] = 9), ipv4());
    assert_eq!(example, "forward frame 50: source address: expected 198.18.0.2, got 198.18.0.9");
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

#[test]
fn a_fragment_and_a_wrong_length_are_mistranslations() {
    // More fragments set, header checksum mended (0x2000 more in the header is 0x2000 less in its complement).
    let fragment = every_hundredth(|frame| {
        frame[20] |= 0x20;
        let checksum = u16::from_be_bytes([frame[24], frame[25]]);
        let mended = if checksum >= 0x2000 { checksum - 0x2000 } else { checksum.wrapping_sub(0x2001) };
        frame[24..26].copy_from_slice(&mended.to_be_bytes());
    });
    let (_, example) = wrong_fields(fragment, ipv4());
    assert!(example.contains("expected a whole datagram, got a fragment"), "{example}");
    let large = Profile { frame_size: FrameSize(128), ..ipv6_with_background(Share::ALL) };
    let cut = every_hundredth(|frame| {
        frame.truncate(frame.len() - 8);
        frame[19] -= 8;
        frame[59] -= 8;
    });
    let (_, example) = wrong_fields(cut, large);
    assert_eq!(example, "forward frame 50: length: expected 124, got 116");
}

#[test]
fn a_damaged_payload_is_corrupt_not_mistranslated() {
    let profile = Profile { frame_size: FrameSize(512), ..ipv4() };
    let result = trial(profile, every_hundredth(|frame| *frame.last_mut().expect("octets") ^= 0x80));
    let forward = forward(&result);
    assert_eq!((forward.received, forward.corrupt, forward.mistranslated, forward.lost()), (990, 10, 0, 0));
}

#[test]
fn frames_of_somebody_else_are_ignored_and_counted() {
    let device = each(|number, frame| {
        let mut stranger = frame.clone();
        stranger[42..46].copy_from_slice(b"none");
        if number % 100 == 50 { vec![stranger, frame] } else { vec![frame] }
    });
    let result = trial(ipv4(), device);
    let forward = forward(&result);
    assert_eq!((forward.received, forward.foreign), (FRAMES, 10));
    assert_eq!(on_time(result.clone()).verdict(LossRatio::ZERO), Verdict::Passed);
}

#[test]
fn a_frame_sent_back_to_where_it_came_from_is_misdirected() {
    let mut number = 0;
    let device: Device = Box::new(move |frame, from_left, out| {
        number += u64::from(from_left);
        let goes_back = from_left && number % 100 == 50;
        out.push((from_left != goes_back, frame.to_vec()));
    });
    let result = trial(ipv4(), device);
    assert_eq!(forward(&result).lost(), 10);
    let reverse = &result.directions[1];
    assert_eq!(reverse.received, FRAMES, "a strange frame takes no number from the right ones: {reverse:?}");
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
    // The device takes 2 ms for each frame, on the tester's own time: 5000 frames/s cannot be offered.
    let device = each(|_, frame| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        vec![frame]
    });
    let result = trial(Profile { directions: Directions::Forward, ..ipv4() }, device);
    assert!(result.faults.iter().any(|f| matches!(f, Fault::SentTooSlowly { .. })), "{:?}", result.faults);
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Invalid);
}

#[test]
fn each_direction_can_be_loaded_alone() {
    for (directions, expected) in [(Directions::Forward, Direction::Forward), (Directions::Reverse, Direction::Reverse)] {
        let result = trial(Profile { directions, ..ipv4() }, each(|_, frame| vec![frame]));
        let counted: Vec<_> = result.directions.iter().map(|d| (d.direction, d.received)).collect();
        assert_eq!(counted, [(expected, FRAMES)]);
    }
}
