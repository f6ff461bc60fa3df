//! Where the search of a repetition begins, given what the repetitions before it found.

use super::Start;
use super::range::BRACKET;
use crate::measures::Outcome;
use crate::plan::{Plan, Point, RepetitionStart};
use crate::random::SplitMix64;
use crate::stats;
use crate::terms::FrameRate;

/// Returns the start of the search of the next repetition of `point`; `earlier` are the finished repetitions of the same
/// point.
///
/// A search that begins near a load can end only at loads on a grid around it. Were the median itself the beginning, the
/// grids of all repetitions would coincide, and the repetitions would agree far better than the device does: intervals of the
/// median would be too narrow and equal devices would be told apart. So the beginning is drawn uniformly from as many widths
/// around the median as the first bracket has. One width would move the grid by a whole pitch, too, but leave the repetitions
/// of a scattering device tied to their common median. The draw follows from the seed, the point and the number of the
/// repetition, so a replay of the records repeats it.
///
/// Of a device that scatters little, dithered repetitions end anywhere in the width below its rate, and cold ones at few loads that
/// depend on where its rate lies on their grid. So the medians of the two may differ by half a width, which is no more than a
/// search promises, and the interval of one need not hold the other.
pub fn start_for(plan: &Plan, point: &Point, earlier: &[Outcome]) -> Start {
    let lower = |outcome: &Outcome| Some(outcome.brackets.first()?.lower?.0 as f64);
    let found: Vec<f64> = earlier.iter().filter_map(lower).collect();
    let Some(median) = stats::median(&found) else { return Start::Cold };
    match plan.search.start {
        RepetitionStart::Cold => Start::Cold,
        RepetitionStart::Median => Start::Near(FrameRate(median as u64)),
        RepetitionStart::Dithered => {
            let part = dither(plan.seed, point, earlier.len() as u64);
            let bracket = f64::from(BRACKET) * -(-plan.search.width.clamp(1e-9, 0.9)).ln_1p();
            Start::Near(FrameRate((median * (bracket * part).exp()).round().max(1.0) as u64))
        }
    }
}

/// Uniform over -0.5..0.5, a function of its arguments.
fn dither(seed: u64, point: &Point, repetition: u64) -> f64 {
    let absorb = |state: u64, word: u64| SplitMix64::new(state ^ word).next_u64();
    let name = point.test.bytes().map(u64::from);
    let words = name.chain([u64::from(point.frame_size.0), repetition]);
    SplitMix64::new(words.fold(seed, absorb)).uniform() - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::FrameSize;

    fn draws() -> Vec<f64> {
        let point = |size| Point { test: "t".to_owned(), frame_size: FrameSize(size) };
        (0..1000).map(|n| dither(1, &point(84 + (n / 50) as u16), n % 50)).collect()
    }

    #[test]
    fn the_draw_is_uniform_and_the_same_again() {
        let drawn = draws();
        assert_eq!(drawn, draws());
        for tenth in 0..10 {
            let (from, to) = (f64::from(tenth) / 10.0 - 0.5, f64::from(tenth + 1) / 10.0 - 0.5);
            let share = drawn.iter().filter(|&&d| from <= d && d < to).count();
            assert!((60..=140).contains(&share), "{share} of 1000 in {from}..{to}");
        }
    }
}
