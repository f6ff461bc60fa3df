//! Finds where a series of values changed its level: a rank test for a part that differs from the rest, and segmentation for several changes.

mod tails;

use super::dependence::autocorrelation;
use super::{LEVEL, holm, is_significant, least_p, median};
use crate::random::SplitMix64;
use std::collections::BTreeMap;
use tails::{LEAST_SIDE, PartOf, SplitTails};

/// Drawing stops after this many random orders that are as unlikely as the series: its p-value is then known well enough (Besag and Clifford,
/// Biometrika 78, 1991).
const EXCEEDED: usize = 20;

/// The minimum and maximum number of random orders that a series is compared with.
const DRAWS: (f64, f64) = (2_000.0, 200_000.0);

/// The p-value at which a long series provisionally counts as changed while its autocorrelation is estimated: the smallest that the fewest draws can
/// show, 1 in 2001, so no random order was as unlikely.
const PROVISIONAL_P: f64 = 0.0005;

/// The fixed seed of the random orders, so that the same series always has the same p-values.
const SEED: u64 = 2_008;

/// A value of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesLevel {
    /// The value.
    pub value: f64,
    /// True if the value is only a lower bound.
    pub is_at_least: bool,
    /// True if the value is only an upper bound.
    pub is_at_most: bool,
}

/// A place at which a series changed its level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The index of the first value after the change.
    pub at: usize,
    /// The p-value, adjusted for the number of series and of the stretches that were tested in them.
    pub p_value: f64,
}

/// Returns the places at which each series changed its level, in order. All series are tested together.
///
/// A series is split where a part of it differs from the rest in the way that chance is least likely to produce, by the test of Mann and Whitney: at
/// one place, as in Pettitt's test (Applied Statistics 28, 1979), or two, as in circular binary segmentation (Olshen and others, Biostatistics 5,
/// 2004). Each resulting stretch is tested again. The p-value of a split is the share of random orders of the same values that have a part as
/// unlikely, so it accounts for the number of places. For series without a change, the chance of reporting one in any of them is at most 5 % for all
/// series together: the p-values of whole series are adjusted by Holm's procedure, those of a part by its share of all values, and a change in a part
/// is reported only if the whole shows one (Meinshausen, Biometrika 95, 2008). The place is then moved to where the medians on either side fit best.
///
/// Autocorrelated values are compared with random orders that have the same autocorrelation. With fewer than 20 values it cannot be estimated well,
/// and the false alarm rate is a few per cent higher. Lower bounds contribute only what they establish: that they are higher than the values below
/// them (Gehan, Biometrika 52, 1965).
pub fn change_points(series: &[Vec<SeriesLevel>]) -> Vec<Vec<ChangePoint>> {
    let all: usize = series.iter().map(Vec::len).sum();
    let mut splitter = Splitter::default();
    let correlations = splitter.autocorrelations(series);
    // The smallest p-value that Holm's procedure compares with: the draws have to resolve it.
    let finest_p = LEVEL / series.len().max(1) as f64;
    let roots: Vec<Option<Split>> = series
        .iter()
        .zip(&correlations)
        .map(|(levels, correlation)| splitter.best_split(levels, *correlation, finest_p))
        .collect();
    let p_values: Vec<f64> = roots
        .iter()
        .map(|root| root.as_ref().map_or(1.0, |split| split.p))
        .collect();
    let roots = roots.into_iter().zip(holm(&p_values));
    let each = series.iter().zip(correlations).zip(roots);
    each.map(|((levels, correlation), (split, p_value))| {
        let whole = SeriesStretch {
            from: 0,
            to: levels.len(),
            split,
            p_value,
        };
        splitter.segmented(levels, correlation, all as f64, whole)
    })
    .collect()
}

/// Returns the fewest values per series that can show a change, however large, when this many series are tested together.
pub fn fewest_values(series: usize) -> usize {
    // Two non-overlapping halves, in two of all possible orders.
    (2 * LEAST_SIDE..1000)
        .find(|&n| is_significant(least_p(n / 2, n - n / 2) * series as f64))
        .unwrap_or(1000)
}

/// The places at which a stretch is split.
#[derive(Clone, Debug, PartialEq)]
struct Split {
    /// The indices of the first value of each resulting stretch except the first: one or two of them.
    at: Vec<usize>,
    /// The share of random orders that have a part as unlikely as this one.
    p: f64,
}

impl Split {
    /// Returns the resulting stretches of the stretch `from..to`, each as the index of its first value and one past its last.
    fn stretches(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let ends: Vec<usize> = std::iter::once(from)
            .chain(self.at.iter().map(|at| from + at))
            .chain([to])
            .collect();
        ends.windows(2).map(|ends| (ends[0], ends[1])).collect()
    }
}

/// A stretch of a series that may have to be split.
struct SeriesStretch {
    /// The index of its first value, and one past its last.
    from: usize,
    to: usize,
    /// Its best split, and the adjusted p-value of that.
    split: Option<Split>,
    p_value: f64,
}

/// Splits stretches, and caches the tables for each length.
#[derive(Default)]
struct Splitter {
    tails: BTreeMap<usize, SplitTails>,
}

impl Splitter {
    /// Returns the changes of a series, given the whole of it; `all` is the number of values of all series.
    fn segmented(
        &mut self,
        levels: &[SeriesLevel],
        correlation: f64,
        all: f64,
        whole: SeriesStretch,
    ) -> Vec<ChangePoint> {
        let mut open = vec![whole];
        let mut found = Vec::new();
        while let Some(stretch) = open.pop() {
            let p_value = stretch.p_value;
            let Some(split) = stretch.split.filter(|_| is_significant(p_value)) else {
                continue;
            };
            found.extend(split.at.iter().map(|at| ChangePoint {
                at: stretch.from + at,
                p_value,
            }));
            for (from, to) in split.stretches(stretch.from, stretch.to) {
                // A part is tested at its share of all values (Meinshausen), so its p-value is multiplied by the inverse of that share.
                let among = all / (to - from) as f64;
                let split = self.best_split(&levels[from..to], correlation, LEVEL / among);
                let own = split.as_ref().map_or(1.0, |split| split.p * among);
                // A part is never more certain to have changed than the whole it was found in: that is what bounds the error of testing part after
                // part.
                open.push(SeriesStretch {
                    from,
                    to,
                    split,
                    p_value: own.clamp(p_value, 1.0),
                });
            }
        }
        found.sort_by_key(|change| change.at);
        found
    }

    /// Returns the best split of a stretch, or `None` if it is too short or all its values are equal. `finest_p` is the p-value that must be resolved.
    fn best_split(
        &mut self,
        levels: &[SeriesLevel],
        correlation: f64,
        finest_p: f64,
    ) -> Option<Split> {
        /// The expected number of draws as unlikely as the split if its p-value is `finest_p`.
        const AS_UNLIKELY: f64 = 20.0;
        if levels.len() < 2 * LEAST_SIDE {
            return None;
        }
        let tails = self
            .tails
            .entry(levels.len())
            .or_insert_with(|| SplitTails::new(levels.len()));
        let scores = scores(levels);
        let part = tails.least_likely(&scores, PartOf::Anywhere)?;
        let at = refined(levels, tails.places(&scores, part));
        let draws = (AS_UNLIKELY / finest_p).clamp(DRAWS.0, DRAWS.1) as usize;
        let mut orders = RandomOrders::new(scores, correlation);
        let mut exceeded = 0;
        for draw in 1..=draws {
            // Equal probabilities may differ in their last digits, as they are logarithms of different sums: they count as equal, which errs towards
            // no change.
            let random = tails.least_likely(orders.next(), PartOf::Anywhere);
            exceeded +=
                usize::from(random.is_some_and(|random| random.chance <= part.chance + 1e-9));
            // The p-value of drawing that stopped early is the share seen so far. Without a stop, the series itself counts as one of the orders, so
            // that it is never 0.
            if exceeded == EXCEEDED {
                return Some(Split {
                    at,
                    p: EXCEEDED as f64 / draw as f64,
                });
            }
        }
        Some(Split {
            at,
            p: (exceeded + 1) as f64 / (draws + 1) as f64,
        })
    }

    /// Returns the autocorrelation of each series, 0..0.95, with its apparent changes removed: its own estimate, but no less than the estimate from
    /// all series together, which is more reliable.
    fn autocorrelations(&mut self, series: &[Vec<SeriesLevel>]) -> Vec<f64> {
        let stretches: Vec<Vec<Vec<f64>>> = series
            .iter()
            .map(|levels| self.provisional_stretches(levels))
            .collect();
        let allowed = |stretches: &mut dyn Iterator<Item = &Vec<f64>>| {
            let stretches: Vec<&[f64]> = stretches.map(Vec::as_slice).collect();
            autocorrelation(&stretches).map_or(0.0, |found| found.allowed)
        };
        let common = allowed(&mut stretches.iter().flatten());
        stretches
            .iter()
            .map(|own| allowed(&mut own.iter()).max(common))
            .collect()
    }

    /// Returns the stretches of a series between its apparent changes, treating its values as independent.
    fn provisional_stretches(&mut self, levels: &[SeriesLevel]) -> Vec<Vec<f64>> {
        let mut open = vec![(0, levels.len())];
        let mut found = Vec::new();
        while let Some((from, to)) = open.pop() {
            let n = to - from;
            // A short stretch cannot have a p-value of `PROVISIONAL_P`, however much it changes. It counts as changed below 1 / n^2, a bound that falls
            // with the length and meets `PROVISIONAL_P` at 45 values.
            let provisional_p = f64::max(1.0 / (n * n) as f64, PROVISIONAL_P);
            match self
                .best_split(&levels[from..to], 0.0, 1.0)
                .filter(|split| split.p <= provisional_p)
            {
                Some(split) => open.extend(split.stretches(from, to)),
                None => found.push(levels[from..to].iter().map(|level| level.value).collect()),
            }
        }
        found
    }
}

/// Returns the places of a split, each moved by up to a few values to where the deviations from the medians on either side are smallest: ranks do not
/// see the gap between the lowest value before a fall and the highest one after it.
fn refined(levels: &[SeriesLevel], mut at: Vec<usize>) -> Vec<usize> {
    // By simulation of Gaussian series of 12 to 40 values whose level changes by two standard deviations, the best split of the ranks is no further
    // than this from the change in at least 96 of 100; it is exact in 58 to 67.
    const FEW: usize = 5;
    for index in 0..at.len() {
        let from = index.checked_sub(1).map_or(0, |before| at[before]);
        let to = at.get(index + 1).copied().unwrap_or(levels.len());
        let left = |place: usize| deviations(&levels[from..place]) + deviations(&levels[place..to]);
        let places = (from + LEAST_SIDE).max(at[index].saturating_sub(FEW))
            ..=(to - LEAST_SIDE).min(at[index] + FEW);
        at[index] = places
            .min_by(|a, b| left(*a).total_cmp(&left(*b)))
            .unwrap_or(at[index]);
    }
    at
}

/// Returns the sum of the absolute deviations from the median.
fn deviations(levels: &[SeriesLevel]) -> f64 {
    let values: Vec<f64> = levels.iter().map(|level| level.value).collect();
    median(&values).map_or(0.0, |median| {
        values.iter().map(|value| (value - median).abs()).sum()
    })
}

/// Returns, for each value, the number of values known to be lower minus the number known to be higher. Without ties and bounds that is twice the
/// rank minus (n + 1).
fn scores(levels: &[SeriesLevel]) -> Vec<f64> {
    let is_above =
        |a: &SeriesLevel, b: &SeriesLevel| a.value > b.value && !b.is_at_least && !a.is_at_most;
    levels
        .iter()
        .map(|level| {
            levels
                .iter()
                .map(|other| {
                    f64::from(i8::from(is_above(level, other)) - i8::from(is_above(other, level)))
                })
                .sum()
        })
        .collect()
}

/// Random orders of scores.
struct RandomOrders {
    random: SplitMix64,
    /// The scores, ascending.
    sorted: Vec<f64>,
    /// The correlation of each value with the one before it.
    correlation: f64,
    chain: Vec<(f64, usize)>,
    order: Vec<f64>,
}

impl RandomOrders {
    fn new(mut sorted: Vec<f64>, correlation: f64) -> Self {
        sorted.sort_by(f64::total_cmp);
        let order = sorted.clone();
        Self {
            random: SplitMix64::new(SEED),
            chain: Vec::with_capacity(sorted.len()),
            sorted,
            correlation,
            order,
        }
    }

    fn next(&mut self) -> &[f64] {
        if self.correlation > 0.0 {
            self.shuffle_with_autocorrelation();
        } else {
            self.shuffle();
        }
        &self.order
    }

    /// Shuffles the scores so that every order is equally likely (Fisher and Yates).
    fn shuffle(&mut self) {
        for last in (1..self.order.len()).rev() {
            let other = (self.random.uniform() * (last + 1) as f64) as usize;
            self.order.swap(last, other);
        }
    }

    /// Arranges the scores in the order of a Gaussian chain in which each value keeps a share of the one before.
    fn shuffle_with_autocorrelation(&mut self) {
        let (mut last, innovation) = (
            self.random.gaussian(),
            (1.0 - self.correlation * self.correlation).sqrt(),
        );
        self.chain.clear();
        for index in 0..self.sorted.len() {
            self.chain.push((last, index));
            last = self.correlation * last + innovation * self.random.gaussian();
        }
        self.chain.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (rank, (_, index)) in self.chain.iter().enumerate() {
            self.order[*index] = self.sorted[rank];
        }
    }
}

#[cfg(test)]
mod tests;
