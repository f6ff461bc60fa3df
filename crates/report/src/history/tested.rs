//! The runs of a history, and their series with the changes.

use sixbench_method::history::{HistoryEntry, HistorySeries, history};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Plan;
use sixbench_method::record::Facts;

/// A run of a history.
#[derive(Clone, Debug)]
pub struct HistoryRun<'a> {
    /// Its name: the value of the label, or the time.
    pub name: String,
    /// The start of its first trial, in words.
    pub started: String,
    /// The path of its results directory.
    pub directory: String,
    /// The address of its report, from the page.
    pub link: Option<String>,
    /// The plan of the run, resolved.
    pub plan: &'a Plan,
    /// The outcomes of the completed repetitions.
    pub outcomes: &'a [Outcome],
    /// The facts of the run.
    pub facts: &'a Facts,
    /// In words, what is different since the run before: the machine, sixbench, and the versions and configurations of devices.
    pub changed: Vec<String>,
}

/// Everything a history is made of.
#[derive(Clone, Copy, Debug)]
pub struct HistoryInput<'a> {
    /// The name of the folder.
    pub title: &'a str,
    /// The label that runs are ordered by and called after; by time if there is none.
    pub label: Option<&'a str>,
    /// When the page was made, as it shall be printed.
    pub generated: &'a str,
    /// The version of sixbench.
    pub sixbench: &'a str,
    /// The runs, in order.
    pub runs: &'a [HistoryRun<'a>],
    /// In words, the directories that were left out.
    pub skipped: &'a [String],
}

/// The runs and their series.
pub(super) struct TestedHistory<'a> {
    pub(super) input: &'a HistoryInput<'a>,
    pub(super) series: Vec<HistorySeries<'a>>,
}

impl<'a> TestedHistory<'a> {
    pub(super) fn new(input: &'a HistoryInput<'a>) -> Self {
        let entries: Vec<HistoryEntry<'a>> =
            input.runs.iter().map(|run| HistoryEntry { plan: run.plan, outcomes: run.outcomes }).collect();
        Self { input, series: history(&entries) }
    }
}
