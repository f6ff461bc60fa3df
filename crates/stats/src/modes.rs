//! Detects whether repetitions fall into two groups: then chance decides in which of them the median lies, and the report shows both.

use super::summary::{deviation, mean, median_of_sorted};
use super::{median, sort};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sample of two modes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwoModes {
    /// The mode of the smaller values.
    pub low: Mode,
    /// The mode of the larger values.
    pub high: Mode,
}

/// One mode of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mode {
    /// Median of its values.
    pub centre: f64,
    /// The number of its values.
    pub count: usize,
}

/// Ashman's D, the distance of two means in units of the scatter about them, is above 2 for modes that stand apart (Ashman, Bird and
/// Zepf 1994). The best of many splits looks better than it is, hence more.
const ASHMAN: f64 = 3.0;

/// Centres nearer to each other than this share of the median are ignored, since they may be two steps of a search.
const APART: f64 = 0.03;

/// Returns the two modes of a sample, in any order. `None` when it does not look like two modes, and always for n < 6.
///
/// The sample is split where its parts, two values each at least, scatter least. They are two modes if Ashman's D says so and no
/// value lies in a gap between them that is clearly larger than the scatter inside the parts. How large the gap must be was chosen by simulation: at
/// most 2 % of Gaussian samples (n >= 6) pass.
pub fn modes(values: &[f64]) -> Option<TwoModes> {
    let sorted = sort(values);
    let at = best_split(&sorted)?;
    let (low, high) = sorted.split_at(at);
    let scatter = (squares(low, high) / (sorted.len() - 2) as f64).sqrt();
    let gap = high[0] - low[at - 1];
    let found = TwoModes {
        low: mode(low)?,
        high: mode(high)?,
    };
    let is_clear = gap > clear_gap(sorted.len()) * scatter && ashman(low, high) > ASHMAN;
    let is_apart = found.high.centre - found.low.centre > APART * median(values)?.abs();
    (is_clear && is_apart).then_some(found)
}

/// Returns how many times the scatter inside the parts the gap between them has to be. By simulation, of Gaussian samples 0.9 in 100 pass for n = 6, 1.7 for
/// n = 10, 0.8 for n = 20, and 0.3 for n = 30. The gap may be smaller for more values, because then the largest gap of a single mode is, too.
fn clear_gap(n: usize) -> f64 {
    1.3 + 13.0 / (n as f64 - 4.0)
}

/// Returns the length of the lower part of the split with the least squares.
fn best_split(sorted: &[f64]) -> Option<usize> {
    const LEAST: usize = 6;
    if sorted.len() < LEAST {
        return None;
    }
    let cost = |at: &usize| squares(&sorted[..*at], &sorted[*at..]);
    (2..=sorted.len() - 2).min_by(|a, b| cost(a).total_cmp(&cost(b)))
}

fn squares(low: &[f64], high: &[f64]) -> f64 {
    let [low, high] = [low, high].map(|part| (part.len() - 1) as f64 * variance(part));
    low + high
}

fn variance(part: &[f64]) -> f64 {
    deviation(part, mean(part)).powi(2)
}

fn ashman(low: &[f64], high: &[f64]) -> f64 {
    std::f64::consts::SQRT_2 * (mean(high) - mean(low)) / (variance(low) + variance(high)).sqrt()
}

fn mode(sorted: &[f64]) -> Option<Mode> {
    Some(Mode {
        centre: median_of_sorted(sorted)?,
        count: sorted.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// The sample behind Fig. 14 of the SIIT paper: 12 of 20 above 650 kfps, 7 below 460 kfps, one between.
    fn figure_14(random: &mut SplitMix64) -> Vec<f64> {
        let mut between = |low: f64, high: f64, count| {
            (0..count)
                .map(|_| low + (high - low) * random.uniform())
                .collect::<Vec<_>>()
        };
        [
            between(650.0, 710.0, 12),
            between(400.0, 460.0, 7),
            between(460.0, 650.0, 1),
        ]
        .concat()
    }

    #[test]
    fn the_two_modes_of_the_siit_paper_are_always_found() {
        let mut random = SplitMix64::new(14);
        for _ in 0..1_000 {
            let sample = figure_14(&mut random);
            let found = modes(&sample).unwrap();
            assert!(
                (400.0..470.0).contains(&found.low.centre)
                    && (640.0..710.0).contains(&found.high.centre),
                "{found:?}"
            );
            assert!(
                matches!((found.low.count, found.high.count), (7, 13) | (8, 12)),
                "{found:?}"
            );
        }
    }

    #[test]
    fn gaussian_samples_seldom_look_like_two_modes() {
        let mut random = SplitMix64::new(20);
        for n in 6..=20 {
            let mut sample = || {
                (0..n)
                    .map(|_| 1_000.0 * (1.0 + 0.1 * random.gaussian()))
                    .collect::<Vec<_>>()
            };
            let alarms = (0..1_000).filter(|_| modes(&sample()).is_some()).count();
            assert!(alarms <= 20, "{n}: {alarms}");
        }
    }

    #[test]
    fn two_slow_repetitions_of_six_are_a_mode_and_one_is_an_accident() {
        let found = modes(&[700.0, 1_000.0, 1_001.0, 701.0, 999.0, 1_002.0]).unwrap();
        assert_eq!(
            (found.low, found.high),
            (
                Mode {
                    centre: 700.5,
                    count: 2
                },
                Mode {
                    centre: 1_000.5,
                    count: 4
                }
            )
        );
        assert_eq!(
            modes(&[700.0, 1_000.0, 1_001.0, 1_002.0, 999.0, 1_002.0]),
            None
        );
    }

    #[test]
    fn equal_values_and_two_steps_of_a_search_are_one_mode() {
        assert_eq!(modes(&[5.0; 20]), None);
        assert_eq!(
            modes(&[1_000.0, 1_001.0, 1_000.0, 1_001.0, 1_000.0, 1_001.0]),
            None
        );
        assert_eq!(modes(&[0.0; 20]), None);
        assert!(modes(&[1_000.0, 1_100.0, 1_000.0, 1_100.0, 1_000.0, 1_100.0]).is_some());
    }

    #[test]
    fn five_repetitions_are_too_few() {
        assert_eq!(modes(&[1.0, 1.0, 9.0, 9.0, 9.0]), None);
        assert_eq!(modes(&[]), None);
    }
}
