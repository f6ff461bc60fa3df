//! A mix of frame sizes in one trial: the tester with right and rigged devices in memory, and with one at links of the kernel. Every frame is verified, and the
//! frames of each size are counted exactly. The last test needs root; without it, it fails.

use crate::common::by_number::{QUEUES, by_number, in_turn, tag};
use crate::common::nat::Nat;
use crate::common::veth::Row;
use crate::common::*;
use crate::reference::datagram::Datagram;
use crate::reference::map::{Domain, MapEBr, MapTBr};
use crate::reference::six_in_four::Relay;
use crate::reference::softwires::LwAftr;
use crate::reference::{Reference, all_received, profiles};
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_io::loopback::{LoopbackDevice, pair_with_queues};
use sixbench_method::plan::SizeMix;
use sixbench_method::terms::{Direction, FrameRate, Share};
use sixbench_method::trial::{DirectionResult, SizeCounts, TrialSpec};
use sixbench_wire::tag::fill_pattern;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The octets of an IPv4 frame of 594 octets with FCS in IPv6, as a port has it.
const MIDDLE: usize = 594 - 20 - 4;

fn mixed(mix: &str, profile: TrafficProfile) -> TrafficProfile {
    let mix: SizeMix = mix.parse().expect("a mix");
    TrafficProfile {
        frame_size: mix.nominal(),
        size_mix: Some(Box::new(mix)),
        ..profile
    }
}

/// Returns how often each size was offered and not received.
fn of_sizes(result: &DirectionResult) -> Vec<(u16, u64, u64)> {
    let counts = |of: &SizeCounts| (of.frame_size.0, of.offered, of.not_received);
    result.sizes.iter().map(counts).collect()
}

fn offered(result: &DirectionResult) -> u64 {
    result.sizes.iter().map(|of| of.offered).sum()
}

/// Returns a device that loses the forward frames that are `chosen`, and the count of these.
fn losing(chosen: impl Fn(&[u8]) -> bool + Send + 'static) -> (LoopbackDevice, Arc<AtomicU64>) {
    let lost = Arc::new(AtomicU64::new(0));
    let count = lost.clone();
    let device: LoopbackDevice = Box::new(move |frame, from_left, out| {
        if from_left && tag(frame).is_some() && chosen(frame) {
            count.fetch_add(1, Ordering::Relaxed);
        } else {
            out.push((from_left, frame.to_vec()));
        }
    });
    (device, lost)
}

#[test]
fn a_wire_returns_every_frame_of_each_size_in_its_share() {
    let result = trial(mixed("imix", ipv4()), each(|_, frame| vec![frame]));
    for direction in &result.directions {
        assert_eq!(direction.received, FRAMES, "{direction:?}");
        // 83 whole groups of 12 frames, and 4 frames of the next one.
        let sizes = of_sizes(direction);
        for ((size, offered, lost), (wanted, weight)) in
            sizes.iter().zip([(84, 7), (594, 4), (1518, 1)])
        {
            assert_eq!((*size, *lost), (wanted, 0));
            assert!(
                (83 * weight..=83 * weight + 4).contains(offered),
                "{sizes:?}"
            );
        }
        assert_eq!(offered(direction), FRAMES);
    }
    assert_ne!(
        result.directions[0].sizes, result.directions[1].sizes,
        "each direction has an order of its own"
    );
}

#[test]
fn a_genome_gives_each_frame_the_size_of_its_letter() {
    let lengths: Arc<std::sync::Mutex<Vec<usize>>> = Arc::default();
    let seen = lengths.clone();
    let device: LoopbackDevice = Box::new(move |frame, from_left, out| {
        if from_left && tag(frame).is_some() {
            seen.lock().expect("lengths").push(frame.len() + 24);
        }
        out.push((from_left, frame.to_vec()));
    });
    let result = trial(mixed("imix:aagab", ipv4()), device);
    assert_eq!(
        of_sizes(&result.directions[0]),
        [(84, 600, 0), (128, 200, 0), (1518, 200, 0)]
    );
    let lengths = lengths.lock().expect("lengths");
    assert_eq!(lengths[..7], [84, 84, 1518, 84, 128, 84, 84]);
}

#[test]
fn a_device_that_loses_frames_of_one_size_shows_their_exact_number_there() {
    let (device, lost) = losing(|frame| frame.len() == MIDDLE);
    let result = trial(mixed("imix", ipv4()), device);
    let lost = lost.load(Ordering::Relaxed);
    let [small, middle, large] = of_sizes(&result.directions[0])[..] else {
        panic!("{result:?}");
    };
    assert_eq!(
        middle,
        (594, lost, lost),
        "all of that size, and there are some"
    );
    assert!(lost >= 332);
    assert_eq!((small.2, large.2), (0, 0));
    assert_eq!(result.directions[0].lost(), lost);
    assert!(
        result.directions[1]
            .sizes
            .iter()
            .all(|of| of.not_received == 0)
    );
}

#[test]
fn losses_by_size_are_exact_for_any_number_of_queues() {
    for queues in QUEUES {
        for choice in [by_number, in_turn] {
            let (device, lost) = losing(|frame| {
                frame.len() > MIDDLE && tag(frame).is_some_and(|tag| tag.sequence % 3 == 0)
            });
            let result = trial_between(
                pair_with_queues(device, queues, choice()),
                mixed("imix", ipv4()),
                TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000),
            );
            let sizes = of_sizes(&result.directions[0]);
            let lost = lost.load(Ordering::Relaxed);
            assert!(lost > 0, "{queues} queues");
            assert_eq!([sizes[0].2, sizes[1].2, sizes[2].2], [0, 0, lost]);
            assert_eq!(offered(&result.directions[0]), FRAMES);
        }
    }
}

#[test]
fn a_frame_of_another_size_of_the_mix_is_wrong_even_if_it_is_whole() {
    let device = each(|number, frame| {
        if number % 100 != 50 || frame.len() >= MIDDLE {
            return vec![frame];
        }
        // Right in every field but for the size: that of other frames of the mix.
        let mut datagram = Datagram::of_frame(&frame);
        let whole = datagram.payload.len() + MIDDLE - frame.len();
        datagram.payload.resize(whole, 0);
        fill_pattern(&mut datagram.payload[8 + sixbench_wire::tag::LEN..]);
        datagram.payload[4..6].copy_from_slice(&(whole as u16).to_be_bytes());
        vec![[&frame[..14], &datagram.sealed().octets()].concat()]
    });
    let result = trial(mixed("imix", ipv4()), device);
    let forward = &result.directions[0];
    assert!(forward.mistranslated > 0, "{forward:?}");
    assert_eq!(forward.received + forward.mistranslated, FRAMES);
    assert!(
        forward.examples[0].contains("length: expected 46, got 556"),
        "{forward:?}"
    );
    let [small, ..] = of_sizes(forward)[..] else {
        panic!("{forward:?}");
    };
    assert_eq!(small.2, forward.mistranslated);
}

#[test]
fn background_frames_have_all_sizes_too() {
    let share = Share {
        foreground: 9,
        of: 10,
    };
    let result = trial(
        mixed("imix", ipv6_with_background(share)),
        each(|_, frame| vec![frame]),
    );
    for direction in &result.directions {
        assert_eq!((direction.received, offered(direction)), (FRAMES, FRAMES));
    }
}

fn returns_all(profile: TrafficProfile, reference: impl Reference) {
    let (device, log) = crate::reference::device(reference);
    let result = trial(mixed("imix", profile), device);
    all_received(&result, &log);
    assert_eq!(result.directions[0].sizes.len(), 3);
}

#[test]
fn translators_and_tunnels_return_every_frame_of_a_mix() {
    let domain = Domain::of_the_papers(6);
    returns_all(profiles::map_t(domain), MapTBr(vec![domain]));
    returns_all(profiles::map_e(domain), MapEBr(domain));
    returns_all(profiles::lw4o6(), LwAftr::new(1000));
    returns_all(profiles::six_to_four(), Relay::six_to_four());
}

#[test]
fn connections_are_opened_and_used_by_frames_of_several_sizes() {
    let nat = Nat::default();
    let result = crate::stateful::use_them(mixed("imix", crate::stateful::nat44()), nat);
    assert_eq!(result.not_received(), 0, "{result:?}");
    assert!(result.directions.iter().all(|of| offered(of) == 1000));
}

#[test]
fn a_tester_on_two_machines_counts_each_size_exactly() {
    let (device, lost) = losing(|frame| frame.len() == MIDDLE);
    let result = crate::two_machines::through(device, &mixed("imix", ipv4()));
    let lost = lost.load(Ordering::Relaxed);
    let forward = result
        .directions
        .iter()
        .find(|of| of.direction == Direction::Forward)
        .expect("forward frames");
    assert_eq!(of_sizes(forward)[1], (594, lost, lost));
}

#[test]
fn links_of_the_kernel_carry_a_mix_by_every_backend() {
    for backend in ["packet", "xdp"] {
        let row = Row::new(&format!("mix-{backend}"));
        let attached = row.attach(each(|_, frame| vec![frame]));
        let result = patient_trial_between(
            row.open(backend),
            mixed("imix:aagad", ipv4()),
            TrialSpec::constant(FrameRate(400), 500_000_000),
        );
        drop(attached);
        for direction in &result.directions {
            assert_eq!(
                of_sizes(direction),
                [(84, 120, 0), (512, 40, 0), (1518, 40, 0)],
                "{backend}: {direction:?}"
            );
        }
    }
}
