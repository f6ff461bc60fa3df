//! Loads in bursts (RFC 2544 section 21): the tester with a device in memory. All frames leave, none before its burst is due: the receiver would call such a
//! frame wrong.

use crate::common::by_number::tag;
use crate::common::*;
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_io::loopback::LoopbackDevice;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

const BURST: u32 = 50;

fn in_bursts(profile: TrafficProfile) -> TrafficProfile {
    TrafficProfile {
        burst: NonZeroU32::new(BURST),
        ..profile
    }
}

#[test]
fn the_frames_of_a_burst_leave_together_and_the_next_waits_for_the_mean_rate() {
    let times = Arc::new(Mutex::new(Vec::new()));
    let noted = times.clone();
    let device: LoopbackDevice = Box::new(move |frame, from_left, out| {
        if from_left && let Some(tag) = tag(frame) {
            noted
                .lock()
                .expect("times")
                .push((tag.sequence, tag.time_ns));
        }
        out.push((from_left, frame.to_vec()));
    });
    let result = trial(in_bursts(ipv4()), device);
    for direction in &result.directions {
        assert_eq!(
            (direction.intended, direction.offered, direction.received),
            (FRAMES, FRAMES, FRAMES)
        );
        let bursts = direction.bursts.expect("bursts");
        assert_eq!(bursts.frames, BURST);
        assert!(
            (1..=FRAMES / u64::from(BURST)).contains(&bursts.bursts),
            "{bursts:?}"
        );
        assert!(bursts.longest_ns <= bursts.total_ns, "{bursts:?}");
    }
    let mut times = times.lock().expect("times").clone();
    times.sort_unstable();
    let apart_ns = 1_000_000_000 / (FRAMES * 5) * u64::from(BURST);
    let together = times
        .chunks(BURST as usize)
        .filter(|burst| burst[burst.len() - 1].1 - burst[0].1 < apart_ns / 2)
        .count();
    // A stall in the middle of a burst parts it, but not most of them.
    assert!(together > times.len() / BURST as usize / 2, "{together}");
}
