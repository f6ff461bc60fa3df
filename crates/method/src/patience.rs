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
    /// Returns the patience of `plan` with a point, less the amount that `earlier` trials of it have used up.
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
            if was_excused_as_accident(record) {
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

    /// Returns whether a trial is to be rerun because others may have caused its failure, or a part of the delays for which it was made, and if so
    /// marks it. What it lost while nobody disturbed it, if that is enough to fail, is not excused by what happened at other times.
    pub fn excuse(&mut self, record: &mut TrialRecord, judgement: Judgement) -> bool {
        let Judgement {
            verdict,
            purpose,
            is_decided,
        } = judgement;
        let has_false_delays =
            purpose == TrialPurpose::Delays && verdict == Verdict::Passed && is_held_up(record);
        let is_excused = self.left_ns > 0
            && !is_decided
            && (has_false_delays
                || was_done_to_it(record, verdict)
                || self.is_first_accident(record, verdict));
        if is_excused {
            self.spend(record.result.spec.duration_ns);
            record.result.faults.push(Fault::MadeAgain);
        }
        is_excused
    }

    /// Returns whether all the loss occurred at one moment, for the first time at this load in this repetition.
    fn is_first_accident(&mut self, record: &TrialRecord, verdict: Verdict) -> bool {
        let is_accident = || accident(&[record], LossRatio::ZERO).is_some();
        verdict == Verdict::Lost
            && is_accident()
            && self
                .tried_again
                .insert((record.repetition, record.result.spec.rate))
    }
}

/// Returns whether a trial that was made again had lost at one moment, and was not made again for another reason already.
fn was_excused_as_accident(record: &TrialRecord) -> bool {
    let mut judged = record.clone();
    judged
        .result
        .faults
        .retain(|fault| *fault != Fault::MadeAgain);
    !was_done_to_it(&judged, Verdict::Lost) && accident(&[&judged], LossRatio::ZERO).is_some()
}
