//! One sample: the statistics of RFC 8219 section 12 and RFC 9004 section 6.4, and the interval they leave open.

use super::sort;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sample in the reporting formats of RFC 8219 section 12 (median, 1st and 99th percentile) and RFC 9004 section 6.4 (average, minimum,
/// maximum, standard deviation), in the unit of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Sample size.
    pub n: usize,
    /// Smallest value.
    pub min: f64,
    /// 1st percentile; the minimum when n <= 100.
    pub p1: f64,
    /// Median.
    pub median: f64,
    /// 99th percentile; the maximum when n < 100.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the population as the sample shows it (divided by n - 1); 0 when n = 1.
    pub deviation: f64,
}

impl Summary {
    /// Returns the summary of a sample in any order; `None` when it is empty.
    pub fn of(sample: &[f64]) -> Option<Self> {
        let sorted = sort(sample);
        let mean = mean(&sorted);
        Some(Self {
            n: sorted.len(),
            min: *sorted.first()?,
            p1: percentile_of_sorted(&sorted, 0.01)?,
            median: median_of_sorted(&sorted)?,
            p99: percentile_of_sorted(&sorted, 0.99)?,
            max: *sorted.last()?,
            mean,
            deviation: deviation(&sorted, mean),
        })
    }

    /// Returns `(max - min) / median * 100`, per cent: how far the repetitions are apart. `None` when the median is zero.
    pub fn dispersion_percent(&self) -> Option<f64> {
        (self.median != 0.0).then(|| (self.max - self.min) / self.median * 100.0)
    }
}

/// Returns the `p`-th percentile, `p` in 0..=1, of a sample in any order, by RFC 2330 section 11.3: the smallest value x of the
/// sample with F(x) >= p. `None` when the sample is empty.
pub fn percentile(sample: &[f64], p: f64) -> Option<f64> {
    percentile_of_sorted(&sort(sample), p)
}

/// Returns the median of a sample in any order: by RFC 2330 section 11.3 the mean of the two central values when n is even.
/// `None` when the sample is empty.
pub fn median(sample: &[f64]) -> Option<f64> {
    median_of_sorted(&sort(sample))
}

/// Returns two values of the sample between which the median lies with a probability of at least 95 %, whatever the
/// distribution: the order statistics that the binomial distribution allows. `None` for n < 6, where the whole sample
/// does not reach 95 %.
pub fn median_interval_95(sample: &[f64]) -> Option<(f64, f64)> {
    let sorted = sort(sample);
    let rank = interval_rank(sorted.len(), 0.05)?;
    Some((sorted[rank - 1], sorted[sorted.len() - rank]))
}

/// Returns the arithmetic mean; not a number when the sample is empty.
pub(super) fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

/// Returns the sample standard deviation about `mean`, in two passes so that large values do not cancel.
pub(super) fn deviation(sample: &[f64], mean: f64) -> f64 {
    let squares: f64 = sample.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares / sample.len().saturating_sub(1).max(1) as f64).sqrt()
}

fn percentile_of_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    // 0.07 * 100 is a little more than 7 in binary fractions; it must not count as 8.
    let rank = (p * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).checked_sub(1)?).copied()
}

pub(super) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(lower.midpoint(upper))
}

/// Returns the largest rank k, from 1, with `2 * P(B <= k - 1) <= miss` for B binomial (n, 1/2).
fn interval_rank(n: usize, miss: f64) -> Option<usize> {
    // Logarithms, because 2^-n leaves the range of f64 at n = 1075.
    let mut ln_term = -(n as f64) * std::f64::consts::LN_2;
    let (mut tail, mut rank) = (0.0, 0);
    for k in 0..n / 2 {
        tail += ln_term.exp();
        if 2.0 * tail > miss {
            break;
        }
        rank = k + 1;
        ln_term += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_to(n: u32) -> Vec<f64> {
        (1..=n).rev().map(f64::from).collect()
    }

    #[test]
    fn twenty_repetitions_have_their_extremes_as_outer_percentiles() {
        let summary = Summary::of(&one_to(20)).unwrap();
        assert_eq!((summary.p1, summary.p99), (1.0, 20.0));
        assert_eq!((summary.min, summary.max, summary.n), (1.0, 20.0, 20));
    }

    #[test]
    fn the_median_of_an_even_sample_is_the_mean_of_the_two_central_values() {
        assert_eq!(median(&one_to(20)), Some(10.5));
        assert_eq!(median(&one_to(5)), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_example_of_rfc_2330_section_11_3() {
        let sample = [-2.0, 7.0, 7.0, 4.0, 18.0, -5.0];
        assert_eq!(percentile(&sample, 0.50), Some(4.0));
        assert_eq!(percentile(&sample, 0.25), Some(-2.0));
        assert_eq!(percentile(&sample, 1.00), Some(18.0));
        assert_eq!(percentile(&sample, 0.0), Some(-5.0));
    }

    #[test]
    fn percentiles_of_a_hundred_are_its_values() {
        assert!(
            (1..=100).all(|p| percentile(&one_to(100), f64::from(p) / 100.0) == Some(f64::from(p)))
        );
    }

    #[test]
    fn five_hundred_tagged_frames_have_their_maximum_as_99_9th_percentile() {
        assert_eq!(percentile(&one_to(500), 0.999), Some(500.0));
        assert_eq!(percentile(&one_to(1000), 0.999), Some(999.0));
    }

    #[test]
    fn average_and_standard_deviation_are_those_of_the_textbook() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(
            (summary.mean, summary.deviation),
            (5.0, (32.0f64 / 7.0).sqrt())
        );
        assert_eq!(
            Summary::of(&[3.0]).map(|one| (one.mean, one.deviation)),
            Some((3.0, 0.0))
        );
        assert_eq!(Summary::of(&[]), None);
        let large = Summary::of(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]).unwrap();
        assert_eq!(large.deviation, 1.0);
    }

    #[test]
    fn dispersion_is_the_range_over_the_median() {
        assert_eq!(
            Summary::of(&[90.0, 100.0, 120.0])
                .unwrap()
                .dispersion_percent(),
            Some(30.0)
        );
        assert_eq!(Summary::of(&[0.0]).unwrap().dispersion_percent(), None);
    }

    #[test]
    fn the_interval_of_the_median_has_the_tabulated_ranks() {
        let ranks = [5, 6, 8, 9, 12, 20, 30, 100].map(|n| interval_rank(n, 0.05));
        let tabulated = [
            None,
            Some(1),
            Some(1),
            Some(2),
            Some(3),
            Some(6),
            Some(10),
            Some(40),
        ];
        assert_eq!(ranks, tabulated);
    }

    #[test]
    fn six_repetitions_are_the_fewest_with_an_interval() {
        assert_eq!(median_interval_95(&one_to(5)), None);
        assert_eq!(median_interval_95(&one_to(6)), Some((1.0, 6.0)));
        assert_eq!(median_interval_95(&one_to(20)), Some((6.0, 15.0)));
        assert!(median_interval_95(&one_to(5000)).is_some());
    }
}
