//! One plan measured by several runs: the parts that can be measured separately, and their distribution among the runs.

use crate::budget::{self, Cost};
use crate::measures::Outcome;
use crate::plan::{MeasurementKey, Plan, Point, Selection, Test};
use crate::repeat::Repetition;
use crate::replay;
use crate::search::RepetitionStart;
use crate::throughput;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Measurements that a single run must make, because later ones depend on the results of earlier ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkUnit {
    /// The measurements.
    pub measurements: Vec<MeasurementKey>,
    /// The recipes of the devices.
    pub devices: BTreeSet<String>,
    /// The estimated number of trials.
    pub trials: u32,
    /// Their estimated time in seconds, without setting up devices.
    pub seconds: u64,
}

/// The reason why a plan cannot be measured in these parts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
// The message of each variant explains its fields.
#[allow(missing_docs)]
pub enum CampaignError {
    /// A line does not name anything in the plan.
    #[error(
        "line {line}: `{key}` is no measurement of this plan; expected test/frame size or test/frame size/repetition, such as {example}"
    )]
    Unknown {
        line: usize,
        key: String,
        example: String,
    },
    /// Later repetitions begin where earlier ones ended, or their number is not known in advance.
    #[error(
        "line {line}: the repetitions of {point} cannot be measured apart: {why}; name {point} as a whole"
    )]
    Inseparable {
        line: usize,
        point: Point,
        why: &'static str,
    },
    /// The load of one point is the result of another.
    #[error(
        "{point} is measured at the throughput that {source_point} finds; name both, or neither"
    )]
    NeedsSource { point: Point, source_point: Point },
    /// There is no key at all.
    #[error("no measurement is named")]
    Empty,
    /// There are more shards than parts.
    #[error(
        "there are {units} parts that can be measured apart, so at most {units} shards, not {shards}{hint}"
    )]
    TooMany {
        units: usize,
        shards: usize,
        hint: &'static str,
    },
}

/// Reads the measurements of a run from a text with one key on each line; `#` begins a comment.
///
/// # Errors
/// A key is not in the plan, or names only a part of what a single run must measure.
pub fn read(plan: &Plan, text: &str) -> Result<Selection, CampaignError> {
    let lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.split('#').next().unwrap_or_default().trim()));
    let mut keys = BTreeSet::new();
    for (line, text) in lines.filter(|(_, text)| !text.is_empty()) {
        keys.insert(checked(plan, line, text)?);
    }
    let selection: Selection = keys.into_iter().collect();
    if selection.is_all() {
        return Err(CampaignError::Empty);
    }
    check_sources(plan, &selection)?;
    Ok(selection)
}

/// Returns part `index` (from 1) of `shards` parts of about the same duration. It depends only on the plan, so every machine computes the same parts.
///
/// # Errors
/// There are more shards than parts that can be measured separately.
///
/// # Panics
/// `shards` is zero, or `index` is not in 1..=`shards`: the command line refuses both.
pub fn shard(plan: &Plan, index: usize, shards: usize) -> Result<Selection, CampaignError> {
    let mut units = work_units(plan);
    if shards > units.len() {
        let is_warm = plan.search.start != RepetitionStart::Cold;
        let hint = if is_warm {
            "; with `start = \"cold\"` in [search], repetitions are parts of their own"
        } else {
            ""
        };
        return Err(CampaignError::TooMany {
            units: units.len(),
            shards,
            hint,
        });
    }
    // The longest unit first, each to the shard with the least time: no shard exceeds another by more than one unit.
    units.sort_by_key(|unit| std::cmp::Reverse(unit.seconds));
    let mut dealt = vec![(0, BTreeSet::new()); shards];
    for unit in units {
        let (seconds, keys) = dealt
            .iter_mut()
            .min_by_key(|(seconds, _)| *seconds)
            .expect("at least one shard");
        *seconds += unit.seconds.max(1);
        keys.extend(unit.measurements);
    }
    Ok(dealt.swap_remove(index - 1).1.into_iter().collect())
}

/// Returns whether `outcomes` include everything that a run measures of its plan.
pub fn is_complete(plan: &Plan, selection: &Selection, outcomes: &[Outcome]) -> bool {
    let mut points = plan
        .tests
        .iter()
        .flat_map(|test| test.points().map(move |point| (test, point)));
    points.all(|(test, point)| {
        let made: Vec<Outcome> = outcomes
            .iter()
            .filter(|outcome| outcome.point == point)
            .cloned()
            .collect();
        made.len() as u32 >= selection.repetitions(test, &point) || !replay::wants_more(test, &made)
    })
}

fn check_sources(plan: &Plan, selection: &Selection) -> Result<(), CampaignError> {
    let is_selected = |point: &Point| selection.contains(point, 1);
    for linked in linked_points(plan)
        .into_iter()
        .filter(|linked| linked.len() > 1)
    {
        let missing = linked.iter().find(|point| !is_selected(point));
        if let (Some(missing), Some(point)) =
            (missing, linked.iter().find(|point| is_selected(point)))
        {
            return Err(CampaignError::NeedsSource {
                point: point.clone(),
                source_point: missing.clone(),
            });
        }
    }
    Ok(())
}

/// Returns the key on a line, if it is in the plan and can be measured separately.
fn checked(plan: &Plan, line: usize, text: &str) -> Result<MeasurementKey, CampaignError> {
    let first = plan.tests.iter().flat_map(Test::points).next();
    let example = first.map_or_else(String::new, |point| point.to_string());
    let unknown = || CampaignError::Unknown {
        line,
        key: text.to_owned(),
        example,
    };
    let Ok(key) = text.parse::<MeasurementKey>() else {
        return Err(unknown());
    };
    let test = plan
        .test(&key.point.test)
        .filter(|test| test.frame_sizes.contains(&key.point.frame_size));
    let Some(test) = test.filter(|test| {
        key.repetition
            .is_none_or(|r| (1..=test.repetitions.most()).contains(&r))
    }) else {
        return Err(unknown());
    };
    let linked = linked_points(plan)
        .into_iter()
        .find(|linked| linked.contains(&key.point))
        .unwrap_or_default();
    match inseparable(plan, test, &linked).filter(|_| key.repetition.is_some()) {
        Some(why) => Err(CampaignError::Inseparable {
            line,
            point: key.point,
            why,
        }),
        None => Ok(key),
    }
}

/// Returns the reason why a single run must measure the repetitions of a point, or `None` if there is none.
fn inseparable(plan: &Plan, test: &Test, linked: &[Point]) -> Option<&'static str> {
    match test.repetitions {
        _ if linked.len() > 1 => Some("the load of another measurement is their median"),
        Repetition::Adaptive { .. } => {
            Some("there are as many as the median takes to be known (repetitions = \"adaptive\")")
        }
        Repetition::Fixed(_) if plan.search.start != RepetitionStart::Cold => Some(
            "each search begins near the earlier results (`start` in [search] is not \"cold\")",
        ),
        Repetition::Fixed(_) => None,
    }
}

/// Returns the points of the plan, grouped so that points whose loads depend on each other are together.
fn linked_points(plan: &Plan) -> Vec<Vec<Point>> {
    let with_sources = |point: Point| -> (Point, Vec<Point>) {
        let is_at_throughput = plan
            .test(&point.test)
            .is_some_and(|test| test.measure.is_at_throughput());
        let sources = if is_at_throughput {
            throughput::points(plan, &point).collect()
        } else {
            Vec::new()
        };
        (point, sources)
    };
    let mut groups: Vec<Vec<(Point, Vec<Point>)>> = Vec::new();
    for (point, sources) in plan.tests.iter().flat_map(Test::points).map(with_sources) {
        let is_linked = |group: &Vec<(Point, Vec<Point>)>| {
            group
                .iter()
                .any(|(other, of_other)| sources.contains(other) || of_other.contains(&point))
        };
        let (linked, mut apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_linked);
        apart.push(
            linked
                .into_iter()
                .flatten()
                .chain([(point, sources)])
                .collect(),
        );
        groups = apart;
    }
    groups
        .into_iter()
        .map(|group| group.into_iter().map(|(point, _)| point).collect())
        .collect()
}

/// Returns the parts of a plan that can be measured separately, by any run and in any order, in the plan's order.
pub fn work_units(plan: &Plan) -> Vec<WorkUnit> {
    let costs = WorkCosts::new(plan);
    let mut units = Vec::new();
    for linked in linked_points(plan) {
        let keys = |repetition| {
            let key = |point: &Point| MeasurementKey {
                point: point.clone(),
                repetition,
            };
            linked.iter().map(key).collect()
        };
        match linked.first().and_then(|point| plan.test(&point.test)) {
            Some(test) if linked.len() == 1 && inseparable(plan, test, &linked).is_none() => {
                let repetitions = 1..=test.repetitions.most();
                units.extend(repetitions.map(|repetition| costs.unit(keys(Some(repetition)))));
            }
            _ => units.push(costs.unit(keys(None))),
        }
    }
    units
}

/// An estimate of trials and of their time.
#[derive(Clone, Copy, Default)]
struct WorkCost {
    trials: f64,
    ns: f64,
}

/// The estimated costs of the repetitions of each test of a plan.
struct WorkCosts<'p> {
    plan: &'p Plan,
    /// By the name of the test: the cost of its first repetition, and that of each later one.
    by_test: BTreeMap<&'p str, [Cost; 2]>,
}

impl<'p> WorkCosts<'p> {
    fn new(plan: &'p Plan) -> Self {
        let names = plan.tests.iter().map(|test| test.name.as_str());
        Self {
            plan,
            by_test: names.zip(budget::costs(plan)).collect(),
        }
    }

    /// Returns the part of the plan that has these measurements.
    fn unit(&self, keys: Vec<MeasurementKey>) -> WorkUnit {
        let mut sum = WorkCost::default();
        let mut devices = BTreeSet::new();
        for key in &keys {
            let Some(test) = self.plan.test(&key.point.test) else {
                continue;
            };
            devices.insert(test.dut.clone());
            if let Some(cost) = self.of_measurement(key, test) {
                sum.trials += cost.trials;
                sum.ns += cost.ns;
            }
        }
        WorkUnit {
            measurements: keys,
            devices,
            trials: sum.trials.ceil() as u32,
            seconds: (sum.ns / 1e9).ceil() as u64,
        }
    }

    /// Returns the cost of one repetition of a point, or of all of them.
    fn of_measurement(&self, key: &MeasurementKey, test: &Test) -> Option<WorkCost> {
        let [first, later] = self.by_test.get(test.name.as_str())?;
        // Only the search of the first repetition begins without a result to start from.
        let (first_ones, later_ones) = match key.repetition {
            None => (1.0, f64::from(test.repetitions.most()) - 1.0),
            Some(1) => (1.0, 0.0),
            Some(_) => (0.0, 1.0),
        };
        let trials = first_ones * first.trials + later_ones * later.trials;
        let around_ns = trials * budget::around_ns(test, &self.plan.trial) as f64;
        let sending_ns = first_ones * first.sending_ns + later_ones * later.sending_ns;
        Some(WorkCost {
            trials,
            ns: sending_ns + around_ns,
        })
    }
}
