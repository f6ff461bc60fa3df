//! How unlikely it is that a part of a stretch of values differs from the rest as much as it does.

use crate::stats::inversions::distribution;

/// The fewest values of a part, and of what is left on one side of it.
pub(super) const LEAST_SIDE: usize = 3;

/// Longer stretches have the normal distribution in place of the exact one, whose coefficients would leave 128 bits.
const EXACT: usize = 100;

/// A part of a stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SplitPart {
    /// The index of its first value.
    pub(super) from: usize,
    /// The index behind its last value.
    pub(super) to: usize,
    /// The logarithm of the chance that this very part differs as much from the rest, up or down.
    pub(super) chance: f64,
}

/// The parts of a stretch that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartOf {
    /// Those that begin with the first value.
    Start,
    /// Those, and all in the middle. A part up to the last value differs as the one from the first that is the rest.
    Anywhere,
}

/// The distributions of Mann and Whitney's U for the parts of stretches of one length.
pub(super) struct SplitTails {
    n: usize,
    /// By the length of the part, the logarithm of the two-sided chance of each U up to its middle; empty for long stretches.
    logarithms: Vec<Vec<f64>>,
}

impl SplitTails {
    /// Makes the table for stretches of `n` values.
    pub(super) fn of(n: usize) -> Self {
        let lengths = if n <= EXACT { n + 1 } else { 0 };
        Self { n, logarithms: (0..lengths).map(|part| tail(part, n - part)).collect() }
    }

    /// Returns the part that chance makes most seldom; `None` where all scores are alike, or there are too few of them.
    pub(super) fn least_likely(&self, scores: &[f64], parts: PartOf) -> Option<SplitPart> {
        let inner = if parts == PartOf::Start { 0..0 } else { LEAST_SIDE..(self.n + 1).saturating_sub(2 * LEAST_SIDE) };
        let mut least = SplitPart { from: 0, to: 0, chance: 0.0 };
        for from in std::iter::once(0).chain(inner) {
            let mut sum = 0.0;
            for (index, score) in scores[..self.n - LEAST_SIDE].iter().enumerate().skip(from) {
                sum += score;
                let to = index + 1;
                if to - from < LEAST_SIDE {
                    continue;
                }
                let chance = self.chance(to - from, sum);
                if chance < least.chance - 1e-9 {
                    least = SplitPart { from, to, chance };
                }
            }
        }
        (least.chance < 0.0).then_some(least)
    }

    /// Returns the places at which to split for this part: both of its ends, where that is so much less likely than the best single place as there
    /// are more ways to choose two places than one; else the single place.
    pub(super) fn places(&self, scores: &[f64], part: SplitPart) -> Vec<usize> {
        let more_ways = (self.n as f64 / 2.0).ln();
        match self.least_likely(scores, PartOf::Start) {
            Some(single) if part.from == 0 || single.chance < part.chance + more_ways => vec![single.to],
            _ => vec![part.from, part.to],
        }
    }

    /// Returns the logarithm of the chance that `part` scores have a sum as far from zero as this.
    fn chance(&self, part: usize, sum: f64) -> f64 {
        let pairs = (part * (self.n - part)) as f64;
        match self.logarithms.get(part) {
            // The sum is 2 U less the number of pairs; ties make halves, which count as the more likely.
            Some(tail) => tail[((pairs - sum.abs()) / 2.0).ceil() as usize],
            // The tail of a normal deviate z falls as its density.
            None => -1.5 * sum * sum / (pairs * (self.n + 1) as f64),
        }
    }
}

/// The logarithm of 2 P(U <= u), at most that of 1, of each u up to the middle.
fn tail(part: usize, rest: usize) -> Vec<f64> {
    let shares = distribution(part, rest);
    let mut sum = 0.0;
    let mut up_to = |share: &f64| {
        sum += share;
        f64::min(2.0 * sum, 1.0).ln()
    };
    shares.iter().take(shares.len() / 2 + 1).map(&mut up_to).collect()
}
