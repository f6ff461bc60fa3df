//! Checks how often an interval of the ratio of two samples contains the true ratio.

use super::Shift;
use crate::random::SplitMix64;

/// Fails unless the interval contains the true ratio in about 95 of 100 comparisons of devices with the same scatter. With few values the share is
/// higher, because there are fewer possible interval ends to choose from.
pub(super) fn assert_holds_the_true_ratio(interval: impl Fn(&[f64], &[f64]) -> Shift) {
    const RUNS: usize = 2_000;
    /// The second device is 3 % faster.
    const RATIO: f64 = 1.03;
    let gaussian = |random: &mut SplitMix64| 1_000.0 * (1.0 + 0.02 * random.gaussian());
    // Occasionally much slower, as software devices are.
    let skewed =
        |random: &mut SplitMix64| 1_000.0 * (1.0 - 0.05 * -(1.0 - random.uniform()).ln()).max(0.1);
    let draws: [fn(&mut SplitMix64) -> f64; 2] = [gaussian, skewed];
    for draw in draws {
        for (m, n) in [(6, 6), (6, 12), (10, 10), (20, 20)] {
            let mut random = SplitMix64::new(7);
            let mut sample = |count: usize, factor| {
                (0..count)
                    .map(|_| factor * draw(&mut random))
                    .collect::<Vec<_>>()
            };
            let holds = |shift: Shift| shift.low <= RATIO && RATIO <= shift.high;
            let held = (0..RUNS)
                .filter(|_| holds(interval(&sample(m, 1.0), &sample(n, RATIO))))
                .count();
            // Between 95.3 % (20 and 20) and 97.1 % (6 and 6), plus or minus two standard deviations.
            let share = held as f64 / RUNS as f64;
            assert!((0.94..0.985).contains(&share), "{m} and {n}: {share}");
        }
    }
}
