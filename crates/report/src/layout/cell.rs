//! A cell of a table, which formats itself once for all notations.

use crate::wording::bound::Bound;
use crate::wording::numbers::{
    grouped, ms, percent, seconds, three_digits, value, whole, with_decimals,
};
use sixbench_method::measures::Quantity;
use sixbench_method::terms::{Direction, FrameSize};
use std::fmt;

/// What a table prints where there is nothing to print.
const MISSING: &str = "–";

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A value that does not exist or was not measured.
    Missing,
    Text(String),
    /// A small number or an identifier, without groups of digits: `1518`.
    Number(u64),
    /// A number of things, in groups of three digits: `1,488,095`.
    Count(u64),
    /// A rate per second, printed as a whole number in groups of three digits: no device forwards half a frame.
    Rate(f64),
    /// A ratio, 0..=1, printed in per cent with the sign.
    Share(f64),
    /// A number with three significant digits.
    Significant(f64),
    /// A number with this many decimals.
    Decimals(f64, usize),
    /// A time in nanoseconds, printed in seconds with the unit.
    Time(u64),
    /// Nanoseconds, printed in milliseconds without the unit, which the column names.
    Milliseconds(f64),
    /// A value in the stored unit of its quantity.
    Quantity(Quantity, f64),
    /// A cell after the sign that relates it to the true value.
    Signed(&'static str, Box<Cell>),
}

impl Cell {
    /// Returns the cell after the sign of a bound, or no value if the bound says that it has no meaning.
    pub(crate) fn bounded(self, bound: Bound) -> Self {
        bound.sign().map_or(Self::Missing, |sign| self.signed(sign))
    }

    /// Returns the cell after this sign.
    pub(crate) fn signed(self, sign: &'static str) -> Self {
        Self::Signed(sign, Box::new(self))
    }

    /// Returns a number that may be a bound, with this many decimals. Rounding keeps the bound valid.
    pub(crate) fn rounded(value: f64, bound: Bound, decimals: usize) -> Self {
        Self::Decimals(
            bound.rounded(value, 10f64.powi(-(decimals as i32))),
            decimals,
        )
        .bounded(bound)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str(MISSING),
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Count(count) => f.write_str(&whole(*count)),
            Self::Rate(rate) => f.write_str(&grouped(*rate)),
            Self::Share(ratio) => f.write_str(&percent(*ratio)),
            Self::Significant(number) => f.write_str(&three_digits(*number)),
            Self::Decimals(number, decimals) => f.write_str(&with_decimals(*number, *decimals)),
            Self::Time(ns) => f.write_str(&seconds(*ns)),
            Self::Milliseconds(ns) => f.write_str(&ms(*ns)),
            Self::Quantity(quantity, number) => f.write_str(&value(*quantity, *number)),
            Self::Signed(sign, cell) => write!(f, "{sign}{cell}"),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<FrameSize> for Cell {
    fn from(size: FrameSize) -> Self {
        Self::Number(size.0.into())
    }
}

impl From<Direction> for Cell {
    fn from(direction: Direction) -> Self {
        Self::Text(direction.to_string())
    }
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Self {
        cell.map_or(Self::Missing, C::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_printed_as_what_it_is() {
        let cells = [
            (Cell::Number(1518), "1518"),
            (Cell::Count(1_488_095), "1,488,095"),
            (Cell::Rate(221_782.5), "221,783"),
            (Cell::Share(0.0035), "0.35\u{a0}%"),
            (Cell::Significant(0.99), "0.99"),
            (Cell::Decimals(1234.5, 2), "1,234.50"),
            (Cell::Time(500_000_000), "0.5\u{a0}s"),
            (Cell::Milliseconds(24_100.0), "0.0241"),
            (Cell::Quantity(Quantity::MemoryGrowth, 2_500.0), "3"),
            (Cell::Count(7).signed("≈\u{a0}"), "≈\u{a0}7"),
        ];
        for (cell, printed) in cells {
            assert_eq!(cell.to_string(), printed);
        }
    }

    #[test]
    fn a_bound_keeps_its_sign_and_remains_valid() {
        assert_eq!(
            Cell::rounded(1.239, Bound::AtLeast, 2).to_string(),
            "≥\u{a0}1.23"
        );
        assert_eq!(
            Cell::rounded(1.231, Bound::AtMost, 2).to_string(),
            "≤\u{a0}1.24"
        );
        assert_eq!(Cell::rounded(1.231, Bound::Unknown, 2).to_string(), "–");
    }

    #[test]
    fn a_value_that_does_not_exist_is_a_dash() {
        assert_eq!(Cell::from(None::<FrameSize>).to_string(), "–");
        assert_eq!(Cell::from(Some(FrameSize(84))).to_string(), "84");
    }
}
