//! Two samples: by which factor the second is larger, with the interval that Mann and Whitney's test leaves open.

use super::inversions::{LARGEST, distribution};
use super::{median, sort};
use serde::{Deserialize, Serialize};

/// How much larger the values of a sample B are than those of an independent sample A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

/// What a shift says about B beside A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// B is better by more than the tolerance.
    Better,
    /// B is worse by more than the tolerance.
    Worse,
    /// The interval reaches into the tolerance. Not the same as "equal": a larger sample might show more.
    NoDifferenceShown,
}

/// Compares two independent samples of positive values. `None` when a value is not positive, or when the samples are too small to be
/// sure of anything with 95 %: 3 and 3 are, 4 and 4 are not.
///
/// The interval holds the factors by which B can be divided without the two-sided Mann-Whitney test at 5 % telling it from A (Moses;
/// Hodges and Lehmann), here on logarithms because devices scatter in proportion. It supposes that B scatters like A and nothing about
/// how. The null distribution is exact up to 50 values each, normal beyond; ties only widen the interval. Medians need not lie within
/// it, as they are another estimate of the shift; where they do not, it is widened to hold their ratio.
pub fn shift(a: &[f64], b: &[f64]) -> Option<Shift> {
    if a.iter().chain(b).any(|&value| value.is_nan() || value <= 0.0) {
        return None;
    }
    let rank = rank(a.len(), b.len())?;
    let ratio = median(b)? / median(a)?;
    let ratios: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b / a)).collect();
    let ratios = sort(&ratios);
    let (low, high) = (ratios[rank - 1], ratios[ratios.len() - rank]);
    Some(Shift { ratio, low: low.min(ratio), high: high.max(ratio), n: (a.len(), b.len()) })
}

/// As [`shift`] for values of any sign: the 95 % interval of `B - A`, in the unit of the samples.
pub fn difference(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    if a.iter().chain(b).any(|value| value.is_nan()) {
        return None;
    }
    let rank = rank(a.len(), b.len())?;
    let differences: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
    let differences = sort(&differences);
    Some((differences[rank - 1], differences[differences.len() - rank]))
}

impl Shift {
    /// Whether B is better: the whole interval lies beyond `tolerance`, a share (0.01: differences below 1 % do not count).
    pub fn verdict(&self, higher_is_better: bool, tolerance: f64) -> Comparison {
        let (is_higher, is_lower) = (self.low > 1.0 + tolerance, self.high < 1.0 - tolerance);
        match (is_higher, is_lower) {
            (true, _) if higher_is_better => Comparison::Better,
            (_, true) if !higher_is_better => Comparison::Better,
            (false, false) => Comparison::NoDifferenceShown,
            _ => Comparison::Worse,
        }
    }
}

/// The largest rank k, from 1, with `2 * P(U <= k - 1) <= 5 %`: so many ratios from either end the interval begins.
fn rank(m: usize, n: usize) -> Option<usize> {
    let rank = if m.max(n) <= LARGEST { exact_rank(m, n) } else { normal_rank(m as f64, n as f64) };
    (rank > 0).then_some(rank)
}

fn exact_rank(m: usize, n: usize) -> usize {
    let tails = distribution(m, n).into_iter().scan(0.0, |tail, share| {
        *tail += share;
        Some(*tail)
    });
    tails.take_while(|tail| 2.0 * tail <= 0.05 + 1e-12).count()
}

fn normal_rank(m: f64, n: f64) -> usize {
    const Z: f64 = 1.959_964;
    // Half a rank more, because U is whole.
    (m * n / 2.0 + 0.5 - Z * (m * n * (m + n + 1.0) / 12.0).sqrt()).max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::SplitMix64;

    #[test]
    fn ranks_are_those_of_the_tables_of_mann_and_whitney() {
        // Two-sided 5 %: the largest U that is significant, of which the rank is the next.
        let tabulated = [(4, 4, 0), (3, 5, 0), (5, 5, 2), (5, 8, 6), (6, 6, 5), (8, 8, 13), (10, 10, 23), (20, 20, 127)];
        assert!(tabulated.iter().all(|&(m, n, u)| rank(m, n) == Some(u + 1)), "{:?}", tabulated.map(|(m, n, _)| rank(m, n)));
        assert_eq!((rank(3, 3), rank(2, 7), rank(0, 9), rank(2, 8)), (None, None, None, Some(1)));
    }

    #[test]
    fn beyond_the_exact_ranks_the_normal_ones_go_on() {
        for (m, n) in [(50, 50), (20, 50), (8, 50)] {
            assert!(exact_rank(m, n).abs_diff(normal_rank(m as f64, n as f64)) <= 1, "{m} {n}");
        }
        assert!(rank(51, 51) > rank(50, 50));
    }

    #[test]
    fn the_example_of_hollander_and_wolfe() {
        // Permeability of human chorioamnion at term and before it; on logarithms here, so the values are exponents.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46].map(f64::exp);
        let before = [1.15, 0.88, 0.90, 0.74, 1.21].map(f64::exp);
        let shift = shift(&before, &term).unwrap();
        assert!((shift.low.ln() + 0.15).abs() < 1e-9 && (shift.high.ln() - 0.76).abs() < 1e-9, "{shift:?}");
        assert_eq!(shift.n, (5, 10));
    }

    #[test]
    fn equal_samples_show_no_difference() {
        let same = shift(&[700.0; 6], &[700.0; 8]).unwrap();
        assert_eq!((same.ratio, same.low, same.high), (1.0, 1.0, 1.0));
        let scattered = [690.0, 700.0, 705.0, 711.0, 720.0];
        let shift = shift(&scattered, &scattered).unwrap();
        assert_eq!((shift.ratio, shift.verdict(true, 0.0)), (1.0, Comparison::NoDifferenceShown));
        assert!((shift.low * shift.high - 1.0).abs() < 1e-12, "{shift:?}");
    }

    #[test]
    fn three_and_three_are_too_few_and_zero_has_no_logarithm() {
        assert_eq!(shift(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0]), None);
        assert!(shift(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]).is_some());
        assert_eq!(shift(&[0.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]), None);
        assert_eq!(shift(&[], &[1.0]), None);
    }

    #[test]
    fn a_verdict_needs_the_whole_interval_beyond_the_tolerance() {
        let shift = Shift { ratio: 1.05, low: 1.02, high: 1.08, n: (9, 9) };
        assert_eq!(shift.verdict(true, 0.01), Comparison::Better);
        assert_eq!(shift.verdict(false, 0.01), Comparison::Worse);
        assert_eq!(shift.verdict(true, 0.03), Comparison::NoDifferenceShown);
        let less = Shift { ratio: 0.95, low: 0.92, high: 0.98, n: (9, 9) };
        assert_eq!(less.verdict(true, 0.01), Comparison::Worse);
        assert_eq!(less.verdict(false, 0.01), Comparison::Better);
        assert_eq!(less.verdict(false, 0.03), Comparison::NoDifferenceShown);
    }

    #[test]
    fn the_interval_holds_the_true_shift_in_95_of_100_comparisons() {
        const RUNS: usize = 2_000;
        let gaussian = |random: &mut SplitMix64| 1_000.0 * (1.0 + 0.02 * random.gaussian());
        // Now and then much slower, as software devices are.
        let skewed = |random: &mut SplitMix64| 1_000.0 * (1.0 - 0.05 * -(1.0 - random.uniform()).ln()).max(0.1);
        let draws: [fn(&mut SplitMix64) -> f64; 2] = [gaussian, skewed];
        for draw in draws {
            for (m, n) in [(6, 6), (6, 12), (10, 10), (20, 20)] {
                let mut random = SplitMix64::new(7);
                let mut sample = |count: usize, factor| (0..count).map(|_| factor * draw(&mut random)).collect::<Vec<_>>();
                let holds = |shift: Shift| shift.low <= 1.03 && 1.03 <= shift.high;
                let held = (0..RUNS).filter(|_| holds(shift(&sample(m, 1.0), &sample(n, 1.03)).unwrap())).count();
                let share = held as f64 / RUNS as f64;
                assert!((0.94..0.985).contains(&share), "{m} and {n}: {share}");
            }
        }
    }
}
