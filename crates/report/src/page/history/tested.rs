//! The runs of a history, and what changed in them.

use sixbench_analysis::history::{
    HistoryEntry, HistorySeries, RequirementHistory, history, requirement_history,
};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Plan;
use sixbench_method::record::{Facts, TrialRecord};

/// A run of a history.
#[derive(Clone, Debug)]
pub struct HistoryRun<'a> {
    /// Its name: the value of the label, or its time.
    pub name: String,
    /// The start of its first trial, in words.
    pub started: String,
    /// The path of its results directory.
    pub directory: String,
    /// The address of its report, relative to the page.
    pub link: Option<String>,
    /// The plan of the run, resolved.
    pub plan: &'a Plan,
    /// The outcomes of the completed repetitions.
    pub outcomes: &'a [Outcome],
    /// The records of its trials.
    pub records: &'a [TrialRecord],
    /// The facts of the run.
    pub facts: &'a Facts,
    /// The changes since the run before, in words: the machine, sixbench, and the versions and configurations of devices.
    pub changed: Vec<String>,
}

/// The inputs of a history.
#[derive(Clone, Copy, Debug)]
pub struct HistoryInput<'a> {
    /// The name of the folder.
    pub title: &'a str,
    /// The label that gives runs their order and names; without one, their times do.
    pub label: Option<&'a str>,
    /// The time at which the page was made, as it is printed.
    pub generated: &'a str,
    /// The version of sixbench.
    pub sixbench: &'a str,
    /// The runs, in order.
    pub runs: &'a [HistoryRun<'a>],
    /// The directories that were left out, in words.
    pub skipped: &'a [String],
}

/// The runs, their series, and their requirements.
pub(super) struct TestedHistory<'a> {
    pub(super) input: &'a HistoryInput<'a>,
    pub(super) series: Vec<HistorySeries<'a>>,
    pub(super) requirements: Vec<RequirementHistory<'a>>,
}

impl<'a> TestedHistory<'a> {
    pub(super) fn new(input: &'a HistoryInput<'a>) -> Self {
        let entries: Vec<HistoryEntry<'a>> = input
            .runs
            .iter()
            .map(|run| HistoryEntry {
                plan: run.plan,
                outcomes: run.outcomes,
                records: run.records,
                facts: run.facts,
            })
            .collect();
        Self {
            input,
            series: history(&entries),
            requirements: requirement_history(&entries),
        }
    }

    /// Returns what else changed between two runs, in words, the first of them left out.
    pub(super) fn changed_between(&self, before: usize, at: usize) -> Vec<String> {
        self.input.runs[before + 1..=at]
            .iter()
            .flat_map(|run| run.changed.clone())
            .collect()
    }
}
