//! Derives the quantities of the RFCs from the counts and delays of a trial.

use crate::measures::{Quantity, Value};
use crate::terms::LossRatio;
use crate::trial::{DirectionResult, TrialResult, Verdict};

// Each result defines the share of it that tester faults may explain before it becomes invalid. If faults spoil some results of a trial, the others
// remain valid.

/// For a loss: the share that the tester may have caused. Near the capacity of a device one per cent of load makes a large difference to the loss, so
/// repetitions differ by more than this. The same holds for the spread of delays.
pub(in crate::measures) const EXCUSABLE_SHARE: f64 = 0.1;

/// The share for a mean of times, or a rate. Searches for a rate are no finer than this.
pub(in crate::measures) const NEGLIGIBLE_SHARE: f64 = 0.02;

/// For the 99.9th percentile: a share of the frames, equal to half of those above it.
pub(in crate::measures) const TAIL_SHARE: f64 = 0.0005;

/// For the median and the minimum: a share of the frames. The rank of either moves by no more than this.
pub(in crate::measures) const RANK_SHARE: f64 = 0.01;

/// The verdict on one trial in a measurement, and its values.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::measures) struct Reading {
    /// Invalid if no value is valid.
    pub(in crate::measures) verdict: Verdict,
    /// The valid values.
    pub(in crate::measures) values: Vec<Value>,
    /// True if no value was left out because the tester may have spoilt it.
    pub(in crate::measures) is_whole: bool,
}

impl Reading {
    /// Returns the reading of a trial that is valid as a whole or not at all.
    pub(in crate::measures) fn new(verdict: Verdict, values: Vec<Value>) -> Self {
        Self { verdict, values, is_whole: true }
    }

    /// Returns the reading of a trial from its values, each with whether it is valid. Some values may be valid and others not, but none is if the
    /// trial was not performed as asked.
    pub(in crate::measures) fn of_those_that_hold(result: &TrialResult, found: Vec<(Value, bool)>) -> Self {
        let all = found.len();
        let values: Vec<Value> = found.into_iter().filter(|(_, holds)| *holds).map(|(value, _)| value).collect();
        let is_invalid = !result.is_as_asked() || (values.is_empty() && all > 0);
        let verdict = if is_invalid { Verdict::Invalid } else { Verdict::Passed };
        Self { verdict, is_whole: values.len() == all, values }
    }
}

/// Returns quantiles of delays, each of which is valid up to a certain share of spoilt frames. A quantity that is invalid in one direction is left
/// out in both, because the result is the worse of the two directions.
pub(in crate::measures) fn delays(
    result: &TrialResult,
    of: impl Fn(&DirectionResult) -> Option<Vec<(Quantity, f64, f64)>>,
) -> Reading {
    if result
        .directions
        .iter()
        .any(|direction| direction.received == 0 && !result.is_loss_of_the_dut_in(direction, EXCUSABLE_SHARE))
    {
        // Receiving nothing proves nothing if other processes used the device's processors.
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

/// Returns the verdict where loss is the result: a trial is invalid only if the tester did not offer the load.
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
