//! The quantities of a run that are judged by their repetitions: every one that the first screen of a report prints.

use super::Evidence;
use sixbench_method::measures::{Outcome, Quantity, Value};
use sixbench_method::plan::{Point, Test};
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_stats::Summary;
use std::collections::BTreeMap;

/// The scale on which the spread of a quantity is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpreadScale {
    /// Its median.
    Median,
    /// Its median, but at least ten percentage points: a share of a loss next to zero says little, while a percentage point of the frames matters.
    MedianOrTenPoints,
    /// Not judged: it is an observation beside the result, a measure of spread itself, or comes with an interval of its own.
    None,
}

impl SpreadScale {
    /// Every quantity has its line, so that a new one is judged or has a reason not to be.
    fn for_quantity(quantity: Quantity) -> Self {
        match quantity {
            Quantity::FrameLossRate | Quantity::RequestLoss | Quantity::SoakLoss | Quantity::FailedConnections => {
                Self::MedianOrTenPoints
            }
            Quantity::TypicalLatency
            | Quantity::WorstCaseLatency
            | Quantity::Pdv
            | Quantity::MinimumDelay
            | Quantity::HighDelay
            | Quantity::IpdvMinimum
            | Quantity::IpdvMaximum
            | Quantity::BackToBackFrames
            | Quantity::RecoveryTime
            | Quantity::ResetTimeByLoss
            | Quantity::ResetTimeByTimestamps
            | Quantity::TearDownRate
            | Quantity::TableCapacity
            | Quantity::TcpConnections
            | Quantity::ResponseTime
            | Quantity::ForwardedFrames
            | Quantity::TableGrowth
            | Quantity::TableLargest
            | Quantity::ConnectionsOpened
            | Quantity::ConnectionsClosed => Self::Median,
            // The median variation is about zero by its definition.
            Quantity::IpdvMedian
            // These describe the spread within a trial.
            | Quantity::ResponseTimeDeviation
            | Quantity::ProcessorLoadDeviation
            // These are observations of the device beside the result, or on the way to it.
            | Quantity::ProcessorLoad
            | Quantity::MemoryGrowth
            | Quantity::ConnectionsHeld
            // What a device does with a vector has no spread: each requirement is met or violated.
            | Quantity::RequirementsMet
            | Quantity::RequirementsViolated
            | Quantity::MustsViolated
            | Quantity::NewViolations
            | Quantity::ViolatedUnderLoad
            // These are printed with their own intervals.
            | Quantity::MemoryGrowthRate
            | Quantity::MemoryGrowthLeast
            | Quantity::MemoryGrowthMost
            | Quantity::KernelGrowthRate
            | Quantity::KernelGrowthLeast
            | Quantity::KernelGrowthMost => Self::None,
        }
    }
}

/// One quantity of one point, with its value in each repetition that has one.
#[derive(Debug)]
pub(super) struct JudgedSample {
    pub(super) point: Point,
    /// The quantity in words; empty for a rate that was searched for and its first loss goal.
    pub(super) quantity: String,
    /// The rate, where the quantity has a value at each of several rates.
    pub(super) load: Option<FrameRate>,
    /// True if every repetition should have a value: at a rate that a scan may leave out, some have none.
    pub(super) is_due: bool,
    pub(super) values: Vec<f64>,
    /// The number of all repetitions of the point.
    pub(super) repetitions: usize,
    scale: SpreadScale,
}

/// The least scale of a spread of losses, in percentage points: of a median near zero, any loss would be a large share.
const LEAST_SCALE_OF_LOSS: f64 = 10.0;

impl JudgedSample {
    /// Returns how far the values are apart, in per cent of the scale; `None` of a single value, and of values that differ around zero.
    pub(super) fn spread_percent(&self) -> Option<f64> {
        let summary = Summary::of(&self.values).filter(|summary| summary.n > 1)?;
        let range = summary.max - summary.min;
        let scale = match self.scale {
            SpreadScale::MedianOrTenPoints => summary.median.abs().max(LEAST_SCALE_OF_LOSS),
            SpreadScale::Median | SpreadScale::None => summary.median.abs(),
        };
        match (range, scale) {
            (0.0, _) => Some(0.0),
            (_, 0.0) => None,
            (range, scale) => Some(100.0 * range / scale),
        }
    }

    /// Returns whether several values differ around a median of zero.
    pub(super) fn is_spread_around_zero(&self) -> bool {
        self.values.len() > 1 && self.spread_percent().is_none()
    }

    pub(super) fn is_loss(&self) -> bool {
        self.scale == SpreadScale::MedianOrTenPoints
    }

    /// Returns its name for sentences: `lat/84, Worst-case latency`.
    pub(super) fn name(&self) -> String {
        let quantity = if self.quantity.is_empty() {
            String::new()
        } else {
            format!(", {}", self.quantity)
        };
        let load = self
            .load
            .map_or_else(String::new, |load| format!(" at {load}"));
        format!("{}{quantity}{load}", self.point)
    }
}

impl Evidence<'_> {
    /// Returns every quantity that is judged, in the order of the plan.
    pub(super) fn judged(&self) -> Vec<JudgedSample> {
        // Of a rate that is repeated, passing or not is the result, and no spread.
        let tests = self
            .plan
            .tests
            .iter()
            .filter(|test| test.measure.result_kind().has_spread());
        let points = tests.flat_map(|test| test.points().map(move |point| (test, point)));
        points
            .flat_map(|(test, point)| self.judged_at(test, &point))
            .collect()
    }

    fn judged_at(&self, test: &Test, point: &Point) -> Vec<JudgedSample> {
        let outcomes = self.by_point.get(point).map_or(&[][..], Vec::as_slice);
        if test.measure.is_searched_rate() {
            let goals = test.loss_goals(self.plan).iter().enumerate();
            goals
                .map(|(i, goal)| searched(point, outcomes, i, *goal))
                .filter(|sample| !sample.values.is_empty())
                .collect()
        } else {
            measured(test, point, outcomes)
        }
    }
}

/// Returns the results of the searches for one loss goal. A search in which even the lowest load did not pass counts as zero, as in the tables.
fn searched(point: &Point, outcomes: &[&Outcome], index: usize, goal: LossRatio) -> JudgedSample {
    let values = outcomes
        .iter()
        .filter_map(|outcome| Some(outcome.brackets.get(index)?.value()?.value))
        .collect();
    JudgedSample {
        point: point.clone(),
        quantity: if index == 0 {
            String::new()
        } else {
            format!("rate with at most {goal} loss")
        },
        load: None,
        is_due: true,
        values,
        repetitions: outcomes.len(),
        scale: SpreadScale::Median,
    }
}

/// What the values of one sample have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct JudgedKey {
    quantity: Quantity,
    direction: Direction,
    /// The rate of a scan, or of a series; other loads follow from the throughput and vary.
    load: Option<FrameRate>,
}

fn measured(test: &Test, point: &Point, outcomes: &[&Outcome]) -> Vec<JudgedSample> {
    let has_loads = test.measure.result_kind().has_several_loads();
    let key = |value: &Value| JudgedKey {
        quantity: value.quantity,
        direction: value.direction,
        load: has_loads.then_some(value.load),
    };
    let mut samples: BTreeMap<JudgedKey, Vec<f64>> = BTreeMap::new();
    for value in outcomes.iter().flat_map(|outcome| &outcome.values) {
        if SpreadScale::for_quantity(value.quantity) != SpreadScale::None {
            samples.entry(key(value)).or_default().push(value.value);
        }
    }
    let highest = samples.keys().filter_map(|key| key.load).max();
    let sample = |(key, values): (JudgedKey, Vec<f64>)| JudgedSample {
        point: point.clone(),
        quantity: short_title(key.quantity).to_owned(),
        load: key.load,
        is_due: key.load == highest || !test.measure.loads().end_when_lossless(),
        values,
        repetitions: outcomes.len(),
        scale: SpreadScale::for_quantity(key.quantity),
    };
    samples.into_iter().map(sample).collect()
}

/// Returns the title of a quantity without what is in brackets.
fn short_title(quantity: Quantity) -> &'static str {
    quantity.title().split(" (").next().unwrap_or_default()
}
