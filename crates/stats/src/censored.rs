//! Samples in which some values are only bounds: lower ones (right-censored) where the tester, the plan's maximum or other work on the machine cut a
//! search short, upper ones (left-censored) where the tester or other work made a delay too long.

use super::{
    ComparisonTerms, RankTest, Shift, Summary, is_significant, median, open_ratios, rank_test,
};

/// The least true value of a bound where values are compared by their ratios, which only positive ones have.
const LEAST_POSITIVE: f64 = f64::MIN_POSITIVE;

/// The logarithm of a ratio that no two measured values have: those of 64 bits differ by at most e^89, while [`LEAST_POSITIVE`], which is e^-708, and any
/// of them differ by more. It is about half of 708, so that neither is near.
const FARTHEST: f64 = 350.0;

/// A sample in which the true value may be higher, or lower, than some of those recorded, in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Censored {
    values: Vec<f64>,
    /// The values with minus infinity for each upper bound.
    lowest: Vec<f64>,
    /// The values with infinity for each lower bound.
    highest: Vec<f64>,
}

/// One value of such a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CensoredValue {
    /// The value.
    pub value: f64,
    /// True if the true value may be higher.
    pub is_at_least: bool,
    /// True if the true value may be lower.
    pub is_at_most: bool,
}

impl CensoredValue {
    /// Returns a value that is not a bound.
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            is_at_least: false,
            is_at_most: false,
        }
    }

    /// Returns whether the true value may be another one.
    pub fn is_bound(&self) -> bool {
        self.is_at_least || self.is_at_most
    }
}

/// The statistics of a sample of which the true value may be another one than that of the recorded values.
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
        let all = [
            ("min", self.min),
            ("p1", self.p1),
            ("median", self.median),
            ("p99", self.p99),
            ("max", self.max),
        ];
        all.into_iter()
            .filter(|(_, is_open)| *is_open)
            .map(|(name, _)| name)
            .collect()
    }
}

/// The claims about B and A that two samples with bounds support.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CensoredTest {
    /// The test with B as low and A as high as they can be: if it shows B to be higher, that holds whatever the true values behind the bounds are.
    floor: RankTest,
    /// The test with B as high and A as low as they can be.
    ceiling: RankTest,
}

impl Censored {
    /// Adds a value.
    pub fn push(
        &mut self,
        CensoredValue {
            value,
            is_at_least,
            is_at_most,
        }: CensoredValue,
    ) {
        self.values.push(value);
        self.lowest
            .push(if is_at_most { f64::NEG_INFINITY } else { value });
        self.highest
            .push(if is_at_least { f64::INFINITY } else { value });
    }

    /// Returns the values, with each bound in place of its unknown value.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns whether the true median may be higher than that of [`Self::values`]. A few bounds above the median do not move it.
    pub fn is_median_open(&self) -> bool {
        median(&self.values) != median(&self.highest)
    }

    /// Returns whether the true median may be lower than that of [`Self::values`].
    pub fn is_median_at_most(&self) -> bool {
        median(&self.values) != median(&self.lowest)
    }

    /// Returns the statistics that the lower bounds of the sample leave open.
    pub fn open_statistics(&self) -> OpenStatistics {
        unlike(&self.values, &self.highest)
    }

    /// Returns the statistics of which the true value may be lower, because of the upper bounds of the sample.
    pub fn statistics_at_most(&self) -> OpenStatistics {
        unlike(&self.values, &self.lowest)
    }

    /// Returns the ratio of the medians of two samples, with a 95 % interval that is valid whatever the true values behind the bounds are: its low
    /// end is 0 and its high end infinite where the bounds leave it open. Returns `None` in the same cases as [`open_ratios`].
    pub fn shift(a: &Self, b: &Self, terms: &ComparisonTerms) -> Option<Shift> {
        let between = open_ratios(&a.values, &b.values, terms)?;
        if a.is_known() && b.is_known() {
            return Some(between);
        }
        let floor = open_ratios(&a.highest, &b.lowest(LEAST_POSITIVE), terms)?;
        let ceiling = open_ratios(&a.lowest(LEAST_POSITIVE), &b.highest, terms)?;
        let reaches = |ratio: f64, sample: &Self| {
            sample.lowest.contains(&f64::NEG_INFINITY) && ratio.ln().abs() > FARTHEST
        };
        let low = if reaches(floor.low, b) {
            0.0
        } else {
            floor.low
        };
        let high = if reaches(ceiling.high, a) {
            f64::INFINITY
        } else {
            ceiling.high
        };
        Some(Shift {
            low,
            high,
            ..between
        })
    }

    /// Compares two samples by [`rank_test`] and returns `None` in the same cases.
    pub fn rank_test(a: &Self, b: &Self, terms: &ComparisonTerms) -> Option<CensoredTest> {
        let has_ratios = a.values.iter().chain(&b.values).all(|value| *value > 0.0);
        let least = if has_ratios {
            LEAST_POSITIVE
        } else {
            f64::NEG_INFINITY
        };
        let floor = rank_test(&a.highest, &b.lowest(least), terms)?;
        let ceiling = if a.is_known() && b.is_known() {
            floor
        } else {
            rank_test(&a.lowest(least), &b.highest, terms)?
        };
        Some(CensoredTest { floor, ceiling })
    }

    /// Returns the values with `least` for each upper bound.
    fn lowest(&self, least: f64) -> Vec<f64> {
        self.lowest.iter().map(|value| value.max(least)).collect()
    }

    /// Returns whether no value is a bound.
    fn is_known(&self) -> bool {
        self.lowest
            .iter()
            .chain(&self.highest)
            .all(|value| value.is_finite())
    }
}

/// Returns the statistics in which two samples differ.
fn unlike(one: &[f64], other: &[f64]) -> OpenStatistics {
    let Some((one, other)) = Summary::of(one).zip(Summary::of(other)) else {
        return OpenStatistics::default();
    };
    OpenStatistics {
        min: one.min != other.min,
        p1: one.p1 != other.p1,
        median: one.median != other.median,
        p99: one.p99 != other.p99,
        max: one.max != other.max,
    }
}

impl FromIterator<CensoredValue> for Censored {
    fn from_iter<I: IntoIterator<Item = CensoredValue>>(values: I) -> Self {
        values
            .into_iter()
            .fold(Self::default(), |mut sample, value| {
                sample.push(value);
                sample
            })
    }
}

impl CensoredTest {
    /// Returns the better-supported claim that holds whatever the true values behind the bounds are: whether B is higher (or lower), and its p-value.
    pub fn claim(&self) -> (bool, f64) {
        let (higher, lower) = (self.floor.higher, self.ceiling.lower);
        if higher <= lower {
            (true, higher)
        } else {
            (false, lower)
        }
    }

    /// Returns whether a difference that is not shown would be, if the values behind the bounds were what favours it most.
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
        let of = |(index, &value): (usize, &f64)| CensoredValue {
            is_at_least: bounds.contains(&index),
            ..CensoredValue::exact(value)
        };
        values.iter().enumerate().map(of).collect()
    }

    #[test]
    fn a_bound_opens_the_median_only_where_its_place_matters() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!(!sample(&values, &[]).is_median_open());
        assert!(
            !sample(&values, &[3, 4]).is_median_open(),
            "above the median they change nothing"
        );
        assert!(sample(&values, &[2]).is_median_open() && sample(&values, &[0]).is_median_open());
        assert!(
            sample(&values[..4], &[2]).is_median_open(),
            "half of an even sample's median"
        );
        assert!(
            !sample(&[3.0, 3.0, 3.0, 3.0, 5.0], &[0]).is_median_open(),
            "three more stand there"
        );
    }

    #[test]
    fn without_bounds_the_tests_and_the_interval_are_the_plain_ones() {
        let (a, b) = ([100.0, 101.0, 99.0, 100.5], [110.0, 112.0, 111.0, 109.0]);
        let (x, y) = (sample(&a, &[]), sample(&b, &[]));
        assert_eq!(
            Censored::shift(&x, &y, &plain()),
            open_ratios(&a, &b, &plain())
        );
        let alone = rank_test(&a, &b, &plain()).unwrap();
        let test = Censored::rank_test(&x, &y, &plain()).unwrap();
        assert_eq!(
            (test.claim(), test.is_cut_off()),
            ((true, alone.higher), false)
        );
    }

    #[test]
    fn the_interval_is_open_only_where_the_bounds_reach_its_end() {
        let of = |usual: f64| {
            [0.0, 1.0, -1.0, 0.5, -2.0, 2.0, 3.0, -0.5, 1.5, 2.5].map(|more| usual + more)
        };
        let (a, b) = (of(100.0), of(111.0));
        let one = Censored::shift(&sample(&a, &[]), &sample(&b, &[6]), &plain()).unwrap();
        assert!(one.high.is_finite() && one.low > 1.0, "{one:?}");
        let most =
            Censored::shift(&sample(&a, &[]), &sample(&b, &[1, 2, 5, 6, 8]), &plain()).unwrap();
        assert!(most.high.is_infinite() && most.low > 1.0, "{most:?}");
        let of_a =
            Censored::shift(&sample(&a, &[0, 1, 5, 6, 8]), &sample(&b, &[]), &plain()).unwrap();
        assert!(of_a.low == 0.0 && of_a.high.is_finite(), "{of_a:?}");
    }

    /// Returns a sample of delays, all of which are upper bounds.
    fn at_most(values: &[f64]) -> Censored {
        values
            .iter()
            .map(|&value| CensoredValue {
                is_at_most: true,
                ..CensoredValue::exact(value)
            })
            .collect()
    }

    #[test]
    fn an_upper_bound_shows_that_a_delay_is_shorter_and_never_that_it_is_longer() {
        let terms = ComparisonTerms::plain(false, 0.0);
        let (short, long) = ([100.0, 101.0, 99.0, 100.5], [200.0, 202.0, 201.0, 199.0]);
        let (exact_short, exact_long) = (sample(&short, &[]), sample(&long, &[]));
        let test = |a: &Censored, b: &Censored| {
            let test = Censored::rank_test(a, b, &terms).unwrap();
            let (is_higher, p) = test.claim();
            (is_significant(p).then_some(is_higher), test.is_cut_off())
        };
        assert_eq!(test(&exact_short, &exact_long), (Some(true), false));
        assert_eq!(
            test(&exact_short, &at_most(&long)),
            (None, true),
            "B may be as short as A"
        );
        assert_eq!(
            test(&exact_long, &at_most(&short)),
            (Some(false), false),
            "B is at most this, and A more"
        );
        assert_eq!(
            test(&at_most(&short), &exact_long),
            (Some(true), false),
            "A is shorter still"
        );
        assert_eq!(test(&at_most(&long), &exact_short), (None, true));
        let with_zero = [0.0, 101.0, 99.0, 100.5];
        assert_eq!(
            test(&sample(&with_zero, &[]), &at_most(&long)),
            (None, true),
            "by differences, too"
        );
        let shift = Censored::shift(&exact_short, &at_most(&long), &terms).unwrap();
        assert_eq!(
            (shift.lower_end(), shift.upper_end().is_some()),
            (None, true),
            "{shift:?}"
        );
        let shift = Censored::shift(&at_most(&short), &exact_long, &terms).unwrap();
        assert!(shift.low > 1.0 && shift.upper_end().is_none(), "{shift:?}");
    }

    #[test]
    fn an_upper_bound_opens_the_median_downwards_only_where_its_place_matters() {
        let one = |value: f64, is_at_most: bool| CensoredValue {
            is_at_most,
            ..CensoredValue::exact(value)
        };
        let at = |place: usize| -> Censored {
            (0..5)
                .map(|i| one(f64::from(i as u8), i == place))
                .collect()
        };
        assert_eq!(
            [0, 1, 2, 3].map(|place| at(place).is_median_at_most()),
            [false, false, true, true]
        );
        assert!(!at(3).is_median_open());
    }

    /// A third of the repetitions are cut off at random points below their true value: claims about identical devices stay within the error level,
    /// and claims about different devices have the right sign.
    #[test]
    fn censoring_makes_no_false_claim() {
        let mut random = SplitMix64::new(7);
        let mut draw = |mean: f64| -> Censored {
            let one = |random: &mut SplitMix64| {
                let (value, is_bound) = (
                    mean * (1.0 + 0.02 * random.gaussian()),
                    random.uniform() < 0.3,
                );
                let cut = if is_bound {
                    0.9 + 0.1 * random.uniform()
                } else {
                    1.0
                };
                CensoredValue {
                    is_at_least: is_bound,
                    ..CensoredValue::exact(value * cut)
                }
            };
            (0..10).map(|_| one(&mut random)).collect()
        };
        let mut claims = |factor: f64| {
            let mut claim = |_| {
                Censored::rank_test(&draw(100.0), &draw(100.0 * factor), &plain())
                    .unwrap()
                    .claim()
            };
            (0..2_000)
                .map(&mut claim)
                .filter(|(_, p)| is_significant(*p))
                .map(|(is_higher, _)| is_higher)
                .collect::<Vec<_>>()
        };
        // At most 5 %: a claim has to hold however high the true values are, so it is made far less often.
        assert!(claims(1.0).len() <= 100);
        // About 300, fewer than with a test that also ranks the worst values (400): those are the ones that the bounds hide here.
        let higher = claims(1.2);
        assert!(
            higher.iter().all(|is_higher| *is_higher) && higher.len() > 250,
            "{} of 2000",
            higher.len()
        );
    }
}
