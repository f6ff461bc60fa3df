//! The trials at one load, and the load classification of draft-ietf-bmwg-mlrsearch. The trials are kept without verdicts.

use super::goal::Target;

/// The class of a load for one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The load meets the target, regardless of further trials.
    Lower,
    /// The load misses the target, regardless of further trials.
    Upper,
    /// More trials are needed.
    Undecided,
}

/// The trials at one load, for one goal loss ratio.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadStat {
    trials: Vec<(u64, bool)>,
}

/// The total durations of the draft's four kinds of trials at one load, in nanoseconds.
#[derive(Default)]
struct Sums {
    full_low: f64,
    full_high: f64,
    short_low: f64,
    short_high: f64,
}

impl LoadStat {
    /// Adds a trial of `duration_ns` nanoseconds; `high_loss` says whether it lost more than the goal loss ratio.
    pub fn add(&mut self, duration_ns: u64, high_loss: bool) {
        self.trials.push((duration_ns, high_loss));
    }

    /// Returns the classification for `target`. A load does not stay undecided: once the full trials add up to the target's duration sum, one of the
    /// two conditions holds.
    pub fn classify(&self, target: &Target) -> Class {
        // Below 1, because a share of 1 would make the balance infinite.
        let exceed = target.exceed_ratio.clamp(0.0, 0.99);
        let sums = self.sums(target);
        // Short low-loss trials offset short high-loss ones, but never full trials.
        let balance = sums.short_low * exceed / (1.0 - exceed);
        let excess = (sums.short_high - balance).max(0.0);
        let high = sums.full_high + excess;
        let whole = (sums.full_low + high).max(target.duration_sum_ns as f64);
        if whole - sums.full_low <= whole * exceed {
            Class::Lower
        } else if high > whole * exceed {
            Class::Upper
        } else {
            Class::Undecided
        }
    }

    fn sums(&self, target: &Target) -> Sums {
        let mut sums = Sums::default();
        for &(duration_ns, high_loss) in &self.trials {
            let sum = match (duration_ns >= target.duration_ns, high_loss) {
                (true, false) => &mut sums.full_low,
                (true, true) => &mut sums.full_high,
                (false, false) => &mut sums.short_low,
                (false, true) => &mut sums.short_high,
            };
            *sum += duration_ns as f64;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Goal;
    use crate::terms::LossRatio;

    const SECOND: u64 = 1_000_000_000;

    fn class(goal: Goal, trials: &[(u64, bool)]) -> Class {
        let mut stat = LoadStat::default();
        for &(seconds, high) in trials {
            stat.add(seconds * SECOND, high);
        }
        stat.classify(&goal.last_target())
    }

    #[test]
    fn by_rfc_2544_one_full_trial_decides() {
        let goal = Goal::rfc2544(0.001, 60 * SECOND);
        assert_eq!(class(goal, &[]), Class::Undecided);
        assert_eq!(class(goal, &[(60, false)]), Class::Lower);
        assert_eq!(class(goal, &[(60, true)]), Class::Upper);
    }

    #[test]
    fn by_rfc_2544_a_short_trial_condemns_but_never_acquits() {
        let goal = Goal::rfc2544(0.001, 60 * SECOND);
        assert_eq!(class(goal, &[(1, false), (8, false)]), Class::Undecided);
        assert_eq!(class(goal, &[(1, true)]), Class::Upper);
        assert_eq!(class(goal, &[(60, false), (1, true)]), Class::Upper);
    }

    #[test]
    fn by_tst009_half_of_two_trials_may_lose() {
        let goal = Goal::tst009(LossRatio::ZERO, 0.001, 60 * SECOND);
        assert_eq!(class(goal, &[(60, false)]), Class::Lower);
        assert_eq!(class(goal, &[(60, true)]), Class::Undecided);
        assert_eq!(class(goal, &[(60, true), (60, false)]), Class::Lower);
        assert_eq!(class(goal, &[(60, true), (60, true)]), Class::Upper);
    }

    #[test]
    fn short_low_loss_trials_balance_short_high_loss_ones() {
        let goal = Goal::tst009(LossRatio::ZERO, 0.001, 60 * SECOND);
        assert_eq!(class(goal, &[(60, true), (5, true)]), Class::Upper);
        assert_eq!(
            class(goal, &[(60, true), (5, true), (5, false)]),
            Class::Undecided
        );
    }
}
