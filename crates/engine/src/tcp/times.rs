//! Times of connections, in a histogram of constant size for any number of connections.

use hdrhistogram::Histogram;
use sixbench_method::trial::tcp::Times;

/// Longer times are recorded as this value: 100 s.
const LONGEST_NS: u64 = 100_000_000_000;

/// Significant digits: an error of 0.1 % at most.
const DIGITS: u8 = 3;

/// Collects times.
pub(super) struct Stopwatch {
    times: Histogram<u64>,
    /// The shortest and the longest time, to the nanosecond.
    extremes: (u64, u64),
    sum_ns: u64,
}

impl Stopwatch {
    pub(super) fn new() -> Self {
        let times =
            Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constant bounds are valid");
        Self {
            times,
            extremes: (u64::MAX, 0),
            sum_ns: 0,
        }
    }

    pub(super) fn take(&mut self, time_ns: u64) {
        self.times.saturating_record(time_ns.max(1));
        self.extremes = (self.extremes.0.min(time_ns), self.extremes.1.max(time_ns));
        self.sum_ns += time_ns;
    }

    pub(super) fn times(&self) -> Option<Times> {
        (!self.times.is_empty()).then(|| Times {
            count: self.times.len(),
            min_ns: self.extremes.0,
            median_ns: self.times.value_at_quantile(0.5),
            p999_ns: self.times.value_at_quantile(0.999),
            max_ns: self.extremes.1,
            sum_ns: self.sum_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_sum_are_exact_and_no_times_are_none() {
        let mut stopwatch = Stopwatch::new();
        assert_eq!(stopwatch.times(), None);
        (1..=1000).for_each(|i| stopwatch.take(i * 1_000_003));
        let times = stopwatch.times().expect("times");
        assert_eq!(
            (times.count, times.min_ns, times.max_ns),
            (1000, 1_000_003, 1_000_003_000)
        );
        assert_eq!(times.sum_ns, 500_500 * 1_000_003);
        assert!(
            times.median_ns.abs_diff(500_000_000) < 1_500_000,
            "{times:?}"
        );
    }
}
