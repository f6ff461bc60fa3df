//! One repetition of a measurement: the common interface, and the building blocks of most procedures.

mod conditions;
mod context;
mod next;
pub(super) mod reading;
mod single;
mod staged;

pub(in crate::measures) use conditions::Conditions;
pub use context::ProcedureContext;
pub use next::procedure;
pub(in crate::measures) use reading::Reading;
pub(in crate::measures) use single::SingleTrial;
pub(in crate::measures) use staged::LoadSearch;

use super::Value;
use crate::search::Bracket;
use crate::trial::{TrialResult, TrialSpec, Verdict};

/// One repetition of a measurement.
pub trait Procedure {
    /// Returns the next trial to perform, or `None` when the measurement has ended. It stays the same until `learn` is called.
    fn next_trial(&self) -> Option<TrialSpec>;

    /// Returns the verdict of this measurement on the result of that trial. Loss is a failure to a search for the throughput and a result to all
    /// others; a receiver that polled late invalidates delays and nothing else.
    fn verdict(&self, result: &TrialResult) -> Verdict;

    /// Returns what that trial is made for.
    fn purpose(&self) -> TrialPurpose {
        TrialPurpose::Counts
    }

    /// Returns what this measurement says of the result of that trial.
    fn judgement(&self, result: &TrialResult) -> Judgement {
        let verdict = self.verdict(result);
        Judgement {
            verdict,
            purpose: self.purpose(),
            is_decided: verdict == Verdict::Lost
                && result
                    .with_undisturbed_loss_alone()
                    .is_some_and(|alone| self.verdict(&alone) == Verdict::Lost),
        }
    }

    /// Processes the result of that trial.
    fn learn(&mut self, result: &TrialResult);

    /// Returns the findings so far.
    fn findings(&self) -> Findings;
}

/// The judgement of a measurement on a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Its verdict.
    pub verdict: Verdict,
    /// The purpose of the trial.
    pub purpose: TrialPurpose,
    /// True if it was lost by what it lost while nobody disturbed it.
    pub is_decided: bool,
}

/// What a trial is made for, which decides what may disturb it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialPurpose {
    /// Its counts: whether frames came back, or how many.
    Counts,
    /// The delays of its frames.
    Delays,
}

/// The findings of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The results of the search for the load, one for each loss goal.
    pub brackets: Vec<Bracket>,
    /// Everything else.
    pub values: Vec<Value>,
}
