//! The repetitions of one point for one quantity, in one direction, at one load.

use super::PrintedSummary;
use crate::wording::numbers::value;
use sixbench_method::measures::{Quantity, Value};
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_stats::{Censored, OpenStatistics, Summary};

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
    /// The number of values that are upper bounds.
    pub(crate) at_most: usize,
    /// The statistics that are upper bounds.
    pub(crate) open_below: OpenStatistics,
    /// The statistics that are lower bounds.
    pub(crate) open: OpenStatistics,
}

impl PointSample {
    pub(super) fn new(
        quantity: Quantity,
        direction: Direction,
        load: FrameRate,
        values: &[Value],
    ) -> Option<Self> {
        let at_least = values.iter().filter(|value| value.is_at_least).count();
        let at_most = values.iter().filter(|value| value.is_at_most).count();
        let sample: Censored = values.iter().map(Value::censored).collect();
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
            at_most,
            open_below: sample.statistics_at_most(),
            open: sample.open_statistics(),
        })
    }

    /// Returns the sign before a number, such as the mean, whose true value may be higher (or lower) if that of any value may be.
    pub(crate) fn sign(&self) -> &'static str {
        sign(self.at_least > 0, self.at_most > 0)
    }

    /// Returns the sign before the median.
    pub(crate) fn median_sign(&self) -> &'static str {
        sign(self.is_median_open, self.open_below.median)
    }

    /// Returns the statistics as the tables have them, each with its sign.
    pub(crate) fn printed(&self) -> PrintedSummary {
        let signed = |is_at_least, is_at_most, of| {
            format!(
                "{}{}",
                sign(is_at_least, is_at_most),
                value(self.quantity, of)
            )
        };
        let (above, below, of) = (self.open, self.open_below, self.summary);
        PrintedSummary {
            min: signed(above.min, below.min, of.min),
            p1: signed(above.p1, below.p1, of.p1),
            median: signed(above.median, below.median, of.median),
            p99: signed(above.p99, below.p99, of.p99),
            max: signed(above.max, below.max, of.max),
        }
    }
}

/// Returns the sign before a number that may be a lower or an upper bound.
fn sign(is_at_least: bool, is_at_most: bool) -> &'static str {
    match (is_at_least, is_at_most) {
        (false, false) => "",
        (true, false) => "≥\u{a0}",
        (false, true) => "≤\u{a0}",
        (true, true) => "≈\u{a0}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sample of values, each with whether it is a lower or an upper bound.
    fn sample(quantity: Quantity, values: &[(f64, bool, bool)]) -> PointSample {
        let (direction, load) = (Direction::Forward, FrameRate(1));
        let value = |&(value, is_at_least, is_at_most)| Value {
            quantity,
            direction,
            load,
            value,
            is_at_least,
            is_at_most,
        };
        let values: Vec<Value> = values.iter().map(value).collect();
        PointSample::new(quantity, direction, load, &values).expect("values")
    }

    #[test]
    fn the_standard_deviation_is_that_of_a_sample() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(|value| (value, false, false));
        let sample = sample(Quantity::BackToBackFrames, &values);
        assert_eq!(sample.mean, 5.0);
        assert!((sample.deviation.unwrap() - (32f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_deviation_and_one_open_value_opens_the_sample() {
        let sample = sample(Quantity::RecoveryTime, &[(3.0, true, false)]);
        assert_eq!((sample.deviation, sample.sign()), (None, "≥\u{a0}"));
    }

    #[test]
    fn a_median_is_an_upper_bound_if_a_value_that_may_be_lower_can_move_it() {
        let signs = |values: &[(f64, bool, bool)]| {
            let sample = sample(Quantity::MinimumDelay, values);
            (sample.sign(), sample.median_sign())
        };
        let exact = |value| (value, false, false);
        assert_eq!(
            signs(&[exact(1.0), exact(2.0), (3.0, false, true)]),
            ("≤\u{a0}", "≤\u{a0}")
        );
        assert_eq!(
            signs(&[(1.0, false, true), exact(2.0), exact(3.0)]),
            ("≤\u{a0}", ""),
            "it is below the median already"
        );
        assert_eq!(signs(&[exact(1.0), exact(2.0), exact(3.0)]), ("", ""));
        assert_eq!(
            signs(&[(1.0, true, false), (2.0, false, true)]).0,
            "≈\u{a0}"
        );
    }
}
