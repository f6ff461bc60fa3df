//! The trend of a quantity that is sampled at equal steps: its slope, and the confidence interval that the scatter of the samples allows.

/// The number of blocks over which samples are averaged before the line fit. Neighbouring samples are correlated; means of long blocks are far less
/// so, and the remaining correlation widens the interval.
const BLOCKS: usize = 20;

/// The 97.5th percentile of Student's t distribution with two degrees of freedom fewer than there are blocks.
const STUDENT: f64 = 2.101;

/// The highest correlation of neighbouring residuals that is taken into account: the variance is then multiplied by 19, and at 1 it would have no bound.
const HIGHEST: f64 = 0.9;

/// A slope per step, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// The lower end of the interval.
    pub low: f64,
    /// The slope by least squares.
    pub slope: f64,
    /// The upper end.
    pub high: f64,
}

/// Returns the trend per step of samples taken at equal steps, or `None` for fewer than two samples per block.
pub fn trend(samples: &[f64]) -> Option<Slope> {
    let length = samples.len() / BLOCKS;
    if length < 2 {
        return None;
    }
    // The remainder is dropped at the beginning, which is closest to the warm-up.
    let kept = &samples[samples.len() - length * BLOCKS..];
    let means: Vec<f64> = kept
        .chunks(length)
        .map(|block| block.iter().sum::<f64>() / length as f64)
        .collect();
    let (slope, error) = line(&means);
    let (slope, error) = (slope / length as f64, STUDENT * error / length as f64);
    Some(Slope {
        low: slope - error,
        slope,
        high: slope + error,
    })
}

/// Returns the slope of the least-squares line through values at steps of one, and its standard error.
fn line(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let from_middle = |i: usize| i as f64 - middle;
    let squares: f64 = (0..values.len()).map(|i| from_middle(i).powi(2)).sum();
    let slope = values
        .iter()
        .enumerate()
        .map(|(i, value)| from_middle(i) * (value - mean))
        .sum::<f64>()
        / squares;
    let residuals: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(i, value)| value - mean - slope * from_middle(i))
        .collect();
    let rest: f64 = residuals.iter().map(|r| r * r).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // Residuals of independent values about a fitted line have a correlation of about -2/n.
    let correlation = if rest > 0.0 {
        (products / rest + 2.0 / n).clamp(0.0, HIGHEST)
    } else {
        0.0
    };
    // The factor by which the variance of a sum of many values exceeds that of independent ones, if each value keeps this share of the one before.
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    (slope, (rest / (n - 2.0) / squares * inflation).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Returns samples that grow by `leak` per step, with noise that keeps the share `memory` of its last value.
    fn samples(seed: u64, leak: f64, memory: f64) -> Vec<f64> {
        let (mut random, mut noise) = (SplitMix64::new(seed), 0.0);
        let sample = |i: usize| {
            noise = memory * noise + random.gaussian();
            1e6 + leak * i as f64 + noise
        };
        (0..1000).map(sample).collect()
    }

    /// Returns the share of 400 runs whose interval contains the true slope.
    fn held(leak: f64, memory: f64) -> f64 {
        let holds = |seed: &u64| {
            trend(&samples(*seed, leak, memory)).is_some_and(|t| t.low <= leak && leak <= t.high)
        };
        (0..400).filter(holds).count() as f64 / 400.0
    }

    #[test]
    fn a_line_has_its_slope_and_no_interval() {
        let straight: Vec<f64> = (0..100).map(|i| 7.0 + 0.5 * f64::from(i)).collect();
        let found = trend(&straight).expect("a trend");
        assert!(
            (found.slope - 0.5).abs() < 1e-9 && found.high - found.low < 1e-9,
            "{found:?}"
        );
        let flat = trend(&[5.0; 40]).expect("a trend");
        assert_eq!((flat.low, flat.slope, flat.high), (0.0, 0.0, 0.0));
        assert_eq!(trend(&[5.0; 39]), None);
    }

    #[test]
    fn the_interval_holds_the_truth_of_a_device_that_leaks_and_of_one_that_does_not() {
        for (leak, memory) in [(0.0, 0.0), (0.01, 0.0), (0.0, 0.9), (0.01, 0.9)] {
            let share = held(leak, memory);
            assert!(
                (0.9..=1.0).contains(&share),
                "leak {leak}, memory {memory}: {share}"
            );
        }
    }

    #[test]
    fn a_leak_far_above_the_noise_is_shown() {
        assert!(
            (0..100)
                .all(|seed| trend(&samples(seed, 0.01, 0.5)).is_some_and(|found| found.low > 0.0))
        );
    }
}
