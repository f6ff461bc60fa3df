//! Back-to-back frames, RFC 9004 section 6.2: the longest burst without loss, by binary search over its length.

use super::conditions::Conditions;
use super::{Findings, Procedure, Quantity, Value};
use crate::plan::BackToBack;
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{TrialResult, TrialSpec, Verdict};

/// The search of one repetition.
#[derive(Clone, Debug)]
pub(super) struct BackToBackSearch {
    rate: FrameRate,
    step: u64,
    longest: u64,
    tries: u32,
    conditions: Conditions,
    invalid: u32,
    /// The longest burst without loss and the shortest with, frames.
    lower: u64,
    upper: Option<u64>,
    last: Option<TrialResult>,
}

impl BackToBackSearch {
    /// Bursts at `rate`, which is the settings' or the medium's maximum below it.
    pub(super) fn new(settings: &BackToBack, rate: FrameRate, tries: u32, conditions: Conditions) -> Self {
        let longest = rate.frames_in(settings.longest_ns).max(1);
        let (step, tries) = (settings.step_frames.max(1), tries.max(1));
        Self { rate, step, longest, tries, conditions, invalid: 0, lower: 0, upper: None, last: None }
    }

    /// The longest first, so that a DUT which never fills its buffer is told apart in one trial.
    fn next_burst(&self) -> Option<u64> {
        match self.upper {
            None => (self.lower < self.longest).then_some(self.longest),
            Some(upper) => (upper - self.lower > self.step).then(|| self.lower.midpoint(upper)),
        }
    }
}

impl Procedure for BackToBackSearch {
    fn next_trial(&self) -> Option<TrialSpec> {
        let burst = self.next_burst().filter(|_| self.invalid < self.tries)?;
        Some(self.conditions.apply(TrialSpec::burst(self.rate, burst)))
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        result.verdict(LossRatio::ZERO)
    }

    fn learn(&mut self, result: &TrialResult) {
        let frames = result.spec.frames();
        match self.verdict(result) {
            Verdict::Passed => self.lower = frames,
            Verdict::Lost => self.upper = Some(frames),
            Verdict::Invalid => {
                self.invalid += 1;
                return;
            }
        }
        self.invalid = 0;
        self.last = Some(result.clone());
    }

    fn findings(&self) -> Findings {
        let directions = self.last.iter().filter(|_| self.next_trial().is_none() && self.invalid < self.tries);
        let value = |direction| Value {
            quantity: Quantity::BackToBackFrames,
            direction,
            load: self.rate,
            value: self.lower as f64,
            is_at_least: self.upper.is_none(),
        };
        // Both directions burst at once; what is lost in either ends the burst of both.
        let values = directions.flat_map(|result| result.directions.iter().map(|d| value(d.direction)));
        Findings { brackets: Vec::new(), values: values.collect() }
    }
}
