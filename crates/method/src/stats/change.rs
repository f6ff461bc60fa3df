//! Where a series of values changed its level: a rank test for a part that differs from the rest, and segmentation for several changes.

mod tails;

use super::dependence::autocorrelation;
use super::{LEVEL, holm, is_significant, least_p, median};
use crate::random::SplitMix64;
use std::collections::BTreeMap;
use tails::{LEAST_SIDE, PartOf, SplitTails};

/// A random order that is as unlikely as the series so many times ends the drawing: its p-value is known well enough by then (Besag and Clifford,
/// Biometrika 78, 1991).
const EXCEEDED: usize = 20;

/// The number of random orders that a series is compared with at least, and at most.
const DRAWS: (f64, f64) = (2_000.0, 200_000.0);

/// The p-value at which a long series seems to change, when it is asked how much its values follow each other.
const SEEMS: f64 = 0.0005;

/// Where random orders begin: the same series has the same p-values wherever it is tested.
const SEED: u64 = 2_008;

/// A value of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesLevel {
    /// The value.
    pub value: f64,
    /// True if it is only known that the value is not lower.
    pub is_open: bool,
}

/// A place at which a series changed its level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The index of the first value after the change.
    pub at: usize,
    /// The p-value, adjusted for the number of series and of the stretches that were tested in them.
    pub p_value: f64,
}

/// Returns the places at which each series changed its level, in order; all series are tested at once.
///
/// A series is split where a part of it differs from the rest as chance makes it most seldom, by the test of Mann and Whitney: with one place, as in
/// Pettitt's test (Applied Statistics 28, 1979), or two, as in circular binary segmentation (Olshen and others, Biostatistics 5, 2004). Each of what
/// it was split into is tested again. The p-value of a split is the share of random orders of the same values that have a part as unlikely, so it
/// accounts for the number of places. The chance of a change in any series that has none is at most 5 % for all series together: the p-values of
/// whole series are adjusted by Holm's procedure, those of a part by its share of all values, and no part is shown to change where the whole is
/// not (Meinshausen, Biometrika 95, 2008). The place is then moved to where the medians on either side of it fit best.
///
/// Values that follow each other are compared with random orders that follow each other as much; of fewer than 20 values that cannot be told well, and a
/// few per cent more are called a change. Of lower bounds is counted only what they tell: that they are higher than what is below them (Gehan, Biometrika 52,
/// 1965).
pub fn change_points(series: &[Vec<SeriesLevel>]) -> Vec<Vec<ChangePoint>> {
    let all: usize = series.iter().map(Vec::len).sum();
    let mut splitter = Splitter::default();
    let follows = splitter.followed(series);
    let fine = LEVEL / series.len().max(1) as f64;
    let roots: Vec<Option<Split>> =
        series.iter().zip(&follows).map(|(levels, follows)| splitter.best_split(levels, *follows, fine)).collect();
    let p_values: Vec<f64> = roots.iter().map(|root| root.as_ref().map_or(1.0, |split| split.p)).collect();
    let roots = roots.into_iter().zip(holm(&p_values));
    let each = series.iter().zip(follows).zip(roots);
    each.map(|((levels, follows), root)| splitter.segmented(levels, follows, all as f64, root)).collect()
}

/// Returns the fewest values of each series that can show a change, however large, where so many series are tested at once.
pub fn fewest_values(series: usize) -> usize {
    // Halves that do not overlap, in two orders of all.
    (2 * LEAST_SIDE..1000).find(|&n| is_significant(least_p(n / 2, n - n / 2) * series as f64)).unwrap_or(1000)
}

/// The places at which a stretch is split.
#[derive(Clone, Debug, PartialEq)]
struct Split {
    /// The indices of the first values of what it is split into, but for the first: one or two.
    at: Vec<usize>,
    /// The share of random orders that have a part as unlikely.
    p: f64,
}

impl Split {
    /// Returns the stretches, each from an index to one behind its last, that the stretch `from` this index `to` that one is split into.
    fn stretches(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let ends: Vec<usize> = std::iter::once(from).chain(self.at.iter().map(|at| from + at)).chain([to]).collect();
        ends.windows(2).map(|ends| (ends[0], ends[1])).collect()
    }
}

/// Splits stretches; keeps the tables of each length.
#[derive(Default)]
struct Splitter {
    tails: BTreeMap<usize, SplitTails>,
}

impl Splitter {
    /// Returns the changes of a series whose whole has this split with this adjusted p-value; `all` is the number of values of all series.
    fn segmented(
        &mut self,
        levels: &[SeriesLevel],
        follows: f64,
        all: f64,
        (root, p): (Option<Split>, f64),
    ) -> Vec<ChangePoint> {
        let mut open = vec![(0, levels.len(), root, p)];
        let mut found = Vec::new();
        while let Some((from, to, split, p_value)) = open.pop() {
            let Some(split) = split.filter(|_| is_significant(p_value)) else { continue };
            found.extend(split.at.iter().map(|at| ChangePoint { at: from + at, p_value }));
            for (from, to) in split.stretches(from, to) {
                let among = all / (to - from) as f64;
                let split = self.best_split(&levels[from..to], follows, LEVEL / among);
                let own = split.as_ref().map_or(1.0, |split| split.p * among);
                open.push((from, to, split, own.clamp(p_value, 1.0)));
            }
        }
        found.sort_by_key(|change| change.at);
        found
    }

    /// Returns the best split of a stretch; `None` where it is too short or all values are alike. `fine` is the p-value that has to be told.
    fn best_split(&mut self, levels: &[SeriesLevel], follows: f64, fine: f64) -> Option<Split> {
        /// The draws that are made for each that may be as unlikely.
        const FINER: f64 = 20.0;
        if levels.len() < 2 * LEAST_SIDE {
            return None;
        }
        let tails = self.tails.entry(levels.len()).or_insert_with(|| SplitTails::of(levels.len()));
        let scores = scores(levels);
        let part = tails.least_likely(&scores, PartOf::Anywhere)?;
        let at = refined(levels, tails.places(&scores, part));
        let draws = (FINER / fine).clamp(DRAWS.0, DRAWS.1) as usize;
        let mut orders = RandomOrders::of(scores, follows);
        let mut exceeded = 0;
        for draw in 1..=draws {
            let random = tails.least_likely(orders.next(), PartOf::Anywhere);
            exceeded += usize::from(random.is_some_and(|random| random.chance <= part.chance + 1e-9));
            if exceeded == EXCEEDED {
                return Some(Split { at, p: EXCEEDED as f64 / draw as f64 });
            }
        }
        Some(Split { at, p: (exceeded + 1) as f64 / (draws + 1) as f64 })
    }

    /// Returns how much the values of each series follow each other, 0..0.95, beside the changes that it seems to have: as much as its own do, and no
    /// less than those of all series together, which say more.
    fn followed(&mut self, series: &[Vec<SeriesLevel>]) -> Vec<f64> {
        let stretches: Vec<Vec<Vec<f64>>> = series.iter().map(|levels| self.seeming_stretches(levels)).collect();
        let of = |stretches: &mut dyn Iterator<Item = &Vec<f64>>| {
            let stretches: Vec<&[f64]> = stretches.map(Vec::as_slice).collect();
            autocorrelation(&stretches).map_or(0.0, |found| found.allowed)
        };
        let common = of(&mut stretches.iter().flatten());
        stretches.iter().map(|own| of(&mut own.iter()).max(common)).collect()
    }

    /// Returns the stretches of a series between the changes that it seems to have, were its values independent.
    fn seeming_stretches(&mut self, levels: &[SeriesLevel]) -> Vec<Vec<f64>> {
        let mut open = vec![(0, levels.len())];
        let mut found = Vec::new();
        while let Some((from, to)) = open.pop() {
            let n = to - from;
            // Few values cannot be more unlikely than this, however much they change.
            let seems = f64::max(1.0 / (n * n) as f64, SEEMS);
            match self.best_split(&levels[from..to], 0.0, 1.0).filter(|split| split.p <= seems) {
                Some(split) => open.extend(split.stretches(from, to)),
                None => found.push(levels[from..to].iter().map(|level| level.value).collect()),
            }
        }
        found
    }
}

/// Returns the places of a split, each moved by a few values to where the medians on either side of it leave the least: ranks do not see the gap between the
/// lowest value before a fall and the highest one after it.
fn refined(levels: &[SeriesLevel], mut at: Vec<usize>) -> Vec<usize> {
    const FEW: usize = 5;
    for index in 0..at.len() {
        let from = index.checked_sub(1).map_or(0, |before| at[before]);
        let to = at.get(index + 1).copied().unwrap_or(levels.len());
        let left = |place: usize| deviations(&levels[from..place]) + deviations(&levels[place..to]);
        let places = (from + LEAST_SIDE).max(at[index].saturating_sub(FEW))..=(to - LEAST_SIDE).min(at[index] + FEW);
        at[index] = places.min_by(|a, b| left(*a).total_cmp(&left(*b))).unwrap_or(at[index]);
    }
    at
}

/// Returns the sum of the absolute deviations from the median.
fn deviations(levels: &[SeriesLevel]) -> f64 {
    let values: Vec<f64> = levels.iter().map(|level| level.value).collect();
    median(&values).map_or(0.0, |median| values.iter().map(|value| (value - median).abs()).sum())
}

/// Returns for each value how many others are known to be lower, less those that are known to be higher: of values without ties and bounds twice
/// the rank, less n + 1.
fn scores(levels: &[SeriesLevel]) -> Vec<f64> {
    let is_above = |a: &SeriesLevel, b: &SeriesLevel| a.value > b.value && !b.is_open;
    let score = |level: &SeriesLevel| {
        levels.iter().map(|other| f64::from(i8::from(is_above(level, other)) - i8::from(is_above(other, level)))).sum()
    };
    levels.iter().map(score).collect()
}

/// Random orders of scores.
struct RandomOrders {
    random: SplitMix64,
    /// The scores, ascending.
    sorted: Vec<f64>,
    /// The correlation of a value with the one before it.
    follows: f64,
    chain: Vec<(f64, usize)>,
    order: Vec<f64>,
}

impl RandomOrders {
    fn of(mut sorted: Vec<f64>, follows: f64) -> Self {
        sorted.sort_by(f64::total_cmp);
        let order = sorted.clone();
        Self { random: SplitMix64::new(SEED), chain: Vec::with_capacity(sorted.len()), sorted, follows, order }
    }

    fn next(&mut self) -> &[f64] {
        if self.follows > 0.0 {
            self.following()
        } else {
            self.shuffled()
        }
        &self.order
    }

    /// Every order is equally likely (Fisher and Yates).
    fn shuffled(&mut self) {
        for last in (1..self.order.len()).rev() {
            let other = (self.random.uniform() * (last + 1) as f64) as usize;
            self.order.swap(last, other);
        }
    }

    /// The scores take the order of a normal chain in which each value keeps a share of the one before.
    fn following(&mut self) {
        let (mut last, fresh) = (self.random.gaussian(), (1.0 - self.follows * self.follows).sqrt());
        self.chain.clear();
        for index in 0..self.sorted.len() {
            self.chain.push((last, index));
            last = self.follows * last + fresh * self.random.gaussian();
        }
        self.chain.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (rank, (_, index)) in self.chain.iter().enumerate() {
            self.order[*index] = self.sorted[rank];
        }
    }
}

#[cfg(test)]
mod tests;
