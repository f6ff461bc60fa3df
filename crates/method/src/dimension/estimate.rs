//! A number with the interval that repetitions leave it.

use crate::stats;

/// A number, and the interval in which it lies: 95 % for the median of six repetitions or more, else from the lowest repetition to the highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The lower end of the interval.
    pub low: f64,
    /// The median, or what follows from it.
    pub value: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Repetitions that it is from; of several numbers the fewest.
    pub n: usize,
    /// True if the true value may be higher: the tester, the plan or other work on the machine ended a search.
    pub is_at_least: bool,
}

impl Estimate {
    /// Returns the median of repetitions; `None` without any.
    pub(super) fn of(repetitions: &[f64], is_at_least: bool) -> Option<Self> {
        let summary = stats::Summary::of(repetitions)?;
        let (low, high) = stats::median_interval_95(repetitions).unwrap_or((summary.min, summary.max));
        Some(Self { low, value: summary.median, high, n: summary.n, is_at_least })
    }

    /// Returns what follows from it by a function that does not fall.
    pub(super) fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self { low: of(self.low), value: of(self.value), high: of(self.high), ..self }
    }

    /// Returns what follows from both by a function that falls with neither.
    pub(super) fn with(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            low: of(self.low, other.low),
            value: of(self.value, other.value),
            high: of(self.high, other.high),
            n: self.n.min(other.n),
            is_at_least: self.is_at_least || other.is_at_least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_repetitions_have_an_interval_and_fewer_their_range() {
        let six = Estimate::of(&[5.0, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0], false).expect("an estimate");
        assert_eq!((six.low, six.value, six.high, six.n), (2.0, 5.0, 8.0, 9));
        let three = Estimate::of(&[5.0, 1.0, 2.0], true).expect("an estimate");
        assert_eq!((three.low, three.value, three.high, three.is_at_least), (1.0, 2.0, 5.0, true));
        assert_eq!(Estimate::of(&[], false), None);
    }
}
