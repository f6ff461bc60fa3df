//! The status of every planned point: a result, a lower bound, no result and why, not run and why.
//! Derived from plan, records, outcomes and facts; every report draws from it, so that no point is lost without a word.

mod reason;

pub use reason::{InvalidCause, InvalidStage, LowerBoundReasons, NoResult, NotRun, Stop};

use crate::measures::{Outcome, Quantity};
use crate::plan::{Plan, Point, Test};
use crate::record::{
    Ending, Facts, RecordsByPoint, SkipReason, TrialRecord, by_point, by_repetition,
};
use crate::replay::{by_outcome_point, is_mismatched};
use crate::terms::LossRatio;
use crate::trial::Verdict;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The status of a planned point.
#[derive(Clone, Debug, PartialEq)]
pub enum PointStatus {
    /// It has a result. That the DUT lost frames even at the lowest load is one: zero.
    Result,
    /// It has a result, but the true value may be higher.
    AtLeast(LowerBoundReasons),
    /// Trials were made and came to no result.
    NoResult(NoResult),
    /// No trial was made.
    NotRun(NotRun),
}

impl PointStatus {
    /// Returns whether there is a number for this point.
    pub fn has_result(&self) -> bool {
        matches!(self, Self::Result | Self::AtLeast(_))
    }

    /// Returns the word for it in formats for machines.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::AtLeast(_) => "at-least",
            Self::NoResult(_) => "no-result",
            Self::NotRun(_) => "not-run",
        }
    }

    /// Returns the word for its reason in formats for machines; `None` of a result.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Result => None,
            Self::AtLeast(open) => Some(open.name()),
            Self::NoResult(reason) => Some(reason.name()),
            Self::NotRun(reason) => Some(reason.name()),
        }
    }
}

/// A planned point and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPoint<'a> {
    /// The test it belongs to.
    pub test: &'a Test,
    /// Test and frame size.
    pub point: Point,
    /// The status of the point.
    pub status: PointStatus,
    /// The number of its repetitions that were made.
    pub repetitions: RepetitionCounts,
    /// The reason why the run ended before all of its repetitions were made; `None` where they were.
    pub stop: Option<Stop>,
}

/// Repetitions of one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepetitionCounts {
    /// The repetitions with a result.
    pub with_result: u32,
    /// The repetitions that ended.
    pub made: u32,
    /// The repetitions the plan asks for, at most; for an adaptive point that ended by itself as many as were made.
    pub planned: u32,
}

/// The number of points with each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusCounts {
    /// All planned points.
    pub points: usize,
    /// The points with a result, lower bounds not among them.
    pub result: usize,
    /// The points with a lower bound.
    pub at_least: usize,
    /// The points that were tried and have no result.
    pub no_result: usize,
    /// The points that were not run.
    pub not_run: usize,
}

impl StatusCounts {
    /// Counts the statuses of `points`.
    pub fn count(points: &[PlannedPoint]) -> Self {
        let mut counts = Self {
            points: points.len(),
            ..Self::default()
        };
        for point in points {
            match point.status {
                PointStatus::Result => counts.result += 1,
                PointStatus::AtLeast(_) => counts.at_least += 1,
                PointStatus::NoResult(_) => counts.no_result += 1,
                PointStatus::NotRun(_) => counts.not_run += 1,
            }
        }
        counts
    }

    /// Points that have a number.
    pub fn with_result(&self) -> usize {
        self.result + self.at_least
    }
}

/// Returns the status of every point: those of the plan in its order, then those of tests that were left out before the run began.
///
/// `outcomes` are the completed repetitions among `records`.
pub fn planned_points<'a>(
    plan: &'a Plan,
    records: &[TrialRecord],
    outcomes: &[Outcome],
    facts: &'a Facts,
) -> Vec<PlannedPoint<'a>> {
    let run = StatusSources {
        plan,
        records: by_point(records),
        outcomes: by_outcome_point(outcomes),
        facts,
    };
    let planned = plan
        .tests
        .iter()
        .flat_map(|test| test.points().map(|point| run.planned_point(test, point)));
    let left_out = facts
        .left_out()
        .filter(|test| plan.test(&test.name).is_none());
    planned
        .chain(left_out.flat_map(|test| test.points().map(|point| run.left_out_point(test, point))))
        .collect()
}

/// Returns whether a repetition has a result: a value, or the finding that even the lowest load was lost.
///
/// `trials` are the trials of this repetition; only the last of them shows a capacity of zero.
pub fn has_result(
    test: &Test,
    goal: LossRatio,
    outcome: &Outcome,
    trials: &[&TrialRecord],
) -> bool {
    if test.measure.is_searched_rate() {
        return outcome
            .brackets
            .first()
            .is_some_and(|bracket| bracket.value().is_some());
    }
    outcome.values.iter().any(|value| is_own(value.quantity))
        || is_capacity_of_zero(test, goal, trials)
}

/// Returns whether a quantity is a result of its own, and not an observation of the DUT beside it or on the way to it.
fn is_own(quantity: Quantity) -> bool {
    let is_beside = matches!(
        quantity,
        Quantity::ProcessorLoad | Quantity::ProcessorLoadDeviation | Quantity::MemoryGrowth
    );
    !is_beside && quantity != Quantity::ConnectionsHeld
}

/// A capacity below the smallest number that is tried has no value on record: its search ended with the DUT losing.
fn is_capacity_of_zero(test: &Test, goal: LossRatio, trials: &[&TrialRecord]) -> bool {
    let last = trials.iter().max_by_key(|record| record.trial);
    test.measure.result_kind().is_zero_unrecorded()
        && last.is_some_and(|record| record.result.verdict(goal) == Verdict::Lost)
}

/// Everything a status is derived from.
struct StatusSources<'a, 'r> {
    plan: &'a Plan,
    records: RecordsByPoint<'r>,
    outcomes: BTreeMap<&'r Point, Vec<&'r Outcome>>,
    facts: &'a Facts,
}

impl<'a> StatusSources<'a, '_> {
    fn planned_point(&self, test: &'a Test, point: Point) -> PlannedPoint<'a> {
        let records = self.records.get(&point).map_or(&[][..], Vec::as_slice);
        let outcomes = self.outcomes.get(&point).map_or(&[][..], Vec::as_slice);
        let goal = test.first_goal(self.plan);
        let repetitions = by_repetition(records);
        let is_result = |outcome: &&&Outcome| {
            has_result(
                test,
                goal,
                outcome,
                repetitions
                    .get(&outcome.repetition)
                    .map_or(&[][..], Vec::as_slice),
            )
        };
        let results: Vec<&Outcome> = outcomes.iter().filter(is_result).copied().collect();
        let (with_result, made) = (results.len() as u32, outcomes.len() as u32);
        let selected = self.facts.selection.repetitions(test, &point);
        let made_so_far: Vec<Outcome> = outcomes.iter().map(|&outcome| outcome.clone()).collect();
        let is_enough = made >= selected || !crate::replay::wants_more(test, &made_so_far);
        let planned = if is_enough { made } else { selected };
        let stop = (!is_enough).then(|| self.stop_of(test));
        let status = match &results[..] {
            [] if selected == 0 && records.is_empty() => PointStatus::NotRun(NotRun::LeftToOthers),
            [] if !outcomes.is_empty() => {
                PointStatus::NoResult(NoResult::explain(test, outcomes, records))
            }
            [] if is_mismatched(self.plan, &point, records) => {
                PointStatus::NoResult(NoResult::Mismatched {
                    trials: records.len() as u32,
                })
            }
            [] => self.without_outcome(records.len() as u32, stop.clone()),
            results => match LowerBoundReasons::find(test, results, records) {
                Some(open) => PointStatus::AtLeast(open),
                None => PointStatus::Result,
            },
        };
        PlannedPoint {
            test,
            point,
            status,
            repetitions: RepetitionCounts {
                with_result,
                made,
                planned,
            },
            stop,
        }
    }

    /// Returns the status of a point without a finished repetition.
    fn without_outcome(&self, trials: u32, stop: Option<Stop>) -> PointStatus {
        let stop = stop.unwrap_or(Stop::Unknown);
        match trials {
            0 => PointStatus::NotRun(NotRun::Stopped(stop)),
            trials => PointStatus::NoResult(NoResult::Unfinished { trials, stop }),
        }
    }

    /// Returns why a test was not run to its end.
    fn stop_of(&self, test: &Test) -> Stop {
        let set_up = self
            .facts
            .not_run
            .iter()
            .filter(|not_run| not_run.test == test.name);
        let mut failures = set_up.filter_map(|not_run| match &not_run.reason {
            SkipReason::SetUpFailed { dut, error } => Some(Stop::SetUpFailed {
                dut: dut.clone(),
                error: error.clone(),
            }),
            SkipReason::LeftOut { .. } => None,
        });
        failures
            .next_back()
            .unwrap_or_else(|| Stop::from_facts(self.facts))
    }

    fn left_out_point(&self, test: &'a Test, point: Point) -> PlannedPoint<'a> {
        let why = self
            .facts
            .not_run
            .iter()
            .find_map(|not_run| match &not_run.reason {
                SkipReason::LeftOut { why, .. } if not_run.test == test.name => Some(why.clone()),
                _ => None,
            });
        let status = PointStatus::NotRun(NotRun::LeftOut {
            why: why.unwrap_or_default(),
        });
        let repetitions = RepetitionCounts {
            planned: test.repetitions.most(),
            ..RepetitionCounts::default()
        };
        PlannedPoint {
            test,
            point,
            status,
            repetitions,
            stop: None,
        }
    }
}

impl Stop {
    /// Returns why the run ended, by the last of its parts.
    pub fn from_facts(facts: &Facts) -> Self {
        match facts.runs.last().map(|part| &part.ending) {
            Some(Some(Ending::Interrupted)) => Self::Interrupted,
            Some(Some(Ending::TimeUp { within_s })) => Self::TimeUp {
                within_s: *within_s,
            },
            Some(Some(Ending::Failed { error })) => Self::Failed {
                error: error.clone(),
            },
            Some(None) => Self::CutOff,
            Some(Some(Ending::Complete)) | None => Self::Unknown,
        }
    }
}
