//! What the scatter of the repetitions leaves open of a fit: the repetitions of each step are resampled, and the law is fitted to each
//! sample (bootstrap).

use super::CoreRepetitions;
use super::fit::{Fit, Law, medians, parameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_stats::{SplitMix64, percentile};

/// The fewest repetitions to resample: with fewer, hardly anything other than the sample itself can be drawn.
pub(super) const LEAST_REPETITIONS: usize = 3;

/// The number of resampled fits: 25 of them lie beyond each end of a 95 % interval.
const DRAWS: usize = 1_000;

/// Any seed would do; a fixed one makes each report on the same records the same.
const SEED: u64 = 8219;

/// The intervals of a fit: from the 2.5th to the 97.5th percentile over 1,000 fits to resampled repetitions (Efron's bootstrap). It supposes that the law holds; how
/// far the medians are from it is said by [`Fit::residual`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The interval of λ, in the unit of the values.
    pub lambda: (f64, f64),
    /// The interval of σ.
    pub sigma: (f64, f64),
    /// The interval of κ; 0 and 0 by Amdahl's law.
    pub kappa: (f64, f64),
    /// The interval of the number of cores at which the rate is highest. `None` where hardly any fit had such a place.
    pub peak: Option<PeakInterval>,
}

/// The range of the number of cores at which the rate is highest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeakInterval {
    /// The least number of cores.
    pub low: f64,
    /// The largest number of cores; `None` where the rate may as well rise for ever.
    pub high: Option<f64>,
}

/// Returns the intervals of the fit; `None` where a step has too few repetitions.
pub(super) fn intervals(law: Law, steps: &[&CoreRepetitions]) -> Option<Interval> {
    if steps
        .iter()
        .any(|step| step.values.len() < LEAST_REPETITIONS)
    {
        return None;
    }
    let mut random = SplitMix64::new(SEED);
    // A resample with a median of 0 has no fit and is left out.
    let fits: Vec<Fit> = (0..DRAWS)
        .filter_map(|_| drawn(law, steps, &mut random))
        .collect();
    let ends = |of: fn(&Fit) -> f64| {
        let values: Vec<f64> = fits.iter().map(of).collect();
        Some((percentile(&values, 0.025)?, percentile(&values, 0.975)?))
    };
    // A fit whose rate rises for ever has its peak at infinity; otherwise the interval would be that of the other fits alone.
    let (low, high) = ends(|fit| fit.peak().unwrap_or(f64::INFINITY))?;
    let peak = low.is_finite().then_some(PeakInterval {
        low,
        high: high.is_finite().then_some(high),
    });
    Some(Interval {
        lambda: ends(|fit| fit.lambda)?,
        sigma: ends(|fit| fit.sigma)?,
        kappa: ends(|fit| fit.kappa)?,
        peak,
    })
}

/// Returns the fit to a resample: for each step, as many repetitions as it has, drawn from them with replacement. `None` if a median of it is 0.
fn drawn(law: Law, steps: &[&CoreRepetitions], random: &mut SplitMix64) -> Option<Fit> {
    let mut draw = |values: &[f64]| values[(random.uniform() * values.len() as f64) as usize];
    let again = |step: &&CoreRepetitions| CoreRepetitions {
        cores: step.cores,
        values: step.values.iter().map(|_| draw(&step.values)).collect(),
    };
    let again: Vec<CoreRepetitions> = steps.iter().map(again).collect();
    let points = medians(&again.iter().collect::<Vec<_>>());
    points
        .iter()
        .all(|(_, rate)| *rate > 0.0)
        .then(|| Fit::new(law, parameters(law, &points)))
}
