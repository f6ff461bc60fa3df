//! Times the bursts of a sender (RFC 2544 section 21): how fast they really left.

use sixbench_method::trial::BurstTimes;
use std::num::NonZeroU32;

/// The timer of a sender that sends bursts, or a queue's share of each.
pub(crate) struct BurstTimer {
    times: BurstTimes,
    /// The time at which the first frame of the present burst was handed over, nanoseconds; `None` between two bursts.
    began_ns: Option<u64>,
    /// The last handing over, if a burst ended in it and the sender is not back from it.
    handed_over: Option<HandedOver>,
}

/// Frames that were handed over at once, among them the last ones of bursts.
struct HandedOver {
    /// The time before, nanoseconds.
    at_ns: u64,
    /// The bursts that ended.
    ended: u64,
    /// True if the first frames of the next burst were among them.
    goes_on: bool,
}

impl BurstTimer {
    pub(crate) fn new(burst: NonZeroU32) -> Self {
        let times = BurstTimes {
            frames: burst.get(),
            ..BurstTimes::default()
        };
        Self {
            times,
            began_ns: None,
            handed_over: None,
        }
    }

    /// Notes that the sender is back from handing over what it did before. Bursts that ended together are given the time of all of them.
    pub(crate) fn note_return(&mut self, now_ns: u64) {
        let Some(handed) = self.handed_over.take() else {
            return;
        };
        let took_ns = now_ns.saturating_sub(self.began_ns.unwrap_or(handed.at_ns));
        self.times.bursts += handed.ended;
        self.times.total_ns += took_ns * handed.ended;
        self.times.longest_ns = self.times.longest_ns.max(took_ns);
        self.began_ns = handed.goes_on.then_some(handed.at_ns);
    }

    /// Notes that frames were handed over from `now_ns` on: those with the numbers from `first` to `last`. The sender's next frame has the number `next`.
    pub(crate) fn note_sent(&mut self, first: u64, last: u64, next: u64, now_ns: u64) {
        self.began_ns.get_or_insert(now_ns);
        let frames = u64::from(self.times.frames);
        let ended = next / frames - first / frames;
        if ended > 0 {
            self.handed_over = Some(HandedOver {
                at_ns: now_ns,
                ended,
                goes_on: last / frames == next / frames,
            });
        }
    }

    /// Returns the times of the bursts that have ended.
    pub(crate) fn times(&self) -> BurstTimes {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the times of bursts of so many frames, by what a sender of all frames hands over: the first frame, the one after the last, and the time.
    fn times(frames: u32, sent: &[(u64, u64, u64)]) -> BurstTimes {
        let mut timer = BurstTimer::new(NonZeroU32::new(frames).expect("not zero"));
        for &(first, next, now_ns) in sent {
            timer.note_return(now_ns);
            if first < next {
                timer.note_sent(first, next - 1, next, now_ns);
            }
        }
        timer.times()
    }

    #[test]
    fn a_burst_takes_as_long_as_from_its_first_frame_to_the_return_from_its_last() {
        let found = times(
            64,
            &[
                (0, 32, 1_000),
                (32, 64, 1_400),
                // The sender looks in vain until the next burst is due.
                (64, 64, 2_000),
                (64, 64, 5_000),
                (64, 96, 11_000),
                (96, 128, 11_300),
                (128, 128, 11_800),
                (128, 160, 21_000),
            ],
        );
        let expected = BurstTimes {
            frames: 64,
            bursts: 2,
            total_ns: 1_800,
            longest_ns: 1_000,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_late_sender_hands_over_the_end_of_a_burst_with_the_beginning_of_the_next() {
        let found = times(48, &[(0, 64, 1_000), (64, 96, 1_500), (96, 96, 1_900)]);
        assert_eq!((found.bursts, found.total_ns), (2, 500 + 900));
        let several = times(16, &[(0, 64, 1_000), (64, 64, 1_800)]);
        assert_eq!((several.bursts, several.total_ns), (4, 4 * 800));
    }
}
