//! The starting point of a repetition's search, given the results of the earlier repetitions.

use super::range::BRACKET;
use super::{RepetitionStart, SearchSettings, Start};
use crate::terms::{FrameRate, FrameSize};
use sixbench_stats::SplitMix64;

/// Returns the start of the search for the next repetition of a point, which is a test at a frame size; `earlier` are the loads found by the finished
/// repetitions of the same point, `None` for one that found none.
///
/// A search that begins near a load can end only at loads on a grid around it. If it began at the median itself, the grids of all repetitions would
/// coincide, and the repetitions would agree far better than the device does: intervals of the median would be too narrow, and equal devices would be
/// called different. The start is therefore drawn uniformly from a range around the median as wide as the first bracket. A range of one width would
/// also shift the grid by up to a whole step, but would leave the repetitions of a noisy device tied to their common median. The draw depends only on
/// the seed, the point and the number of the repetition, so a replay of the records repeats it.
///
/// For a device with little noise, dithered repetitions end anywhere within one width below its rate, and cold ones at a few loads that depend on the
/// position of its rate on their grid. The medians of the two may therefore differ by half a width, which is within the precision of a search, and
/// the interval of one need not contain the other.
pub fn start_for(
    search: &SearchSettings,
    seed: u64,
    test: &str,
    frame_size: FrameSize,
    earlier: &[Option<FrameRate>],
) -> Start {
    let found: Vec<f64> = earlier.iter().flatten().map(|load| load.0 as f64).collect();
    let Some(median) = sixbench_stats::median(&found) else {
        return Start::Cold;
    };
    match search.start {
        RepetitionStart::Cold => Start::Cold,
        RepetitionStart::Median => Start::Near(FrameRate(median as u64)),
        RepetitionStart::Dithered => {
            let part = dither(seed, test, frame_size, earlier.len() as u64);
            let bracket = f64::from(BRACKET) * -(-search.width.clamp(1e-9, 0.9)).ln_1p();
            Start::Near(FrameRate(
                (median * (bracket * part).exp()).round().max(1.0) as u64,
            ))
        }
    }
}

/// Returns a value uniform over -0.5..0.5 that depends only on the arguments.
fn dither(seed: u64, test: &str, frame_size: FrameSize, repetition: u64) -> f64 {
    let absorb = |state: u64, word: u64| SplitMix64::new(state ^ word).next_u64();
    let words = test
        .bytes()
        .map(u64::from)
        .chain([u64::from(frame_size.0), repetition]);
    SplitMix64::new(words.fold(seed, absorb)).uniform() - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws() -> Vec<f64> {
        (0..1000)
            .map(|n| dither(1, "t", FrameSize(84 + (n / 50) as u16), n % 50))
            .collect()
    }

    #[test]
    fn the_draw_is_uniform_and_the_same_again() {
        let drawn = draws();
        assert_eq!(drawn, draws());
        for tenth in 0..10 {
            let (from, to) = (
                f64::from(tenth) / 10.0 - 0.5,
                f64::from(tenth + 1) / 10.0 - 0.5,
            );
            let share = drawn.iter().filter(|&&d| from <= d && d < to).count();
            assert!(
                (60..=140).contains(&share),
                "{share} of 1000 in {from}..{to}"
            );
        }
    }
}
