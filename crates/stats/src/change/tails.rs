//! Computes how unlikely it is that a part of a stretch of values differs from the rest as much as it does.

use crate::inversions::distribution;

/// The fewest values of a part, and of the remainder on either side of it. Of n values in random order, some two neighbours are the two lowest or the two
/// highest with a probability of 4 / n, which is 20 % of 20 values; of three it is 12 / (n (n - 1)), 3 %. So a part of two is an accident rather than a
/// level, and looking for it would only make the test more strict for all others.
pub(super) const LEAST_SIDE: usize = 3;

/// The longest stretch with an exact distribution; beyond it the coefficients would overflow 128 bits, and the normal distribution is used.
const EXACT: usize = 100;

/// A part of a stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SplitPart {
    /// The index of its first value.
    pub(super) from: usize,
    /// The index one past its last value.
    pub(super) to: usize,
    /// The logarithm of the probability that this particular part differs as much from the rest, up or down.
    pub(super) chance: f64,
}

/// The parts of a stretch to examine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartOf {
    /// Those that begin with the first value.
    Start,
    /// Also all those in the middle. A part that ends with the last value is covered by its complement, which begins with the first.
    Anywhere,
}

/// The distributions of Mann and Whitney's U for the parts of stretches of one length.
pub(super) struct SplitTails {
    n: usize,
    /// The logarithm of the two-sided probability of each U up to the middle, by the length of the part; empty for long stretches.
    logarithms: Vec<Vec<f64>>,
}

impl SplitTails {
    /// Makes the table for stretches of `n` values.
    pub(super) fn new(n: usize) -> Self {
        let lengths = if n <= EXACT { n + 1 } else { 0 };
        Self {
            n,
            logarithms: (0..lengths).map(|part| tail(part, n - part)).collect(),
        }
    }

    /// Returns the least likely part, or `None` if all scores are equal or there are too few of them.
    pub(super) fn least_likely(&self, scores: &[f64], parts: PartOf) -> Option<SplitPart> {
        let inner = if parts == PartOf::Start {
            0..0
        } else {
            LEAST_SIDE..(self.n + 1).saturating_sub(2 * LEAST_SIDE)
        };
        let mut least = SplitPart {
            from: 0,
            to: 0,
            chance: 0.0,
        };
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

    /// Returns the places at which to split for this part: both of its ends if it is less likely than the best single place by more than the factor
    /// by which there are more ways to choose two places than one; otherwise the single place.
    pub(super) fn places(&self, scores: &[f64], part: SplitPart) -> Vec<usize> {
        let more_ways = (self.n as f64 / 2.0).ln();
        match self.least_likely(scores, PartOf::Start) {
            Some(single) if part.from == 0 || single.chance < part.chance + more_ways => {
                vec![single.to]
            }
            _ => vec![part.from, part.to],
        }
    }

    /// Returns the logarithm of the probability that the sum of `part` scores is at least this far from zero.
    fn chance(&self, part: usize, sum: f64) -> f64 {
        let pairs = (part * (self.n - part)) as f64;
        match self.logarithms.get(part) {
            // The sum is 2 U minus the number of pairs; ties give half-integers, which are rounded to the more likely value.
            Some(tail) => tail[((pairs - sum.abs()) / 2.0).ceil() as usize],
            // The tail of a normal deviate z falls like its density.
            None => -1.5 * sum * sum / (pairs * (self.n + 1) as f64),
        }
    }
}

/// Returns the logarithm of 2 P(U <= u), limited to 0, for each u up to the middle.
fn tail(part: usize, rest: usize) -> Vec<f64> {
    let shares = distribution(part, rest);
    let mut sum = 0.0;
    let mut up_to = |share: &f64| {
        sum += share;
        f64::min(2.0 * sum, 1.0).ln()
    };
    shares
        .iter()
        .take(shares.len() / 2 + 1)
        .map(&mut up_to)
        .collect()
}
