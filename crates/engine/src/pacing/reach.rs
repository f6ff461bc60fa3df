//! The number of frames of a schedule that a sender can reach. Tables need room for no more frames than that: a search may begin at a rate that
//! no sender reaches, and its first trial then ends after half a second.

use crate::pacing::sending::GIVE_UP_LATENESS_NS;
use sixbench_io::BATCH;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{Schedule, Segment};

/// No thread sends more frames per second than this: even writing frames into a buffer takes longer (`sixbench selftest --generate`), and they
/// must also be handed over. Senders are limited to it.
pub(crate) const FASTEST: FrameRate = FrameRate(100_000_000);

/// Batches that may still leave between the frame that is too late and the sender's end.
const MARGIN: u64 = 4 * BATCH as u64;

/// Returns the most frames of `schedule` that this number of senders, which take turns, have sent when they end: all of them, or, if they are due
/// faster than any sender can send, those that leave before the senders are so late that they give up.
pub(crate) fn reach(schedule: &Schedule, senders: usize) -> u64 {
    let senders = senders.max(1) as u64;
    let mut late_ns = 0.0;
    for segment in schedule.segments() {
        let growth_ns = growth_ns(segment, senders);
        let until = (GIVE_UP_LATENESS_NS as f64 - late_ns) / growth_ns;
        if growth_ns > 0.0 && until < segment.frames as f64 {
            return (segment.first + until as u64 + MARGIN * senders).min(schedule.frames());
        }
        late_ns = (late_ns + growth_ns * segment.frames as f64).max(0.0);
    }
    schedule.frames()
}

/// Returns by how much the fastest senders fall behind with each frame, nanoseconds; negative if they keep up.
fn growth_ns(segment: &Segment, senders: u64) -> f64 {
    1e9 / (FASTEST.0 * senders) as f64 - 1e9 / segment.rate.0.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::trial::{TrialKind, TrialSpec};

    const MINUTE: u64 = 60_000_000_000;

    fn reached(spec: TrialSpec) -> u64 {
        reach(&spec.schedule(), 1)
    }

    #[test]
    fn what_a_sender_can_send_is_reached_whole() {
        for rate in [1, 1_000_000, FASTEST.0] {
            let spec = TrialSpec::constant(FrameRate(rate), MINUTE);
            assert_eq!(reached(spec), spec.frames());
        }
        assert_eq!(
            reach(&Schedule::default(), 1),
            0,
            "a direction without frames"
        );
    }

    #[test]
    fn a_billion_frames_a_second_end_after_half_a_second_and_a_ninth() {
        // The fastest sender has sent 10^8 t frames at time t, and is late by 0.9 t.
        let sent = reached(TrialSpec::constant(FrameRate(1_000_000_000), MINUTE));
        assert!((55_555_555..55_556_000).contains(&sent), "{sent}");
        let short = TrialSpec::constant(FrameRate(1_000_000_000), 1_000_000);
        assert_eq!(reached(short), short.frames(), "a short one is over before");
    }

    #[test]
    fn a_link_of_100_gigabit_is_reached_whole_by_several_senders() {
        let spec = TrialSpec::constant(FrameRate(148_809_523), MINUTE);
        assert!(reached(spec) < spec.frames());
        assert_eq!(reach(&spec.schedule(), 2), spec.frames());
    }

    #[test]
    fn a_slower_stretch_lets_the_sender_catch_up() {
        // In 0.4 s at 200 M/s it falls 0.4 s behind, and in another 0.4 s at 20 M/s it has caught up.
        let kind = TrialKind::Drop {
            at_ns: 400_000_000,
            to: FrameRate(20_000_000),
        };
        let spec = TrialSpec {
            kind,
            ..TrialSpec::constant(FrameRate(200_000_000), 10_000_000_000)
        };
        assert_eq!(reached(spec), spec.frames());
        let faster = TrialKind::Drop {
            at_ns: 400_000_000,
            to: FrameRate(190_000_000),
        };
        assert!(
            reached(TrialSpec {
                kind: faster,
                ..spec
            }) < spec.frames()
        );
    }
}
