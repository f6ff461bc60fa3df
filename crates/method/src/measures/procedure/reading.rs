//! From the counts and delays of a trial to the quantities of the RFCs.

use crate::measures::{Quantity, Value};
use crate::terms::LossRatio;
use crate::trial::{DirectionResult, TrialResult, Verdict};

// Each result says how much of it a fault of the tester may explain before it no longer holds. A trial whose faults spoil some of its
// results gives the others.

/// A loss: so much of it may be the tester's doing. Near the capacity of a device a per cent of load is a large part of the loss, so
/// repetitions differ by more. The same holds for the spread of delays.
pub(in crate::measures) const EXCUSABLE_SHARE: f64 = 0.1;

/// A mean of times, or a rate: so much of it. Searches for a rate are no finer.
pub(in crate::measures) const NEGLIGIBLE_SHARE: f64 = 0.02;

/// The 99.9th percentile: so many of the frames, which is half of what lies above it.
pub(in crate::measures) const TAIL_SHARE: f64 = 0.0005;

/// The median and the minimum: so many of the frames. The rank of either moves by no more.
pub(in crate::measures) const RANK_SHARE: f64 = 0.01;

/// The verdict on one trial in a measurement, and its values.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::measures) struct Reading {
    /// Invalid where no value holds.
    pub(in crate::measures) verdict: Verdict,
    /// The values that hold.
    pub(in crate::measures) values: Vec<Value>,
    /// True if no value was left out on the grounds that the tester may have spoilt it.
    pub(in crate::measures) is_whole: bool,
}

impl Reading {
    /// A trial that is valid as a whole or not at all.
    pub(in crate::measures) fn new(verdict: Verdict, values: Vec<Value>) -> Self {
        Self { verdict, values, is_whole: true }
    }

    /// The values of a trial that was as asked, each with whether it holds; one trial may give some of its values and not others.
    pub(in crate::measures) fn of_those_that_hold(result: &TrialResult, found: Vec<(Value, bool)>) -> Self {
        let all = found.len();
        let values: Vec<Value> = found.into_iter().filter(|(_, holds)| *holds).map(|(value, _)| value).collect();
        let is_invalid = !result.is_as_asked() || (values.is_empty() && all > 0);
        let verdict = if is_invalid { Verdict::Invalid } else { Verdict::Passed };
        Self { verdict, is_whole: values.len() == all, values }
    }
}

/// Quantiles of delays, each with the share of the frames that may be spoilt before it no longer holds. What does not hold in one direction
/// is given of neither: of two directions the worse is the result.
pub(in crate::measures) fn delays(
    result: &TrialResult,
    of: impl Fn(&DirectionResult) -> Option<Vec<(Quantity, f64, f64)>>,
) -> Reading {
    if result
        .directions
        .iter()
        .any(|direction| direction.received == 0 && !result.is_loss_of_the_dut_in(direction, EXCUSABLE_SHARE))
    {
        // That nothing came back is no finding where others had the device's processors.
        return Reading::new(Verdict::Invalid, Vec::new());
    }
    let each = result.directions.iter().flat_map(|direction| {
        let spoilt = result.spoilt(direction.direction);
        let found = of(direction).unwrap_or_default();
        found.into_iter().map(move |(quantity, value, share)| {
            let (direction, received) = (direction.direction, direction.received);
            let value = Value { quantity, direction, load: result.spec.rate, value, is_at_least: false };
            (value, spoilt.is_within(share, received))
        })
    });
    let mut each: Vec<(Value, bool)> = each.collect();
    let spoilt: Vec<Quantity> = each.iter().filter(|(_, holds)| !holds).map(|(value, _)| value.quantity).collect();
    each.iter_mut().for_each(|(value, holds)| *holds = !spoilt.contains(&value.quantity));
    Reading::of_those_that_hold(result, each)
}

/// Loss is the result here: only a tester that did not offer the load is unfit.
pub(in crate::measures) fn sent_as_asked(result: &TrialResult) -> Verdict {
    match result.verdict(LossRatio(1.0)) {
        Verdict::Invalid => Verdict::Invalid,
        _ => Verdict::Passed,
    }
}

/// Returns the values that `of` finds in each direction.
pub(in crate::measures) fn each(
    result: &TrialResult,
    of: impl Fn(&DirectionResult) -> Option<Vec<(Quantity, f64)>>,
) -> Vec<Value> {
    let values = result.directions.iter().flat_map(|direction| {
        let found = of(direction).unwrap_or_default();
        found.into_iter().map(|(quantity, value)| Value {
            quantity,
            direction: direction.direction,
            load: result.spec.rate,
            value,
            is_at_least: false,
        })
    });
    values.collect()
}
