//! How often a measurement is repeated: a fixed number, or until the median is known well enough. Sees values only.
//!
//! # Order and start of repetitions
//!
//! Repetitions go round the points of a device (every second round backwards), or of all devices if the plan says `interleave`. What is measured at
//! the throughput follows when the throughput is known. A search begins cold or at a load drawn around the median of the earlier repetitions
//! (`search::start`), so that repetitions do not copy each other. Both the live run and the report ask only `replay::wants_more` whether a point
//! needs another repetition.

use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule for when to stop repeating.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repetition {
    /// Always so many. RFC 8219 section 7: at least 20.
    Fixed(u32),
    /// Until the 95 % interval of the median is narrow; repetitions that seem to follow each other make it wider. It may miss a rare
    /// mode of the DUT: n and all values belong into the report.
    Adaptive {
        /// Never fewer; below 6 there is no interval.
        least: u32,
        /// Never more.
        most: u32,
        /// The largest distance of either end of the interval from the median, as a share of the median.
        within: f64,
    },
}

impl Bounded for Repetition {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[("fixed", Repetition::NUMBER)],
        tables: &[("adaptive", &ADAPTIVE)],
        ..TableBounds::NONE
    };
}

/// The bounds of the settings of [`Repetition::Adaptive`].
const ADAPTIVE: TableBounds = TableBounds {
    numbers: &[
        ("least", Repetition::LEAST_ADAPTIVE),
        ("most", Repetition::LEAST_ADAPTIVE),
        ("within", NumberBound::SHARE),
    ],
    ordered: &[("least", "most")],
    ..TableBounds::NONE
};

impl Repetition {
    /// The number of repetitions.
    pub const NUMBER: NumberBound = NumberBound::new(1.0, 1000.0);
    /// The number of adaptive repetitions. There is no interval below six.
    pub const LEAST_ADAPTIVE: NumberBound = Self::NUMBER.at_least(6.0);
    /// 6 to 20 repetitions, until the median is known within 1 %.
    pub const ADAPTIVE: Self = Self::Adaptive {
        least: 6,
        most: 20,
        within: 0.01,
    };

    /// Returns whether the values found so far, in the order they were measured, suffice.
    pub fn is_enough(&self, values: &[f64]) -> bool {
        let n = values.len() as u32;
        match *self {
            Self::Fixed(count) => n >= count,
            Self::Adaptive {
                least,
                most,
                within,
            } => {
                n >= most
                    || (n >= least && interval_reach(values).is_some_and(|reach| reach <= within))
            }
        }
    }

    /// Returns the fewest repetitions there can be.
    pub fn least(&self) -> u32 {
        match *self {
            Self::Fixed(count) => count,
            Self::Adaptive { least, .. } => least,
        }
    }

    /// Returns the most repetitions there can be.
    pub fn most(&self) -> u32 {
        match *self {
            Self::Fixed(count) => count,
            Self::Adaptive { most, .. } => most,
        }
    }
}

/// Returns the distance from the median to the farther end of its 95 % interval, as a share of the median: the median is
/// known within this. The interval allows for repetitions that follow each other. `None` where there is no interval, or where the median is not positive.
fn interval_reach(values: &[f64]) -> Option<f64> {
    let (low, high) = sixbench_stats::median_interval_95_in_order(values)?;
    let median = sixbench_stats::median(values).filter(|&m| m > 0.0)?;
    Some((high - median).max(median - low) / median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_dut_takes_six_repetitions() {
        assert!(!Repetition::ADAPTIVE.is_enough(&[100.0; 5]));
        assert!(Repetition::ADAPTIVE.is_enough(&[100.0; 6]));
    }

    #[test]
    fn a_scattered_dut_takes_all_of_them() {
        let values: Vec<f64> = (0..20).map(|i| 100.0 + 2.0 * f64::from(i % 5)).collect();
        assert!(!Repetition::ADAPTIVE.is_enough(&values[..19]));
        assert!(Repetition::ADAPTIVE.is_enough(&values));
    }

    #[test]
    fn repetitions_that_follow_each_other_are_not_enough_where_others_are() {
        let scattered = [99.2, 100.0, 99.4, 99.8, 99.3, 99.9];
        let mut rising = scattered;
        rising.sort_by(f64::total_cmp);
        assert!(
            Repetition::ADAPTIVE.is_enough(&scattered) && !Repetition::ADAPTIVE.is_enough(&rising)
        );
    }

    #[test]
    fn both_ends_of_the_interval_have_to_be_near_the_median() {
        // Of six values the interval is the whole sample.
        let reaching =
            |low, high| Repetition::ADAPTIVE.is_enough(&[100.0, low, high, 100.0, 100.0, 100.0]);
        assert!(reaching(99.0, 101.0));
        assert!(!reaching(98.9, 100.0));
        assert!(!reaching(100.0, 101.1));
    }

    #[test]
    fn a_fixed_number_looks_at_nothing_else() {
        assert!(!Repetition::Fixed(20).is_enough(&[100.0; 19]));
        assert!(Repetition::Fixed(20).is_enough(&[100.0; 20]));
    }
}
