//! The reasons why a point has only a lower bound, no result, or was not run.

use super::is_own;
use crate::disturbance::makes_lower_bound;
use crate::lists::by_key;
use crate::measures::{Outcome, Quantity};
use crate::plan::Test;
use crate::record::TrialRecord;
use crate::search::Limit;
use crate::terms::FrameRate;
use crate::trial::Fault;
use sixbench_stats::Censored;
use std::collections::BTreeMap;
use std::mem::discriminant;

/// The reasons why the true value may be higher than the number: how many repetitions were ended by something other than the DUT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowerBoundReasons {
    /// The number of repetitions that ended because no trial beyond the result was valid.
    pub invalid: u32,
    /// The reason why such trials were invalid.
    pub cause: InvalidCause,
    /// The number of repetitions that reached the plan's maximum: the highest load, the longest burst, the end of the trial.
    pub maximum: u32,
    /// The number of repetitions that other work on the machine, or an accident on it, may have ended.
    pub disturbed: u32,
}

/// The cause of the invalid trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidCause {
    /// The tester fell short.
    Tester,
    /// The connections of phase 1 were not all opened, or were not kept (RFC 9693).
    Connections,
    /// The names were not cached as planned, or there were too few of them (RFC 8219 section 9.2).
    Names,
    /// Other work used the DUT's processors.
    Disturbed,
    /// Other work used the tester's processors, and none is known to have used the DUT's.
    TesterDisturbed,
    /// A link between the tester and the DUT went down, or damaged frames.
    Link,
}

/// The stage whose trials were invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidStage {
    /// The search, at every load it tried.
    Search,
    /// The measurement itself.
    Measurement,
}

/// The reason why trials yielded no result.
#[derive(Clone, Debug, PartialEq)]
pub enum NoResult {
    /// There was no valid trial that counts.
    Invalid {
        /// The cause of the invalid trials.
        cause: InvalidCause,
        /// The stage of the invalid trials.
        stage: InvalidStage,
        /// The number of all trials of the point.
        trials: u32,
        /// An example of each kind of fault, with the number of trials in which that kind occurred; the most frequent first.
        faults: Vec<(Fault, u32)>,
    },
    /// Something other than the DUT ended every search while its bounds were more than 2:1 apart, so the rate lies anywhere between these.
    NotFound {
        /// The lowest of the lower bounds.
        lower: FrameRate,
        /// The highest of the upper bounds.
        upper: FrameRate,
        /// The cause of the invalid trials.
        cause: InvalidCause,
    },
    /// The measurement is made at the throughput, and the DUT lost frames even at the lowest load.
    NoLoad,
    /// The trials were valid but contained nothing to measure: no frame came back, or there was no loss to recover from.
    NothingSeen,
    /// The recorded trials are not those that this plan asks for, so they cannot be evaluated: the plan has changed since, or an earlier version
    /// judged them differently.
    Mismatched {
        /// The number of recorded trials.
        trials: u32,
    },
    /// The first repetition was not completed.
    Unfinished {
        /// The number of recorded trials.
        trials: u32,
        /// The event that ended the run.
        stop: Stop,
    },
}

/// The reason why no trial was performed.
#[derive(Clone, Debug, PartialEq)]
pub enum NotRun {
    /// The run measures a part of its plan, and this point is in another part.
    LeftToOthers,
    /// The test is optional, and something it needs is missing.
    LeftOut {
        /// A description of what is missing.
        why: String,
    },
    /// The run ended before this point.
    Stopped(Stop),
}

/// The event that ended a run before a point was complete.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The user interrupted the run.
    Interrupted,
    /// The time that the user gave the run was up.
    TimeUp {
        /// That time, seconds.
        within_s: u64,
    },
    /// The device of this point could not be set up.
    SetUpFailed {
        /// The name of its recipe.
        dut: String,
        /// The error message.
        error: String,
    },
    /// There was an error elsewhere.
    Failed {
        /// The error message.
        error: String,
    },
    /// No end is recorded: the run was killed, or is still in progress.
    CutOff,
    /// The facts do not record the event, as in earlier versions.
    Unknown,
}

impl LowerBoundReasons {
    /// Returns the reasons, or `None` if the DUT determined the number. `results` are the repetitions that have one.
    pub(super) fn find(
        test: &Test,
        results: &[&Outcome],
        records: &[&TrialRecord],
    ) -> Option<Self> {
        let brackets = || {
            results
                .iter()
                .filter(|_| test.measure.is_searched_rate())
                .filter_map(|o| o.brackets.first())
        };
        let bounds =
            || brackets().filter(|bracket| bracket.value().is_some_and(|rate| rate.is_at_least));
        let open = |limit: Limit| bounds().filter(|bracket| bracket.limit == limit).count() as u32;
        let values = results
            .iter()
            .filter(|outcome| {
                outcome
                    .values
                    .iter()
                    .any(|v| v.is_at_least && is_own(v.quantity))
            })
            .count() as u32;
        if !is_median_open(test, results) {
            return None;
        }
        let is_disturbed = makes_lower_bound(records);
        let (disturbed, values) = if is_disturbed {
            (values, 0)
        } else {
            (0, values)
        };
        let (invalid, maximum, disturbed) = (
            open(Limit::Tester),
            open(Limit::Maximum) + values,
            open(Limit::Disturbed) + disturbed,
        );
        (invalid + maximum + disturbed > 0).then(|| Self {
            invalid,
            cause: InvalidCause::find(records),
            maximum,
            disturbed,
        })
    }

    /// Returns whether a disturbance is a reason, for any of the repetitions.
    pub fn is_of_a_disturbance(&self) -> bool {
        self.disturbed > 0 || (self.invalid > 0 && self.cause.is_of_a_disturbance())
    }

    pub(super) fn name(&self) -> &'static str {
        match (self.invalid, self.cause) {
            _ if self.disturbed > 0 => "machine-disturbed",
            (0, _) => "maximum-of-the-plan",
            (_, InvalidCause::Disturbed | InvalidCause::TesterDisturbed) => "machine-disturbed",
            (_, InvalidCause::Tester) => "tester-fell-short",
            (_, InvalidCause::Connections) => "connections-not-as-asked",
            (_, InvalidCause::Names) => "names-not-as-asked",
            (_, InvalidCause::Link) => "link-went-down",
        }
    }
}

/// Returns whether the true median of a searched rate, or of any quantity that is a result in itself, may be higher than the known one.
fn is_median_open(test: &Test, results: &[&Outcome]) -> bool {
    if test.measure.is_searched_rate() {
        let rates: Censored = results
            .iter()
            .filter_map(|outcome| outcome.brackets.first()?.value())
            .collect();
        return rates.is_median_open();
    }
    let mut samples: BTreeMap<_, Censored> = BTreeMap::new();
    for value in results
        .iter()
        .flat_map(|outcome| &outcome.values)
        .filter(|value| is_own(value.quantity))
    {
        let load = (value.quantity == Quantity::FrameLossRate).then_some(value.load);
        samples
            .entry((value.quantity, value.direction, load))
            .or_default()
            .push(value.censored());
    }
    samples.values().any(Censored::is_median_open)
}

impl InvalidCause {
    /// Returns the cause of a disturbance that ended a search: other work had the DUT's processors in some of the trials, or else the tester's.
    fn of_disturbance(records: &[&TrialRecord]) -> Self {
        let mut faults = records.iter().flat_map(|record| &record.result.faults);
        if faults.any(Fault::is_of_the_machine) {
            Self::Disturbed
        } else {
            Self::TesterDisturbed
        }
    }

    /// Returns whether other work is the cause.
    pub fn is_of_a_disturbance(self) -> bool {
        matches!(self, Self::Disturbed | Self::TesterDisturbed)
    }

    /// Returns the cause of the majority of the invalid trials.
    pub fn find(records: &[&TrialRecord]) -> Self {
        let with_faults = records.iter().copied();
        let with_faults = with_faults.filter(|record| !record.result.faults.is_empty());
        let mut decisive: Vec<&TrialRecord> = with_faults
            .clone()
            .filter(|r| r.result.faults.iter().any(Fault::always_invalidates))
            .collect();
        if decisive.is_empty() {
            // Frames that a link damaged make a trial invalid only where they explain its loss.
            decisive = with_faults.collect();
        }
        if is_in_most(&decisive, Fault::is_of_connections) {
            Self::Connections
        } else if is_in_most(&decisive, Fault::is_of_names) {
            Self::Names
        } else if is_in_most(&decisive, Fault::is_of_a_link) {
            Self::Link
        } else if is_most_of_all(records) {
            Self::Disturbed
        } else {
            Self::Tester
        }
    }
}

impl NoResult {
    /// Returns the reason why none of these repetitions has a result.
    pub(super) fn explain(test: &Test, outcomes: &[&Outcome], records: &[&TrialRecord]) -> Self {
        if let Some(not_found) = Self::not_found(test, outcomes, records) {
            return not_found;
        }
        let brackets = || {
            outcomes
                .iter()
                .filter_map(|outcome| outcome.brackets.first())
                .filter(|b| b.lower.is_none())
        };
        let stage = if brackets().count() == outcomes.len()
            || brackets().any(|b| is_not_the_duts(b.limit))
        {
            InvalidStage::Search
        } else {
            InvalidStage::Measurement
        };
        let has_invalid = outcomes.iter().any(|outcome| outcome.invalid > 0);
        match stage {
            InvalidStage::Search
                if brackets().all(|b| !is_not_the_duts(b.limit))
                    && !test.measure.is_searched_rate() =>
            {
                Self::NoLoad
            }
            // A search for a number ends without a value only if its trials stay invalid.
            InvalidStage::Measurement
                if !has_invalid && !test.measure.result_kind().is_zero_unrecorded() =>
            {
                Self::NothingSeen
            }
            stage => {
                let was_disturbed = brackets().any(|bracket| bracket.limit == Limit::Disturbed);
                let cause = if was_disturbed {
                    InvalidCause::of_disturbance(records)
                } else {
                    InvalidCause::find(records)
                };
                let trials = records.len() as u32;
                Self::Invalid {
                    cause,
                    stage,
                    trials,
                    faults: faults(records),
                }
            }
        }
    }

    fn not_found(test: &Test, outcomes: &[&Outcome], records: &[&TrialRecord]) -> Option<Self> {
        let wide = || {
            outcomes
                .iter()
                .filter_map(|outcome| outcome.brackets.first())
                .filter(|found| found.is_not_found())
        };
        let (lower, upper) = (
            wide().filter_map(|found| found.lower).min()?,
            wide().filter_map(|found| found.upper).max()?,
        );
        let is_disturbed = wide().any(|found| found.limit == Limit::Disturbed);
        let cause = if is_disturbed {
            InvalidCause::of_disturbance(records)
        } else {
            InvalidCause::find(records)
        };
        test.measure.is_searched_rate().then_some(Self::NotFound {
            lower,
            upper,
            cause,
        })
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not-found",
            Self::Invalid {
                cause: InvalidCause::Tester,
                stage: InvalidStage::Search,
                ..
            } => "tester-fell-short-at-every-load",
            Self::Invalid {
                cause: InvalidCause::Tester,
                stage: InvalidStage::Measurement,
                ..
            } => "every-trial-invalid",
            Self::Invalid {
                cause: InvalidCause::Disturbed | InvalidCause::TesterDisturbed,
                ..
            } => "machine-disturbed",
            Self::Invalid {
                cause: InvalidCause::Connections,
                ..
            } => "connections-not-as-asked",
            Self::Invalid {
                cause: InvalidCause::Names,
                ..
            } => "names-not-as-asked",
            Self::Invalid {
                cause: InvalidCause::Link,
                ..
            } => "link-went-down",
            Self::NoLoad => "no-throughput-to-measure-at",
            Self::NothingSeen => "nothing-to-measure",
            Self::Mismatched { .. } => "not-of-this-plan",
            Self::Unfinished { .. } => "unfinished",
        }
    }
}

/// Returns whether the limit of a search that found nothing is not due to the DUT.
fn is_not_the_duts(limit: Limit) -> bool {
    matches!(limit, Limit::Tester | Limit::Disturbed)
}

/// Returns whether most of these trials have such a fault.
fn is_in_most(records: &[&TrialRecord], of: fn(&Fault) -> bool) -> bool {
    let with_it = records
        .iter()
        .filter(|record| record.result.faults.iter().any(of));
    2 * with_it.count() > records.len()
}

/// Returns whether other work used the DUT's processors in most of the trials with a fault.
fn is_most_of_all(records: &[&TrialRecord]) -> bool {
    let with_faults = records
        .iter()
        .filter(|record| !record.result.faults.is_empty())
        .count();
    2 * records
        .iter()
        .filter(|record| record.is_disturbed())
        .count()
        > with_faults
}

/// Returns each kind of fault with the number of trials in which it occurred, the most frequent first.
fn faults(records: &[&TrialRecord]) -> Vec<(Fault, u32)> {
    let each_kind = |faults: &Vec<Fault>| {
        by_key(
            faults
                .iter()
                .map(|fault| (discriminant(fault.itself()), fault.clone())),
        )
    };
    let all = by_key(
        records
            .iter()
            .flat_map(|record| each_kind(&record.result.faults)),
    );
    let mut found: Vec<(Fault, u32)> = all
        .into_iter()
        .map(|(_, trials)| (trials[0][0].clone(), trials.len() as u32))
        .collect();
    found.sort_by_key(|(_, trials)| std::cmp::Reverse(*trials));
    found
}

impl NotRun {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::LeftToOthers => "left-to-others",
            Self::LeftOut { .. } => "left-out",
            Self::Stopped(stop) => stop.name(),
        }
    }
}

impl Stop {
    /// Returns its name in machine-readable formats.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::TimeUp { .. } => "time-up",
            Self::SetUpFailed { .. } => "set-up-failed",
            Self::Failed { .. } => "run-failed",
            Self::CutOff => "cut-off",
            Self::Unknown => "not-recorded",
        }
    }
}
