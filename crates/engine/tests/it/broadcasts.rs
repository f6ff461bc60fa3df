//! Broadcast frames within a trial (RFC 2544 section 11.1): the tester with a router and a bridge in memory. They are counted apart, exactly, and no test
//! frame is missed for them.

use crate::common::by_number::{QUEUES, by_number, in_turn, tag};
use crate::common::*;
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_io::loopback::{LoopbackDevice, pair_with_queues};
use sixbench_method::terms::{FrameRate, Share};
use sixbench_method::trial::{BroadcastCounts, TrialSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const EVERY: u64 = 100;
const BROADCASTS: u64 = FRAMES / EVERY;

fn with_broadcasts(profile: TrafficProfile) -> TrafficProfile {
    TrafficProfile {
        broadcast_every: Some(EVERY as u32),
        ..profile
    }
}

fn is_broadcast(frame: &[u8]) -> bool {
    frame[..6] == [0xff; 6] && frame[12..14] == [0x88, 0xb5]
}

/// Returns a router, which loses the chosen test frames and every broadcast frame, and the count of the latter from the left.
fn router(loses: impl Fn(u64) -> bool + Send + 'static) -> (LoopbackDevice, Arc<AtomicU64>) {
    let broadcasts = Arc::new(AtomicU64::new(0));
    let count = broadcasts.clone();
    let device: LoopbackDevice = Box::new(move |frame, from_left, out| {
        if is_broadcast(frame) {
            count.fetch_add(u64::from(from_left), Ordering::Relaxed);
        } else if !from_left || tag(frame).is_none_or(|tag| !loses(tag.sequence)) {
            out.push((from_left, frame.to_vec()));
        }
    });
    (device, broadcasts)
}

fn counts(sent: u64, forwarded: u64) -> BroadcastCounts {
    BroadcastCounts { sent, forwarded }
}

#[test]
fn every_100th_frame_is_broadcast_and_none_of_them_is_lost() {
    for profile in [ipv4(), ipv6_with_background(Share::ALL)] {
        let (device, seen) = router(|_| false);
        let result = trial(with_broadcasts(profile), device);
        for direction in &result.directions {
            let test_frames = FRAMES - BROADCASTS;
            assert_eq!(
                (direction.intended, direction.offered, direction.received),
                (test_frames, test_frames, test_frames)
            );
            assert_eq!(direction.broadcasts, Some(counts(BROADCASTS, 0)));
            assert_eq!((direction.foreign, direction.gaps.as_ref()), (0, None));
        }
        assert_eq!(seen.load(Ordering::Relaxed), BROADCASTS);
    }
}

#[test]
fn what_a_bridge_floods_is_forwarded_and_not_foreign() {
    let result = trial(with_broadcasts(ipv4()), each(|_, frame| vec![frame]));
    for direction in &result.directions {
        assert_eq!(direction.broadcasts, Some(counts(BROADCASTS, BROADCASTS)));
        assert_eq!((direction.foreign, direction.not_received()), (0, 0));
    }
}

#[test]
fn frames_lost_on_both_sides_of_a_broadcast_frame_are_one_gap() {
    let (device, _) = router(|number| [98, 99, 100, 500].contains(&number));
    let result = trial(with_broadcasts(ipv4()), device);
    let forward = &result.directions[0];
    assert_eq!(forward.lost(), 3);
    let gaps = forward.gaps.as_ref().expect("gaps");
    assert_eq!((gaps.shortest, gaps.longest), (1, 2), "{gaps:?}");
}

#[test]
fn broadcast_frames_and_losses_are_exact_for_any_number_of_queues() {
    for queues in QUEUES {
        for choice in [by_number, in_turn] {
            let (device, seen) = router(|number| number % 7 == 3);
            let result = trial_between(
                pair_with_queues(device, queues, choice()),
                with_broadcasts(ipv4()),
                TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000),
            );
            let forward = &result.directions[0];
            let lost = (0..FRAMES)
                .filter(|number| number % 7 == 3 && number % EVERY != EVERY - 1)
                .count() as u64;
            assert_eq!(forward.lost(), lost, "{queues} queues");
            assert_eq!(forward.offered, FRAMES - BROADCASTS);
            assert_eq!(forward.broadcasts, Some(counts(BROADCASTS, 0)));
            assert_eq!(seen.load(Ordering::Relaxed), BROADCASTS);
        }
    }
}

#[test]
fn a_tester_on_two_machines_counts_broadcast_frames_exactly() {
    let result =
        crate::two_machines::through(each(|_, frame| vec![frame]), &with_broadcasts(ipv4()));
    for direction in &result.directions {
        let of = direction.broadcasts.expect("broadcast frames");
        assert_eq!(
            (of.sent, of.forwarded, direction.not_received()),
            (BROADCASTS, BROADCASTS, 0)
        );
    }
}
