//! Two samples: by which factor the second is larger, with the interval that Mann and Whitney's test leaves open.

use super::inversions::{LARGEST, distribution};
use super::{median, sort};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ratio by which the values of a sample B are larger than those of an independent sample A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shift {
    /// Median of B over median of A.
    pub ratio: f64,
    /// Lower end of the 95 % interval of the ratio.
    pub low: f64,
    /// Upper end of the 95 % interval of the ratio.
    pub high: f64,
    /// Sample sizes of A and B.
    pub n: (usize, usize),
}

impl Shift {
    /// Returns the lower end of the interval; `None` if it is open, because some values are only bounds.
    pub fn lower_end(&self) -> Option<f64> {
        (self.low > 0.0).then_some(self.low)
    }

    /// Returns the upper end of the interval; `None` if it is open.
    pub fn upper_end(&self) -> Option<f64> {
        self.high.is_finite().then_some(self.high)
    }
}

/// The error level of intervals and verdicts: 5 %.
pub const LEVEL: f64 = 0.05;

/// The normal deviate that half of [`LEVEL`] exceeds, as its tests are two-sided.
pub(super) const NORMAL_AT_LEVEL: f64 = 1.959_964;

/// Returns whether a p-value shows a difference at [`LEVEL`]; sums of exact shares may miss it by rounding.
pub fn is_significant(p: f64) -> bool {
    p <= LEVEL + 1e-12
}

/// Compares two independent samples of positive values. `None` when a value is not positive, or when the samples are too small for any
/// interval of 95 %, as 3 and 3 values are, but not 4 and 4.
///
/// The interval holds the factors by which B can be divided without the two-sided Mann-Whitney test at 5 % telling it from A (Moses;
/// Hodges and Lehmann), here on logarithms because devices scatter in proportion. It supposes that B scatters like A and nothing about
/// how. The null distribution is exact up to 50 values each, normal beyond; ties only widen the interval. Medians need not lie within
/// it, as they are another estimate of the shift; where they do not, it is widened to hold their ratio.
///
/// Where the variance is inflated, the normal distribution takes the place of the exact one; but no end lies further beyond all ratios of single values than a sample is wide,
/// however large the inflation: repetitions that follow each other wander over that width while they are measured.
pub fn shift(a: &[f64], b: &[f64], inflation: f64) -> Option<Shift> {
    if a.iter()
        .chain(b)
        .any(|&value| value.is_nan() || value <= 0.0)
    {
        return None;
    }
    rank(a.len(), b.len(), 1.0)?;
    let ratio = median(b)? / median(a)?;
    let ratios: Vec<f64> = b
        .iter()
        .flat_map(|b| a.iter().map(move |a| b / a))
        .collect();
    let (ratios, spread) = (sort(&ratios), widest_spread(a, b, true));
    let (mut low, mut high) = (ratios[0] / spread, ratios[ratios.len() - 1] * spread);
    if let Some(rank) = rank(a.len(), b.len(), inflation) {
        (low, high) = (
            low.max(ratios[rank - 1]),
            high.min(ratios[ratios.len() - rank]),
        );
    }
    Some(Shift {
        ratio,
        low: low.min(ratio),
        high: high.max(ratio),
        n: (a.len(), b.len()),
    })
}

/// Returns the spread of the sample that is wider: the ratio of its extremes, or their difference if a value may be zero.
pub(super) fn widest_spread(a: &[f64], b: &[f64], has_ratios: bool) -> f64 {
    let width = |sample: &[f64]| {
        let highest = sample.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = sample.iter().copied().fold(f64::INFINITY, f64::min);
        if has_ratios {
            highest / lowest
        } else {
            highest - lowest
        }
    };
    width(a).max(width(b))
}

/// Returns the rank, from 1 and from either end of all ratios of a value of B to one of A, at which the interval of [`shift`] of independent samples
/// begins; `None` where the samples are too small.
pub fn shift_rank(m: usize, n: usize) -> Option<usize> {
    rank(m, n, 1.0)
}

/// Returns the largest rank k, from 1, with `2 * P(U <= k - 1) <= 5 %`: so many ratios from either end the interval begins.
fn rank(m: usize, n: usize, inflation: f64) -> Option<usize> {
    let rank = match (m.max(n) <= LARGEST, inflation > 1.0) {
        (true, false) => exact_rank(m, n),
        (true, true) => exact_rank(m, n).min(normal_rank(m as f64, n as f64, inflation)),
        (false, _) => normal_rank(m as f64, n as f64, inflation),
    };
    (rank > 0).then_some(rank)
}

fn exact_rank(m: usize, n: usize) -> usize {
    let tails = distribution(m, n).into_iter().scan(0.0, |tail, share| {
        *tail += share;
        Some(*tail)
    });
    tails.take_while(|tail| is_significant(2.0 * tail)).count()
}

fn normal_rank(m: f64, n: f64, inflation: f64) -> usize {
    // Half a rank more, because U is whole.
    (m * n / 2.0 + 0.5 - NORMAL_AT_LEVEL * (inflation * m * n * (m + n + 1.0) / 12.0).sqrt())
        .max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::super::coverage_tests::assert_holds_the_true_ratio;
    use super::*;
    use crate::random::SplitMix64;

    // Of independent values.
    fn shift(a: &[f64], b: &[f64]) -> Option<Shift> {
        super::shift(a, b, 1.0)
    }

    fn rank(m: usize, n: usize) -> Option<usize> {
        super::rank(m, n, 1.0)
    }

    #[test]
    fn ranks_are_those_of_the_tables_of_mann_and_whitney() {
        // Two-sided 5 %: the largest U that is significant, of which the rank is the next.
        let tabulated = [
            (4, 4, 0),
            (3, 5, 0),
            (5, 5, 2),
            (5, 8, 6),
            (6, 6, 5),
            (8, 8, 13),
            (10, 10, 23),
            (20, 20, 127),
        ];
        assert!(
            tabulated.iter().all(|&(m, n, u)| rank(m, n) == Some(u + 1)),
            "{:?}",
            tabulated.map(|(m, n, _)| rank(m, n))
        );
        assert_eq!(
            (rank(3, 3), rank(2, 7), rank(0, 9), rank(2, 8)),
            (None, None, None, Some(1))
        );
    }

    #[test]
    fn beyond_the_exact_ranks_the_normal_ones_go_on() {
        for (m, n) in [(50, 50), (20, 50), (8, 50)] {
            assert!(
                exact_rank(m, n).abs_diff(normal_rank(m as f64, n as f64, 1.0)) <= 1,
                "{m} {n}"
            );
        }
        assert!(rank(51, 51) > rank(50, 50));
    }

    #[test]
    fn the_example_of_hollander_and_wolfe() {
        // Permeability of human chorioamnion at term and before it; on logarithms here, so the values are exponents.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46].map(f64::exp);
        let before = [1.15, 0.88, 0.90, 0.74, 1.21].map(f64::exp);
        let shift = shift(&before, &term).unwrap();
        assert!(
            (shift.low.ln() + 0.15).abs() < 1e-9 && (shift.high.ln() - 0.76).abs() < 1e-9,
            "{shift:?}"
        );
        assert_eq!(shift.n, (5, 10));
    }

    #[test]
    fn equal_samples_show_no_difference() {
        let same = shift(&[700.0; 6], &[700.0; 8]).unwrap();
        assert_eq!((same.ratio, same.low, same.high), (1.0, 1.0, 1.0));
        let scattered = [690.0, 700.0, 705.0, 711.0, 720.0];
        let shift = shift(&scattered, &scattered).unwrap();
        assert_eq!(shift.ratio, 1.0);
        assert!((shift.low * shift.high - 1.0).abs() < 1e-12, "{shift:?}");
    }

    #[test]
    fn three_and_three_are_too_few_and_zero_has_no_logarithm() {
        assert_eq!(shift(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0]), None);
        assert!(shift(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]).is_some());
        assert_eq!(
            shift(&[0.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]),
            None
        );
        assert_eq!(shift(&[], &[1.0]), None);
    }

    #[test]
    fn the_interval_holds_the_true_shift_in_95_of_100_comparisons() {
        assert_holds_the_true_ratio(|a, b| shift(a, b).unwrap());
    }

    #[test]
    fn an_inflation_widens_the_interval() {
        let mut random = SplitMix64::new(9);
        let mut sample = |mean: f64| {
            (0..20)
                .map(|_| mean + 10.0 * random.gaussian())
                .collect::<Vec<_>>()
        };
        let (a, b) = (sample(1000.0), sample(1030.0));
        let (free, wide) = (
            super::shift(&a, &b, 1.0).unwrap(),
            super::shift(&a, &b, 2.4).unwrap(),
        );
        assert!(
            wide.low < free.low && wide.high > free.high && wide.low > 1.0,
            "{free:?} {wide:?}"
        );
    }
}
