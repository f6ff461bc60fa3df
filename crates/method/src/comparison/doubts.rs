//! What the order of the repetitions says against a comparison: that they depend on each other, or that the machine drifted.

use super::samples::Sample;
use crate::stats::{Autocorrelation, ComparisonTerms, Slope, autocorrelation, inflation, slope_within};
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
    /// The question of the test, and the doubts that it allows for.
    pub(super) terms: ComparisonTerms,
    pub(super) autocorrelation: Option<Autocorrelation>,
}

impl Doubt {
    /// Returns the doubts about two samples of which differences up to `tolerance` do not count.
    pub(super) fn of(of_a: &Sample, of_b: &Sample, tolerance: f64, order: RunOrder) -> Self {
        let (a, b) = (of_a.values.values(), of_b.values.values());
        let steps = (of_a.step(), of_b.step());
        let slope = if order == RunOrder::InTurns { None } else { slope_within(a, b) };
        let correlation = match order {
            // What happened to both is no difference: only what their ratio did counts.
            RunOrder::InTurns => autocorrelation(&[&ratios(of_a, of_b)]),
            // A drift is allowed for by itself.
            RunOrder::AFirst | RunOrder::BFirst => autocorrelation(&[&without(slope, a), &without(slope, b)]),
        };
        let (down, up) = slope.map_or((0.0, 0.0), |slope| drift(slope, steps, a.len() + b.len(), order));
        let inflation = inflation(correlation.map_or(0.0, |found| found.allowed), a.len(), b.len());
        let plain = ComparisonTerms { steps, ..ComparisonTerms::plain(of_a.subject.is_higher_better(), tolerance) };
        Self { terms: ComparisonTerms { inflation, up, down, ..plain }, autocorrelation: correlation }
    }

    /// The terms without the doubts: the repetitions are independent, and of their order, too.
    pub(super) fn plain(&self) -> ComparisonTerms {
        ComparisonTerms { inflation: 1.0, up: 0.0, down: 0.0, ..self.terms }
    }

    /// Returns the share by which a drift of the machine may have made B higher, or else lower, than A; `None` where they took turns.
    pub(super) fn drift(&self, is_higher: bool) -> Option<f64> {
        let drift = if is_higher { self.terms.up } else { self.terms.down };
        (drift != 0.0).then(|| drift.exp() - 1.0)
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

fn without(slope: Option<Slope>, values: &[f64]) -> Vec<f64> {
    let slope = slope.map_or(0.0, |slope| slope.slope);
    values.iter().enumerate().map(|(i, value)| value * (-slope * i as f64).exp()).collect()
}

/// Returns the logarithms of the least and the largest factor by which a steady drift makes the second of two samples differ from the first, seen from
/// A to B: from the middle of the one to the middle of the other, as if the second began right after the first. Where searches are rounded alike,
/// the slope may be hidden by a step on either side.
fn drift(slope: Slope, steps: (f64, f64), repetitions: usize, order: RunOrder) -> (f64, f64) {
    let (way, hidden) = (repetitions as f64 / 2.0, (steps.0 * steps.1).ln());
    let (low, high) = match order {
        RunOrder::BFirst => (-slope.high, -slope.low),
        RunOrder::InTurns | RunOrder::AFirst => (slope.low, slope.high),
    };
    ((low * way).min(0.0) - hidden, (high * way).max(0.0) + hidden)
}
