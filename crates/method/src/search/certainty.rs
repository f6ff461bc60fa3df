//! The attributes of search goals that say how many trials decide on a load, and how many of them may lose more than a goal accepts (RFC 9971 section 4.6).

use crate::terms::LossRatio;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The trials that classify a load: two attributes of a search goal of RFC 9971, which all goals of a plan share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Certainty {
    /// Goal duration sum, nanoseconds: the total duration of full trials at one load that is certain to classify the load.
    pub duration_sum_ns: u64,
    /// Goal exceed ratio: the share of the duration sum that may lose more than the goal accepts at a lower bound.
    pub exceed_ratio: f64,
}

impl Bounded for Certainty {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("duration-sum-ns", NumberBound::STATED_TIME_NS),
            ("exceed-ratio", Certainty::EXCEED_RATIO),
        ],
        ..TableBounds::NONE
    };
}

impl Certainty {
    /// The exceed ratio. RFC 9971 section 4.6.4 only requires less than 1; near 1, rounding would decide on a load.
    pub const EXCEED_RATIO: NumberBound = NumberBound::new(0.0, 0.99);
    /// The most full trials that may be needed at one load.
    pub const MOST_TRIALS: u64 = 100;
    /// The least exceed ratio above 0: that of one trial among the most.
    pub const LEAST_TOLERANT: f64 = 1.0 / Self::MOST_TRIALS as f64;

    /// Returns the certainty of RFC 2544 with trials of `duration_ns` nanoseconds: one trial decides.
    pub fn one_trial(duration_ns: u64) -> Self {
        Self {
            duration_sum_ns: duration_ns,
            exceed_ratio: 0.0,
        }
    }

    /// Returns the certainty of ETSI GS NFV-TST 009 with max(r) = 2 (RFC 9971 section 4.10.3): of two trials of `duration_ns` nanoseconds, one may lose, so
    /// that a rare pause of a software DUT is not decisive.
    pub fn tst009(duration_ns: u64) -> Self {
        Self {
            duration_sum_ns: 2 * duration_ns,
            exceed_ratio: 0.5,
        }
    }

    /// Returns the least duration sum with which one lossy trial of `duration_ns` nanoseconds is tolerated, nanoseconds.
    pub fn least_tolerant_sum_ns(exceed_ratio: f64, duration_ns: u64) -> u64 {
        (duration_ns as f64 / exceed_ratio).ceil() as u64
    }

    /// Returns the certainty with as many trials of another duration, for a profile that changes the duration of trials. Both are nanoseconds.
    pub fn with_trials_of(self, new_ns: u64, old_ns: u64) -> Self {
        let trials = self.duration_sum_ns as f64 / old_ns.max(1) as f64;
        Self {
            duration_sum_ns: (trials * new_ns as f64).round() as u64,
            ..self
        }
    }
}

/// What a load must meet to pass: the loss that a trial at it may have, and the share of trials that may have more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AcceptedLoss {
    /// The goal loss ratio.
    pub loss_ratio: LossRatio,
    /// The goal exceed ratio, 0 if no trial may lose more.
    pub exceed_ratio: f64,
}

impl AcceptedLoss {
    /// No loss in any trial: the goal of the throughput of RFC 2544 section 26.1.
    pub const NONE: Self = Self::in_every_trial(LossRatio::ZERO);

    /// Returns the goal that no trial may lose more than `loss_ratio`.
    pub const fn in_every_trial(loss_ratio: LossRatio) -> Self {
        Self {
            loss_ratio,
            exceed_ratio: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_with_other_trials_keeps_their_number_at_a_load() {
        let two_minutes = Certainty {
            duration_sum_ns: 120_000_000_000,
            exceed_ratio: 0.5,
        };
        let short = two_minutes.with_trials_of(750_000_000, 60_000_000_000);
        assert_eq!(short.duration_sum_ns, 1_500_000_000);
        assert_eq!(short.exceed_ratio, 0.5);
    }
}
