//! A law fitted to the medians of the steps.

use super::CoreRepetitions;
use super::interval::{self, Interval};
use super::solve::least_squares;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_stats::median;

/// A law of the rate X over n cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Amdahl's: X(n) = λ n / (1 + σ (n - 1)). What cannot be shared out, σ, limits the rate to λ / σ.
    Amdahl,
    /// Gunther's universal scalability law: X(n) = λ n / (1 + σ (n - 1) + κ n (n - 1)). What any two cores cost each other, κ, makes the rate
    /// fall again.
    Universal,
}

impl Law {
    /// Returns the fewest steps that leave something to judge the law by: one more than it has parameters.
    pub fn needed_steps(self) -> usize {
        self.parameters() + 1
    }

    pub(super) fn parameters(self) -> usize {
        match self {
            Self::Amdahl => 2,
            Self::Universal => 3,
        }
    }
}

/// A law with the parameters that lie nearest the medians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// The law that was fitted.
    pub law: Law,
    /// λ: the rate of one core, in the unit of the values.
    pub lambda: f64,
    /// σ, at least 0: contention, the share of the work that is done by one core at a time.
    pub sigma: f64,
    /// κ, at least 0: coherency, what keeping in step costs for each pair of cores. 0 by Amdahl's law.
    pub kappa: f64,
    /// Root mean square over the steps of (median - fitted) / median. How far the law is from the medians, which the interval does not say.
    pub residual: f64,
    /// The steps the law was fitted to.
    pub steps: usize,
    /// The most cores among them: what the law says of more is a guess.
    pub most_cores: u32,
    /// The fewest repetitions that a step has.
    pub repetitions: usize,
    /// The intervals that the scatter of the repetitions leaves open, of at least [`interval::LEAST_REPETITIONS`] each.
    pub interval: Option<Interval>,
}

/// The reason why no law was fitted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error,
)]
#[serde(tag = "reason", rename_all = "kebab-case")]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum NoFit {
    /// A law with as many parameters as there are steps goes through any of them.
    #[error("{law} was not fitted: it needs {} numbers of cores, but there are only {steps}", .law.needed_steps())]
    TooFewSteps { law: Law, steps: usize },
    /// A median is not positive, so no relative distance can be computed.
    #[error("no law was fitted: with {cores} of the cores the median rate is 0")]
    NoRate { cores: u32 },
}

/// A law's parameters, a = 1 / λ, b = σ / λ, c = κ / λ: in them n / X is linear, a + b (n - 1) + c n (n - 1).
pub(super) type Parameters = [f64; 3];

/// Returns the law with the parameters for which the sum of the squared relative residuals, ((median - X(n)) / median)², is least. Relative, because
/// devices scatter in proportion, and 16 cores shall count no more than one. With an interval where there are enough repetitions.
///
/// # Errors
/// Where the steps are too few to tell the law from any other, or a median is not positive.
pub fn fit(law: Law, repetitions: &[CoreRepetitions]) -> Result<Fit, NoFit> {
    let measured: Vec<&CoreRepetitions> = repetitions
        .iter()
        .filter(|step| !step.values.is_empty())
        .collect();
    let points = medians(&measured);
    let mut cores: Vec<u32> = measured.iter().map(|step| step.cores.get()).collect();
    cores.sort_unstable();
    cores.dedup();
    if cores.len() < law.needed_steps() {
        return Err(NoFit::TooFewSteps {
            law,
            steps: cores.len(),
        });
    }
    if let Some((step, _)) = measured
        .iter()
        .zip(&points)
        .find(|(_, (_, rate))| *rate <= 0.0)
    {
        return Err(NoFit::NoRate {
            cores: step.cores.get(),
        });
    }
    let parameters = parameters(law, &points);
    Ok(Fit {
        residual: (squares(&parameters, &points) / points.len() as f64).sqrt(),
        steps: cores.len(),
        most_cores: cores.last().copied().unwrap_or(0),
        repetitions: measured
            .iter()
            .map(|step| step.values.len())
            .min()
            .unwrap_or(0),
        interval: interval::intervals(law, &measured),
        ..Fit::new(law, parameters)
    })
}

/// Cores and the median rate of each step.
pub(super) fn medians(steps: &[&CoreRepetitions]) -> Vec<(f64, f64)> {
    steps
        .iter()
        .filter_map(|step| Some((f64::from(step.cores.get()), median(&step.values)?)))
        .collect()
}

impl Fit {
    /// Returns the fit with these parameters; how well they fit is not yet known.
    pub(super) fn new(law: Law, [a, b, c]: Parameters) -> Self {
        let (lambda, sigma, kappa) = (1.0 / a, b / a, c / a);
        Self {
            law,
            lambda,
            sigma,
            kappa,
            residual: 0.0,
            steps: 0,
            most_cores: 0,
            repetitions: 0,
            interval: None,
        }
    }

    /// Returns the rate with so many cores by this law, in the unit of the values.
    pub fn at(&self, cores: f64) -> f64 {
        self.lambda * cores
            / (1.0 + self.sigma * (cores - 1.0) + self.kappa * cores * (cores - 1.0))
    }

    /// Returns the cores at which the rate is highest, n* = sqrt((1 - σ) / κ), at least 1. `None` where it rises for ever.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }

    /// Returns the highest rate by this law, at the peak or with ever more cores. `None` where it has no limit.
    pub fn most(&self) -> Option<f64> {
        match self.peak() {
            Some(peak) => Some(self.at(peak)),
            None => (self.sigma > 0.0).then(|| self.lambda / self.sigma),
        }
    }
}

/// Returns the best parameters with none below 0. Where the best of all have one below, it is 0 in the best that have none: each way of that is
/// tried.
pub(super) fn parameters(law: Law, points: &[(f64, f64)]) -> Parameters {
    let (all, fewer): (&[usize], &[&[usize]]) = match law {
        Law::Amdahl => (&[0, 1], &[&[0]]),
        Law::Universal => (&[0, 1, 2], &[&[0, 1], &[0, 2], &[0]]),
    };
    let best = descend(all, points);
    if is_allowed(&best) {
        return best;
    }
    let allowed = fewer
        .iter()
        .map(|free| descend(free, points))
        .filter(is_allowed);
    allowed
        .min_by(|a, b| squares(a, points).total_cmp(&squares(b, points)))
        .unwrap_or(best)
}

fn is_allowed(parameters: &Parameters) -> bool {
    parameters[0] > 0.0 && parameters[1] >= 0.0 && parameters[2] >= 0.0
}

/// Gauss and Newton's method from the fit of n / X, which is linear, in these parameters alone; the others stay 0.
fn descend(free: &[usize], points: &[(f64, f64)]) -> Parameters {
    const MOST_STEPS: usize = 60;
    /// A step that gains a smaller part than this is the last.
    const GAIN: f64 = 1e-12;
    let Some(mut found) = linear(free, points) else {
        return [f64::NAN; 3];
    };
    for _ in 0..MOST_STEPS {
        let Some(step) = newton(free, &found, points) else {
            break;
        };
        let Some(next) = shortened(&found, &step, points) else {
            break;
        };
        let is_last = squares(&next, points) > squares(&found, points) * (1.0 - GAIN);
        found = next;
        if is_last {
            break;
        }
    }
    found
}

/// Returns the parameters after the step, or after the largest of its halves, quarters and so on, that lead to smaller squares. `None` where none
/// does: these are the best parameters.
fn shortened(from: &Parameters, step: &Parameters, points: &[(f64, f64)]) -> Option<Parameters> {
    const HALVINGS: i32 = 30;
    let here = squares(from, points);
    let after = |halvings: i32| {
        let part = 0.5f64.powi(halvings);
        [0, 1, 2].map(|i| from[i] + part * step[i])
    };
    (0..HALVINGS)
        .map(after)
        .find(|to| squares(to, points) < here)
}

/// Returns the parameters for which 1 = (X / n) (a + b (n - 1) + c n (n - 1)) holds best with the medians for X.
fn linear(free: &[usize], points: &[(f64, f64)]) -> Option<Parameters> {
    let row = |(n, rate): &(f64, f64)| basis(*n).map(|term| term * rate / n);
    least_squares(free, points.iter().map(|point| (row(point), 1.0)))
}

/// Returns the step that would make the relative residuals 1 - X / median least if they were linear.
fn newton(free: &[usize], at: &Parameters, points: &[(f64, f64)]) -> Option<Parameters> {
    let row = |(n, rate): &(f64, f64)| {
        let fitted = n / denominator(at, *n);
        (
            basis(*n).map(|term| term * fitted * fitted / (n * rate)),
            fitted / rate - 1.0,
        )
    };
    least_squares(free, points.iter().map(row))
}

fn basis(n: f64) -> Parameters {
    [1.0, n - 1.0, n * (n - 1.0)]
}

fn denominator(parameters: &Parameters, n: f64) -> f64 {
    basis(n)
        .iter()
        .zip(parameters)
        .map(|(term, parameter)| term * parameter)
        .sum()
}

/// Returns the sum of the squared relative residuals; not a number where the law has a pole among the steps.
fn squares(parameters: &Parameters, points: &[(f64, f64)]) -> f64 {
    let residual = |(n, rate): &(f64, f64)| match denominator(parameters, *n) {
        per_rate if per_rate > 0.0 => (1.0 - n / per_rate / rate).powi(2),
        _ => f64::NAN,
    };
    points.iter().map(residual).sum()
}
