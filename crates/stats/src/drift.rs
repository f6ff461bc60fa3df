//! A trend over the repetitions in the order in which they were made, as of a DUT that fills its tables or warms up.

use super::inversions::{LARGEST, distribution};
use super::{median, sort};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A trend over the repetitions of a measurement. They are not independent then, and the interval of their median covers it less often than stated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// Theil and Sen's slope: the median over all pairs, per repetition, as a share of the median value.
    pub slope: f64,
    /// The probability of as much order, up or down, by chance.
    pub p: f64,
    /// Sample size.
    pub n: usize,
}

/// The error level: chance shows a trend in at most one of a hundred series that have none.
const SIGNIFICANT: f64 = 0.01;

/// Returns the drift of values in the order they were measured: Mann and Kendall's test at 1 %. Exact up to 50 values, ties
/// included, normal beyond. `None` when no trend is shown, which fewer than 6 values never do, or when the median is zero.
pub fn drift(values: &[f64]) -> Option<Drift> {
    let p = probability(values);
    let median = median(values).filter(|&median| p < SIGNIFICANT && median != 0.0)?;
    let pairs = pairs(values.len());
    let slopes: Vec<f64> = pairs
        .map(|(i, j)| (values[j] - values[i]) / (j - i) as f64)
        .collect();
    Some(Drift {
        slope: super::median(&slopes)? / median.abs(),
        p,
        n: values.len(),
    })
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |j| (0..j).map(move |i| (i, j)))
}

/// Returns the two-sided p-value of the number of pairs that rise minus that of those that fall.
fn probability(values: &[f64]) -> f64 {
    let score: i64 = pairs(values.len())
        .map(|(i, j)| sign(values[i], values[j]))
        .sum();
    let ties = ties(values);
    if values.len() > LARGEST {
        normal(score, values.len(), &ties)
    } else {
        exact(score, &ties)
    }
}

fn sign(earlier: f64, later: f64) -> i64 {
    // Equal values are ties, also a zero and a negative zero.
    later.partial_cmp(&earlier).map_or(0, |order| order as i64)
}

/// Returns how often each value occurs.
fn ties(values: &[f64]) -> Vec<usize> {
    sort(values)
        .chunk_by(|a, b| a == b)
        .map(<[f64]>::len)
        .collect()
}

/// Returns the p-value if every order of the same values is equally likely. One group of equal values after the other is mixed into the row, because
/// the inversions that each adds are independent of the others.
fn exact(score: i64, ties: &[usize]) -> f64 {
    let (mut row, mut in_all) = (0, vec![1.0]);
    for &group in ties {
        in_all = sum_of(&in_all, &distribution(row, group));
        row += group;
    }
    let untied = in_all.len() as u64 - 1;
    let inversions = (untied - score.unsigned_abs()) / 2;
    let tail: f64 = in_all.iter().take(inversions as usize + 1).sum();
    (2.0 * tail).min(1.0)
}

/// Returns the distribution of the sum of two independent counts.
fn sum_of(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        b.iter().enumerate().for_each(|(j, b)| sum[i + j] += a * b);
    }
    sum
}

/// Returns the p-value by the normal approximation: Kendall's variance for ties, and a continuity correction of 1, because scores are two apart.
fn normal(score: i64, n: usize, ties: &[usize]) -> f64 {
    /// Returns the share of `t` equal values in Kendall's variance, times 18.
    fn term(t: usize) -> f64 {
        (t * (t - 1) * (2 * t + 5)) as f64
    }
    let variance = (term(n) - ties.iter().map(|&group| term(group)).sum::<f64>()) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    erfc((score.abs() - 1).max(0) as f64 / (2.0 * variance).sqrt())
}

/// Returns the complementary error function for x >= 0, by Abramowitz and Stegun's formula 7.1.26: right to 1.5e-7.
pub(super) fn erfc(x: f64) -> f64 {
    const A: [f64; 5] = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    A.iter().rev().fold(0.0, |sum, a| (sum + a) * t) * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    fn one_sided(score: i64, n: usize) -> f64 {
        exact(score, &vec![1; n]) / 2.0
    }

    #[test]
    fn probabilities_are_those_of_kendalls_table() {
        // Rounded to the last place shown.
        let tabulated = [
            (4, 6, "0.042"),
            (6, 13, "0.0083"),
            (6, 15, "0.0014"),
            (10, 21, "0.036"),
            (10, 25, "0.014"),
            (10, 29, "0.0046"),
        ];
        for (n, score, p) in tabulated {
            let places = p.len() - 2;
            assert_eq!(
                format!("{:.places$}", one_sided(score, n)),
                p,
                "{n} {score}"
            );
        }
        assert_eq!(exact(0, &[1; 4]), 1.0);
    }

    #[test]
    fn ties_are_counted_as_every_order_of_the_values_counts_them() {
        // These six stand in 6! / (3! 2! 1!) = 60 orders, of which one rises and one falls throughout.
        assert!((probability(&[1.0, 1.0, 1.0, 2.0, 2.0, 3.0]) - 2.0 / 60.0).abs() < 1e-12);
        assert_eq!(probability(&[5.0; 9]), 1.0);
        assert_eq!(probability(&[]), 1.0);
    }

    #[test]
    fn the_normal_approximation_meets_the_exact_probabilities() {
        for score in [100, 200, 300, 400] {
            // The score of 50 values without ties is odd or even as 50 * 49 / 2 is.
            let (exact, normal) = (exact(score | 1, &[1; 50]), normal(score | 1, 50, &[1; 50]));
            assert!((exact - normal).abs() < 0.002, "{score}: {exact} {normal}");
        }
        let rising: Vec<f64> = (0..200).map(|i| f64::from(i / 3)).collect();
        assert!(drift(&rising).is_some() && drift(&[3.0; 200]).is_none());
    }

    #[test]
    fn a_drift_has_its_slope_per_repetition() {
        let falling: Vec<f64> = (0..9).map(|i| 1_040.0 - 10.0 * f64::from(i)).collect();
        let found = drift(&falling).unwrap();
        assert!(
            (found.slope + 0.01).abs() < 1e-12 && found.n == 9,
            "{found:?}"
        );
        assert!((found.p / (2.0 / 362_880.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn six_values_in_order_are_the_fewest_that_show_a_drift() {
        assert!(drift(&[1.0, 2.0, 3.0, 4.0, 5.0]).is_none());
        assert!(drift(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).is_some());
        assert!(drift(&[1.0, 2.0, 3.0, 4.0, 6.0, 5.0]).is_none());
    }

    #[test]
    fn chance_is_taken_for_a_drift_once_in_a_hundred() {
        let mut random = SplitMix64::new(5);
        // Whole values tie, as throughputs do that a search rounds to its width.
        for round in [1.0, 1_000.0] {
            for n in 6..=20 {
                let mut sample = || {
                    (0..n)
                        .map(|_| (round * random.gaussian()).round() + 9_000.0)
                        .collect::<Vec<_>>()
                };
                let alarms = (0..1_000).filter(|_| drift(&sample()).is_some()).count();
                // Of a true 1 % a thousand runs show no more than 1.9 %, 99.7 % of the time.
                assert!(alarms <= 19, "{n}: {alarms}");
            }
        }
    }

    #[test]
    fn a_drift_as_large_as_the_noise_is_seen_over_twenty_repetitions() {
        let mut random = SplitMix64::new(6);
        let mut drifting = || {
            (0..20)
                .map(|i| 1_000.0 + 10.0 * random.gaussian() - 5.0 * f64::from(i))
                .collect::<Vec<_>>()
        };
        let seen = (0..500)
            .filter(|_| drift(&drifting()).is_some_and(|drift| drift.slope < 0.0))
            .count();
        assert!(seen >= 495, "{seen}");
    }

    #[test]
    fn a_zero_and_a_negative_zero_are_ties() {
        assert_eq!(probability(&[0.0, -0.0, 0.0, -0.0, -0.0, 0.0]), 1.0);
    }
}
