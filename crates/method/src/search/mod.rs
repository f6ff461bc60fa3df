//! Searches: which load to try next, and when to stop. A search only decides; it never acts, sleeps or reads a clock.
//! Resuming a run is feeding the recorded results to `learn` again.

use crate::plan::{SearchMethod, SearchSettings, TrialSettings};
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{Measurer, TrialResult, TrialSpec};
use serde::{Deserialize, Serialize};

pub mod binary;
pub mod goal;
mod invalid_trials;
pub mod load_stat;
pub mod multiple_loss_ratio;
mod range;
mod selector;
mod start;

pub use binary::BinarySearch;
pub use goal::Goal;
pub use multiple_loss_ratio::MultipleLossRatioSearch;
pub use range::{Bounds, LoadRange};
pub use start::start_for;

/// A decision machine over loads.
pub trait Search {
    /// The trial wanted next, `None` when the search has ended. The same until `learn` is called.
    fn next_trial(&self) -> Option<TrialSpec>;

    /// Takes in the result of the trial that was wanted.
    fn learn(&mut self, result: &TrialResult);

    /// Returns the knowledge so far, one bracket for each loss goal, in the order of the goals.
    fn brackets(&self) -> Vec<Bracket>;
}

/// The knowledge of a search about one loss goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bracket {
    /// The loss that is accepted.
    pub goal: LossRatio,
    /// The relevant lower bound: the highest load known to meet the goal below every load known to miss it. With a goal of zero
    /// this is the throughput of RFC 2544 section 26.1.
    pub lower: Option<FrameRate>,
    /// The relevant upper bound.
    pub upper: Option<FrameRate>,
    /// The reason why the result is not higher.
    pub limit: Limit,
}

/// The reason why a result is not higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The DUT lost frames at the upper bound: the result is the DUT's.
    Dut,
    /// Every trial at the upper bound was invalid: the tester could not go there. The DUT may be better than this.
    Tester,
    /// The highest load allowed by the plan met the goal.
    Maximum,
    /// Other work had the DUT's processors in the trials that decided, or the loss was an accident on the machine: the DUT may be better
    /// than this. No search says so; it follows from the records of its trials.
    Disturbed,
}

/// The knowledge of a search before its first trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Nothing: the first trial is at the maximum.
    Cold,
    /// An earlier repetition ended near this load, frames per second per direction. It saves trials; bounds still come
    /// from this search's own trials alone.
    Near(FrameRate),
}

/// The search that `settings` ask for, with every final trial as long as `trial` says.
///
/// With MLRsearch each loss goal becomes a [`Goal::rfc2544`] that accepts the loss of the goal.
pub fn new_search(settings: &SearchSettings, trial: &TrialSettings, start: Start) -> Box<dyn Search> {
    match settings.method {
        SearchMethod::Binary => Box::new(BinarySearch::new(settings, trial.duration_ns, start)),
        SearchMethod::Mlrsearch => {
            let base = Goal::rfc2544(settings.width, trial.duration_ns);
            let goals = settings.goals.iter().map(|&loss_ratio| Goal { loss_ratio, ..base });
            Box::new(MultipleLossRatioSearch::new(
                goals.collect(),
                settings.minimum,
                settings.maximum,
                settings.max_invalid,
                start,
            ))
        }
    }
}

/// Drives `search` to its end and returns the number of trials, invalid ones included.
///
/// # Errors
///
/// The measurer's, as soon as a trial cannot be performed; the search then still wants that trial.
pub fn run<M: Measurer>(search: &mut dyn Search, measurer: &mut M) -> Result<u32, M::Error> {
    let mut trials = 0;
    while let Some(spec) = search.next_trial() {
        search.learn(&measurer.measure(&spec)?);
        trials += 1;
    }
    Ok(trials)
}
