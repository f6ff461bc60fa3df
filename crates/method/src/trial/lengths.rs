//! Distributions of lengths in frames: of gaps, of the distances between them, of reordering, and of how far copies are behind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of classes of lengths: zero, one, and one for each further power of two.
pub const LENGTH_CLASSES: usize = 66;

/// How many lengths there were of something, and how long they were, in frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LengthDistribution {
    /// The number of lengths.
    pub count: u64,
    /// The shortest.
    pub shortest: u64,
    /// The longest.
    pub longest: u64,
    /// The sum of all, from which the average follows.
    pub total: u64,
    /// How many have which length, shortest first, without those of which there are none.
    pub by_length: Vec<LengthClass>,
}

/// The number of lengths of about the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct LengthClass {
    /// The longest in the class, frames: 0, 1, or a power of two. The class begins above half of it.
    pub up_to: u64,
    /// The number of lengths in the class.
    pub count: u64,
}

impl LengthClass {
    /// Returns the index of the class of a length, below [`LENGTH_CLASSES`].
    #[inline]
    pub fn index(length: u64) -> usize {
        match length {
            0 => 0,
            _ => 65 - (length - 1).leading_zeros() as usize,
        }
    }

    /// Returns the longest length of a class by its index.
    pub fn longest_at(index: usize) -> u64 {
        match index {
            0 => 0,
            _ => 1_u64.checked_shl(index as u32 - 1).unwrap_or(u64::MAX),
        }
    }
}

impl From<(u64, u64)> for LengthClass {
    fn from(pair: (u64, u64)) -> Self {
        let (up_to, count) = pair;
        Self { up_to, count }
    }
}

impl From<LengthClass> for (u64, u64) {
    fn from(class: LengthClass) -> Self {
        (class.up_to, class.count)
    }
}

impl LengthDistribution {
    /// Returns the average, in frames.
    pub fn mean(&self) -> f64 {
        self.total as f64 / self.count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_ends_with_a_power_of_two_and_the_next_begins_behind_it() {
        let of = |length| LengthClass::longest_at(LengthClass::index(length));
        assert_eq!([0, 1, 2, 3, 4, 5, 8, 9].map(of), [0, 1, 2, 4, 4, 8, 8, 16]);
        for power in 1..64 {
            let length = 1_u64 << power;
            let shorter = if power == 1 { 1 } else { length };
            assert_eq!((of(length), of(length - 1)), (length, shorter));
        }
        assert_eq!(LengthClass::index(u64::MAX), LENGTH_CLASSES - 1);
        assert_eq!(of(u64::MAX), u64::MAX);
    }
}
