//! The next load to try between two bounds: the geometry that all searches share, without trials or verdicts.

use crate::terms::FrameRate;

/// The closest loads known to meet and to miss a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The highest load known to meet the goal.
    pub lower: Option<FrameRate>,
    /// The lowest load known to miss it.
    pub upper: Option<FrameRate>,
}

/// The load near which the result is expected, in frames per second per direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExpectedLoad {
    pub(super) load: FrameRate,
    /// The first step beyond that load, in widths.
    pub(super) widths: u32,
}

/// The number of widths between a hint and the first load tried beyond it; 4 halvings reduce it to one width. A bracket of one width would take fewer
/// trials, but would tie a DUT that scatters by more to the hint, and repetitions would agree too well.
pub(super) const BRACKET: u32 = 16;

impl ExpectedLoad {
    /// Returns an aim that tries the hint first, then the bracket above or below it. Starting below the hint would cost less when the hint is wrong,
    /// but a noisy DUT occasionally fails there, and the loads above are then never tried: the medians came out 0.2 % low.
    pub(super) fn around(hint: FrameRate) -> Self {
        Self {
            load: hint,
            widths: BRACKET,
        }
    }

    /// Returns an aim that tries exactly this load first, then one width away.
    pub(super) fn at(load: FrameRate) -> Self {
        Self { load, widths: 1 }
    }
}

/// The loads that a search may try, in frames per second per direction, and the required distance of its bounds.
#[derive(Clone, Copy, Debug)]
pub struct LoadRange {
    minimum: u64,
    maximum: u64,
    width: f64,
}

impl LoadRange {
    /// Returns the loads from `minimum` to `maximum`, to be searched until the bounds are `width` of the upper one apart. A trial needs a load above
    /// 0, and a search with a width outside (0, 1) would end never or at once: both are limited to the nearest sensible value.
    pub fn new(minimum: FrameRate, maximum: FrameRate, width: f64) -> Self {
        let maximum = maximum.0.max(1);
        let minimum = minimum.0.clamp(1, maximum);
        Self {
            minimum,
            maximum,
            width: width.clamp(1e-9, 0.9),
        }
    }

    pub(super) fn with_width(self, width: f64) -> Self {
        Self {
            width: width.clamp(1e-9, 0.9),
            ..self
        }
    }

    /// Returns whether `known` needs no further trial: the bounds are within the width of each other, or at an end of the range.
    pub(super) fn is_settled(&self, known: Bounds) -> bool {
        match (known.lower, known.upper) {
            (Some(lower), Some(upper)) => self.is_narrow(lower.0, upper.0),
            (Some(lower), None) => lower.0 >= self.maximum,
            (None, Some(upper)) => upper.0 <= self.minimum,
            (None, None) => false,
        }
    }

    /// Returns the next load by plain halving: the maximum first, the minimum only if it is the only load left. Returns `None` if the bounds are
    /// close enough, or at an end of the range.
    pub fn halve(&self, known: Bounds) -> Option<FrameRate> {
        if self.is_settled(known) {
            return None;
        }
        let Some(upper) = known.upper else {
            return Some(FrameRate(self.maximum));
        };
        let Some(lower) = known.lower else {
            let only_minimum_is_left = self.is_narrow(self.minimum, upper.0);
            let next = if only_minimum_is_left {
                self.minimum
            } else {
                self.minimum.midpoint(upper.0)
            };
            return Some(FrameRate(next));
        };
        Some(FrameRate(lower.0.midpoint(upper.0)))
    }

    /// Returns the next load if the result is expected near `aim`: the aim itself, then a step beyond the bound found there, then steps that double
    /// until the other bound is found or halving is shorter.
    pub(super) fn gallop(&self, known: Bounds, aim: ExpectedLoad) -> Option<FrameRate> {
        if self.is_settled(known) {
            return None;
        }
        let from = aim.load.0.clamp(self.minimum, self.maximum);
        let step = |far: u64, near: u64| self.step((far as f64 / near as f64).ln(), aim.widths);
        let next = match known {
            Bounds {
                lower: Some(FrameRate(lower)),
                upper,
            } if lower >= from => self.above(lower, upper, step(lower, from)),
            Bounds {
                lower,
                upper: Some(FrameRate(upper)),
            } if upper <= from => self.below(upper, lower, step(from, upper)),
            _ => from,
        };
        Some(FrameRate(next))
    }

    /// Returns whether two loads are no further apart than the width, a share of the upper one. A distance of one frame per
    /// second always qualifies.
    pub(super) fn is_narrow(&self, lower: u64, upper: u64) -> bool {
        let gap = upper.saturating_sub(lower);
        gap <= 1 || gap as f64 <= self.width * upper as f64
    }

    fn above(&self, lower: u64, upper: Option<FrameRate>, step: f64) -> u64 {
        let next = ((lower as f64 * step.exp()) as u64).max(lower + 1);
        match upper {
            // A bound that was tried lies within the range, so the geometric middle does, too.
            Some(upper) => next.min(geometric_middle(lower, upper.0)),
            // A trial just below the maximum would still leave the maximum to be tried.
            None if next >= self.maximum || self.is_narrow(next, self.maximum) => self.maximum,
            None => next,
        }
    }

    fn below(&self, upper: u64, lower: Option<FrameRate>, step: f64) -> u64 {
        let next = ((upper as f64 * (-step).exp()).ceil() as u64).min(upper - 1);
        match lower {
            // It lies within the range, as in `above`.
            Some(lower) => next.max(geometric_middle(lower.0, upper)),
            None if next <= self.minimum || self.is_narrow(self.minimum, next) => self.minimum,
            None => next,
        }
    }

    /// Returns the size of the step from a bound at `distance` from the aim, both as logarithms: the same distance again, but at least `widths`.
    /// Steps are the width times a power of two, so that halving the last one ends at exactly the width and not one trial later.
    fn step(&self, distance: f64, widths: u32) -> f64 {
        // One per cent less, because loads are rounded to whole frames; otherwise the halvings of the last step end one frame above the width.
        let unit = -(-self.width).ln_1p() * 0.99;
        let doublings = (distance / unit).max(f64::from(widths)).log2().round();
        unit * doublings.exp2()
    }
}

/// Returns the geometric mean of two bounds, limited to the loads strictly between them; the bounds must be at least 2 apart.
fn geometric_middle(lower: u64, upper: u64) -> u64 {
    let middle = (lower as f64 * upper as f64).sqrt() as u64;
    middle.clamp(lower + 1, upper - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(lower: u64, upper: u64) -> Bounds {
        let some = |load| (load > 0).then_some(FrameRate(load));
        Bounds {
            lower: some(lower),
            upper: some(upper),
        }
    }

    fn range() -> LoadRange {
        LoadRange::new(FrameRate(1_000), FrameRate(1_000_000), 0.01)
    }

    #[test]
    fn halving_tries_the_maximum_first_and_the_minimum_last() {
        assert_eq!(range().halve(known(0, 0)), Some(FrameRate(1_000_000)));
        assert_eq!(range().halve(known(0, 1_000_000)), Some(FrameRate(500_500)));
        assert_eq!(range().halve(known(0, 1_005)), Some(FrameRate(1_000)));
        assert_eq!(range().halve(known(0, 1_000)), None);
    }

    #[test]
    fn a_right_aim_needs_two_trials() {
        let aim = ExpectedLoad::at(FrameRate(500_000));
        assert_eq!(range().gallop(known(0, 0), aim), Some(aim.load));
        let above = range().gallop(known(500_000, 0), aim).unwrap();
        assert!(range().is_settled(known(500_000, above.0)), "{above}");
        let below = range().gallop(known(0, 500_000), aim).unwrap();
        assert!(range().is_settled(known(below.0, 500_000)), "{below}");
    }

    #[test]
    fn a_hint_is_tried_first_and_then_the_bracket_on_the_side_of_the_answer() {
        let aim = ExpectedLoad::around(FrameRate(500_000));
        assert_eq!(range().gallop(known(0, 0), aim), Some(FrameRate(500_000)));
        let above = range().gallop(known(500_000, 0), aim).unwrap();
        assert!((584_000..588_000).contains(&above.0), "{above}");
        let below = range().gallop(known(0, 500_000), aim).unwrap();
        assert!((425_000..428_000).contains(&below.0), "{below}");
    }

    #[test]
    fn a_wrong_aim_is_left_in_doubling_steps() {
        let (aim, mut lower, mut steps) = (ExpectedLoad::at(FrameRate(1_000)), 1_000, Vec::new());
        while let Some(next) = range().gallop(known(lower, 0), aim) {
            steps.push((next.0 as f64 / lower as f64).ln() / 0.00995);
            lower = next.0;
        }
        let steps: Vec<u64> = steps.iter().map(|s| s.round() as u64).collect();
        assert_eq!(steps[..6], [1, 1, 2, 4, 8, 16]);
        assert_eq!(lower, 1_000_000);
    }

    #[test]
    fn an_aim_outside_the_range_is_drawn_to_its_end() {
        let first = |aim| range().gallop(known(0, 0), ExpectedLoad::at(FrameRate(aim)));
        assert_eq!(first(5), Some(FrameRate(1_000)));
        assert_eq!(first(u64::MAX), Some(FrameRate(1_000_000)));
    }
}
