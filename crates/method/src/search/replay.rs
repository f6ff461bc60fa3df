//! From recorded trials back to searches: what a run found, and where a killed run goes on. Reads records, never files.
//!
//! A search is a function of its start and of the results it learned, so the records of a run hold all its decisions.

use super::{Search, Start, new_search};
use crate::plan::{Plan, Point};
use crate::record::{Outcome, TrialRecord};
use crate::stats;
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{TrialSpec, Verdict};
use std::collections::BTreeMap;

/// What the records of a run come to, in the order of the plan, repetitions ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// Measurements whose search ended.
    pub finished: Vec<Outcome>,
    /// Measurements whose search wants further trials; what is known by now.
    pub unfinished: Vec<Outcome>,
    /// Measurements whose records this plan did not ask for. They are in neither of the lists above.
    pub mismatches: Vec<Mismatch>,
}

/// A recorded trial that the plan's search would not have asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{point}, repetition {repetition}: trial {trial} was at {} for {} s, which this plan does not ask for there; \
     was the plan changed since? (resume with the resolved.toml of these results)",
    recorded.rate, recorded.duration_ns as f64 / 1e9
)]
pub struct Mismatch {
    /// Which test and frame size.
    pub point: Point,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// Which trial of the search, from 1.
    pub trial: u32,
    /// What the search asks for there; `None` when it had ended.
    pub wanted: Option<TrialSpec>,
    /// What was recorded.
    pub recorded: TrialSpec,
}

/// Replays `records` against `plan`. The order of the records does not matter.
pub fn replay(plan: &Plan, records: &[TrialRecord]) -> Replay {
    let groups = by_measurement(records);
    let mut replay = Replay::default();
    for point in plan.tests.iter().flat_map(|test| test.points()) {
        replay_point(plan, &point, &groups, &mut replay);
    }
    replay
}

/// What the finished measurements among `records` came to.
pub fn outcomes(plan: &Plan, records: &[TrialRecord]) -> Vec<Outcome> {
    replay(plan, records).finished
}

/// How the next repetition of a point starts, given the outcomes of the earlier ones of the same point: cold at first,
/// then near the median of the lower bounds (of the first goal) found so far.
pub fn start_for(earlier: &[Outcome]) -> Start {
    let lower = |outcome: &Outcome| Some(outcome.brackets.first()?.lower?.0 as f64);
    let found: Vec<f64> = earlier.iter().filter_map(lower).collect();
    stats::median(&found).map_or(Start::Cold, |rate| Start::Near(FrameRate(rate as u64)))
}

/// The search of this measurement as the recorded trials left it, and how many they were. Without records it is the
/// search a live run begins with.
///
/// # Errors
///
/// [`Mismatch`] when the records are not those of `plan`: to go on would mix two measurements.
pub fn resume(
    plan: &Plan,
    point: &Point,
    repetition: u32,
    records: &[TrialRecord],
) -> Result<(Box<dyn Search>, u32), Mismatch> {
    let groups = by_measurement(records);
    let mut earlier = Replay::default();
    let before = groups.range(..(point.clone(), repetition));
    replay_point(plan, point, &before.map(|(k, v)| (k.clone(), v.clone())).collect(), &mut earlier);
    let trials = groups.get(&(point.clone(), repetition)).map_or(&[][..], Vec::as_slice);
    let search = feed(plan, start_for(&earlier.finished), trials)?;
    Ok((search, trials.len() as u32))
}

/// The trials of each repetition of each point, in the order they were made.
type Groups<'a> = BTreeMap<(Point, u32), Vec<&'a TrialRecord>>;

fn by_measurement(records: &[TrialRecord]) -> Groups<'_> {
    let mut groups = Groups::new();
    for record in records {
        groups.entry((record.point.clone(), record.repetition)).or_default().push(record);
    }
    groups.values_mut().for_each(|trials| trials.sort_by_key(|record| record.trial));
    groups
}

/// Replays the repetitions of one point, each started from the finished ones before it.
fn replay_point(plan: &Plan, point: &Point, groups: &Groups, into: &mut Replay) {
    let first = into.finished.len();
    for ((_, repetition), trials) in groups.range((point.clone(), 0)..=(point.clone(), u32::MAX)) {
        match feed(plan, start_for(&into.finished[first..]), trials) {
            Err(mismatch) => into.mismatches.push(mismatch),
            Ok(search) => {
                let outcome = outcome(plan, point, *repetition, trials, search.as_ref());
                let ended = search.next_trial().is_none();
                let list = if ended { &mut into.finished } else { &mut into.unfinished };
                list.push(outcome);
            }
        }
    }
}

fn feed(plan: &Plan, start: Start, trials: &[&TrialRecord]) -> Result<Box<dyn Search>, Mismatch> {
    let mut search = new_search(&plan.search, &plan.trial, start);
    for record in trials {
        let wanted = search.next_trial();
        if wanted != Some(record.result.spec) {
            return Err(mismatch(record, wanted));
        }
        search.learn(&record.result);
    }
    Ok(search)
}

fn mismatch(record: &TrialRecord, wanted: Option<TrialSpec>) -> Mismatch {
    Mismatch {
        point: record.point.clone(),
        repetition: record.repetition,
        trial: record.trial,
        wanted,
        recorded: record.result.spec,
    }
}

fn outcome(plan: &Plan, point: &Point, repetition: u32, trials: &[&TrialRecord], search: &dyn Search) -> Outcome {
    let goal = plan.search.goals.first().copied().unwrap_or(LossRatio::ZERO);
    let is_invalid = |record: &&&TrialRecord| record.result.verdict(goal) == Verdict::Invalid;
    Outcome {
        point: point.clone(),
        repetition,
        trials: trials.len() as u32,
        invalid: trials.iter().filter(is_invalid).count() as u32,
        brackets: search.brackets(),
    }
}
