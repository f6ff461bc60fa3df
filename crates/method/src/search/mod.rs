//! Searches: which load to try next, and when to stop. A search only decides; it never acts, sleeps or reads a clock.
//! Resuming a run is feeding the recorded results to `learn` again.

use crate::terms::{FrameRate, LossRatio};
use crate::trial::{TrialResult, TrialSpec};
use serde::{Deserialize, Serialize};

/// A decision machine over loads.
pub trait Search {
    /// The trial wanted next, `None` when the search has ended. The same until `learn` is called.
    fn next_trial(&self) -> Option<TrialSpec>;

    /// Takes in the result of the trial that was wanted.
    fn learn(&mut self, result: &TrialResult);

    /// What is known by now, one bracket for each loss goal, in the order of the goals.
    fn brackets(&self) -> Vec<Bracket>;
}

/// What a search knows about one loss goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bracket {
    /// The loss that is accepted.
    pub goal: LossRatio,
    /// The relevant lower bound: the highest load known to meet the goal below every load known to miss it. With a goal of zero
    /// this is the throughput of RFC 2544 section 26.1.
    pub lower: Option<FrameRate>,
    /// The relevant upper bound.
    pub upper: Option<FrameRate>,
    /// What keeps the result from being higher.
    pub limit: Limit,
}

/// What keeps a result from being higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The DUT lost frames at the upper bound: the result is the DUT's.
    Dut,
    /// Every trial at the upper bound was invalid: the tester could not go there. The DUT may be better than this.
    Tester,
    /// The highest load allowed by the plan met the goal.
    Maximum,
}
