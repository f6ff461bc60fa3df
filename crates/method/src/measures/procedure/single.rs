//! A measurement by one trial at one load, rerun while the tester falls short.

use super::reading::Reading;
use super::{Findings, Procedure, TrialPurpose};
use crate::measures::Value;
use crate::trial::{TrialResult, TrialSpec, Verdict};

/// The function that evaluates one trial: it returns the verdict on the tester, and the values that are valid.
pub(in crate::measures) type TrialReader = fn(&TrialResult) -> Reading;

/// One valid trial, or the finding that the tester could not make one. A trial that yields only some of its values is kept until one yields all of
/// them.
#[derive(Clone, Debug)]
pub(in crate::measures) struct SingleTrial {
    spec: TrialSpec,
    tries_left: u32,
    read: TrialReader,
    purpose: TrialPurpose,
    values: Vec<Value>,
}

impl SingleTrial {
    /// Returns a procedure of at most `tries` trials of `spec`, which ends once one yields all of its values.
    pub(in crate::measures) fn new(spec: TrialSpec, tries: u32, read: TrialReader) -> Self {
        Self {
            spec,
            tries_left: tries.max(1),
            read,
            purpose: TrialPurpose::Counts,
            values: Vec::new(),
        }
    }

    /// Returns the same procedure for delays.
    pub(in crate::measures) fn of_delays(self) -> Self {
        Self {
            purpose: TrialPurpose::Delays,
            ..self
        }
    }
}

impl Procedure for SingleTrial {
    fn next_trial(&self) -> Option<TrialSpec> {
        (self.tries_left > 0).then_some(self.spec)
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        (self.read)(result).verdict
    }

    fn purpose(&self) -> TrialPurpose {
        self.purpose
    }

    fn learn(&mut self, result: &TrialResult) {
        let reading = (self.read)(result);
        let is_valid = reading.verdict != Verdict::Invalid;
        self.tries_left = if is_valid && reading.is_whole {
            0
        } else {
            self.tries_left.saturating_sub(1)
        };
        // Of equally complete trials the last one counts, because the observations of the DUT's processors are those of the last valid trial, too.
        if is_valid && reading.values.len() >= self.values.len() {
            self.values = reading.values;
        }
    }

    fn findings(&self) -> Findings {
        Findings {
            brackets: Vec::new(),
            values: self.values.clone(),
        }
    }
}
