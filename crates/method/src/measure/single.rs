//! A measurement of one trial at one load, repeated while the tester falls short.

use super::{Findings, Procedure, Value};
use crate::trial::{TrialResult, TrialSpec, Verdict};

/// What a trial says: whether the tester was fit, and the values.
pub(super) type Read = fn(&TrialResult) -> (Verdict, Vec<Value>);

/// One valid trial, or the admission that the tester could not make one.
#[derive(Clone, Debug)]
pub(super) struct Single {
    spec: TrialSpec,
    tries_left: u32,
    read: Read,
    values: Option<Vec<Value>>,
}

impl Single {
    /// At most `tries` trials of `spec`, until one is valid.
    pub(super) fn new(spec: TrialSpec, tries: u32, read: Read) -> Self {
        Self { spec, tries_left: tries.max(1), read, values: None }
    }
}

impl Procedure for Single {
    fn next_trial(&self) -> Option<TrialSpec> {
        (self.values.is_none() && self.tries_left > 0).then_some(self.spec)
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        (self.read)(result).0
    }

    fn learn(&mut self, result: &TrialResult) {
        self.tries_left = self.tries_left.saturating_sub(1);
        let (verdict, values) = (self.read)(result);
        if verdict != Verdict::Invalid {
            self.values = Some(values);
        }
    }

    fn findings(&self) -> Findings {
        Findings { brackets: Vec::new(), values: self.values.clone().unwrap_or_default() }
    }
}
