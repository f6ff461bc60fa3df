//! Numbers derived from lower bounds: how the ratio of two results, or the change from one to the other, relates to the true value.

use super::numbers::short;
use sixbench_method::terms::FrameRate;

/// The relation of a number to the true value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Exact,
    AtLeast,
    AtMost,
    /// The true value may be higher or lower, since both results it is derived from may be too low.
    Unknown,
}

impl Bound {
    /// Returns the bound of a number whose true value may be higher, or lower.
    pub(crate) fn of_value(is_at_least: bool, is_at_most: bool) -> Self {
        match (is_at_least, is_at_most) {
            (false, false) => Self::Exact,
            (true, false) => Self::AtLeast,
            (false, true) => Self::AtMost,
            (true, true) => Self::Unknown,
        }
    }

    /// Returns the bound of `over / under`, each of which may be lower than its true value.
    pub(crate) fn of_ratio(is_over_open: bool, is_under_open: bool) -> Self {
        Self::of_value(is_over_open, is_under_open)
    }

    /// Returns the bound of a number that falls as this one rises.
    pub(crate) fn inverted(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
            same => same,
        }
    }

    /// Returns the bound of a number that is exact, or may be lower than its true value.
    pub(crate) fn at_least_if(is_open: bool) -> Self {
        if is_open { Self::AtLeast } else { Self::Exact }
    }

    /// Returns the number as a multiple of `unit`. A bound is rounded so that it remains valid: "at least 296 k" is false for 295,923.
    pub(crate) fn rounded(self, value: f64, unit: f64) -> f64 {
        let units = value / unit;
        // A number that is a multiple except for binary rounding errors stays the same.
        let is_multiple = (units - units.round()).abs() < 1e-9 * units.abs();
        let whole = match self {
            Self::AtLeast if !is_multiple => units.floor(),
            Self::AtMost if !is_multiple => units.ceil(),
            _ => units.round(),
        };
        whole * unit
    }

    /// Returns the words before the number in a sentence; `None` if the number has no meaning.
    pub(crate) fn phrase(self) -> Option<&'static str> {
        match self {
            Self::Exact => Some(""),
            Self::AtLeast => Some("at least "),
            Self::AtMost => Some("at most "),
            Self::Unknown => None,
        }
    }

    /// Returns the sign before the number in a table; `None` if the number has no meaning.
    pub(crate) fn sign(self) -> Option<&'static str> {
        match self {
            Self::Exact => Some(""),
            Self::AtLeast => Some("≥\u{a0}"),
            Self::AtMost => Some("≤\u{a0}"),
            Self::Unknown => None,
        }
    }
}

/// Returns the words in place of a number between bounds that are too far apart: `not found: between 95 k and 1.57 M`.
pub(crate) fn between(lower: FrameRate, upper: FrameRate) -> String {
    let [lower, upper] = [lower, upper].map(|rate| short(rate.0 as f64));
    format!("not found: between {lower} and {upper}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_rounded_claims_no_more_than_before() {
        let rounded = |bound: Bound| {
            [295_923.0, 296_000.0, 295_100.0].map(|value| bound.rounded(value, 1e3) / 1e3)
        };
        assert_eq!(rounded(Bound::Exact), [296.0, 296.0, 295.0]);
        assert_eq!(rounded(Bound::AtLeast), [295.0, 296.0, 295.0]);
        assert_eq!(rounded(Bound::AtMost), [296.0, 296.0, 296.0]);
        assert!((Bound::AtLeast.rounded(0.3, 0.1) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn a_ratio_is_bound_by_what_may_be_higher() {
        let cases = [(false, false), (true, false), (false, true), (true, true)];
        let bounds = cases.map(|(over, under)| Bound::of_ratio(over, under));
        assert_eq!(
            bounds,
            [Bound::Exact, Bound::AtLeast, Bound::AtMost, Bound::Unknown]
        );
        assert_eq!(
            bounds.map(Bound::inverted),
            [Bound::Exact, Bound::AtMost, Bound::AtLeast, Bound::Unknown]
        );
    }
}
