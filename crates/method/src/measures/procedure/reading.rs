//! Derives the quantities of the RFCs from the counts and delays of a trial.

use crate::measures::{Quantity, Value};
use crate::terms::LossRatio;
use crate::trial::{DirectionResult, TrialResult, Verdict, is_upper_bound};

// Each result defines the share of it that tester faults may explain before it becomes invalid. If faults spoil some results of a trial, the others
// remain valid.

/// For a loss: the share that the tester may have caused. Near the capacity of a device one per cent of load makes a large difference to the loss, so
/// repetitions differ by more than this. The same holds for the spread of delays.
pub(in crate::measures) const EXCUSABLE_SHARE: f64 = 0.1;

/// The share for a mean of times, or a rate. Searches for a rate are no finer than this.
pub(in crate::measures) const NEGLIGIBLE_SHARE: f64 = 0.02;

/// For the 99.9th percentile: a share of the frames, equal to half of those above it.
pub(in crate::measures) const TAIL_SHARE: f64 = 0.0005;

/// A quantity of the delays of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::measures) struct DelayValue {
    pub(in crate::measures) quantity: Quantity,
    /// The value, nanoseconds.
    pub(in crate::measures) value_ns: f64,
    /// The most by which the true value may be lower, nanoseconds; 0 if that is not known, or if it may be higher as well.
    pub(in crate::measures) too_long_by_ns: u64,
}

impl DelayValue {
    /// Returns a delay; `bound_ns` is the most by which the tester may have made it too long.
    pub(in crate::measures) fn of_delay(
        quantity: Quantity,
        value_ns: u64,
        bound_ns: Option<u64>,
    ) -> Self {
        Self {
            quantity,
            value_ns: value_ns as f64,
            too_long_by_ns: bound_ns.unwrap_or(0),
        }
    }

    /// Returns a difference of delays, which may be too high or too low.
    pub(in crate::measures) fn of_difference(quantity: Quantity, value_ns: f64) -> Self {
        Self {
            quantity,
            value_ns,
            too_long_by_ns: 0,
        }
    }

    fn is_at_most(&self) -> bool {
        is_upper_bound(self.value_ns, self.too_long_by_ns as f64)
    }
}

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
        Self {
            verdict,
            values,
            is_whole: true,
        }
    }

    /// Returns the reading of a trial from its values, each with whether it is valid. Some values may be valid and others not, but none is if the
    /// trial was not performed as asked.
    pub(in crate::measures) fn of_valid(result: &TrialResult, found: Vec<(Value, bool)>) -> Self {
        let all = found.len();
        let values: Vec<Value> = found
            .into_iter()
            .filter(|(_, is_valid)| *is_valid)
            .map(|(value, _)| value)
            .collect();
        let is_invalid = !result.is_as_asked() || (values.is_empty() && all > 0);
        let verdict = if is_invalid {
            Verdict::Invalid
        } else {
            Verdict::Passed
        };
        Self {
            verdict,
            is_whole: values.len() == all,
            values,
        }
    }
}

/// Returns the quantities that `of` finds in the delays of each direction. They are valid together or not at all: the trial is invalid if the tester may
/// have spoilt more than `share` of the frames of a direction, the least that any of the quantities allows. So one trial gives either all of its
/// quantities or none, and all have the same number of repetitions.
pub(in crate::measures) fn delays(
    result: &TrialResult,
    share: f64,
    of: impl Fn(&DirectionResult) -> Option<Vec<DelayValue>>,
) -> Reading {
    let is_unknown = |direction: &DirectionResult| match direction.received {
        // Receiving nothing proves nothing if other processes used the device's processors.
        0 => !result.is_loss_of_the_dut_in(direction, EXCUSABLE_SHARE),
        received => !result
            .spoilt(direction.direction)
            .is_within(share, received),
    };
    if !result.is_as_asked() || result.directions.iter().any(is_unknown) {
        return Reading::new(Verdict::Invalid, Vec::new());
    }
    let values = result.directions.iter().flat_map(|direction| {
        let found = of(direction).unwrap_or_default();
        found.into_iter().map(|found| Value {
            quantity: found.quantity,
            direction: direction.direction,
            load: result.spec.rate,
            value: found.value_ns,
            is_at_least: false,
            is_at_most: found.is_at_most(),
        })
    });
    Reading::new(Verdict::Passed, values.collect())
}

/// Returns the verdict where loss is the result: a trial is invalid only if the tester did not offer the load.
pub(in crate::measures) fn sent_as_asked(result: &TrialResult) -> Verdict {
    // A goal of total loss is always met, so this tells only whether the trial is valid.
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
            is_at_most: false,
        })
    });
    values.collect()
}
