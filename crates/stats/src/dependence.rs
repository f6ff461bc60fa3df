//! Autocorrelated repetitions: how much autocorrelation two samples show, and how much weaker that makes their comparison.

use super::drift::erfc;
use super::shift::NORMAL_AT_LEVEL;
use super::{median_interval_95, sort};

/// The fewest repetitions whose order counts as evidence (docs/RESULTS.md, "Repetitions that follow each other").
const LEAST: usize = 6;

/// The number of repetitions from which the estimated autocorrelation is always used; with fewer, it is used only if chance alone would rarely
/// produce it.
const MANY: f64 = 15.0;

/// The probability with which chance alone shows an autocorrelation in few repetitions.
const SELDOM: f64 = 0.01;

/// The highest autocorrelation that is taken into account: beyond it the formulas below no longer hold.
const HIGHEST: f64 = 0.95;

/// The correlation of repetitions with those before them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autocorrelation {
    /// The correlation of a value with the one before it, 0..1, corrected for the bias of short samples.
    pub estimate: f64,
    /// The autocorrelation to allow for, 0..0.95: more than the estimate, which is unreliable with few repetitions.
    pub allowed: f64,
    /// True if independent values would show as much in at most one case in a hundred.
    pub is_shown: bool,
}

/// Returns the autocorrelation from one repetition to the next to allow for in these samples; `None` if it is not positive, or if there are few
/// repetitions and chance could produce as much.
///
/// It is computed from the ranks within each sample, so that a single outlier does not hide it. For independent values it is -1/n on average, with
/// the variance of Bartels' rank version of von Neumann's ratio (Journal of the American Statistical Association 77, 1982).
pub fn autocorrelation(samples: &[&[f64]]) -> Option<Autocorrelation> {
    let long = samples.iter().filter(|sample| sample.len() >= LEAST);
    let found: Vec<Lag> = long.filter_map(|sample| Lag::measure(sample)).collect();
    let weight: f64 = found.iter().map(|lag| lag.n).sum();
    let mean = |of: fn(&Lag) -> f64| found.iter().map(|lag| lag.n * of(lag)).sum::<f64>() / weight;
    let deviation = found
        .iter()
        .map(|lag| lag.n * lag.n * lag.variance())
        .sum::<f64>()
        .sqrt()
        / weight;
    let above_chance = mean(|lag| lag.correlation + 1.0 / lag.n);
    let are_many = found.iter().all(|lag| lag.n >= MANY);
    // Without a sample that is long enough all of these are NaN, which is not above 0, so there is no result.
    let is_shown = above_chance > 0.0 && upper_tail(above_chance / deviation) <= SELDOM;
    (above_chance > 0.0 && (is_shown || are_many)).then(|| Autocorrelation {
        estimate: mean(Lag::estimate).clamp(0.0, 1.0),
        allowed: mean(Lag::allowed_for).clamp(0.0, HIGHEST),
        is_shown,
    })
}

/// Lag-1 correlation of the ranks of one sample.
struct Lag {
    n: f64,
    correlation: f64,
}

impl Lag {
    /// Returns the correlation of a sample's ranks from one value to the next, or `None` if all values are equal.
    fn measure(sample: &[f64]) -> Option<Self> {
        let n = sample.len() as f64;
        let ranks = ranks(sample);
        let from_mean: Vec<f64> = ranks.iter().map(|rank| rank - (n + 1.0) / 2.0).collect();
        let squares: f64 = from_mean.iter().map(|d| d * d).sum();
        let products: f64 = from_mean.windows(2).map(|pair| pair[0] * pair[1]).sum();
        (squares > 0.0).then(|| Self {
            n,
            correlation: products / squares,
        })
    }

    fn variance(&self) -> f64 {
        let n = self.n;
        (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0) / (5.0 * n * (n + 1.0) * (n - 1.0).powi(2))
    }

    /// Returns the correlation corrected for the bias of short samples, which is about -(1 + 3 r)/n (Marriott and Pope, Biometrika 41, 1954).
    fn estimate(&self) -> f64 {
        (self.correlation + 1.0 / self.n) * (1.0 + 3.0 / self.n)
    }

    /// Returns the estimate plus a margin for its scatter, chosen so that equal devices with an autocorrelation of 0.5 are called different no more
    /// often than independent ones. A test of the comparisons enforces this.
    fn allowed_for(&self) -> f64 {
        (self.correlation + 1.0 / self.n) * (1.0 + 10.0 / self.n)
    }
}

/// Returns the rank of each value, from 1; equal values share their mean rank.
fn ranks(sample: &[f64]) -> Vec<f64> {
    let sorted = sort(sample);
    sample
        .iter()
        .map(|value| {
            let below = sorted.partition_point(|other| other < value);
            let up_to = sorted.partition_point(|other| other <= value);
            (below + up_to + 1) as f64 / 2.0
        })
        .collect()
}

/// Returns the factor by which autocorrelation increases the variance of Mann and Whitney's U for samples of `m` and `n` values, if values k apart
/// have a correlation of `autocorrelation` to the power of k. It is 1 without autocorrelation.
pub fn inflation(autocorrelation: f64, m: usize, n: usize) -> f64 {
    // Except for small terms, U is a sum over the values of each sample, each weighted by the number of values in the other.
    let (of_m, of_n) = (of_mean(autocorrelation, m), of_mean(autocorrelation, n));
    // Two empty samples would divide by zero.
    (n as f64 * of_m + m as f64 * of_n) / (m + n).max(1) as f64
}

/// Returns the same factor for the mean of `n` values.
fn of_mean(autocorrelation: f64, n: usize) -> f64 {
    1.0 + 2.0
        * (1..n)
            .map(|k| (1.0 - k as f64 / n as f64) * autocorrelation.powi(k as i32))
            .sum::<f64>()
}

/// Returns the 95 % interval of the median of values in the order they were measured, which may be autocorrelated. For independent values it is that
/// of [`median_interval_95`]; `None` for n < 6.
///
/// Apparent autocorrelation in few values is allowed for even where chance could produce as much. A comparison cannot afford that, but stopping as
/// soon as an interval is narrow favours runs of correlated values that happen to agree, and the cost is only a repetition or two. However large the
/// allowance, neither end lies further beyond the values than their range: autocorrelated values wander over that range while they are measured, as
/// [`shift`](super::shift) assumes.
pub fn median_interval_95_in_order(values: &[f64]) -> Option<(f64, f64)> {
    let independent = median_interval_95(values)?;
    let allowed = Lag::measure(values).map_or(0.0, |lag| lag.allowed_for().clamp(0.0, HIGHEST));
    if allowed == 0.0 {
        return Some(independent);
    }
    let (n, sorted) = (values.len(), sort(values));
    let width = sorted[n - 1] - sorted[0];
    let (low, high) = match rank_of_median(allowed, n).checked_sub(1) {
        Some(first) => (sorted[first], sorted[n - 1 - first]),
        None => (sorted[0] - width, sorted[n - 1] + width),
    };
    Some((low.min(independent.0), high.max(independent.1)))
}

/// Returns the rank, from 1, of the value at which the 95 % interval of the median begins, by the normal distribution; 0 if there are too few values.
fn rank_of_median(autocorrelation: f64, n: usize) -> usize {
    let deviation = (inflation_of_median(autocorrelation, n) * n as f64).sqrt() / 2.0;
    // A continuity correction of half a value, because counts are whole.
    (n as f64 / 2.0 + 0.5 - NORMAL_AT_LEVEL * deviation).max(0.0) as usize
}

/// Returns the factor by which autocorrelation increases the variance of the number of values below the median, for `n` values of which those k apart
/// have a correlation of `autocorrelation` to the power of k. The indicators of being below the median have a correlation of 2/pi asin of that
/// (Sheppard, Philosophical Transactions A 192, 1899).
fn inflation_of_median(autocorrelation: f64, n: usize) -> f64 {
    let of_signs = |k: usize| autocorrelation.powi(k as i32).asin() * std::f64::consts::FRAC_2_PI;
    1.0 + 2.0
        * (1..n)
            .map(|k| (1.0 - k as f64 / n as f64) * of_signs(k))
            .sum::<f64>()
}

/// Returns the probability that a normal deviate exceeds `z`, which must not be negative.
fn upper_tail(z: f64) -> f64 {
    erfc(z / std::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::super::median;
    use super::*;
    use crate::random::SplitMix64;

    /// Returns a chain in which each value keeps the share `phi` of the deviation before it; all have a standard deviation of 1.
    fn chain(random: &mut SplitMix64, phi: f64, n: usize) -> Vec<f64> {
        let mut last = random.gaussian();
        let mut next = || {
            last = phi * last + (1.0 - phi * phi).sqrt() * random.gaussian();
            last
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn the_variance_of_a_mean_is_that_of_the_textbook() {
        assert_eq!(inflation(0.0, 7, 20), 1.0);
        // (1 + phi) / (1 - phi) for very many values.
        assert!((inflation(0.5, 100_000, 100_000) - 3.0).abs() < 1e-3);
        // 1 + phi for two values.
        assert!((inflation(0.5, 2, 2) - 1.5).abs() < 1e-12);
    }

    /// Returns the percentage of chains whose interval contains the true median.
    fn held(phi: f64, n: usize, interval: fn(&[f64]) -> Option<(f64, f64)>) -> f64 {
        let mut random = SplitMix64::new(17);
        let mut holds = || {
            interval(&chain(&mut random, phi, n))
                .is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high)
        };
        (0..4000).filter(|_| holds()).count() as f64 / 40.0
    }

    #[test]
    fn the_interval_of_the_median_of_values_that_follow_each_other_holds_it() {
        let [plain, in_order] = [
            median_interval_95 as fn(&[f64]) -> _,
            median_interval_95_in_order,
        ];
        for (n, phi, plain_at_most, least) in [
            (20, 0.0, 97.0, 95.0),
            (20, 0.5, 84.0, 94.0),
            (20, 0.8, 62.0, 91.0),
            (8, 0.5, 94.0, 96.0),
        ] {
            let (plain, in_order) = (held(phi, n, plain), held(phi, n, in_order));
            assert!(
                plain <= plain_at_most && in_order >= least,
                "{n} {phi}: {plain} {in_order}"
            );
        }
    }

    #[test]
    fn the_interval_of_values_in_no_order_is_the_usual_one_and_never_narrower() {
        let alternating = [5.0, 9.0, 6.0, 8.0, 5.5, 8.5, 6.5];
        assert_eq!(
            median_interval_95_in_order(&alternating),
            median_interval_95(&alternating)
        );
        assert_eq!(median_interval_95_in_order(&[7.0; 6]), Some((7.0, 7.0)));
        assert_eq!(median_interval_95_in_order(&alternating[..5]), None);
        // Extended by the range on either side, where even all values together are too few.
        assert_eq!(
            median_interval_95_in_order(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            Some((-4.0, 11.0))
        );
    }

    #[test]
    fn few_independent_values_show_an_autocorrelation_once_in_a_hundred() {
        let mut random = SplitMix64::new(11);
        for n in [6, 7, 12] {
            let mut is_shown = |_: &i32| {
                let (a, b) = (chain(&mut random, 0.0, n), chain(&mut random, 0.0, n));
                autocorrelation(&[&a, &b]).is_some()
            };
            let shown = (0..4000).filter(&mut is_shown).count();
            assert!(shown <= 80, "{n}: {shown} of 4000");
        }
    }

    #[test]
    fn an_autocorrelation_that_is_shown_has_about_its_size() {
        let mut random = SplitMix64::new(12);
        for (phi, n) in [(0.5, 20), (0.5, 50), (0.8, 50)] {
            let mut found =
                || autocorrelation(&[&chain(&mut random, phi, n), &chain(&mut random, phi, n)]);
            let all: Vec<Autocorrelation> = (0..500).filter_map(|_| found()).collect();
            assert!(all.len() > 450, "{phi} {n}: {}", all.len());
            let median = |of: fn(&Autocorrelation) -> f64| {
                median(&all.iter().map(of).collect::<Vec<_>>()).unwrap()
            };
            let (estimate, allowed) = (
                median(|found| found.estimate),
                median(|found| found.allowed),
            );
            assert!(
                (phi - 0.07..phi + 0.07).contains(&estimate),
                "{phi} {n}: {estimate}"
            );
            assert!(
                (phi - 0.02..phi + 0.15).contains(&allowed),
                "{phi} {n}: {allowed}"
            );
        }
    }

    #[test]
    fn a_weak_autocorrelation_of_many_values_is_allowed_for_but_not_shown() {
        let mut random = SplitMix64::new(13);
        let mut found =
            || autocorrelation(&[&chain(&mut random, 0.0, 20), &chain(&mut random, 0.0, 20)]);
        let all: Vec<Autocorrelation> = (0..4000).filter_map(|_| found()).collect();
        let shown = all.iter().filter(|found| found.is_shown).count();
        assert!(
            (1500..2500).contains(&all.len()) && shown <= 60,
            "{} {shown} of 4000",
            all.len()
        );
    }

    #[test]
    fn few_values_or_equal_ones_show_nothing() {
        assert_eq!(
            autocorrelation(&[&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0]]),
            None
        );
        assert_eq!(autocorrelation(&[&[7.0; 20], &[7.0; 20]]), None);
        assert_eq!(autocorrelation(&[]), None);
    }
}
