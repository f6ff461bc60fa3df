//! The repetitions of one point for one quantity, in one direction, at one load.

use sixbench_method::measures::Quantity;
use sixbench_method::stats::{Censored, CensoredValue, OpenStatistics, Summary};
use sixbench_method::terms::{Direction, FrameRate};

/// A sample and its summary, in the quantity's unit.
pub(crate) struct PointSample {
    pub(crate) quantity: Quantity,
    pub(crate) direction: Direction,
    pub(crate) load: FrameRate,
    pub(crate) summary: Summary,
    /// The average, as required by RFC 2544 section 26.5, RFC 6201 and RFC 9004.
    pub(crate) mean: f64,
    /// The standard deviation of the sample; `None` for a single value.
    pub(crate) deviation: Option<f64>,
    /// The number of values that are lower bounds.
    pub(crate) at_least: usize,
    /// True if the median is a lower bound.
    pub(crate) is_median_open: bool,
    /// The statistics that are lower bounds.
    pub(crate) open: OpenStatistics,
}

impl PointSample {
    pub(super) fn new(quantity: Quantity, direction: Direction, load: FrameRate, values: &[(f64, bool)]) -> Option<Self> {
        let at_least = values.iter().filter(|(_, at_least)| *at_least).count();
        let sample: Censored = values.iter().map(|&(value, is_bound)| CensoredValue { value, is_bound }).collect();
        let values = sample.values();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
        Some(Self {
            quantity,
            direction,
            load,
            summary: Summary::of(values)?,
            mean,
            deviation,
            at_least,
            is_median_open: sample.is_median_open(),
            open: sample.open_statistics(),
        })
    }

    /// Returns the sign before a number, such as the mean, whose true value may be higher if that of any value may be.
    pub(crate) fn sign(&self) -> &'static str {
        if self.at_least > 0 { "≥\u{a0}" } else { "" }
    }

    /// Returns the sign before the median.
    pub(crate) fn median_sign(&self) -> &'static str {
        if self.is_median_open { "≥\u{a0}" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_deviation_is_that_of_a_sample() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(|v| (v, false));
        let sample = PointSample::new(Quantity::BackToBackFrames, Direction::Forward, FrameRate(1), &values).unwrap();
        assert_eq!(sample.mean, 5.0);
        assert!((sample.deviation.unwrap() - (32f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_deviation_and_one_open_value_opens_the_sample() {
        let sample = PointSample::new(Quantity::RecoveryTime, Direction::Forward, FrameRate(1), &[(3.0, true)]).unwrap();
        assert_eq!((sample.deviation, sample.sign()), (None, "≥\u{a0}"));
    }
}
