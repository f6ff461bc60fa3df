//! Numbers made of lower bounds: how a ratio of two results, or a change from one to the other, lies to the true one.

/// The relation of a number to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Exact,
    AtLeast,
    AtMost,
    /// It may be higher or lower, since both results it is made of may be higher.
    Unknown,
}

impl Bound {
    /// Returns the bound of `over / under`, where either may be higher in truth.
    pub(crate) fn of_ratio(is_over_open: bool, is_under_open: bool) -> Self {
        match (is_over_open, is_under_open) {
            (false, false) => Self::Exact,
            (true, false) => Self::AtLeast,
            (false, true) => Self::AtMost,
            (true, true) => Self::Unknown,
        }
    }

    /// Returns the bound of what falls as this number rises.
    pub(crate) fn inverted(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
            same => same,
        }
    }

    /// Returns the bound of a number that may be higher in truth, or is exact.
    pub(crate) fn of(is_open: bool) -> Self {
        if is_open { Self::AtLeast } else { Self::Exact }
    }

    /// Returns the number in multiples of `unit`. What is a bound stays one: "at least 296 k" is false of 295,923.
    pub(crate) fn rounded(self, value: f64, unit: f64) -> f64 {
        let units = value / unit;
        // Where it is a multiple but for what binary fractions leave out, it stays the same.
        let is_multiple = (units - units.round()).abs() < 1e-9 * units.abs();
        let whole = match self {
            Self::AtLeast if !is_multiple => units.floor(),
            Self::AtMost if !is_multiple => units.ceil(),
            _ => units.round(),
        };
        whole * unit
    }

    /// Returns the words before the number in a sentence; `None` where it says nothing.
    pub(crate) fn words(self) -> Option<&'static str> {
        match self {
            Self::Exact => Some(""),
            Self::AtLeast => Some("at least "),
            Self::AtMost => Some("at most "),
            Self::Unknown => None,
        }
    }

    /// Returns the sign before the number in a table; `None` where it says nothing.
    pub(crate) fn sign(self) -> Option<&'static str> {
        match self {
            Self::Exact => Some(""),
            Self::AtLeast => Some("≥\u{a0}"),
            Self::AtMost => Some("≤\u{a0}"),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_rounded_claims_no_more_than_before() {
        let rounded = |bound: Bound| [295_923.0, 296_000.0, 295_100.0].map(|value| bound.rounded(value, 1e3) / 1e3);
        assert_eq!(rounded(Bound::Exact), [296.0, 296.0, 295.0]);
        assert_eq!(rounded(Bound::AtLeast), [295.0, 296.0, 295.0]);
        assert_eq!(rounded(Bound::AtMost), [296.0, 296.0, 296.0]);
        assert!((Bound::AtLeast.rounded(0.3, 0.1) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn a_ratio_is_bound_by_what_may_be_higher() {
        let cases = [(false, false), (true, false), (false, true), (true, true)];
        let bounds = cases.map(|(over, under)| Bound::of_ratio(over, under));
        assert_eq!(bounds, [Bound::Exact, Bound::AtLeast, Bound::AtMost, Bound::Unknown]);
        assert_eq!(bounds.map(Bound::inverted), [Bound::Exact, Bound::AtMost, Bound::AtLeast, Bound::Unknown]);
    }
}
