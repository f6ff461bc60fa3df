//! Doubts about a comparison that arise from the order of the repetitions: they may be autocorrelated, or the machine may have drifted.

use super::samples::Sample;
use sixbench_stats::{
    Autocorrelation, ComparisonTerms, Slope, autocorrelation, inflation, slope_within,
};
use std::collections::BTreeMap;

/// The order in which the repetitions of A and B were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOrder {
    /// One of A, one of B, and so on: the machine influences both alike.
    InTurns,
    /// All of A, then all of B.
    AFirst,
    /// All of B, then all of A.
    BFirst,
}

/// The doubts that a row allows for, and the values they are reported with.
pub(super) struct Doubt {
    /// The question of the test, with the doubts that it allows for.
    pub(super) terms: ComparisonTerms,
    pub(super) autocorrelation: Option<Autocorrelation>,
}

impl Doubt {
    /// Returns the doubts about two samples whose differences up to `tolerance` do not count.
    pub(super) fn between(of_a: &Sample, of_b: &Sample, tolerance: f64, order: RunOrder) -> Self {
        let (a, b) = (of_a.values.values(), of_b.values.values());
        let steps = (of_a.step(), of_b.step());
        let slope = if order == RunOrder::InTurns {
            None
        } else {
            slope_within(a, b)
        };
        let correlation = correlation_of(order, of_a, of_b, slope);
        let (down, up) = slope.map_or((0.0, 0.0), |slope| {
            drift(slope, steps, a.len() + b.len(), order)
        });
        let inflation = inflation(
            correlation.map_or(0.0, |found| found.allowed),
            a.len(),
            b.len(),
        );
        let plain = ComparisonTerms {
            steps,
            ..ComparisonTerms::plain(of_a.subject.is_higher_better(), tolerance)
        };
        Self {
            terms: ComparisonTerms {
                inflation,
                up,
                down,
                ..plain
            },
            autocorrelation: correlation,
        }
    }

    /// Returns the terms without the doubts, as if the repetitions were independent of each other and of their order.
    pub(super) fn plain(&self) -> ComparisonTerms {
        ComparisonTerms {
            inflation: 1.0,
            up: 0.0,
            down: 0.0,
            ..self.terms
        }
    }

    /// Returns the share by which a drift of the machine may have made B higher, or else lower, than A; `None` if no drift can have, as when they
    /// took turns.
    pub(super) fn drift(&self, is_higher: bool) -> Option<f64> {
        let drift = if is_higher {
            self.terms.up
        } else {
            self.terms.down
        };
        (drift != 0.0).then(|| drift.exp() - 1.0)
    }
}

/// Returns the autocorrelation of two samples that were measured in this order.
fn correlation_of(
    order: RunOrder,
    a: &Sample,
    b: &Sample,
    slope: Option<Slope>,
) -> Option<Autocorrelation> {
    match order {
        // An influence on both is not a difference: only changes of their ratio count.
        RunOrder::InTurns => autocorrelation(&[&ratios(a, b)]),
        // A drift is allowed for separately.
        RunOrder::AFirst | RunOrder::BFirst => autocorrelation(&[
            &without(slope, a.values.values()),
            &without(slope, b.values.values()),
        ]),
    }
}

/// Returns the ratio of B to A in each repetition that both have, or the difference if there are zeroes. Other repetitions are skipped: the tester
/// was unfit in one of the two.
fn ratios(a: &Sample, b: &Sample) -> Vec<f64> {
    let (of_a, of_b) = (a.values.values(), b.values.values());
    let has_ratios = of_a.iter().chain(of_b).all(|value| *value > 0.0);
    let of_b: BTreeMap<u32, f64> = b
        .repetitions
        .iter()
        .copied()
        .zip(of_b.iter().copied())
        .collect();
    let pairs = a
        .repetitions
        .iter()
        .zip(of_a)
        .filter_map(|(repetition, a)| Some((a, of_b.get(repetition)?)));
    pairs
        .map(|(a, b)| if has_ratios { b / a } else { b - a })
        .collect()
}

/// Returns the values without the drift. A slope is that of the logarithms, so each value is divided by the factor that has built up until its turn.
fn without(slope: Option<Slope>, values: &[f64]) -> Vec<f64> {
    let slope = slope.map_or(0.0, |slope| slope.slope);
    values
        .iter()
        .enumerate()
        .map(|(i, value)| value * (-slope * i as f64).exp())
        .collect()
}

/// Returns the logarithms of the smallest and the largest factor by which a steady drift makes B differ from A: over the distance from the middle of
/// one sample to the middle of the other, as if the second began right after the first. If searches are rounded to one grid, a step on either side
/// may hide the slope.
fn drift(slope: Slope, steps: (f64, f64), repetitions: usize, order: RunOrder) -> (f64, f64) {
    // From the middle of A to the middle of B there are (m + n) / 2 repetitions.
    let distance = repetitions as f64 / 2.0;
    let hidden_by_steps = (steps.0 * steps.1).ln();
    let (low, high) = match order {
        RunOrder::BFirst => (-slope.high, -slope.low),
        RunOrder::InTurns | RunOrder::AFirst => (slope.low, slope.high),
    };
    (
        (low * distance).min(0.0) - hidden_by_steps,
        (high * distance).max(0.0) + hidden_by_steps,
    )
}
