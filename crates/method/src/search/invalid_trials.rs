//! The handling of invalid trials: they are rerun a few times, then the load counts as beyond the tester. They never count as loss of the DUT.

use crate::terms::FrameRate;
use crate::trial::{Fault, TrialResult, Verdict};
use std::collections::BTreeMap;

/// The evidence that a trial provides about one goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoalEvidence {
    Met,
    Missed,
    /// No evidence; the trial is to be rerun.
    Nothing,
    /// The tester cannot offer this load.
    BeyondTester,
}

/// Counts the consecutive invalid trials at each load. A trial in which the tester clearly could not offer the load counts twice.
#[derive(Clone, Debug)]
pub(super) struct InvalidTrialPolicy {
    max_invalid: u32,
    in_a_row: BTreeMap<FrameRate, u32>,
    beyond: Option<FrameRate>,
}

impl InvalidTrialPolicy {
    /// Treats a limit of 0 as 1: at least one invalid trial is needed before a load counts as beyond the tester.
    pub(super) fn new(max_invalid: u32) -> Self {
        Self {
            max_invalid: max_invalid.max(1),
            in_a_row: BTreeMap::new(),
            beyond: None,
        }
    }

    pub(super) fn judge(&mut self, result: &TrialResult, verdict: Verdict) -> GoalEvidence {
        let rate = result.spec.rate;
        if verdict != Verdict::Invalid {
            self.in_a_row.remove(&rate);
        }
        match verdict {
            Verdict::Passed => GoalEvidence::Met,
            Verdict::Lost => GoalEvidence::Missed,
            // A fault that is certain at this load would only recur.
            Verdict::Invalid if result.faults.iter().any(Fault::is_certain) => {
                self.count_invalid(rate, self.max_invalid)
            }
            // A trial in which the tester was clearly too slow counts as two, so that a load beyond the tester costs half the trials.
            Verdict::Invalid if result.is_beyond_tester() => self.count_invalid(rate, 2),
            Verdict::Invalid => self.count_invalid(rate, 1),
        }
    }

    pub(super) fn beyond(&self) -> Option<FrameRate> {
        self.beyond
    }

    fn count_invalid(&mut self, rate: FrameRate, weight: u32) -> GoalEvidence {
        let count = self.in_a_row.entry(rate).or_default();
        *count += weight;
        if *count < self.max_invalid {
            return GoalEvidence::Nothing;
        }
        self.beyond = Some(self.beyond.map_or(rate, |known| known.min(rate)));
        GoalEvidence::BeyondTester
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::terms::Direction;
    use crate::trial::{DirectionResult, TrialSpec};

    fn result(rate: u64, offered: u64) -> TrialResult {
        let spec = TrialSpec::constant(FrameRate(rate), 1_000_000_000);
        let mut forward = DirectionResult::counted(Direction::Forward, offered, offered);
        forward.intended = spec.frames();
        TrialResult::new(spec, vec![forward], vec![])
    }

    #[test]
    fn only_invalid_trials_in_a_row_put_a_load_beyond_the_tester() {
        let mut policy = InvalidTrialPolicy::new(2);
        let at_load = result(7, 7);
        assert_eq!(
            policy.judge(&at_load, Verdict::Invalid),
            GoalEvidence::Nothing
        );
        assert_eq!(policy.judge(&at_load, Verdict::Passed), GoalEvidence::Met);
        assert_eq!(
            policy.judge(&at_load, Verdict::Invalid),
            GoalEvidence::Nothing
        );
        assert_eq!(
            policy.judge(&result(8, 8), Verdict::Lost),
            GoalEvidence::Missed
        );
        assert_eq!(
            policy.judge(&at_load, Verdict::Invalid),
            GoalEvidence::BeyondTester
        );
        assert_eq!(policy.beyond(), Some(FrameRate(7)));
    }

    #[test]
    fn a_load_the_tester_plainly_cannot_offer_is_tried_half_as_often() {
        let mut policy = InvalidTrialPolicy::new(4);
        assert_eq!(
            policy.judge(&result(7, 3), Verdict::Invalid),
            GoalEvidence::Nothing
        );
        assert_eq!(
            policy.judge(&result(7, 3), Verdict::Invalid),
            GoalEvidence::BeyondTester
        );
    }
}
