//! Two measurements side by side, A and B: what B is to A, quantity by quantity, with the interval that the repetitions leave open.

use crate::measure::{Outcome, Quantity};
use crate::plan::Measure;
use crate::search::Limit;
use crate::stats::{Comparison, Shift, Summary, difference, shift};
use crate::terms::{Direction, FrameRate, LossRatio};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a row compares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The highest rate at which no more than this is lost; with 0 the throughput of RFC 2544 section 26.1.
    Rate(LossRatio),
    /// The same of connections: the highest rate at which no more than this share of them is not established (RFC 9693).
    ConnectionRate(LossRatio),
    /// A quantity of one direction; with its load where values of several loads stand side by side.
    Value(Quantity, Direction, Option<FrameRate>),
}

impl Subject {
    /// What was searched is told by the measure: outcomes hold a rate, whatever it is of.
    pub fn of(self, measure: &Measure) -> Self {
        match (self, measure) {
            (Self::Rate(goal), Measure::EstablishmentRate) => Self::ConnectionRate(goal),
            _ => self,
        }
    }

    /// Whether a higher value is the better one.
    pub fn is_higher_better(&self) -> bool {
        match self {
            Self::Rate(_) | Self::ConnectionRate(_) => true,
            Self::Value(quantity, ..) => quantity.is_higher_better(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(LossRatio::ZERO) => f.write_str("Throughput"),
            Self::Rate(goal) => write!(f, "Rate at {goal} loss or less"),
            Self::ConnectionRate(LossRatio::ZERO) => f.write_str("Connection establishment rate"),
            Self::ConnectionRate(goal) => write!(f, "Connection establishment rate at {goal} loss or less"),
            Self::Value(quantity, direction, None) => write!(f, "{}, {direction}", quantity.title()),
            Self::Value(quantity, direction, Some(load)) => write!(f, "{}, {direction}, at {load}", quantity.title()),
        }
    }
}

/// One quantity of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What is compared.
    pub subject: Subject,
    /// The repetitions of A.
    pub a: Summary,
    /// The repetitions of B.
    pub b: Summary,
    /// By which factor B is larger; `None` where the samples are too small for 95 %, or hold zeroes.
    pub shift: Option<Shift>,
    /// What that says of B, differences up to the tolerance not counted.
    pub verdict: Comparison,
}

/// Compares the repetitions of two points in everything both have; `tolerance` is a share, 0.01 for 1 %.
///
/// Without enough repetitions (4 and 4 are the fewest) no difference is ever shown. Samples with zeroes or negative values have no ratio;
/// they are compared by their differences, and the tolerance does not apply. Where the tester or the plan cut a sample off above, the
/// other side is never shown to be higher than it.
pub fn compare(a: &[Outcome], b: &[Outcome], tolerance: f64) -> Vec<Row> {
    let (a, b) = (samples(a), samples(b));
    let pair = |(key, sample): (&Key, &Sample)| {
        let other = b.get(key)?;
        let shift = shift(&sample.values, &other.values);
        Some(Row {
            subject: sample.subject,
            a: Summary::of(&sample.values)?,
            b: Summary::of(&other.values)?,
            verdict: verdict(sample, other, shift, tolerance),
            shift,
        })
    };
    a.iter().filter_map(pair).collect()
}

fn verdict(a: &Sample, b: &Sample, shift: Option<Shift>, tolerance: f64) -> Comparison {
    let higher_is_better = a.subject.is_higher_better();
    let verdict = match shift {
        Some(shift) => shift.verdict(higher_is_better, tolerance),
        None => match difference(&a.values, &b.values) {
            Some((low, _)) if low > 0.0 => {
                if higher_is_better {
                    Comparison::Better
                } else {
                    Comparison::Worse
                }
            }
            Some((_, high)) if high < 0.0 => {
                if higher_is_better {
                    Comparison::Worse
                } else {
                    Comparison::Better
                }
            }
            _ => Comparison::NoDifferenceShown,
        },
    };
    // What is only known not to be lower may be higher than anything.
    let says_b_is_higher = (verdict == Comparison::Better) == higher_is_better;
    let is_open = if says_b_is_higher { a.is_open } else { b.is_open };
    if is_open { Comparison::NoDifferenceShown } else { verdict }
}

/// Rates first, by goal; then values by quantity, direction and load.
type Key = (u64, Option<(Quantity, Direction, u64)>);

struct Sample {
    subject: Subject,
    values: Vec<f64>,
    /// Whether some value is only known not to be lower.
    is_open: bool,
}

fn samples(outcomes: &[Outcome]) -> BTreeMap<Key, Sample> {
    let mut samples: BTreeMap<Key, Sample> = BTreeMap::new();
    let mut add = |key, subject, value, is_open: bool| {
        let sample = samples.entry(key).or_insert_with(|| Sample { subject, values: Vec::new(), is_open: false });
        sample.values.push(value);
        sample.is_open |= is_open;
    };
    for outcome in outcomes {
        // What a later stage is measured at is no result of its own.
        let found = outcome.brackets.iter().filter(|_| outcome.values.is_empty());
        for bracket in found {
            let rate = match (bracket.lower, bracket.limit) {
                (Some(rate), _) => rate.0 as f64,
                // The tester was unfit at every load: that says nothing of the device.
                (None, Limit::Tester | Limit::Disturbed) => continue,
                (None, _) => 0.0,
            };
            let is_open = bracket.lower.is_some() && bracket.limit != Limit::Dut;
            add((bracket.goal.0.to_bits(), None), Subject::Rate(bracket.goal), rate, is_open);
        }
        // The numbers held on the way to a capacity are the steps of a search, no sample.
        for value in outcome.values.iter().filter(|value| value.quantity != Quantity::ConnectionsHeld) {
            let load = (value.quantity == Quantity::FrameLossRate).then_some(value.load);
            let key = (u64::MAX, Some((value.quantity, value.direction, load.map_or(0, |load| load.0))));
            add(key, Subject::Value(value.quantity, value.direction, load), value.value, value.is_at_least);
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Value;
    use crate::plan::Point;
    use crate::search::Bracket;
    use crate::terms::FrameSize;

    fn outcome(repetition: u32, rate: u64, latency_ns: f64) -> Outcome {
        let bracket = |rate| Bracket { goal: LossRatio::ZERO, lower: Some(FrameRate(rate)), upper: None, limit: Limit::Dut };
        let value = Value {
            quantity: Quantity::TypicalLatency,
            direction: Direction::Forward,
            load: FrameRate(1000 + u64::from(repetition)),
            value: latency_ns,
            is_at_least: false,
        };
        Outcome {
            point: Point { test: "t".to_owned(), frame_size: FrameSize(84) },
            repetition,
            trials: 1,
            invalid: 0,
            load: None,
            brackets: if latency_ns > 0.0 { vec![] } else { vec![bracket(rate)] },
            values: if latency_ns > 0.0 { vec![value] } else { vec![] },
        }
    }

    fn rates(rates: &[u64]) -> Vec<Outcome> {
        rates.iter().zip(1..).map(|(&rate, repetition)| outcome(repetition, rate, 0.0)).collect()
    }

    #[test]
    fn a_higher_throughput_is_better_and_a_higher_latency_worse() {
        let rows = compare(&rates(&[100, 101, 99, 100]), &rates(&[110, 112, 111, 109]), 0.0);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].verdict, rows[0].subject.to_string().as_str()), (Comparison::Better, "Throughput"));
        let latencies = |values: [f64; 4]| values.iter().zip(1..).map(|(v, i)| outcome(i, 0, *v)).collect::<Vec<_>>();
        let rows = compare(&latencies([5.0, 5.1, 4.9, 5.0]), &latencies([6.0, 6.1, 6.2, 6.0]), 0.0);
        assert_eq!((rows[0].verdict, rows[0].a.n), (Comparison::Worse, 4), "loads may differ from repetition to repetition");
    }

    #[test]
    fn a_rate_of_connections_is_called_that() {
        let goal = LossRatio::ZERO;
        assert_eq!(Subject::Rate(goal).of(&Measure::Throughput).to_string(), "Throughput");
        assert_eq!(Subject::Rate(goal).of(&Measure::EstablishmentRate).to_string(), "Connection establishment rate");
    }

    #[test]
    fn what_lies_within_the_tolerance_or_overlaps_is_no_difference_shown() {
        let rows = compare(&rates(&[100, 101, 99, 100]), &rates(&[103, 104, 103, 104]), 0.10);
        assert_eq!(rows[0].verdict, Comparison::NoDifferenceShown);
        let rows = compare(&rates(&[100, 120, 99, 100]), &rates(&[101, 104, 103, 119]), 0.0);
        assert_eq!(rows[0].verdict, Comparison::NoDifferenceShown);
    }

    #[test]
    fn a_device_that_passes_nothing_any_more_is_worse() {
        let rows = compare(&rates(&[500, 501, 502, 500]), &rates(&[0, 0, 0, 0]), 0.0);
        assert_eq!((rows[0].shift, rows[0].verdict), (None, Comparison::Worse));
    }

    #[test]
    fn nothing_is_shown_beyond_the_limit_of_the_tester() {
        let mut open = rates(&[800, 801, 802, 800]);
        open.iter_mut().for_each(|outcome| outcome.brackets[0].limit = Limit::Tester);
        let other = rates(&[820, 821, 822, 823]);
        assert_eq!(compare(&open, &other, 0.0)[0].verdict, Comparison::NoDifferenceShown);
        assert_eq!(
            compare(&open, &rates(&[700, 701, 702, 703]), 0.0)[0].verdict,
            Comparison::Worse,
            "below the bound is below"
        );
        open.iter_mut().for_each(|outcome| outcome.brackets[0].lower = None);
        assert!(compare(&open, &other, 0.0).is_empty(), "an unfit tester says nothing of the device");
    }

    #[test]
    fn three_repetitions_show_nothing_however_far_apart() {
        let rows = compare(&rates(&[100, 101, 99]), &rates(&[900, 901, 902]), 0.0);
        assert_eq!((rows[0].shift, rows[0].verdict), (None, Comparison::NoDifferenceShown));
    }
}
