//! Compares two samples A and B: a permutation test, on ranks with the worst values tied, of whether B is higher or lower, and the ratios of B to A
//! that this test does not rule out.

use super::drift::erfc;
use super::shift::widest_spread;
use super::{Shift, is_significant, median, sort};

/// The share of all values, of A and B together, that are the worst and count as equal.
///
/// A device that is occasionally far slower than usual is compared by what it usually reaches; how slow its slow repetitions are is chance. For
/// devices with Gaussian noise this costs little: see the bars in docs/RESULTS.md. By simulation of samples of ten that differ by 3 % at a noise of 2 %,
/// a difference is shown in 78 of 100 cases instead of 87 without ties; where a fifth of the values is 30 % lower, in 56 instead of 44. With less than
/// half tied, the values about the median, which is what reports show, keep their order.
const ALIKE: f64 = 0.45;

/// The largest number of values for which all divisions into A and B are counted. Counting takes time that grows with the fourth power of the number, and
/// the normal distribution comes close: of 15 and 15 values, it gives 0.044 where the count gives a p-value of 0.046; of 10 and 10, 0.039 for 0.042.
const LARGEST: usize = 30;

/// The question that a comparison of two samples answers, and the uncertainties it allows for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonTerms {
    /// True if higher values are better.
    pub is_higher_better: bool,
    /// The relative difference within which B does not count as different.
    pub tolerance: f64,
    /// The factor by which the variance of the test exceeds that for independent values; 1 if the values are independent.
    pub inflation: f64,
    /// The logarithm of the factor by which something other than the devices may have made B higher than A; not negative.
    pub up: f64,
    /// The same for lower; not positive.
    pub down: f64,
    /// The factors by which the true rates of A and of B may exceed the rates that their searches found; 1 unless both are rounded to one grid.
    pub steps: (f64, f64),
}

impl ComparisonTerms {
    /// Returns the terms for values that are independent of each other and of their order.
    pub fn plain(is_higher_better: bool, tolerance: f64) -> Self {
        Self {
            is_higher_better,
            tolerance,
            inflation: 1.0,
            up: 0.0,
            down: 0.0,
            steps: (1.0, 1.0),
        }
    }

    /// Returns the ratio of B to A above which B counts as higher, and the one below which it counts as lower.
    ///
    /// Searches on one grid round A and B alike: rounded values that differ have true values that differ, but the difference is known only to within
    /// a step.
    fn limits(&self) -> (f64, f64) {
        let (up, down) = if self.tolerance > 0.0 {
            self.steps
        } else {
            (1.0, 1.0)
        };
        (
            (1.0 + self.tolerance) * self.up.exp() * up,
            (1.0 - self.tolerance) * self.down.exp() / down,
        )
    }
}

/// The two-sided test of a sample B against a sample A, evaluated in each direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The smallest error level at which B is shown to exceed A by more than the terms allow.
    pub higher: f64,
    /// The same for B being lower.
    pub lower: f64,
    /// The smallest p-value that samples of these sizes can have at their inflation, unless they are so far apart that the inflation does not matter.
    pub least: f64,
}

/// Tests whether B is higher or lower than A by more than `terms` allow. Returns `None` if a sample is empty or contains a NaN.
///
/// Each value counts by its rank among all values, except that the worst 45 % count as equal. The p-value is twice the share of all divisions of
/// these values into samples of these sizes that favour B, or A, at least as much. The test therefore makes no assumption about the distribution of
/// the noise, and tells apart at most 5 % of identical devices; equal values, which searches on one grid produce, share their ranks. The normal
/// distribution replaces the count for more than 30 values, and also where the variance is inflated and it gives the larger p-value.
///
/// The inflation does not apply to samples that are further apart than the range of the wider one: autocorrelated repetitions wander over the range
/// of a sample while it is measured, so a larger distance means as much as it does for independent ones.
///
/// Samples with zero or negative values have no ratio: they are tested by their differences, and neither the tolerance nor a drift applies.
pub fn rank_test(a: &[f64], b: &[f64], terms: &ComparisonTerms) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|value| value.is_nan()) {
        return None;
    }
    let has_ratios = a.iter().chain(b).all(|&value| value > 0.0);
    let (high, low) = if has_ratios {
        terms.limits()
    } else {
        (1.0, 1.0)
    };
    // The medians are another estimate of the shift: a difference that they contradict is not shown, just as the interval is widened to contain them.
    let (of_a, of_b) = (median(a)?, median(b)?);
    let higher = if of_b >= of_a * high {
        p_values(a, b, high, terms).0
    } else {
        1.0
    };
    let lower = if of_b <= of_a * low {
        p_values(a, b, low, terms).1
    } else {
        1.0
    };
    let (is_far_above, is_far_below) = are_far_apart(a, b, has_ratios, high, low);
    let far = |is_far: bool, p: f64| {
        if is_far {
            p.min(least_p(a.len(), b.len()))
        } else {
            p
        }
    };
    let least = if terms.inflation > 1.0 {
        Divisions::untied(a.len(), b.len()).least(terms.inflation)
    } else {
        least_p(a.len(), b.len())
    };
    Some(RankTest {
        higher: far(is_far_above, higher),
        lower: far(is_far_below, lower),
        least,
    })
}

/// Returns whether all of B lies above, or below, A times the limit by more than the range of the wider sample.
fn are_far_apart(a: &[f64], b: &[f64], has_ratios: bool, high: f64, low: f64) -> (bool, bool) {
    let spread = widest_spread(a, b, has_ratios);
    let ((lowest_a, highest_a), (lowest_b, highest_b)) = (ends(a), ends(b));
    if has_ratios {
        (
            lowest_b / highest_a > high * spread,
            highest_b / lowest_a < low / spread,
        )
    } else {
        (
            lowest_b - highest_a > spread,
            highest_b - lowest_a < -spread,
        )
    }
}

/// Returns the lowest and the highest value of a sample.
fn ends(sample: &[f64]) -> (f64, f64) {
    (
        sample.iter().copied().fold(f64::INFINITY, f64::min),
        sample.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    )
}

/// Returns the smallest p-value that two samples of independent values of these sizes can have.
pub fn least_p(m: usize, n: usize) -> f64 {
    let divisions: f64 = (1..=n).map(|i| (m + i) as f64 / i as f64).product();
    (2.0 / divisions).min(1.0)
}

/// Returns the p-values of B being higher, and lower, than `limit` times A.
fn p_values(a: &[f64], b: &[f64], limit: f64, terms: &ComparisonTerms) -> (f64, f64) {
    let a: Vec<f64> = a.iter().map(|value| value * limit).collect();
    let scores = scores(&a, b, terms.is_higher_better);
    let divisions = Divisions::new(&scores, b.len());
    divisions.p_values(scores[a.len()..].iter().sum(), terms)
}

/// Returns the score of each value, those of A before those of B; better values score higher. It is twice the rank, which equal values share; each of
/// the worst values gets the score of the best of them.
fn scores(a: &[f64], b: &[f64], is_higher_better: bool) -> Vec<usize> {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let (sorted, worst) = (sort(&all), 2 * alike(a.len(), b.len()));
    all.iter()
        .map(|value| {
            let below = sorted.partition_point(|other| other < value);
            let above = sorted.len() - sorted.partition_point(|other| other <= value);
            let (worse, better) = if is_higher_better {
                (below, above)
            } else {
                (above, below)
            };
            (sorted.len() + 1 + worse - better).max(worst)
        })
        .collect()
}

/// Returns the number of values that count as equal: at most the size of the smaller sample, so that samples that do not overlap can still be told
/// apart.
fn alike(m: usize, n: usize) -> usize {
    ((ALIKE * (m + n) as f64) as usize).min(m).min(n)
}

/// The distribution of the sum of B's scores if every division of all values into A and B is equally likely.
struct Divisions {
    /// The smallest and the largest sum.
    ends: (usize, usize),
    /// A common divisor of the differences between sums.
    unit: usize,
    /// The share of each sum, from the smallest one in steps of the unit; empty where the normal distribution is used instead.
    shares: Vec<f64>,
    mean: f64,
    variance: f64,
}

impl Divisions {
    fn new(scores: &[usize], n: usize) -> Self {
        let mut sorted = scores.to_vec();
        sorted.sort_unstable();
        let (all, m) = (sorted.len(), sorted.len() - n);
        // The table of sums is as long as the largest one in units, and ties often leave a large common divisor.
        let unit = sorted
            .iter()
            .map(|score| score - sorted[0])
            .fold(0, greatest_common_divisor)
            .max(1);
        let steps: Vec<usize> = sorted
            .iter()
            .map(|score| (score - sorted[0]) / unit)
            .collect();
        let mean = scores.iter().sum::<usize>() as f64 / all as f64;
        let squares: f64 = scores
            .iter()
            .map(|&score| (score as f64 - mean).powi(2))
            .sum();
        Self {
            ends: (sorted[..n].iter().sum(), sorted[m..].iter().sum()),
            unit,
            shares: if all <= LARGEST {
                shares(&steps, n)
            } else {
                Vec::new()
            },
            mean: n as f64 * mean,
            // The variance of a sum of n numbers drawn without putting them back.
            variance: squares * (m * n) as f64 / (all * (all - 1).max(1)) as f64,
        }
    }

    /// Returns the divisions of samples without ties.
    fn untied(m: usize, n: usize) -> Self {
        let scores: Vec<usize> = (1..=m + n).map(|rank| 2 * rank.max(alike(m, n))).collect();
        Self::new(&scores, n)
    }

    /// Returns the p-values of B being higher, and lower, than A if its scores have this sum.
    fn p_values(&self, sum: usize, terms: &ComparisonTerms) -> (f64, f64) {
        let (better, worse) = (
            self.two_sided(sum, true, terms.inflation),
            self.two_sided(sum, false, terms.inflation),
        );
        if terms.is_higher_better {
            (better, worse)
        } else {
            (worse, better)
        }
    }

    /// Returns twice the share of the divisions with at least (or, if not `at_least`, at most) this sum, limited to 1.
    fn two_sided(&self, sum: usize, at_least: bool, inflation: f64) -> f64 {
        let p = match self.tail(sum, at_least) {
            Some(tail) if inflation > 1.0 => tail.max(self.normal(sum, at_least, inflation)),
            Some(tail) => tail,
            None => self.normal(sum, at_least, inflation),
        };
        p.min(1.0)
    }

    fn tail(&self, sum: usize, at_least: bool) -> Option<f64> {
        let least = self.shares.iter().position(|share| *share > 0.0)?;
        // Ties may give a sum below the smallest one without ties, but never above the largest: tied values share their mean rank, and the floor under the
        // worst scores makes the untied sum the larger one.
        let at = least + sum.saturating_sub(self.ends.0) / self.unit;
        let shares = if at_least {
            &self.shares[at..]
        } else {
            &self.shares[..=at]
        };
        Some(2.0 * shares.iter().sum::<f64>())
    }

    /// Returns the same by the normal distribution, with a continuity correction of half a unit because sums are whole.
    fn normal(&self, sum: usize, at_least: bool, inflation: f64) -> f64 {
        let beyond = if at_least {
            sum as f64 - self.mean
        } else {
            self.mean - sum as f64
        };
        let z = (beyond - self.unit as f64 / 2.0) / (inflation * self.variance).sqrt();
        if z > 0.0 {
            erfc(z / std::f64::consts::SQRT_2)
        } else {
            1.0
        }
    }

    /// Returns the smallest possible p-value.
    fn least(&self, inflation: f64) -> f64 {
        // The two ends differ, because only the worst values are tied.
        self.two_sided(self.ends.1, true, inflation)
            .min(self.two_sided(self.ends.0, false, inflation))
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// Returns the share of each sum among all choices of `n` of these numbers.
fn shares(numbers: &[usize], n: usize) -> Vec<f64> {
    // The numbers are sorted, so the sum of a choice from those before is at most the sum of the last of them.
    let sum_of_last =
        |until: usize, count: usize| numbers[until - count..until].iter().sum::<usize>();
    let mut choices = vec![vec![0.0; sum_of_last(numbers.len(), n) + 1]; n + 1];
    choices[0][0] = 1.0;
    for (before, &number) in numbers.iter().enumerate() {
        for chosen in (1..=n.min(before + 1)).rev() {
            let (fewer, more) = choices.split_at_mut(chosen);
            let reached = sum_of_last(before, chosen - 1) + 1;
            let (from, to) = (&fewer[chosen - 1][..reached], &mut more[0][number..]);
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
    }
    let sums = choices.swap_remove(n);
    let all: f64 = sums.iter().sum();
    sums.into_iter().map(|sum| sum / all).collect()
}

/// Returns the ratio of the medians of two samples of positive values, and the interval of factors for B / A that [`rank_test`] does not rule out at
/// 5 %. Returns `None` if a value is not positive, or if the samples are too small for 95 % confidence: 3 and 3 values are too few, 4 and 4 are
/// enough. Neither the tolerance nor a drift applies.
///
/// The ratio of the medians need not lie within the interval, as it is another estimate; if it does not, the interval is widened to contain it. If
/// the test shows a difference, a ratio of 1 lies outside the interval or at an end, otherwise inside or at an end. No end lies further beyond the
/// ratios of single values than the range of a sample, however large the inflation. An end that is uncertain because of a search grid moves by a
/// step, but not to the other side of 1, since [`rank_test`] has shown on which side the ratio is.
pub fn open_ratios(a: &[f64], b: &[f64], terms: &ComparisonTerms) -> Option<Shift> {
    if a.iter()
        .chain(b)
        .any(|&value| value.is_nan() || value <= 0.0)
        || !is_significant(least_p(a.len(), b.len()))
    {
        return None;
    }
    let ratio = median(b)? / median(a)?;
    let (low, high) = Inversion::new(a, b, terms).interval();
    let alone = ComparisonTerms {
        tolerance: 0.0,
        up: 0.0,
        down: 0.0,
        ..*terms
    };
    let test = rank_test(a, b, &alone)?;
    let (steps, is_higher, is_lower) = (
        terms.steps,
        is_significant(test.higher),
        is_significant(test.lower),
    );
    let low = if is_higher {
        (low.max(1.0) / steps.0).max(1.0)
    } else {
        low.min(1.0) / steps.0
    };
    let high = if is_lower {
        (high.min(1.0) * steps.1).min(1.0)
    } else {
        high.max(1.0) * steps.1
    };
    Some(Shift {
        ratio,
        low: low.min(ratio),
        high: high.max(ratio),
        n: (a.len(), b.len()),
    })
}

/// All ratios of a value of B to one of A; between neighbouring ratios the test gives the same result for every factor.
struct Inversion<'s> {
    a: &'s [f64],
    b: &'s [f64],
    terms: &'s ComparisonTerms,
    ratios: Vec<f64>,
    divisions: Divisions,
}

impl<'s> Inversion<'s> {
    fn new(a: &'s [f64], b: &'s [f64], terms: &'s ComparisonTerms) -> Self {
        let ratios: Vec<f64> = b
            .iter()
            .flat_map(|b| a.iter().map(move |a| b / a))
            .collect();
        let mut ratios = sort(&ratios);
        // Rounding may make equal ratios of different values differ in the last digits.
        ratios.dedup_by(|later, earlier| *later <= *earlier * (1.0 + 1e-12));
        // A factor between two ratios makes no value of A equal to one of B.
        let divisions = Divisions::untied(a.len(), b.len());
        Self {
            a,
            b,
            terms,
            ratios,
            divisions,
        }
    }

    /// Returns the lowest and the highest factor that the test does not rule out.
    fn interval(&self) -> (f64, f64) {
        let (spread, count) = (widest_spread(self.a, self.b, true), self.ratios.len());
        let gaps: Vec<usize> = (0..=count).collect();
        let first = gaps.partition_point(|&gap| is_significant(self.p_values(gap).0));
        let end = gaps.partition_point(|&gap| !is_significant(self.p_values(gap).1));
        let low = if first == 0 {
            self.ratios[0] / spread
        } else {
            self.ratios[first - 1]
        };
        let high = if end > count {
            self.ratios[count - 1] * spread
        } else {
            self.ratios[end - 1]
        };
        (low, high)
    }

    /// Returns the p-values of B being higher, and lower, than A times a factor in the given gap, which is the one before the ratio of this index.
    fn p_values(&self, gap: usize) -> (f64, f64) {
        let (before, after) = (
            gap.checked_sub(1).map(|index| self.ratios[index]),
            self.ratios.get(gap).copied(),
        );
        let factor = match (before, after) {
            // Beyond all ratios, all of B lies above A, or below it.
            (None, _) => return self.divisions.p_values(self.end(true), self.terms),
            (_, None) => return self.divisions.p_values(self.end(false), self.terms),
            // Where a bound stands for an unknown value (`Censored`), a ratio may be 0 or infinite, and there is no geometric mean.
            (Some(0.0), Some(after)) => after / 2.0,
            (Some(before), Some(after)) if after.is_infinite() => before * 2.0,
            (Some(before), Some(after)) => (before * after).sqrt(),
        };
        let a: Vec<f64> = self.a.iter().map(|value| value * factor).collect();
        let scores = scores(&a, self.b, self.terms.is_higher_better);
        let sum: usize = scores[a.len()..].iter().sum();
        self.divisions.p_values(sum, self.terms)
    }

    /// Returns the sum of the scores of B if all of B lies above A, or below it.
    fn end(&self, is_above: bool) -> usize {
        if is_above == self.terms.is_higher_better {
            self.divisions.ends.1
        } else {
            self.divisions.ends.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::coverage_tests::assert_holds_the_true_ratio;
    use super::*;
    use crate::random::SplitMix64;

    fn terms(tolerance: f64) -> ComparisonTerms {
        ComparisonTerms::plain(true, tolerance)
    }

    fn test(a: &[f64], b: &[f64], tolerance: f64) -> RankTest {
        rank_test(a, b, &terms(tolerance)).unwrap()
    }

    fn open(a: &[f64], b: &[f64]) -> Shift {
        open_ratios(a, b, &terms(0.0)).unwrap()
    }

    #[test]
    fn p_values_are_those_of_counting() {
        // 4 and 4 values have 70 divisions, 7 and 7 have 3432; the p-value of the most extreme one counts two of them.
        let apart = test(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], 0.0);
        assert!(
            (apart.higher - 2.0 / 70.0).abs() < 1e-15 && apart.lower == 1.0,
            "{apart:?}"
        );
        assert_eq!((apart.least, least_p(4, 4)), (apart.higher, apart.higher));
        assert!((least_p(7, 7) - 2.0 / 3432.0).abs() < 1e-15);
        // The worst three count as equal, so it does not matter which of them is B's.
        let one_wrong = test(&[1.0, 2.0, 3.0, 12.0], &[11.0, 13.0, 14.0, 15.0], 0.0);
        let one_lowest = test(&[2.0, 3.0, 12.0, 11.0], &[1.0, 13.0, 14.0, 15.0], 0.0);
        assert!(
            (one_wrong.higher - 4.0 / 70.0).abs() < 1e-15,
            "{one_wrong:?}"
        );
        assert!(
            one_lowest.higher > 4.0 / 70.0 && one_lowest.higher < 0.2,
            "{one_lowest:?}"
        );
        let zeroes = test(&[500.0, 501.0, 502.0, 500.0], &[0.0; 4], 0.0);
        assert!(is_significant(zeroes.lower), "{zeroes:?}");
        assert_eq!(rank_test(&[], &[1.0], &terms(0.0)), None);
    }

    #[test]
    fn how_far_down_the_worst_values_lie_changes_nothing() {
        let (a, b) = (
            [90.0, 99.0, 100.0, 101.0, 102.0],
            [80.0, 100.5, 101.5, 103.0, 104.0],
        );
        let further = [10.0, 100.5, 101.5, 103.0, 104.0];
        assert_eq!(test(&a, &b, 0.0).higher, test(&a, &further, 0.0).higher);
        // Of delays, the longest are the worst.
        let inverse = |values: &[f64]| {
            values
                .iter()
                .map(|value| 1000.0 / value)
                .collect::<Vec<_>>()
        };
        let delays = rank_test(
            &inverse(&a),
            &inverse(&b),
            &ComparisonTerms::plain(false, 0.0),
        )
        .unwrap();
        assert!(
            (delays.lower - test(&a, &b, 0.0).higher).abs() < 1e-12,
            "{delays:?}"
        );
    }

    #[test]
    fn equal_values_share_their_ranks_and_cost_no_more_than_they_hide() {
        // On a grid of three loads the 184,756 divisions have far fewer distinct sums; the test counts all that favour B at least as much.
        let (a, b) = (
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0],
            [2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0],
        );
        assert!(test(&a, &b, 0.0).higher < 0.001);
        let same = test(&[700.0; 6], &[700.0; 8], 0.0);
        assert_eq!((same.higher, same.lower), (1.0, 1.0));
        assert_eq!(
            (
                open(&[700.0; 6], &[700.0; 8]).low,
                open(&[700.0; 6], &[700.0; 8]).high
            ),
            (1.0, 1.0)
        );
    }

    #[test]
    fn a_step_of_a_grid_widens_the_interval_but_leaves_the_side_that_was_shown() {
        let (a, b) = (
            [1000.0; 7],
            [1020.0, 1020.0, 1020.0, 1020.0, 1020.0, 1020.0, 1040.0],
        );
        let stepped = ComparisonTerms {
            steps: (1.02, 1.02),
            ..terms(0.0)
        };
        let (found, wide) = (open(&a, &b), open_ratios(&a, &b, &stepped).unwrap());
        assert!(
            found.low == 1.02 && (wide.low, wide.high) == (1.0, found.high * 1.02),
            "{found:?} {wide:?}"
        );
        assert!(
            is_significant(rank_test(&a, &b, &stepped).unwrap().higher),
            "rounded alike, they differ in truth"
        );
        let beyond = |tolerance| {
            is_significant(
                rank_test(
                    &a,
                    &b,
                    &ComparisonTerms {
                        tolerance,
                        ..stepped
                    },
                )
                .unwrap()
                .higher,
            )
        };
        assert!(
            !beyond(0.001) && is_significant(test(&a, &b, 0.001).higher),
            "by how much is known to a step only"
        );
    }

    #[test]
    fn the_normal_distribution_meets_the_counted_one() {
        let counted = Divisions::untied(15, 15);
        let mean = counted.mean as usize / 2 * 2;
        for (beyond, bound) in [(40, 0.03), (56, 0.05), (70, 0.12)] {
            let exact = counted.two_sided(mean + beyond, true, 1.0);
            assert!(
                (counted.normal(mean + beyond, true, 1.0) / exact - 1.0).abs() < bound,
                "{beyond}: {exact}"
            );
        }
        assert!(Divisions::untied(60, 60).shares.is_empty());
        assert!(is_significant(test(&[1.0; 60], &[2.0; 60], 0.0).higher));
    }

    #[test]
    fn three_and_three_are_too_few_and_zero_has_no_logarithm() {
        let plain = terms(0.0);
        assert_eq!(
            open_ratios(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], &plain),
            None
        );
        assert!(open_ratios(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], &plain).is_some());
        assert_eq!(
            open_ratios(&[0.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], &plain),
            None
        );
        assert_eq!(open_ratios(&[], &[1.0], &plain), None);
    }

    #[test]
    fn a_p_value_of_5_percent_is_an_interval_beyond_the_tolerance() {
        let mut random = SplitMix64::new(3);
        let (mut shown, mut not_shown) = (0, 0);
        for run in 0..1_000 {
            let n = 4 + run % 9;
            let mut sample = |n: usize, factor: f64| {
                (0..n)
                    .map(|_| 1000.0 * factor * (1.0 + 0.02 * random.gaussian()))
                    .collect::<Vec<_>>()
            };
            let (a, b) = (
                sample(n + run % 2, 1.0),
                sample(n, 1.0 + 0.03 * (run % 3) as f64 - 0.03),
            );
            for tolerance in [0.0, 0.01] {
                for is_higher_better in [true, false] {
                    let terms = ComparisonTerms::plain(is_higher_better, tolerance);
                    let (interval, test) = (
                        open_ratios(&a, &b, &terms).unwrap(),
                        rank_test(&a, &b, &terms).unwrap(),
                    );
                    assert_eq!(
                        is_significant(test.higher),
                        interval.low > 1.0 + tolerance,
                        "{a:?} {b:?}"
                    );
                    assert_eq!(
                        is_significant(test.lower),
                        interval.high < 1.0 - tolerance,
                        "{a:?} {b:?}"
                    );
                    let is_shown = is_significant(test.higher.min(test.lower));
                    (shown, not_shown) = (
                        shown + u32::from(is_shown),
                        not_shown + u32::from(!is_shown),
                    );
                }
            }
        }
        assert!(shown > 500 && not_shown > 500, "{shown} {not_shown}");
    }

    #[test]
    fn the_interval_holds_the_true_ratio_in_95_of_100_comparisons() {
        assert_holds_the_true_ratio(open);
    }

    #[test]
    fn what_is_allowed_for_counts_against_a_difference_and_widens_the_interval_alike() {
        let mut random = SplitMix64::new(9);
        for n in [7, 20] {
            let a: Vec<f64> = (0..n).map(|_| 1000.0 + 10.0 * random.gaussian()).collect();
            let b: Vec<f64> = (0..n).map(|_| 1030.0 + 10.0 * random.gaussian()).collect();
            let with = |inflation| ComparisonTerms {
                inflation,
                ..terms(0.0)
            };
            let (free, wide) = (open(&a, &b), open_ratios(&a, &b, &with(2.4)).unwrap());
            assert!(
                wide.low < free.low && wide.high > free.high,
                "{free:?} {wide:?}"
            );
            for inflation in [1.0, 1.5, 2.4, 4.0, 8.0] {
                let interval = open_ratios(&a, &b, &with(inflation)).unwrap();
                let test = rank_test(&a, &b, &with(inflation)).unwrap();
                assert_eq!(
                    is_significant(test.higher),
                    interval.low > 1.0,
                    "{n} {inflation}"
                );
            }
            let far: Vec<f64> = b.iter().map(|b| 2.0 * b).collect();
            let (interval, test) = (
                open_ratios(&a, &far, &with(100.0)).unwrap(),
                rank_test(&a, &far, &with(100.0)).unwrap(),
            );
            assert!(
                interval.low > 1.8
                    && interval.high < 2.4
                    && test.higher == least_p(n, n)
                    && !is_significant(test.least),
                "{interval:?} {test:?}"
            );
            let drifted = |up, down| {
                rank_test(
                    &a,
                    &b,
                    &ComparisonTerms {
                        up,
                        down,
                        ..terms(0.0)
                    },
                )
                .unwrap()
            };
            assert_eq!(
                drifted(0.0, -0.5).higher,
                drifted(0.0, 0.0).higher,
                "a drift the other way explains nothing"
            );
            assert!(!is_significant(drifted(0.05, 0.0).higher));
        }
    }
}
