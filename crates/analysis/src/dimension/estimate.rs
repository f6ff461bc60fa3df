//! A number with the interval that its repetitions allow.

/// A number with its interval: 95 % for the median of six repetitions or more, otherwise from the lowest repetition to the highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The lower end of the interval.
    pub low: f64,
    /// The median, or a value derived from it.
    pub value: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The number of repetitions it is based on; the smallest one if it is derived from several numbers.
    pub n: usize,
    /// True if the true value may be higher, because the tester, the plan or other work on the machine ended a search.
    pub is_at_least: bool,
}

impl Estimate {
    /// Returns the median of repetitions, or `None` if there are none.
    pub(super) fn from_repetitions(repetitions: &[f64], is_at_least: bool) -> Option<Self> {
        let summary = sixbench_stats::Summary::of(repetitions)?;
        let (low, high) =
            sixbench_stats::median_interval_95(repetitions).unwrap_or((summary.min, summary.max));
        Some(Self {
            low,
            value: summary.median,
            high,
            n: summary.n,
            is_at_least,
        })
    }

    /// Returns the result of applying a non-decreasing function.
    pub(super) fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            low: of(self.low),
            value: of(self.value),
            high: of(self.high),
            ..self
        }
    }

    /// Returns the result of applying a function that is non-decreasing in both values.
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
        let six = Estimate::from_repetitions(&[5.0, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0], false)
            .expect("an estimate");
        assert_eq!((six.low, six.value, six.high, six.n), (2.0, 5.0, 8.0, 9));
        let three = Estimate::from_repetitions(&[5.0, 1.0, 2.0], true).expect("an estimate");
        assert_eq!(
            (three.low, three.value, three.high, three.is_at_least),
            (1.0, 2.0, 5.0, true)
        );
        assert_eq!(Estimate::from_repetitions(&[], false), None);
    }
}
