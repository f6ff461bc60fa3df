//! The time that the user gave a run (`--within`), and how it is shared out.
//!
//! Each device gets the share of the remaining time that is expected of its measurements. The first repetition of every point of a device that has begun is
//! always made, and what is left of the device's time goes to disturbed trials and to further repetitions. A device that would begin after the end is
//! not measured. So a run that has no time for everything first loses repetitions, then the last devices, and ends a little late rather than in the
//! middle of a measurement.

use std::time::Duration;

/// The time of a run and of the device that is being measured; times are since the run began.
#[derive(Clone, Debug)]
pub(super) struct TimeLimit {
    within: Duration,
    device_ends: Duration,
    /// True once something was not measured for lack of time.
    has_cut: bool,
}

impl TimeLimit {
    pub(super) fn new(within: Duration) -> Self {
        Self {
            within,
            device_ends: within,
            has_cut: false,
        }
    }

    /// Gives a device its part of the time that is left, by the time that is expected of it and of the devices after it, in this order. What earlier devices
    /// had no time for is not made up for, so it has no part. Returns whether there is any time.
    pub(super) fn begin_device(&mut self, elapsed: Duration, to_come_ns: &[u64]) -> bool {
        let left = self.within.saturating_sub(elapsed);
        let device_ns = to_come_ns.first().copied().unwrap_or(0);
        let all_ns = to_come_ns.iter().fold(0, |all, ns| all + u128::from(*ns));
        let share = device_ns as f64 / all_ns.max(1) as f64;
        self.device_ends = elapsed + left.mul_f64(share);
        self.has_cut |= left.is_zero();
        !left.is_zero()
    }

    /// Returns whether there is time for one more repetition of a point.
    pub(super) fn allows(&mut self, elapsed: Duration, repetition: u32) -> bool {
        let is_allowed = repetition == 1 || elapsed < self.device_ends;
        self.has_cut |= !is_allowed;
        is_allowed
    }

    /// Returns the time that may be spent on disturbed trials: what the first repetitions, for which `first_ns` are still expected, leave of the device's.
    pub(super) fn to_spare_ns(&self, elapsed: Duration, first_ns: u64) -> u64 {
        let left = self.device_ends.saturating_sub(elapsed);
        (left.as_nanos() as u64).saturating_sub(first_ns)
    }

    /// Returns the time of the run in seconds if something was not measured for lack of it.
    pub(super) fn cut_within_s(&self) -> Option<u64> {
        self.has_cut
            .then(|| self.within.as_nanos().div_ceil(1_000_000_000) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_NS: u64 = 60_000_000_000;

    fn minutes(minutes: u64) -> Duration {
        Duration::from_secs(60 * minutes)
    }

    #[test]
    fn a_device_has_its_expected_share_of_what_is_left() {
        let mut limit = TimeLimit::new(minutes(6));
        assert!(limit.begin_device(minutes(0), &[MINUTE_NS, 2 * MINUTE_NS]));
        assert!(limit.allows(minutes(1), 3) && !limit.allows(minutes(2), 2));
        assert!(limit.allows(minutes(5), 1), "the first one is always made");
        // The first device took longer than its share, and the rest have less.
        assert!(limit.begin_device(minutes(4), &[MINUTE_NS, MINUTE_NS]));
        assert!(limit.allows(minutes(4), 2) && !limit.allows(minutes(5), 2));
    }

    #[test]
    fn the_last_device_has_all_of_the_time_that_is_left() {
        let mut limit = TimeLimit::new(minutes(6));
        limit.begin_device(minutes(5), &[4 * MINUTE_NS]);
        assert!(limit.allows(Duration::from_secs(359), 2));
    }

    #[test]
    fn a_device_is_not_begun_when_the_time_is_up() {
        let mut limit = TimeLimit::new(minutes(6));
        assert!(limit.begin_device(minutes(1), &[MINUTE_NS]));
        assert_eq!(limit.cut_within_s(), None);
        assert!(!limit.begin_device(minutes(6), &[MINUTE_NS]));
        assert_eq!(limit.cut_within_s(), Some(360));
    }

    #[test]
    fn disturbed_trials_take_nothing_from_the_first_repetitions() {
        let mut limit = TimeLimit::new(minutes(6));
        limit.begin_device(minutes(0), &[MINUTE_NS]);
        assert_eq!(limit.to_spare_ns(minutes(1), 2 * MINUTE_NS), 3 * MINUTE_NS);
        assert_eq!(limit.to_spare_ns(minutes(5), 2 * MINUTE_NS), 0);
    }
}
