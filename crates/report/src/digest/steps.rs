//! The steps of a search for the capacity of the connection tracking table (RFC 9693): which numbers of connections were tried in which
//! phase, and at what rate they were established where they were held.

use super::{Digest, PointDigest};
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::measures::{Capacity, Outcome, Quantity};
use sixbench_method::record::{TrialRecord, by_repetition};
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::Verdict;
use sixbench_stats::Summary;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SearchPhase {
    /// The number is doubled until one is not held.
    Exponential,
    /// The interval between the last number held and the first that was not is halved.
    Binary,
}

impl SearchPhase {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::Binary => "binary",
        }
    }
}

/// One number of connections in one phase, over the repetitions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CapacityStep {
    pub(crate) phase: SearchPhase,
    pub(crate) connections: u64,
    /// Repetitions that tried it.
    pub(crate) tried: usize,
    /// Trials, invalid ones included.
    pub(crate) trials: usize,
    /// The rates of those that held it, connections per second; `None` where none did.
    #[serde(rename = "rate")]
    pub(crate) rates: Option<Summary>,
    /// The lowest rate that lost connections, where some repetition did not hold it.
    #[serde(rename = "not_at")]
    pub(crate) lowest_lost_rate: Option<u64>,
}

/// The data that one repetition contributes to a step.
struct StepRepetition {
    rate: Option<u64>,
    lowest_lost_rate: Option<u64>,
    trials: usize,
}

impl<'a> Digest<'a> {
    /// Returns the points whose result is the capacity of the connection tracking table, each with the settings of its search.
    pub(crate) fn capacity_points(&self) -> impl Iterator<Item = (&PointDigest<'a>, Capacity)> {
        self.points
            .iter()
            .filter_map(|p| Some((p, *p.test.measure.table_capacity()?)))
    }
}

impl PointDigest<'_> {
    /// Returns the steps, the exponential phase first, each phase by ascending numbers.
    pub(crate) fn steps(&self, goal: LossRatio) -> Vec<CapacityStep> {
        let mut found: BTreeMap<(SearchPhase, u64), Vec<StepRepetition>> = BTreeMap::new();
        let repetitions = by_repetition(&self.records);
        for outcome in &self.outcomes {
            let records = repetitions
                .get(&outcome.repetition)
                .map_or(&[][..], Vec::as_slice);
            for (place, tried) in of_repetition(outcome, records, goal) {
                found.entry(place).or_default().push(tried);
            }
        }
        found
            .into_iter()
            .map(|((phase, connections), tried)| summed_up(phase, connections, &tried))
            .collect()
    }
}

fn summed_up(phase: SearchPhase, connections: u64, tried: &[StepRepetition]) -> CapacityStep {
    let rates: Vec<f64> = tried
        .iter()
        .filter_map(|t| t.rate)
        .map(|rate| rate as f64)
        .collect();
    CapacityStep {
        phase,
        connections,
        tried: tried.len(),
        rates: Summary::of(&rates),
        lowest_lost_rate: tried
            .iter()
            .filter(|t| t.rate.is_none())
            .filter_map(|t| t.lowest_lost_rate)
            .min(),
        trials: tried.iter().map(|t| t.trials).sum(),
    }
}

/// Returns the numbers of one repetition in the order of its trials. The first that was not held ends the exponential phase.
fn of_repetition(
    outcome: &Outcome,
    records: &[&TrialRecord],
    goal: LossRatio,
) -> Vec<((SearchPhase, u64), StepRepetition)> {
    let rate_of = |connections: u64| {
        let held = outcome
            .values
            .iter()
            .filter(|v| v.quantity == Quantity::ConnectionsHeld);
        held.filter(|v| v.value == connections as f64)
            .map(|v| v.load.0)
            .next()
    };
    let mut phase = SearchPhase::Exponential;
    let mut steps = Vec::new();
    for trials in in_order(records).chunk_by(|a, b| a.0 == b.0) {
        let connections = trials[0].0;
        let lost = trials
            .iter()
            .filter(|(_, r)| r.result.verdict(goal) == Verdict::Lost);
        let lowest_lost_rate = lost.map(|(_, r)| r.result.spec.rate.0).min();
        let rate = rate_of(connections);
        steps.push((
            (phase, connections),
            StepRepetition {
                rate,
                lowest_lost_rate,
                trials: trials.len(),
            },
        ));
        // As in the search itself, a number beyond the tester counts as not held.
        if rate.is_none() {
            phase = SearchPhase::Binary;
        }
    }
    steps
}

/// Returns each trial with its number of connections, in the order in which they were made.
fn in_order<'a>(records: &[&'a TrialRecord]) -> Vec<(u64, &'a TrialRecord)> {
    let mut trials: Vec<_> = records
        .iter()
        .filter_map(|&record| Some((record.result.spec.kind.connections()?, record)))
        .collect();
    trials.sort_by_key(|(_, record)| record.trial);
    trials
}
