//! Times the bursts of a sender (RFC 2544 section 21): how fast they really left.

use sixbench_method::trial::BurstTimes;
use std::num::NonZeroU32;

/// The timer of a sender that sends bursts, or a queue's share of each.
pub(crate) struct BurstTimer {
    times: BurstTimes,
    /// The time at which the first frame of the present burst was handed over, nanoseconds.
    began_ns: u64,
    state: BurstState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BurstState {
    /// None has begun since the last one ended.
    Between,
    /// One is being sent.
    Under,
    /// Its last frame was handed over, and the port is perhaps still at work.
    HandedOver,
}

impl BurstTimer {
    pub(crate) fn new(burst: NonZeroU32) -> Self {
        let times = BurstTimes {
            frames: burst.get(),
            ..BurstTimes::default()
        };
        Self {
            times,
            began_ns: 0,
            state: BurstState::Between,
        }
    }

    /// Notes that the sender is back from handing over what it did before.
    pub(crate) fn note_return(&mut self, now_ns: u64) {
        if self.state == BurstState::HandedOver {
            let took_ns = now_ns.saturating_sub(self.began_ns);
            self.times.bursts += 1;
            self.times.total_ns += took_ns;
            self.times.longest_ns = self.times.longest_ns.max(took_ns);
            self.state = BurstState::Between;
        }
    }

    /// Notes that frames were handed over from `now_ns` on: the one with the number `first`, and further ones before `next`.
    pub(crate) fn note_sent(&mut self, first: u64, next: u64, now_ns: u64) {
        if first == next {
            return;
        }
        if self.state == BurstState::Between {
            self.began_ns = now_ns;
            self.state = BurstState::Under;
        }
        let frames = u64::from(self.times.frames);
        if next / frames > first / frames {
            self.state = BurstState::HandedOver;
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

    #[test]
    fn a_burst_takes_as_long_as_from_its_first_frame_to_the_return_from_its_last() {
        let mut timer = BurstTimer::new(NonZeroU32::new(64).expect("not zero"));
        for (first, next, now_ns) in [
            (0, 32, 1_000),
            (32, 64, 1_400),
            // The sender looks in vain until the next burst is due.
            (64, 64, 2_000),
            (64, 64, 5_000),
            (64, 96, 11_000),
            (96, 128, 11_300),
            (128, 128, 11_800),
            (128, 160, 21_000),
        ] {
            timer.note_return(now_ns);
            timer.note_sent(first, next, now_ns);
        }
        let expected = BurstTimes {
            frames: 64,
            bursts: 2,
            total_ns: 1_800,
            longest_ns: 1_000,
        };
        assert_eq!(timer.times(), expected);
    }
}
