//! The outcome of one repetition, and where its load came from.

use super::{Measure, Value};
use crate::plan::Point;
use crate::search::Bracket;
use crate::terms::FrameRate;
use crate::watch::Cause;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_stats::CensoredValue;

/// The origin of the load of a measurement that was made at the throughput, or at a share of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct LoadSource {
    /// The throughput for the first loss goal, frames per second per direction: of several searches the median.
    pub throughput: FrameRate,
    /// True if the throughput is only a lower bound: something other than the DUT ended a search.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_at_least: bool,
    /// The searches, in the order of the plan.
    pub searches: Vec<SearchRef>,
}

/// One search for a throughput: a repetition of a test, at the frame size of the point in question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SearchRef {
    /// Name of the test.
    pub test: String,
    /// The number of the repetition, from 1.
    pub repetition: u32,
}

/// What the trials of a repetition show of what ended its search for the first loss goal of its test. It is found where the repetition is replayed, so
/// that what was watched in its trials need not be kept for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitSigns {
    /// The cause of the limit, where the device ended the search; `None` where none is seen.
    pub cause: Option<Cause>,
    /// True if the last loss at the upper bound was that of an accident, which stood in one moment; `None` where no trial lost there.
    pub is_last_loss_an_accident: Option<bool>,
}

/// The result of one repetition of one point. Derived from the trials by replaying them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The test and frame size.
    pub point: Point,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// Trials performed, invalid ones included.
    pub trials: u32,
    /// Invalid trials among them.
    pub invalid: u32,
    /// The searches that its load came from, where others made them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadSource>,
    /// The results of a search for the load, one for each loss goal; empty where this repetition did not search for one.
    pub brackets: Vec<Bracket>,
    /// The other measured values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// What the trials show of what ended the search for the first goal. It is in no file, since it follows from them.
    #[serde(skip)]
    pub signs: LimitSigns,
}

impl Outcome {
    /// Returns the throughput, or the establishment rate, this repetition determined, for the first loss goal.
    pub fn throughput(&self) -> Option<FrameRate> {
        self.brackets.first()?.lower
    }

    /// Returns the throughput that it was made at, from whichever measurement it came.
    pub fn load_throughput(&self) -> Option<FrameRate> {
        self.load
            .as_ref()
            .map(|load| load.throughput)
            .or_else(|| self.throughput())
    }

    /// Returns whether it has no result because the tester never managed a valid trial.
    pub fn is_unfit(&self, measure: &Measure) -> bool {
        let bracket = self.brackets.first();
        let searched_in_vain = bracket.is_some_and(|bracket| bracket.known().is_none());
        let has_a_load = bracket.is_none_or(|b| b.lower.is_some());
        let is_without_value =
            !measure.is_searched_rate() && self.invalid > 0 && self.values.is_empty();
        searched_in_vain || (is_without_value && has_a_load)
    }

    /// Returns the one number repetitions are judged by: the throughput, or the measure's first quantity in its worst direction.
    /// `None` where the repetition came to nothing, and for the frame loss rate, which is a curve.
    /// `None` as well where the rate lies between bounds that are too far apart ([`Bracket::is_not_found`]).
    pub fn headline(&self, measure: &Measure) -> Option<f64> {
        if measure.is_searched_rate() && self.brackets.first().is_some_and(Bracket::is_not_found) {
            return None;
        }
        self.known_headline(measure)
    }

    /// Returns the same as a value of a sample: a bound where the true value may be higher, or lower.
    pub fn headline_value(&self, measure: &Measure) -> Option<CensoredValue> {
        let value = self.headline(measure)?;
        let Some(quantity) = measure.info().headline else {
            let is_at_least = self
                .brackets
                .first()
                .and_then(Bracket::value)
                .is_some_and(|rate| rate.is_at_least);
            return Some(CensoredValue {
                is_at_least,
                ..CensoredValue::exact(value)
            });
        };
        let of_quantity = || {
            self.values
                .iter()
                .filter(|value| value.quantity == quantity)
        };
        let is_at_least = of_quantity().any(|value| value.is_at_least);
        // Of several directions the highest delay counts: a bound of a lower one does not move it.
        let is_at_most = of_quantity().any(|other| other.is_at_most && other.value >= value);
        Some(CensoredValue {
            value,
            is_at_least,
            is_at_most,
        })
    }

    /// Does the same as [`Self::headline`], even where the rate was not found, so that only a lower bound is known.
    pub(crate) fn known_headline(&self, measure: &Measure) -> Option<f64> {
        if measure.is_searched_rate() {
            return self.throughput().map(|rate| rate.0 as f64);
        }
        let quantity = measure.info().headline?;
        let values = self
            .values
            .iter()
            .filter(|value| value.quantity == quantity)
            .map(|value| value.value);
        values.reduce(|a, b| {
            if quantity.is_higher_better() {
                a.min(b)
            } else {
                a.max(b)
            }
        })
    }
}
