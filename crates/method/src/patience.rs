//! A disturbed trial says nothing about the device or the tester, so it is rerun for as long as the plan's patience with the point lasts. Such trials
//! are kept with the others, marked by [`Fault::MadeAgain`]; no procedure learns from them.

use crate::disturbance::{accident, is_held_up, was_done_to_it};
use crate::measures::{Judgement, TrialPurpose};
use crate::plan::Plan;
use crate::record::TrialRecord;
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{Fault, Verdict};
use std::collections::BTreeSet;

/// The time left for the disturbed trials of one point, and for waiting until other work leaves its cores.
#[derive(Clone, Debug)]
pub struct Patience {
    left_ns: u64,
    /// The repetitions and loads at which a loss at one moment was tried again: if a device repeats such a loss, the device itself is the cause.
    tried_again: BTreeSet<(u32, FrameRate)>,
}

impl Patience {
    /// Returns the patience of `plan` with a point, less the amount that `earlier` trials of it have used up. The time that an interrupted run waited for
    /// cores is in no record, so a resumed run has it again.
    pub fn new<'r>(plan: &Plan, earlier: impl IntoIterator<Item = &'r TrialRecord>) -> Self {
        let mut patience = Self {
            left_ns: plan.patience_ns,
            tried_again: BTreeSet::new(),
        };
        for record in earlier
            .into_iter()
            .filter(|record| record.result.was_made_again())
        {
            patience.spend(record.result.spec.duration_ns);
            if record.result.was_excused_as_accident() {
                patience
                    .tried_again
                    .insert((record.repetition, record.result.spec.rate));
            }
        }
        patience
    }

    /// Returns the remaining time in nanoseconds.
    pub fn left_ns(&self) -> u64 {
        self.left_ns
    }

    /// Keeps no more than this time, in nanoseconds.
    pub fn keep_at_most(&mut self, ns: u64) {
        self.left_ns = self.left_ns.min(ns);
    }

    /// Subtracts the nanoseconds of a trial or of a wait.
    pub fn spend(&mut self, ns: u64) {
        self.left_ns = self.left_ns.saturating_sub(ns);
    }

    /// Returns whether a trial is to be rerun, because other work may have caused its failure or some of the delays that it measures; if so, marks it.
    /// A loss in undisturbed times that is enough to fail is not excused.
    pub fn excuse(&mut self, record: &mut TrialRecord, judgement: Judgement) -> bool {
        let Judgement {
            verdict,
            purpose,
            is_decided,
        } = judgement;
        if self.left_ns == 0 || is_decided {
            return false;
        }
        let has_false_delays =
            purpose == TrialPurpose::Delays && verdict == Verdict::Passed && is_held_up(record);
        let was_disturbed = has_false_delays || was_done_to_it(record, verdict);
        // Asked only if there is no other reason, because it notes the load.
        let as_accident = !was_disturbed && self.note_first_accident(record, verdict);
        if !was_disturbed && !as_accident {
            return false;
        }
        self.spend(record.result.spec.duration_ns);
        record.result.faults.push(Fault::MadeAgain { as_accident });
        true
    }

    /// Returns whether all the loss occurred at one moment, for the first time at this load in this repetition; if so, notes the load.
    fn note_first_accident(&mut self, record: &TrialRecord, verdict: Verdict) -> bool {
        let is_accident = || accident(&[record], LossRatio::ZERO).is_some();
        verdict == Verdict::Lost
            && is_accident()
            && self
                .tried_again
                .insert((record.repetition, record.result.spec.rate))
    }
}
