//! What the order of the repetitions says against a comparison: that they depend on each other, or that the machine drifted.

use crate::stats::{Doubts, autocorrelation, common_drift, inflation};

/// When the repetitions of A and B were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One of A, one of B, and so on: what the machine does befalls both.
    InTurns,
    /// All of A, then all of B.
    AFirst,
    /// All of B, then all of A.
    BFirst,
}

/// What a row allows for, and what it is told as.
pub(super) struct Doubt {
    pub(super) allowed: Doubts,
    pub(super) autocorrelation: Option<f64>,
    /// As a share of A, where positive B may be larger for it.
    pub(super) drift: Option<f64>,
}

impl Doubt {
    pub(super) fn of(a: &[f64], b: &[f64], order: Order) -> Self {
        let slope = if order == Order::InTurns { None } else { common_drift(a, b) };
        let correlation = match order {
            // What befell both is no difference: only what their ratio did counts.
            Order::InTurns => autocorrelation(&[&ratios(a, b)]),
            // A drift is allowed for by itself.
            Order::AFirst | Order::BFirst => autocorrelation(&[&without(slope, a), &without(slope, b)]),
        };
        let drift = slope.map(|slope| slope * way(a.len() + b.len(), order));
        let inflation = inflation(correlation.unwrap_or(0.0), a.len(), b.len());
        let allowed = Doubts { inflation, drift: drift.unwrap_or(0.0) };
        Self { allowed, autocorrelation: correlation, drift: drift.map(|drift| drift.exp() - 1.0) }
    }
}

/// How B lies to A, repetition by repetition: a ratio, or the difference where there are zeroes.
fn ratios(a: &[f64], b: &[f64]) -> Vec<f64> {
    let has_ratios = a.iter().chain(b).all(|value| *value > 0.0);
    a.iter().zip(b).map(|(a, b)| if has_ratios { b / a } else { b - a }).collect()
}

/// The values as they would be without this drift.
fn without(slope: Option<f64>, values: &[f64]) -> Vec<f64> {
    let slope = slope.unwrap_or(0.0);
    values.iter().enumerate().map(|(i, value)| value * (-slope * i as f64).exp()).collect()
}

/// Repetitions over which a drift makes B larger than A, from the first of all to the last; negative where B came first. That is twice as far as
/// from the middle of the one to the middle of the other, since neither the slope nor the time between them is known well.
fn way(repetitions: usize, order: Order) -> f64 {
    match order {
        Order::InTurns => 0.0,
        Order::AFirst => repetitions as f64,
        Order::BFirst => -(repetitions as f64),
    }
}
