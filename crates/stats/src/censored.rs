//! Samples in which some values are only lower bounds (right-censored) because the tester, the plan's maximum or other work on the machine cut the
//! search short.

use super::{ComparisonTerms, RankTest, Shift, Summary, is_significant, median, open_ratios, rank_test};

/// A sample in which the true value may be higher than some of those recorded, in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Censored {
    lowest: Vec<f64>,
    highest: Vec<f64>,
}

/// One value of such a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CensoredValue {
    /// The value.
    pub value: f64,
    /// True if the true value may be higher.
    pub is_bound: bool,
}

/// The statistics of a sample of which the true value may be higher than that of the recorded values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// The fields are the statistics of [`Summary`].
#[allow(missing_docs)]
pub struct OpenStatistics {
    pub min: bool,
    pub p1: bool,
    pub median: bool,
    pub p99: bool,
    pub max: bool,
}

impl OpenStatistics {
    /// Returns the names of those that are open, as [`Summary`] has them.
    pub fn names(self) -> Vec<&'static str> {
        let all = [("min", self.min), ("p1", self.p1), ("median", self.median), ("p99", self.p99), ("max", self.max)];
        all.into_iter().filter(|(_, is_open)| *is_open).map(|(name, _)| name).collect()
    }
}

/// The claims about B and A that two samples with lower bounds support.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CensoredTest {
    /// The test with B as low and A as high as they can be: if it shows B to be higher, that holds whatever the true values behind the bounds are.
    floor: RankTest,
    /// The test with B as high and A as low as they can be.
    ceiling: RankTest,
}

impl Censored {
    /// Adds a value.
    pub fn push(&mut self, CensoredValue { value, is_bound }: CensoredValue) {
        self.lowest.push(value);
        self.highest.push(if is_bound { f64::INFINITY } else { value });
    }

    /// Returns the values, with each bound in place of its unknown value.
    pub fn values(&self) -> &[f64] {
        &self.lowest
    }

    /// Returns whether the true median may be higher than that of [`Self::values`]. A few bounds above the median do not move it.
    pub fn is_median_open(&self) -> bool {
        median(&self.lowest) != median(&self.highest)
    }

    /// Returns the statistics that the bounds of the sample leave open.
    pub fn open_statistics(&self) -> OpenStatistics {
        let Some((low, high)) = Summary::of(&self.lowest).zip(Summary::of(&self.highest)) else {
            return OpenStatistics::default();
        };
        OpenStatistics {
            min: low.min != high.min,
            p1: low.p1 != high.p1,
            median: low.median != high.median,
            p99: low.p99 != high.p99,
            max: low.max != high.max,
        }
    }

    /// Returns the ratio of the medians of two samples, with a 95 % interval that is valid whatever the true values behind the bounds are: its low
    /// end is 0 and its high end infinite where the bounds leave it open. Returns `None` in the same cases as [`open_ratios`].
    pub fn shift(a: &Self, b: &Self, terms: &ComparisonTerms) -> Option<Shift> {
        let between = open_ratios(&a.lowest, &b.lowest, terms)?;
        if a.is_known() && b.is_known() {
            return Some(between);
        }
        let floor = open_ratios(&a.highest, &b.lowest, terms)?;
        let ceiling = open_ratios(&a.lowest, &b.highest, terms)?;
        Some(Shift { low: floor.low, high: ceiling.high, ..between })
    }

    /// Compares two samples by [`rank_test`] and returns `None` in the same cases.
    pub fn rank_test(a: &Self, b: &Self, terms: &ComparisonTerms) -> Option<CensoredTest> {
        let floor = rank_test(&a.highest, &b.lowest, terms)?;
        let ceiling = if a.is_known() && b.is_known() { floor } else { rank_test(&a.lowest, &b.highest, terms)? };
        Some(CensoredTest { floor, ceiling })
    }

    /// Returns whether no value is a bound.
    fn is_known(&self) -> bool {
        self.highest.iter().all(|value| value.is_finite())
    }
}

impl FromIterator<CensoredValue> for Censored {
    fn from_iter<I: IntoIterator<Item = CensoredValue>>(values: I) -> Self {
        values.into_iter().fold(Self::default(), |mut sample, value| {
            sample.push(value);
            sample
        })
    }
}

impl CensoredTest {
    /// Returns the better-supported claim that holds whatever the true values behind the bounds are: whether B is higher (or lower), and its p-value.
    pub fn claim(&self) -> (bool, f64) {
        let (higher, lower) = (self.floor.higher, self.ceiling.lower);
        if higher <= lower { (true, higher) } else { (false, lower) }
    }

    /// Returns whether a difference that is not shown would be, if the values behind the bounds were as high as favours it most.
    pub fn is_cut_off(&self) -> bool {
        let (_, shown) = self.claim();
        let at_best = self.ceiling.higher.min(self.floor.lower);
        at_best < shown && is_significant(at_best)
    }

    /// Returns the smallest p-value that samples of these sizes can have.
    pub fn least(&self) -> f64 {
        self.floor.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    fn plain() -> ComparisonTerms {
        ComparisonTerms::plain(true, 0.0)
    }

    fn sample(values: &[f64], bounds: &[usize]) -> Censored {
        let of = |(index, &value): (usize, &f64)| CensoredValue { value, is_bound: bounds.contains(&index) };
        values.iter().enumerate().map(of).collect()
    }

    #[test]
    fn a_bound_opens_the_median_only_where_its_place_matters() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!(!sample(&values, &[]).is_median_open());
        assert!(!sample(&values, &[3, 4]).is_median_open(), "above the median they change nothing");
        assert!(sample(&values, &[2]).is_median_open() && sample(&values, &[0]).is_median_open());
        assert!(sample(&values[..4], &[2]).is_median_open(), "half of an even sample's median");
        assert!(!sample(&[3.0, 3.0, 3.0, 3.0, 5.0], &[0]).is_median_open(), "three more stand there");
    }

    #[test]
    fn without_bounds_the_tests_and_the_interval_are_the_plain_ones() {
        let (a, b) = ([100.0, 101.0, 99.0, 100.5], [110.0, 112.0, 111.0, 109.0]);
        let (x, y) = (sample(&a, &[]), sample(&b, &[]));
        assert_eq!(Censored::shift(&x, &y, &plain()), open_ratios(&a, &b, &plain()));
        let alone = rank_test(&a, &b, &plain()).unwrap();
        let test = Censored::rank_test(&x, &y, &plain()).unwrap();
        assert_eq!((test.claim(), test.is_cut_off()), ((true, alone.higher), false));
    }

    #[test]
    fn the_interval_is_open_only_where_the_bounds_reach_its_end() {
        let of = |usual: f64| [0.0, 1.0, -1.0, 0.5, -2.0, 2.0, 3.0, -0.5, 1.5, 2.5].map(|more| usual + more);
        let (a, b) = (of(100.0), of(111.0));
        let one = Censored::shift(&sample(&a, &[]), &sample(&b, &[6]), &plain()).unwrap();
        assert!(one.high.is_finite() && one.low > 1.0, "{one:?}");
        let most = Censored::shift(&sample(&a, &[]), &sample(&b, &[1, 2, 5, 6, 8]), &plain()).unwrap();
        assert!(most.high.is_infinite() && most.low > 1.0, "{most:?}");
        let of_a = Censored::shift(&sample(&a, &[0, 1, 5, 6, 8]), &sample(&b, &[]), &plain()).unwrap();
        assert!(of_a.low == 0.0 && of_a.high.is_finite(), "{of_a:?}");
    }

    /// A third of the repetitions are cut off at random points below their true value: claims about identical devices stay within the error level,
    /// and claims about different devices have the right sign.
    #[test]
    fn censoring_makes_no_false_claim() {
        let mut random = SplitMix64::new(7);
        let mut draw = |mean: f64| -> Censored {
            let one = |random: &mut SplitMix64| {
                let (value, is_bound) = (mean * (1.0 + 0.02 * random.gaussian()), random.uniform() < 0.3);
                let cut = if is_bound { 0.9 + 0.1 * random.uniform() } else { 1.0 };
                CensoredValue { value: value * cut, is_bound }
            };
            (0..10).map(|_| one(&mut random)).collect()
        };
        let mut claims = |factor: f64| {
            let mut claim = |_| Censored::rank_test(&draw(100.0), &draw(100.0 * factor), &plain()).unwrap().claim();
            (0..2_000).map(&mut claim).filter(|(_, p)| is_significant(*p)).map(|(is_higher, _)| is_higher).collect::<Vec<_>>()
        };
        // At most 5 %: a claim has to hold however high the true values are, so it is made far less often.
        assert!(claims(1.0).len() <= 100);
        // About 300, fewer than with a test that also ranks the worst values (400): those are the ones that the bounds hide here.
        let higher = claims(1.2);
        assert!(higher.iter().all(|is_higher| *is_higher) && higher.len() > 250, "{} of 2000", higher.len());
    }
}
