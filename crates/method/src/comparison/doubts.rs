//! What the order of the repetitions says against a comparison: that they depend on each other, or that the machine drifted.

use super::samples::Sample;
use crate::stats::{Autocorrelation, Doubts, autocorrelation, common_drift, inflation};
use std::collections::BTreeMap;

/// The order in which the repetitions of A and B were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOrder {
    /// One of A, one of B, and so on: what the machine does, it does to both.
    InTurns,
    /// All of A, then all of B.
    AFirst,
    /// All of B, then all of A.
    BFirst,
}

/// The doubts that a row allows for, and the values they are reported with.
pub(super) struct Doubt {
    pub(super) allowed: Doubts,
    pub(super) autocorrelation: Option<Autocorrelation>,
    /// The drift as a share of A: positive where B may be larger for it.
    pub(super) drift: Option<f64>,
}

impl Doubt {
    pub(super) fn of(of_a: &Sample, of_b: &Sample, order: RunOrder) -> Self {
        let (a, b) = (of_a.values.values(), of_b.values.values());
        let slope = if order == RunOrder::InTurns { None } else { common_drift(a, b) };
        let correlation = match order {
            // What happened to both is no difference: only what their ratio did counts.
            RunOrder::InTurns => autocorrelation(&[&ratios(of_a, of_b)]),
            // A drift is allowed for by itself.
            RunOrder::AFirst | RunOrder::BFirst => autocorrelation(&[&without(slope, a), &without(slope, b)]),
        };
        let drift = slope.map(|slope| slope * way(a.len() + b.len(), order));
        let inflation = inflation(correlation.map_or(0.0, |found| found.allowed), a.len(), b.len());
        let allowed = Doubts { inflation, drift: drift.unwrap_or(0.0) };
        Self { allowed, autocorrelation: correlation, drift: drift.map(|drift| drift.exp() - 1.0) }
    }
}

/// Returns how B lies to A in each repetition that has both: a ratio, or the difference where there are zeroes. Other repetitions have no turn:
/// the tester was not fit in one of them.
fn ratios(a: &Sample, b: &Sample) -> Vec<f64> {
    let (of_a, of_b) = (a.values.values(), b.values.values());
    let has_ratios = of_a.iter().chain(of_b).all(|value| *value > 0.0);
    let of_b: BTreeMap<u32, f64> = b.repetitions.iter().copied().zip(of_b.iter().copied()).collect();
    let pairs = a.repetitions.iter().zip(of_a).filter_map(|(repetition, a)| Some((a, of_b.get(repetition)?)));
    pairs.map(|(a, b)| if has_ratios { b / a } else { b - a }).collect()
}

fn without(slope: Option<f64>, values: &[f64]) -> Vec<f64> {
    let slope = slope.unwrap_or(0.0);
    values.iter().enumerate().map(|(i, value)| value * (-slope * i as f64).exp()).collect()
}

/// Repetitions over which a drift makes B larger than A, from the first of all to the last; negative where B came first. That is twice as far as
/// from the middle of the one to the middle of the other, since neither the slope nor the time between them is known well.
fn way(repetitions: usize, order: RunOrder) -> f64 {
    match order {
        RunOrder::InTurns => 0.0,
        RunOrder::AFirst => repetitions as f64,
        RunOrder::BFirst => -(repetitions as f64),
    }
}
