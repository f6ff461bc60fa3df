//! What was done to a trial says nothing about the device and nothing about the tester: such a trial is made again, for as long as the plan has patience
//! with the point. The trials that were made again are kept with the others, marked by [`Fault::MadeAgain`]; no procedure learns from them.

use crate::disturbance::{accident, was_done_to_it};
use crate::plan::Plan;
use crate::record::TrialRecord;
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{Fault, Verdict};
use std::collections::BTreeSet;

/// The time that is left for disturbed trials of one point, and for waiting until others leave its cores.
#[derive(Clone, Debug)]
pub struct Patience {
    left_ns: u64,
    /// The repetition, and its loads at which a loss in one moment was tried again: a device that loses so each time has its own reasons.
    tried_again: BTreeSet<(u32, FrameRate)>,
}

impl Patience {
    /// The patience that `plan` has with a point, less what `earlier` trials of it have used up.
    pub fn new<'r>(plan: &Plan, earlier: impl IntoIterator<Item = &'r TrialRecord>) -> Self {
        let mut patience = Self { left_ns: plan.patience_ns, tried_again: BTreeSet::new() };
        for record in earlier.into_iter().filter(|record| record.result.was_made_again()) {
            patience.spend(record.result.spec.duration_ns);
            patience.tried_again.insert((record.repetition, record.result.spec.rate));
        }
        patience
    }

    /// Returns what is left, nanoseconds.
    pub fn left_ns(&self) -> u64 {
        self.left_ns
    }

    /// Takes time off, nanoseconds: that of a trial or of a wait.
    pub fn spend(&mut self, ns: u64) {
        self.left_ns = self.left_ns.saturating_sub(ns);
    }

    /// Marks a trial that is to be made again, and returns whether it is: it did not pass, and that may be others' doing. `verdict` is that of its
    /// procedure.
    pub fn excuse(&mut self, record: &mut TrialRecord, verdict: Verdict) -> bool {
        let is_excused = self.left_ns > 0 && (was_done_to_it(record, verdict) || self.is_first_accident(record, verdict));
        if is_excused {
            self.spend(record.result.spec.duration_ns);
            record.result.faults.push(Fault::MadeAgain);
        }
        is_excused
    }

    /// Returns whether all the loss stands in one moment, for the first time at this load in this repetition.
    fn is_first_accident(&mut self, record: &TrialRecord, verdict: Verdict) -> bool {
        let is_accident = || accident(&[record], LossRatio::ZERO).is_some();
        verdict == Verdict::Lost && is_accident() && self.tried_again.insert((record.repetition, record.result.spec.rate))
    }
}
