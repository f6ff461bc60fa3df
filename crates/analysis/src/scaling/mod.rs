//! Core scaling: what a device gains from more cores, and which law its rates follow. Arithmetic only.
//!
//! The table is that of Lencse and Nagy, Towards the scalability comparison of the Jool implementation of the 464XLAT and of the MAP-T
//! IPv4aaS technologies, International Journal of Communication Systems, 2022. The laws are Amdahl's (AFIPS, 1967) and Gunther's universal
//! scalability law (Guerrilla Capacity Planning, 2007).

mod fit;
mod interval;
mod sentences;
mod solve;
#[cfg(test)]
mod tests;

pub use fit::{Fit, Law, NoFit, fit};
pub use interval::{Interval, PeakInterval};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_stats::Summary;
use std::num::NonZeroU32;

/// The repetitions with so many cores.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreRepetitions {
    /// Active cores of the device; in a chain, of each of the devices.
    pub cores: NonZeroU32,
    /// The value that each repetition found, in any one unit.
    pub values: Vec<f64>,
}

/// One number of cores, and what it gains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingStep {
    /// Active cores.
    pub cores: NonZeroU32,
    /// The summary of the repetitions; the paper prints their median, minimum and maximum.
    pub summary: Summary,
    /// "Proportion: current/previous": the median over that of the step before. `None` of the first step, and after a median of 0.
    pub proportion: Option<f64>,
    /// The median over that with one core. `None` where one core was not measured, or has a median of 0.
    pub speed_up: Option<f64>,
    /// The median per core over that of the step with the fewest cores, which has 1: the speed-up by the cores where that has one core.
    /// `None` where that step has a median of 0.
    pub efficiency: Option<f64>,
}

/// Returns the steps by ascending cores. Those without a repetition are left out.
pub fn steps(repetitions: &[CoreRepetitions]) -> Vec<ScalingStep> {
    let mut measured: Vec<(NonZeroU32, Summary)> = repetitions
        .iter()
        .filter_map(|step| Some((step.cores, Summary::of(&step.values)?)))
        .collect();
    measured.sort_by_key(|(cores, _)| *cores);
    let one = measured
        .iter()
        .find(|(cores, _)| cores.get() == 1)
        .map(|(_, summary)| summary.median);
    let fewest = measured
        .first()
        .map(|(cores, summary)| per_core(*cores, summary.median));
    let step = |(index, &(cores, summary)): (usize, &(NonZeroU32, Summary))| {
        let previous = index.checked_sub(1).map(|before| measured[before].1.median);
        let over = |base: Option<f64>, value: f64| {
            base.filter(|&base| base > 0.0).map(|base| value / base)
        };
        ScalingStep {
            cores,
            summary,
            proportion: over(previous, summary.median),
            speed_up: over(one, summary.median),
            efficiency: over(fewest, per_core(cores, summary.median)),
        }
    };
    measured.iter().enumerate().map(step).collect()
}

fn per_core(cores: NonZeroU32, rate: f64) -> f64 {
    rate / f64::from(cores.get())
}
