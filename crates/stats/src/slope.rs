//! The drift of a machine over two samples measured one after the other: its slope, and the interval that few values allow.

use super::Slope;

/// The half-width of the interval, in standard deviations of the slope. Together with the half-width of the rank test it matches a test that allows
/// for any steady drift: for two samples of n values, one right after the other, fitting a straight line doubles the standard deviation of their
/// difference, and the slope over the same distance has sqrt(3) times the standard deviation of the difference alone; 2 * 1.96 = 1.96 + 1.13 *
/// sqrt(3).
const WIDE: f64 = 1.13;

/// Returns the common slope of two samples of positive values from each value to the next, as a logarithm, with an interval narrower than 95 %
/// ([`WIDE`]). Returns `None` if neither sample has two values, or if any value is not positive.
///
/// It is the Theil-Sen slope over the pairs within the samples, each pair weighted by the distance between its values (Sievers, Journal of the
/// American Statistical Association 73, 1978), so equal neighbours, which searches on one grid produce, do not hide a drift.
pub fn slope_within(a: &[f64], b: &[f64]) -> Option<Slope> {
    if a.iter()
        .chain(b)
        .any(|&value| value.is_nan() || value <= 0.0)
    {
        return None;
    }
    let mut slopes: Vec<(f64, f64)> = pairs(a).chain(pairs(b)).collect();
    slopes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let total: f64 = slopes.iter().map(|(_, apart)| apart).sum();
    let error = WIDE * (variance(a.len() as f64) + variance(b.len() as f64)).sqrt();
    // The slope up to which the pairs, in the order of their slopes, have this weight: the weighted quantile.
    // An end beyond all pairs is that of the outermost pair, so the interval never leaves the observed slopes.
    let at = |up_to: f64| {
        let mut below = 0.0;
        let is_below = |(_, apart): &&(f64, f64)| {
            below += apart;
            below < up_to
        };
        let rank = slopes.iter().take_while(is_below).count();
        slopes.get(rank).or(slopes.last()).map(|(slope, _)| *slope)
    };
    Some(Slope {
        low: at((total - error) / 2.0)?,
        slope: at(total / 2.0)?,
        high: at((total + error) / 2.0)?,
    })
}

/// Returns the slope of each pair of a sample, and the distance between its values in steps.
fn pairs(sample: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let slope = |i: usize, j: usize| {
        (
            (sample[j] / sample[i]).ln() / (j - i) as f64,
            (j - i) as f64,
        )
    };
    (0..sample.len()).flat_map(move |j| (0..j).map(move |i| slope(i, j)))
}

/// Returns the variance, for `n` values without a slope, of the weight of the rising pairs minus that of the falling pairs.
fn variance(n: f64) -> f64 {
    n * n * (n * n - 1.0) * (n + 1.0) / 36.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    fn falling(from: f64) -> Vec<f64> {
        (0..7)
            .map(|i| from * (-0.01 * f64::from(i)).exp())
            .collect()
    }

    #[test]
    fn a_straight_line_has_its_slope_and_no_interval() {
        let found = slope_within(&falling(1000.0), &falling(900.0)).unwrap();
        assert!(
            [found.low, found.slope, found.high]
                .iter()
                .all(|slope| (slope + 0.01).abs() < 1e-12),
            "{found:?}"
        );
        let flat = slope_within(&[7.0; 20], &[7.0; 20]).unwrap();
        assert_eq!((flat.low, flat.slope, flat.high), (0.0, 0.0, 0.0));
    }

    #[test]
    fn what_rises_in_one_and_falls_in_the_other_leaves_both_open() {
        let rising: Vec<f64> = falling(1000.0).into_iter().rev().collect();
        let found = slope_within(&falling(1000.0), &rising).unwrap();
        assert!(found.low < 0.0 && found.high > 0.0, "{found:?}");
    }

    #[test]
    fn a_staircase_has_the_slope_of_the_stair() {
        // Five equal values on each of four stairs: most neighbours are equal, and so are most pairs of the unweighted Theil-Sen slope.
        let stairs: Vec<f64> = (0..20).map(|i| 1000.0 * 1.01_f64.powi(i / 5)).collect();
        let found = slope_within(&stairs, &stairs).unwrap();
        assert!((0.0017..0.0023).contains(&found.slope), "{found:?}");
    }

    #[test]
    fn the_interval_holds_the_slope_in_three_of_four_cases() {
        let mut random = SplitMix64::new(31);
        for n in [4, 7, 20] {
            let mut sample = || {
                (0..n)
                    .map(|i| (0.001 * f64::from(i) + 0.01 * random.gaussian()).exp())
                    .collect::<Vec<_>>()
            };
            let mut holds = || {
                slope_within(&sample(), &sample())
                    .is_some_and(|found| found.low <= 0.001 && 0.001 <= found.high)
            };
            let held = (0..2_000).filter(|_| holds()).count();
            assert!((1_380..1_700).contains(&held), "n = {n}: {held} of 2000");
        }
    }

    #[test]
    fn one_value_has_no_slope_and_zero_no_logarithm() {
        assert_eq!(slope_within(&[1.0], &[2.0]), None);
        assert_eq!(slope_within(&[1.0, 2.0, 0.0], &[4.0, 5.0]), None);
        assert!(slope_within(&[1.0], &[2.0, 3.0]).is_some());
    }
}
