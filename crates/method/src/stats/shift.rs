//! Two samples: by which factor the second is larger, with the interval that Mann and Whitney's test leaves open, and the p-values of
//! that test.

use super::drift::erfc;
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
    /// The lower end of the interval; `None` where values that are only lower bounds leave it open.
    pub fn lower_end(&self) -> Option<f64> {
        (self.low > 0.0).then_some(self.low)
    }

    /// The same for the upper end.
    pub fn upper_end(&self) -> Option<f64> {
        self.high.is_finite().then_some(self.high)
    }
}

/// The error level of intervals and verdicts: 5 %.
pub const LEVEL: f64 = 0.05;

/// Returns whether a p-value shows a difference at [`LEVEL`]; sums of exact shares may miss it by rounding.
pub fn is_significant(p: f64) -> bool {
    p <= LEVEL + 1e-12
}

/// The allowances to be made where repetitions are not independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doubts {
    /// The factor by which the variance of the test is larger for it; 1 of independent values.
    pub inflation: f64,
    /// The logarithm of the factor by which a drift may have made B larger than A; negative where it may have made it
    /// smaller.
    pub drift: f64,
}

impl Doubts {
    /// No allowance: for values that are independent of each other and of their order.
    pub const NONE: Self = Self { inflation: 1.0, drift: 0.0 };
}

/// The two-sided Mann-Whitney test of a sample B against a sample A, read in either direction.
///
/// Its p-values belong to the interval of [`shift`]: `higher` is at most 5 % exactly when the whole 95 % interval lies above the
/// tolerance. Ties count against a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The smallest error level at which B is shown to be higher than A by more than the tolerance.
    pub higher: f64,
    /// The same for lower.
    pub lower: f64,
    /// The smallest p-value that samples of these sizes can have, with their inflation, unless they are so far apart that it does not matter.
    pub least: f64,
}

/// Compares two independent samples of positive values. `None` when a value is not positive, or when the samples are too small to be
/// sure of anything with 95 %: 3 and 3 are, 4 and 4 are not.
///
/// The interval holds the factors by which B can be divided without the two-sided Mann-Whitney test at 5 % telling it from A (Moses;
/// Hodges and Lehmann), here on logarithms because devices scatter in proportion. It supposes that B scatters like A and nothing about
/// how. The null distribution is exact up to 50 values each, normal beyond; ties only widen the interval. Medians need not lie within
/// it, as they are another estimate of the shift; where they do not, it is widened to hold their ratio. Where the variance is inflated, the
/// normal distribution takes the place of the exact one; but no end lies further beyond all ratios of single values than a sample is wide,
/// however large the inflation (see [`rank_test`]).
pub fn shift(a: &[f64], b: &[f64], inflation: f64) -> Option<Shift> {
    if a.iter().chain(b).any(|&value| value.is_nan() || value <= 0.0) {
        return None;
    }
    rank(a.len(), b.len(), 1.0)?;
    let ratio = median(b)? / median(a)?;
    let ratios: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b / a)).collect();
    let (ratios, walk) = (sort(&ratios), walk(a, b, true));
    let (mut low, mut high) = (ratios[0] / walk, ratios[ratios.len() - 1] * walk);
    if let Some(rank) = rank(a.len(), b.len(), inflation) {
        (low, high) = (low.max(ratios[rank - 1]), high.min(ratios[ratios.len() - rank]));
    }
    Some(Shift { ratio, low: low.min(ratio), high: high.max(ratio), n: (a.len(), b.len()) })
}

/// Tests whether B is higher or lower than A by more than `tolerance`, a share (0.01: differences below 1 % do not count). `None` when a
/// sample is empty or holds something that is no number. What `doubts` allow for counts against a difference; a drift counts where it points
/// the same way.
///
/// An inflation is no doubt of samples that are further apart than the wider one of them is wide: repetitions that follow each other wander
/// over the width of a sample while it is measured, and what they show then is what independent ones do.
///
/// Samples with zeroes or negative values have no ratio: they are tested by their differences, and neither the tolerance nor a drift
/// applies.
pub fn rank_test(a: &[f64], b: &[f64], tolerance: f64, doubts: Doubts) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|value| value.is_nan()) {
        return None;
    }
    let has_ratios = a.iter().chain(b).all(|&value| value > 0.0);
    let (high, low, middle) = match has_ratios {
        true => {
            let (up, down) = (doubts.drift.max(0.0).exp(), doubts.drift.min(0.0).exp());
            ((1.0 + tolerance) * up, (1.0 - tolerance) * down, median(b)? / median(a)?)
        }
        false => (0.0, 0.0, median(b)? - median(a)?),
    };
    let distances = || b.iter().flat_map(|b| a.iter().map(move |a| if has_ratios { b / a } else { b - a }));
    let p = Tails::of(a.len(), b.len(), doubts.inflation);
    let (walk, far) = (walk(a, b, has_ratios), least_p(a.len(), b.len()));
    let (above, below) = if has_ratios { (high * walk, low / walk) } else { (high + walk, low - walk) };
    let least_of = |is_far: bool, p: f64| if is_far { p.min(far) } else { p };
    // The medians are another estimate of the shift: what they contradict is not shown, as the interval is widened to hold them.
    let higher = if middle > high { p.two_sided(distances().filter(|distance| *distance <= high).count()) } else { 1.0 };
    let lower = if middle < low { p.two_sided(distances().filter(|distance| *distance >= low).count()) } else { 1.0 };
    let higher = least_of(distances().all(|distance| distance > above), higher);
    let lower = least_of(distances().all(|distance| distance < below), lower);
    Some(RankTest { higher, lower, least: p.two_sided(0) })
}

/// Returns how far the values of either sample lie apart, the larger of the two: a ratio, or a difference where there are zeroes.
fn walk(a: &[f64], b: &[f64], has_ratios: bool) -> f64 {
    let width = |sample: &[f64]| {
        let highest = sample.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = sample.iter().copied().fold(f64::INFINITY, f64::min);
        if has_ratios { highest / lowest } else { highest - lowest }
    };
    width(a).max(width(b))
}

/// The smallest p-value that two samples of these sizes can have, of independent values.
pub fn least_p(m: usize, n: usize) -> f64 {
    Tails::of(m, n, 1.0).two_sided(0)
}

/// The distribution of Mann and Whitney's U for two sample sizes.
struct Tails {
    sizes: (usize, usize),
    /// The share of each U; empty where the normal distribution takes its place.
    exact: Vec<f64>,
    /// The factor by which the variance is larger than that of independent values.
    inflation: f64,
}

impl Tails {
    fn of(m: usize, n: usize, inflation: f64) -> Self {
        let exact = if m.max(n) <= LARGEST { distribution(m, n) } else { Vec::new() };
        Self { sizes: (m, n), exact, inflation }
    }

    /// 2 P(U <= u), at most 1.
    fn two_sided(&self, u: usize) -> f64 {
        let of_independent = 2.0 * self.exact.iter().take(u + 1).sum::<f64>();
        let p = match self.inflation > 1.0 || self.exact.is_empty() {
            true => self.normal(u as f64).max(of_independent),
            false => of_independent,
        };
        p.min(1.0)
    }

    /// Half a rank more, because U is whole.
    fn normal(&self, u: f64) -> f64 {
        let (m, n) = (self.sizes.0 as f64, self.sizes.1 as f64);
        let deviation = (self.inflation * m * n * (m + n + 1.0) / 12.0).sqrt();
        let z = (m * n / 2.0 - u - 0.5) / deviation;
        if z > 0.0 { erfc(z / std::f64::consts::SQRT_2) } else { 1.0 }
    }
}

/// Returns the rank, from 1 and from either end of all ratios of a value of B to one of A, at which the interval of [`shift`] of independent samples
/// begins; `None` where the samples are too small.
pub fn shift_rank(m: usize, n: usize) -> Option<usize> {
    rank(m, n, 1.0)
}

/// The largest rank k, from 1, with `2 * P(U <= k - 1) <= 5 %`: so many ratios from either end the interval begins.
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
    const Z: f64 = 1.959_964;
    // Half a rank more, because U is whole.
    (m * n / 2.0 + 0.5 - Z * (inflation * m * n * (m + n + 1.0) / 12.0).sqrt()).max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::SplitMix64;

    // Of independent values.
    fn shift(a: &[f64], b: &[f64]) -> Option<Shift> {
        super::shift(a, b, 1.0)
    }

    fn rank_test(a: &[f64], b: &[f64], tolerance: f64) -> Option<RankTest> {
        super::rank_test(a, b, tolerance, Doubts::NONE)
    }

    fn rank(m: usize, n: usize) -> Option<usize> {
        super::rank(m, n, 1.0)
    }

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
            assert!(exact_rank(m, n).abs_diff(normal_rank(m as f64, n as f64, 1.0)) <= 1, "{m} {n}");
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
        let test = rank_test(&[700.0; 6], &[700.0; 8], 0.0).unwrap();
        assert_eq!((test.higher, test.lower), (1.0, 1.0));
        let scattered = [690.0, 700.0, 705.0, 711.0, 720.0];
        let shift = shift(&scattered, &scattered).unwrap();
        assert_eq!(shift.ratio, 1.0);
        assert!((shift.low * shift.high - 1.0).abs() < 1e-12, "{shift:?}");
    }

    #[test]
    fn p_values_are_those_of_counting() {
        // 4 and 4 values stand in 70 orders, 7 and 7 in 3432; the most extreme one has two of them.
        let apart = rank_test(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], 0.0).unwrap();
        assert!((apart.higher - 2.0 / 70.0).abs() < 1e-15 && apart.lower == 1.0, "{apart:?}");
        assert_eq!(apart.least, apart.higher);
        assert!((least_p(7, 7) - 2.0 / 3432.0).abs() < 1e-15);
        // With one pair in the wrong order there are twice as many that are as extreme.
        let one_wrong = rank_test(&[1.0, 2.0, 3.0, 12.0], &[11.0, 13.0, 14.0, 15.0], 0.0).unwrap();
        assert!((one_wrong.higher - 4.0 / 70.0).abs() < 1e-15, "{one_wrong:?}");
        let zeroes = rank_test(&[500.0, 501.0, 502.0, 500.0], &[0.0; 4], 0.0).unwrap();
        assert!(is_significant(zeroes.lower), "{zeroes:?}");
        assert_eq!(rank_test(&[], &[1.0], 0.0), None);
    }

    #[test]
    fn p_values_beyond_the_exact_ones_go_on() {
        let at = |m, n, u| Tails::of(m, n, 1.0).two_sided(u);
        for (u, bound) in [(900, 0.04), (1000, 0.01), (1100, 0.01)] {
            let (exact, normal) = (at(50, 50, u), Tails { sizes: (50, 50), exact: vec![], inflation: 1.0 }.two_sided(u));
            assert!((exact / normal - 1.0).abs() < bound, "{u}: {exact} {normal}");
        }
    }

    #[test]
    fn three_and_three_are_too_few_and_zero_has_no_logarithm() {
        assert_eq!(shift(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0]), None);
        assert!(shift(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]).is_some());
        assert_eq!(shift(&[0.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]), None);
        assert_eq!(shift(&[], &[1.0]), None);
    }

    #[test]
    fn a_p_value_of_5_percent_is_an_interval_beyond_the_tolerance() {
        let mut random = SplitMix64::new(3);
        let (mut shown, mut not_shown) = (0, 0);
        for run in 0..3_000 {
            let (m, n) = (4 + run % 9, 4 + run % 7);
            // Rounded to a tenth of a per cent: there are ties.
            let mut sample = |count: usize, centre: f64| -> Vec<f64> {
                (0..count).map(|_| (1000.0 * centre * (1.0 + 0.02 * random.gaussian())).round() / 1000.0).collect()
            };
            let (a, b) = (sample(m, 1.0), sample(n, 1.0 + 0.03 * (run % 3) as f64 - 0.03));
            for tolerance in [0.0, 0.01] {
                let (interval, test) = (shift(&a, &b).unwrap(), rank_test(&a, &b, tolerance).unwrap());
                assert_eq!(is_significant(test.higher), interval.low > 1.0 + tolerance, "{a:?} {b:?}");
                assert_eq!(is_significant(test.lower), interval.high < 1.0 - tolerance, "{a:?} {b:?}");
                let is_shown = is_significant(test.higher.min(test.lower));
                (shown, not_shown) = (shown + u32::from(is_shown), not_shown + u32::from(!is_shown));
            }
        }
        assert!(shown > 1_000 && not_shown > 1_000, "{shown} {not_shown}");
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

    #[test]
    fn what_is_allowed_for_counts_against_a_difference_and_widens_the_interval_alike() {
        let mut random = SplitMix64::new(9);
        for n in [7, 20] {
            let a: Vec<f64> = (0..n).map(|_| 1000.0 + 10.0 * random.gaussian()).collect();
            let b: Vec<f64> = (0..n).map(|_| 1030.0 + 10.0 * random.gaussian()).collect();
            let (free, wide) = (super::shift(&a, &b, 1.0).unwrap(), super::shift(&a, &b, 2.4).unwrap());
            assert!(wide.low < free.low && wide.high > free.high && wide.low > 1.0, "{free:?} {wide:?}");
            for inflation in [1.0, 1.5, 2.4, 4.0, 8.0] {
                let interval = super::shift(&a, &b, inflation);
                let test = super::rank_test(&a, &b, 0.0, Doubts { inflation, drift: 0.0 }).unwrap();
                assert_eq!(is_significant(test.higher), interval.is_some_and(|shift| shift.low > 1.0), "{n} {inflation}");
            }
            let far: Vec<f64> = b.iter().map(|b| 2.0 * b).collect();
            let (interval, test) = (
                super::shift(&a, &far, 100.0).unwrap(),
                super::rank_test(&a, &far, 0.0, Doubts { inflation: 100.0, drift: 0.0 }).unwrap(),
            );
            assert!(
                interval.low > 1.8 && interval.high < 2.4 && test.higher == least_p(n, n) && !is_significant(test.least),
                "{interval:?} {test:?}"
            );
            let with_drift = |drift| super::rank_test(&a, &b, 0.0, Doubts { inflation: 1.0, drift }).unwrap();
            assert_eq!(with_drift(-0.5), with_drift(0.0), "a drift the other way explains nothing");
            assert!(!is_significant(with_drift(0.05).higher));
        }
    }
}
