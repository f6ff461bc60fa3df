//! Two measurements side by side, A and B: what B is to A, quantity by quantity, with the interval that the repetitions leave open.

mod subject;
#[cfg(test)]
mod tests;

pub use subject::Subject;

use crate::measure::{Outcome, Quantity};
use crate::search::Limit;
use crate::stats::{Comparison, Shift, Summary, difference, shift};
use crate::terms::Direction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
                (None, Limit::Tester) => continue,
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
