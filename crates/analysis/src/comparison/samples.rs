//! Turns outcomes into samples: the values of the repetitions of one point, by subject.

use super::ComparedValue;
use sixbench_method::measures::{Outcome, Quantity};
use sixbench_method::plan::Test;
use sixbench_method::terms::Direction;
use sixbench_stats::{Censored, CensoredValue, median};
use std::collections::BTreeMap;

/// The sort key of samples: rates first, by goal; then values by quantity, direction and load.
pub(super) type SampleKey = ([u64; 2], Option<(Quantity, Direction, u64)>);

pub(crate) struct Sample {
    pub(crate) subject: ComparedValue,
    /// The values. Some may be only bounds: lower ones, because the tester, the plan or other work on the machine cut the search short; upper ones,
    /// because the tester or other work made a delay too long.
    pub(crate) values: Censored,
    /// The number of the repetition, or of the run, of each value; some have no value.
    pub(super) repetitions: Vec<u32>,
    /// The load that each value's search found to be too high; the value itself if it found none.
    ceilings: Vec<f64>,
    /// The value of every repetition, run by run.
    pub(super) runs: Vec<Vec<f64>>,
}

impl Sample {
    fn new(subject: ComparedValue) -> Self {
        Self {
            subject,
            values: Censored::default(),
            repetitions: Vec::new(),
            ceilings: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn push(&mut self, repetition: u32, value: CensoredValue, ceiling: f64) {
        self.values.push(value);
        self.repetitions.push(repetition);
        self.ceilings.push(ceiling);
    }

    /// Returns the factor by which the true rate may exceed the rate found because searches are rounded to one grid: a step of the grid if at least
    /// half of them ended at one or two loads; otherwise 1, since noise of more than a step, and different starts, average the rounding out.
    pub(super) fn step(&self) -> f64 {
        let mut found: Vec<(f64, f64)> = self
            .values
            .values()
            .iter()
            .copied()
            .zip(self.ceilings.iter().copied())
            .collect();
        found.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut loads: Vec<&[(f64, f64)]> = found
            .chunk_by(|one, other| one.0 == other.0)
            .filter(|load| load.len() > 1)
            .collect();
        loads.sort_by_key(|load| std::cmp::Reverse(load.len()));
        // Two, as searches of a rate near a step of the grid end on either side of it.
        let often: Vec<&(f64, f64)> = loads.into_iter().take(2).flatten().collect();
        let is_grid = 2 * often.len() >= found.len();
        let steps = often
            .iter()
            .filter(|_| is_grid)
            .map(|(value, ceiling)| ceiling / value);
        steps.filter(|step| step.is_finite()).fold(1.0, f64::max)
    }
}

/// The samples of one point by their keys.
type Samples = BTreeMap<SampleKey, Sample>;

pub(super) fn samples(test: &Test, outcomes: &[&Outcome]) -> Samples {
    let mut samples = Samples::new();
    for outcome in outcomes {
        // The rate that a later stage is measured at is not a result in itself.
        if test.measure.is_searched_rate() {
            add_rates(&mut samples, test, outcome);
        }
        add_values(&mut samples, outcome);
    }
    // The repetitions of a scan that ends early tried different loads; only those that all of them tried become samples.
    if test.measure.loads().end_when_lossless() {
        let made = outcomes
            .iter()
            .filter(|outcome| !outcome.values.is_empty())
            .count();
        samples.retain(|_, sample| sample.repetitions.len() == made);
    }
    for sample in samples.values_mut() {
        sample.runs = vec![sample.values.values().to_vec()];
    }
    samples
}

/// Adds the rates that a repetition found.
fn add_rates(samples: &mut Samples, test: &Test, outcome: &Outcome) {
    for bracket in &outcome.brackets {
        let Some(rate) = bracket.known() else {
            continue;
        };
        let goal = bracket.accepted();
        // The bits of ratios that are not negative sort like the ratios, and values come behind all of them.
        let key = (
            [goal.loss_ratio.0.to_bits(), goal.exceed_ratio.to_bits()],
            None,
        );
        let ceiling = bracket.upper.map_or(rate.value, |upper| upper.0 as f64);
        samples
            .entry(key)
            .or_insert_with(|| Sample::new(ComparedValue::rate(&test.measure, goal)))
            .push(outcome.repetition, rate, ceiling);
    }
}

/// Adds the values of a repetition.
fn add_values(samples: &mut Samples, outcome: &Outcome) {
    for value in &outcome.values {
        // The numbers of connections held on the way to a capacity are steps of a search, not samples.
        if value.quantity == Quantity::ConnectionsHeld {
            continue;
        }
        // Only a scan of losses has values at several loads. The load of any other quantity follows from the throughput, and would divide its sample.
        let load = (value.quantity == Quantity::FrameLossRate).then_some(value.load);
        let load_key = load.map_or(0, |load| load.0);
        let key = (
            [u64::MAX; 2],
            Some((value.quantity, value.direction, load_key)),
        );
        let subject = ComparedValue::Value(value.quantity, value.direction, load);
        samples
            .entry(key)
            .or_insert_with(|| Sample::new(subject))
            .push(outcome.repetition, value.censored(), value.value);
    }
}

/// Returns the samples of one point over several runs: the value of a run is the median of its repetitions.
pub(super) fn of_runs(test: &Test, runs: &[Vec<&Outcome>]) -> Samples {
    let mut all = Samples::new();
    for (outcomes, number) in runs.iter().zip(1..) {
        for (key, of_run) in samples(test, outcomes) {
            let (Some(value), Some(ceiling)) =
                (median(of_run.values.values()), median(&of_run.ceilings))
            else {
                continue;
            };
            let sample = all
                .entry(key)
                .or_insert_with(|| Sample::new(of_run.subject));
            let (is_at_least, is_at_most) = (
                of_run.values.is_median_open(),
                of_run.values.is_median_at_most(),
            );
            sample.push(
                number,
                CensoredValue {
                    value,
                    is_at_least,
                    is_at_most,
                },
                ceiling,
            );
            sample.runs.push(of_run.values.values().to_vec());
        }
    }
    // As with the repetitions of a scan, only the loads that all runs tried.
    if test.measure.loads().end_when_lossless() {
        all.retain(|_, sample| sample.repetitions.len() == runs.len());
    }
    all
}

/// Returns the samples of one point of a test: rates first, by goal; then values by quantity, direction and load.
pub(crate) fn samples_of(test: &Test, outcomes: &[&Outcome]) -> impl Iterator<Item = Sample> {
    samples(test, outcomes).into_values()
}

/// Returns whether the other side, which has these samples, ended its scan above the load of this one because nothing was
/// lost there.
pub(super) fn is_below_the_scan(
    test: &Test,
    key: &SampleKey,
    other: &BTreeMap<SampleKey, Sample>,
) -> bool {
    let load = |key: &SampleKey| {
        key.1
            .filter(|(quantity, ..)| *quantity == Quantity::FrameLossRate)
            .map(|(_, _, load)| load)
    };
    let lowest = other.keys().filter_map(load).min();
    test.measure.loads().end_when_lossless()
        && load(key)
            .zip(lowest)
            .is_some_and(|(load, lowest)| load < lowest)
}
