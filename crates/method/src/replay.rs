//! Replays searches from recorded trials: the results of a run, and the state in which an interrupted run continues. Reads records, never files.
//!
//! A procedure depends only on its start and on the results it learned, so the records of a run determine all its decisions.

use crate::disturbance::{makes_lower_bound, makes_upper_bound, signs_of, weighed};
use crate::event::Event;
use crate::measures::{Findings, LoadSource, Outcome, Procedure, Value, procedure};
use crate::plan::{Plan, Point, Test};
use crate::record::TrialRecord;
use crate::search::Bracket;
use crate::terms::LossRatio;
use crate::throughput::{points, shared};
use crate::trial::{TrialSpec, Verdict};
use std::collections::BTreeMap;

/// The results of replaying the records of a run, in the order of the plan, repetitions ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// Measurements that have ended.
    pub finished: Vec<Outcome>,
    /// Measurements that need further trials, with their results so far.
    pub unfinished: Vec<Outcome>,
    /// Measurements with records that this plan did not ask for. They are in neither of the lists above.
    pub mismatches: Vec<ReplayMismatch>,
}

/// A recorded trial that the plan's search would not have asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{point}, repetition {repetition}: trial {trial} was at {} for {} s, which is not what this plan does there; has the plan \
     been changed since? (resume with the resolved.toml of these results)",
    recorded.rate, recorded.duration_ns as f64 / 1e9
)]
pub struct ReplayMismatch {
    /// The test and frame size.
    pub point: Point,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The number of the trial in the search, from 1.
    pub trial: u32,
    /// The trial that the search asks for at that point; `None` if it had ended.
    pub wanted: Option<TrialSpec>,
    /// The trial that was recorded.
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

/// Returns the outcomes of the finished measurements among `records`.
pub fn outcomes(plan: &Plan, records: &[TrialRecord]) -> Vec<Outcome> {
    replay(plan, records).finished
}

/// Returns the outcomes of the finished repetitions of one point.
pub fn outcomes_of(plan: &Plan, point: &Point, records: &[TrialRecord]) -> Vec<Outcome> {
    let mut replay = Replay::default();
    replay_point(
        plan,
        point,
        &by_measurement(records.iter().filter(|record| record.point == *point)),
        &mut replay,
    );
    replay.finished
}

/// Returns the outcomes grouped by point, in the original order within each.
pub fn by_outcome_point(outcomes: &[Outcome]) -> BTreeMap<&Point, Vec<&Outcome>> {
    let mut found: BTreeMap<&Point, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        found.entry(&outcome.point).or_default().push(outcome);
    }
    found
}

/// Returns whether some of these records of one point belong to trials that the plan does not ask for.
pub(crate) fn is_mismatched(plan: &Plan, point: &Point, records: &[&TrialRecord]) -> bool {
    let mut replay = Replay::default();
    replay_point(
        plan,
        point,
        &by_measurement(records.iter().copied()),
        &mut replay,
    );
    !replay.mismatches.is_empty()
}

/// Returns the events that the run reported about its trials, starting with the trial number `from`, counted from 0 in the order in which they were
/// made.
pub fn events(plan: &Plan, records: &[TrialRecord], from: usize) -> Vec<Event> {
    let goal = plan
        .search
        .goals
        .first()
        .copied()
        .unwrap_or(LossRatio::ZERO);
    let repetition_of = |record: &TrialRecord| (record.point.clone(), record.repetition);
    let mut events = Vec::new();
    for (index, record) in records.iter().enumerate().skip(from) {
        let Some(test) = plan.test(&record.point.test) else {
            continue;
        };
        let (point, repetition) = repetition_of(record);
        if index == 0 || repetition_of(&records[index - 1]) != repetition_of(record) {
            let of = test.repetitions.most();
            events.push(Event::MeasurementStarted {
                point: point.clone(),
                repetition,
                of,
                next: None,
            });
        }
        events.push(Event::TrialEnded {
            record: Box::new(record.clone()),
            verdict: record.result.verdict(goal),
        });
        if records
            .get(index + 1)
            .is_none_or(|next| repetition_of(next) != repetition_of(record))
        {
            let ended = outcomes_of(plan, &point, &records[..=index])
                .into_iter()
                .find(|o| o.repetition == repetition);
            let measure = test.measure.name().to_owned();
            events.extend(ended.map(|outcome| Event::MeasurementEnded { measure, outcome }));
        }
    }
    events
}

/// Returns whether a point needs a further repetition, given the outcomes of those made. A repetition without a result counts as made, so that a
/// point that never has one ends, too.
pub fn wants_more(test: &Test, made: &[Outcome]) -> bool {
    let values: Vec<f64> = made
        .iter()
        .filter_map(|outcome| outcome.known_headline(&test.measure))
        .collect();
    (made.len() as u32) < test.repetitions.most() && !test.repetitions.is_enough(&values)
}

/// The state of a measurement after its recorded trials.
pub struct ResumedMeasurement {
    /// The procedure to continue. Without records it is the one that a live run begins with.
    pub procedure: Box<dyn Procedure>,
    /// The number of trials recorded so far.
    pub trials: u32,
    /// The searches that determine its load, to be recorded with each of its trials.
    pub load: Option<LoadSource>,
}

/// Returns the state of a measurement after its recorded trials.
///
/// # Errors
///
/// [`ReplayMismatch`] if the records do not belong to `plan`: continuing would mix two measurements.
pub fn resume(
    plan: &Plan,
    point: &Point,
    repetition: u32,
    records: &[TrialRecord],
) -> Result<ResumedMeasurement, Box<ReplayMismatch>> {
    let groups = by_measurement(records);
    let mut earlier = Replay::default();
    let before = groups.range(..(point.clone(), repetition));
    replay_point(
        plan,
        point,
        &before.map(|(k, v)| (k.clone(), v.clone())).collect(),
        &mut earlier,
    );
    let trials = groups
        .get(&(point.clone(), repetition))
        .map_or(&[][..], Vec::as_slice);
    let load = match trials.first() {
        Some(first) => first.load.as_deref().cloned(),
        None => plan
            .test(&point.test)
            .filter(|test| test.measure.is_at_throughput())
            .and_then(|_| recorded(plan, point, records)),
    };
    let fed = feed(plan, point, &earlier.finished, trials, load)?;
    Ok(ResumedMeasurement {
        procedure: fed.procedure,
        trials: trials.len() as u32,
        load: fed.load,
    })
}

/// The trials of each repetition of each point, in the order they were made.
type Groups<'a> = BTreeMap<(Point, u32), Vec<&'a TrialRecord>>;

fn by_measurement<'r>(records: impl IntoIterator<Item = &'r TrialRecord>) -> Groups<'r> {
    let mut groups = Groups::new();
    for record in records {
        groups
            .entry((record.point.clone(), record.repetition))
            .or_default()
            .push(record);
    }
    for trials in groups.values_mut() {
        trials.sort_by_key(|record| record.trial);
    }
    groups
}

/// Replays the repetitions of one point, each starting from the finished ones before it.
fn replay_point(plan: &Plan, point: &Point, groups: &Groups, into: &mut Replay) {
    let mut of_point = Replay::default();
    for ((_, repetition), trials) in groups.range((point.clone(), 0)..=(point.clone(), u32::MAX)) {
        of_point.add(plan, point, *repetition, trials);
    }
    into.append(of_point);
}

impl Replay {
    /// Replays a repetition of the point whose earlier ones have already been added. The trials are in the order they were made.
    fn add(&mut self, plan: &Plan, point: &Point, repetition: u32, trials: &[&TrialRecord]) {
        let load = trials
            .first()
            .and_then(|first| first.load.as_deref().cloned());
        match feed(plan, point, &self.finished, trials, load) {
            Err(mismatch) => self.mismatches.push(*mismatch),
            Ok(fed) => {
                let outcome = outcome(plan, point, repetition, trials, &fed);
                let ended = fed.procedure.next_trial().is_none();
                let list = if ended {
                    &mut self.finished
                } else {
                    &mut self.unfinished
                };
                list.push(outcome);
            }
        }
    }

    fn append(&mut self, mut of_point: Self) {
        self.finished.append(&mut of_point.finished);
        self.unfinished.append(&mut of_point.unfinished);
        self.mismatches.append(&mut of_point.mismatches);
    }
}

/// Replays a run while it is being read, repetition by repetition, so that data needed only for the replay can be dropped.
pub struct OrderedReplay<'p> {
    plan: &'p Plan,
    /// Each point with the number of its last repetition.
    points: BTreeMap<Point, (u32, Replay)>,
}

impl<'p> OrderedReplay<'p> {
    /// Returns the replay of a run before anything has been read.
    pub fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            points: BTreeMap::new(),
        }
    }

    /// Replays a repetition from all of its trials. Returns false, without any effect, if this or a later repetition of its point was replayed
    /// before.
    pub fn add(&mut self, trials: &[TrialRecord]) -> bool {
        let Some(TrialRecord {
            point, repetition, ..
        }) = trials.first()
        else {
            return true;
        };
        let (last, of_point) = self.points.entry(point.clone()).or_default();
        if *last >= *repetition {
            return false;
        }
        *last = *repetition;
        let mut trials: Vec<&TrialRecord> = trials.iter().collect();
        trials.sort_by_key(|record| record.trial);
        if self.plan.test(&point.test).is_some() {
            of_point.add(self.plan, point, *repetition, &trials);
        }
        true
    }

    /// Returns the same result as [`replay`] for the same records.
    pub fn end(mut self) -> Replay {
        let points = self.plan.tests.iter().flat_map(|test| test.points());
        points.filter_map(|point| self.points.remove(&point)).fold(
            Replay::default(),
            |mut all, (_, of_point)| {
                all.append(of_point);
                all
            },
        )
    }
}

/// Returns the throughput that `point` is measured at, according to the records of a run.
fn recorded(plan: &Plan, point: &Point, records: &[TrialRecord]) -> Option<LoadSource> {
    let outcomes: Vec<Outcome> = points(plan, point)
        .flat_map(|source| outcomes_of(plan, &source, records))
        .collect();
    shared(plan, point, &outcomes)
}

/// A procedure that has learned the recorded trials.
struct ReplayedProcedure {
    procedure: Box<dyn Procedure>,
    /// The number of trials it has not learned from.
    invalid: u32,
    /// The values that were observed of the DUT in the last trial that was not invalid.
    watched: Vec<Value>,
    /// The last trial that was not invalid, by its index.
    last_valid: Option<usize>,
    /// The searches that determined the load.
    load: Option<LoadSource>,
}

fn feed(
    plan: &Plan,
    point: &Point,
    earlier: &[Outcome],
    trials: &[&TrialRecord],
    load: Option<LoadSource>,
) -> Result<ReplayedProcedure, Box<ReplayMismatch>> {
    let test = plan
        .test(&point.test)
        .expect("points are of the plan's tests");
    let procedure = procedure(plan, test, point.frame_size, earlier, load.as_ref());
    let mut fed = ReplayedProcedure {
        procedure,
        invalid: 0,
        watched: Vec::new(),
        last_valid: None,
        load,
    };
    let mut last = None;
    for (index, record) in trials.iter().enumerate() {
        let wanted = fed.procedure.next_trial();
        // An earlier version may have judged the previous trial invalid and rerun it, although this version judges it valid.
        if wanted.is_none() && last == Some(record.result.spec) {
            break;
        }
        last = Some(record.result.spec);
        if wanted != Some(record.result.spec) {
            return Err(mismatch(record, wanted));
        }
        if record.result.was_made_again() {
            fed.invalid += 1;
            continue;
        }
        match fed.procedure.verdict(&record.result) {
            Verdict::Invalid => fed.invalid += 1,
            Verdict::Passed | Verdict::Lost => {
                fed.last_valid = Some(index);
                let watch = record.watch.as_deref();
                fed.watched = watch.map_or_else(Vec::new, |watch| {
                    test.measure.watched(&record.result, watch)
                });
            }
        }
        fed.procedure.learn(&record.result);
    }
    Ok(fed)
}

fn mismatch(record: &TrialRecord, wanted: Option<TrialSpec>) -> Box<ReplayMismatch> {
    Box::new(ReplayMismatch {
        point: record.point.clone(),
        repetition: record.repetition,
        trial: record.trial,
        wanted,
        recorded: record.result.spec,
    })
}

fn outcome(
    plan: &Plan,
    point: &Point,
    repetition: u32,
    records: &[&TrialRecord],
    fed: &ReplayedProcedure,
) -> Outcome {
    let trials = records.len() as u32;
    let last_valid = fed.last_valid.and_then(|index| records.get(index).copied());
    let decided: Vec<_> = records
        .iter()
        .copied()
        .filter(|record| !record.result.was_made_again())
        .collect();
    let records = &decided[..];
    let Findings {
        brackets,
        mut values,
    } = fed.procedure.findings();
    let brackets: Vec<Bracket> = brackets
        .into_iter()
        .map(|bracket| weighed(bracket, records))
        .collect();
    let goal = plan
        .test(&point.test)
        .map_or(LossRatio::ZERO, |test| test.first_goal(plan));
    let signs = brackets
        .first()
        .map(|bracket| signs_of(bracket, goal, records))
        .unwrap_or_default();
    if makes_lower_bound(records) {
        values
            .iter_mut()
            .filter(|value| value.quantity.is_higher_better())
            .for_each(|value| value.is_at_least = true);
    }
    if let Some(record) = last_valid {
        for value in &mut values {
            value.is_at_most |= makes_upper_bound(value.quantity, record);
        }
    }
    values.extend(&fed.watched);
    Outcome {
        point: point.clone(),
        repetition,
        trials,
        invalid: fed.invalid,
        load: fed.load.clone(),
        brackets,
        values,
        signs,
    }
}
