//! The bounds of the numbers in a plan: each is defined once, beside the setting that it limits. The reader of a plan file checks the key with it, and
//! a resolved plan, which may come from any source, is checked with the same bound, since memory, time and arithmetic depend on these numbers.

use std::fmt;

/// The least and the greatest value that a number may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberBound {
    least: f64,
    most: f64,
}

impl NumberBound {
    /// Any number.
    pub const ANY: Self = Self::new(f64::NEG_INFINITY, f64::INFINITY);
    /// A ratio.
    pub const SHARE: Self = Self::new(0.0, 1.0);
    /// A ratio below 1.
    pub const BELOW_ONE: Self = Self::new(0.0, 1.0 - f64::EPSILON);
    /// A whole percentage.
    pub const PERCENT: Self = Self::new(0.0, 100.0);
    /// An amount of connections, flows, subscribers or names.
    pub const COUNT: Self = Self::new(1.0, 1e9);
    /// An amount of frames.
    pub const FRAMES: Self = Self::new(1.0, 1e12);
    /// A number of at least 1 that is otherwise limited by its 32 bits alone.
    pub const NONZERO_UINT32: Self = Self::new(1.0, u32::MAX as f64);
    /// Every value that 16 bits can have.
    pub const UINT16: Self = Self::new(0.0, u16::MAX as f64);
    /// A time that a plan file states, nanoseconds: at most a day.
    pub const STATED_TIME_NS: Self = Self::new(0.0, 86_400e9);
    /// A time, nanoseconds. Those that are derived from stated times are longer than a day; the longest is the patience, which is five trials.
    pub const TIME_NS: Self = Self::new(0.0, 5.0 * 86_400e9);

    /// Returns the bound from `least` to `most`, both included.
    pub const fn new(least: f64, most: f64) -> Self {
        Self { least, most }
    }

    /// Returns the same with another least value.
    pub const fn at_least(self, least: f64) -> Self {
        Self { least, ..self }
    }

    /// Returns the greatest value.
    pub const fn most(self) -> f64 {
        self.most
    }

    /// Returns the bound as the messages of a plan file have it: `from 1 to 1000`.
    pub fn from_to(self) -> String {
        format!("from {} to {}", self.least, self.most)
    }

    /// Returns whether the number is within the bound, which no `NaN` is.
    pub fn contains(self, number: f64) -> bool {
        (self.least..=self.most).contains(&number)
    }
}

/// The bound as messages have it: `between 1 and 1000`.
impl fmt::Display for NumberBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.most == Self::BELOW_ONE.most {
            write!(f, "between {} and 1 (exclusive)", self.least)
        } else {
            write!(f, "between {} and {}", self.least, self.most)
        }
    }
}

/// The bounds of a table of a resolved plan, by its keys there. A `_` stands for `-` also.
#[derive(Clone, Copy, Debug)]
pub struct TableBounds {
    /// The numbers, the lists of numbers and the tables of numbers with names of the user.
    pub numbers: &'static [(&'static str, NumberBound)],
    /// The tables within, and the lists of tables.
    pub tables: &'static [(&'static str, &'static TableBounds)],
    /// Pairs of keys, of which the first must not be greater than the second.
    pub ordered: &'static [(&'static str, &'static str)],
}

impl TableBounds {
    /// The bounds of a table without numbers.
    pub const NONE: Self = Self {
        numbers: &[],
        tables: &[],
        ordered: &[],
    };

    /// Returns the bound of a key; `None` if it has none.
    pub fn number(&self, key: &str) -> Option<NumberBound> {
        found(self.numbers, key)
    }

    /// Returns the bounds of the table that a key holds; `None` if it holds none with numbers.
    pub fn table(&self, key: &str) -> Option<&'static TableBounds> {
        found(self.tables, key)
    }
}

fn found<T: Copy>(entries: &[(&str, T)], key: &str) -> Option<T> {
    entries
        .iter()
        .find(|(name, _)| name.replace('_', "-") == key)
        .map(|(_, value)| *value)
}

/// Settings that a resolved plan has as a table.
pub trait Bounded {
    /// The bounds of its numbers.
    const BOUNDS: TableBounds;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_within_a_bound_and_what_is_no_number_is_not() {
        let bound = NumberBound::COUNT;
        assert!(bound.contains(1.0) && bound.contains(1e9));
        assert!(
            ![0.0, 1e9 + 1.0, f64::NAN, f64::INFINITY]
                .into_iter()
                .any(|number| bound.contains(number))
        );
        assert_eq!(bound.to_string(), "between 1 and 1000000000");
        assert!(!NumberBound::BELOW_ONE.contains(1.0));
        assert_eq!(
            NumberBound::BELOW_ONE.to_string(),
            "between 0 and 1 (exclusive)"
        );
    }
}
