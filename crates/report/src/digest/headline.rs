//! The one number of a point, whatever it measures: what the list of points shows.

use super::{Digest, PointDigest};
use crate::wording::amount::unit_name;
use crate::wording::bound::Bound;
use crate::wording::numbers::{
    self, full_rate_unit, grouped, in_a_sentence, percentage, short_bound, short_ms,
};
use crate::wording::requirements::requirements_in_words;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::measures::{Info, Noun, Quantity, ResultKind, Unit};
use sixbench_method::plan::Measure;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::RequirementLevel;
use sixbench_stats::CensoredValue;

/// A number, what it is of, and its words.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Headline {
    /// `throughput`, or a quantity as records name it.
    pub(crate) quantity: &'static str,
    /// `median` or `mean` of the repetitions.
    pub(crate) statistic: &'static str,
    /// The value in the unit that is stored; rates in whole numbers.
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The load it was measured at, where it was not searched: frames/s per direction, or what `rate_unit` of `results.json` says.
    pub(crate) load: Option<FrameRate>,
    /// The number in words for people, with the unit.
    #[serde(skip)]
    pub(crate) shown: String,
}

impl PointDigest<'_> {
    pub(crate) fn result(&self, digest: &Digest) -> Option<Headline> {
        self.planned(digest)
            .filter(|planned| planned.status.has_result())?;
        let measure = &self.test.measure;
        match measure.result_kind() {
            ResultKind::Curve => self.highest_loss(),
            ResultKind::RepeatedRate => self.at_repeated_rate(),
            ResultKind::Rate => self.searched(),
            ResultKind::Requirements => self.requirements_met(),
            ResultKind::Number | ResultKind::Quantity => {
                // A test of response times in which no reply came has no time, but a loss.
                let quantities = [measure.info().headline, Some(Quantity::RequestLoss)]
                    .into_iter()
                    .flatten();
                quantities
                    .into_iter()
                    .find_map(|quantity| self.measured(quantity))
                    .or_else(|| nothing_held(measure))
            }
        }
    }

    /// Returns whether the truth may be higher than the result.
    pub(crate) fn is_result_open(&self) -> bool {
        let sample = || self.worst(self.test.measure.info().headline?);
        self.rated().map_or_else(
            || sample().is_some_and(|sample| sample.is_median_open),
            |rated| rated.limits.is_median_open,
        )
    }

    /// Returns whether its number is only a bound.
    pub(crate) fn is_bound(&self) -> bool {
        self.is_result_open()
            || self.is_result_at_most()
            || (self.test.measure.info().is_averaged && self.bounds() > 0)
    }

    /// Returns whether the truth may be lower than the result.
    pub(crate) fn is_result_at_most(&self) -> bool {
        let sample = self
            .test
            .measure
            .info()
            .headline
            .and_then(|quantity| self.worst(quantity));
        sample.is_some_and(|sample| sample.open_below.median)
    }

    /// Returns the number of repetitions whose true value may be another one.
    pub(crate) fn bounds(&self) -> usize {
        let values = self
            .outcomes
            .iter()
            .filter_map(|outcome| outcome.headline_value(&self.test.measure));
        values.filter(CensoredValue::is_bound).count()
    }

    /// Returns a value of the measure's number with the sign of a bound, and with its unit unless it is a rate of frames.
    pub(crate) fn show_value(&self, value: f64, bound: Bound) -> String {
        let measure = &self.test.measure;
        let sign = bound.sign().unwrap_or_default();
        let short = |value| format!("{sign}{}", short_bound(value, bound));
        match measure.info().headline.map(Quantity::unit) {
            Some(Unit::Nanoseconds) => format!("{sign}{}", short_ms(value)),
            Some(Unit::Frames) => format!("{}\u{a0}frames", short(value)),
            Some(Unit::Requirements) => format!("{}\u{a0}MUSTs", short(value)),
            Some(Unit::Connections) => format!("{}\u{a0}conn.", short(value)),
            Some(Unit::ConnectionsPerSecond) => format!("{}\u{a0}conn./s", short(value)),
            Some(_) => short(value),
            None => match measure.family().noun() {
                Noun::Queries => format!("{}\u{a0}q/s", short(value)),
                Noun::Connections => format!("{}\u{a0}conn./s", short(value)),
                Noun::Frames => short(value),
            },
        }
    }

    /// Returns how the number of this repetition relates to the true value.
    pub(crate) fn bound_of(&self, repetition: u32) -> Bound {
        let of = self
            .outcomes
            .iter()
            .find(|outcome| outcome.repetition == repetition);
        let value = of.and_then(|outcome| outcome.headline_value(&self.test.measure));
        value.map_or(Bound::Exact, |value| {
            Bound::of_value(value.is_at_least, value.is_at_most)
        })
    }

    fn searched(&self) -> Option<Headline> {
        let (median, unit) = (
            self.headline()?.median.round(),
            full_rate_unit(&self.test.measure),
        );
        let shown = format!("{}{} {unit}", self.sign(), grouped(median));
        let quantity = self.test.measure.name();
        Some(Headline {
            quantity,
            statistic: "median",
            value: median,
            unit,
            load: None,
            shown,
        })
    }

    /// Returns the rate that was repeated; the words say how often it passed.
    fn at_repeated_rate(&self) -> Option<Headline> {
        let repeated = self.repeated()?;
        let (value, unit) = (
            self.goals.first()?.summary?.median,
            full_rate_unit(&self.test.measure),
        );
        let shown = format!(
            "{} passed at {} {unit}",
            repeated.passed_of(),
            repeated.rate()
        );
        let quantity = self.test.measure.name();
        Some(Headline {
            quantity,
            statistic: "median",
            value,
            unit,
            load: None,
            shown,
        })
    }

    fn requirements_met(&self) -> Option<Headline> {
        let results = self.requirements()?;
        let musts = results.violated_of(RequirementLevel::Must);
        Some(headline(
            Quantity::MustsViolated,
            "median",
            musts as f64,
            requirements_in_words(results),
        ))
    }

    fn highest_loss(&self) -> Option<Headline> {
        // Rates ascend, so the last one is the highest.
        let (rate, loss) = self.losses().last().copied()?;
        let shown = format!(
            "{}\u{a0}% at {} frames/s",
            percentage(loss.median),
            grouped(rate.0 as f64)
        );
        let quantity = Quantity::FrameLossRate;
        Some(Headline {
            load: Some(rate),
            ..headline(quantity, "median", loss.median, shown)
        })
    }

    fn measured(&self, quantity: Quantity) -> Option<Headline> {
        let sample = self.worst(quantity)?;
        // The clauses on bursts, recovery and reset ask for the average.
        let is_averaged = self.test.measure.info().is_averaged;
        let (statistic, value) = if is_averaged {
            ("mean", sample.mean)
        } else {
            ("median", sample.summary.median)
        };
        // The load of a capacity is the rate at which connections were opened, and not one that was reached.
        let load = (quantity != Quantity::TableCapacity).then_some(sample.load);
        let at = load.map(|load| {
            format!(
                " at {} {}",
                grouped(load.0 as f64),
                numbers::rate_unit(&self.test.measure)
            )
        });
        let (number, unit) = (numbers::value(quantity, value), numbers::unit(quantity));
        let shown = format!("{}{number} {unit}{}", sample.sign(), at.unwrap_or_default());
        Some(Headline {
            load,
            ..headline(quantity, statistic, value, shown)
        })
    }
}

/// Returns what the result of a measure is, in words: `median of the typical latency, in the worse direction`.
pub(crate) fn result_is(measure: &Measure) -> String {
    let Info {
        headline,
        family,
        is_averaged,
        ..
    } = measure.info();
    let of = if *is_averaged {
        "average of"
    } else {
        "median of"
    };
    let direction = if family.noun() == Noun::Frames {
        ", in the worse direction"
    } else {
        ""
    };
    match (measure.result_kind(), headline) {
        (ResultKind::Curve, _) => format!("{of} the loss at the highest rate{direction}"),
        (ResultKind::Requirements, _) => {
            "requirements of RFCs that are met, and MUSTs that are violated".to_owned()
        }
        (ResultKind::RepeatedRate, _) => {
            "trials that passed when the rate that was found was repeated".to_owned()
        }
        (_, Some(quantity)) => format!("{of} the {}{direction}", in_a_sentence(quantity.title())),
        (_, None) => {
            format!("{of} the rates that were found; 0 if even the lowest load did not pass")
        }
    }
}

/// A table that holds not even the smallest number has no value on record.
fn nothing_held(measure: &Measure) -> Option<Headline> {
    let quantity = measure.info().headline?;
    Some(headline(
        quantity,
        "median",
        0.0,
        format!("0 {}", numbers::unit(quantity)),
    ))
}

fn headline(quantity: Quantity, statistic: &'static str, value: f64, shown: String) -> Headline {
    Headline {
        quantity: quantity.name(),
        statistic,
        value,
        unit: unit_name(quantity),
        load: None,
        shown,
    }
}
