//! The expectations of a `[[test]]`: a single rate, or tables with a quantity and its bounds.

use crate::defaults::PlanDefaults;
use crate::reader::{Section, nearest};
use sixbench_analysis::expectation::has_rate;
use sixbench_method::measures::{Keys, Quantity, Unit};
use sixbench_method::plan::{Expectation, Measure};
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_method::units::{self, ValueError};
use thiserror::Error;

/// The parts of a test, and of the rest of the file, that its expectations depend on.
pub(crate) struct ExpectContext<'a> {
    pub(crate) defaults: &'a PlanDefaults<'a>,
    pub(crate) measure: &'a Measure,
    pub(crate) sizes: &'a [FrameSize],
}

/// The bounded value: the rate that is searched for, or a quantity.
#[derive(Clone, Copy, PartialEq)]
enum BoundedValue {
    Rate,
    Quantity(Quantity),
}

/// The reason why a text is no part of an expectation of its test.
#[derive(Debug, Error)]
enum ExpectError {
    /// The text has another form.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The measure searches for no rate, and no quantity is named.
    #[error(
        "{measure} does not search for a rate: name the expected quantity, {{ quantity = ..., at-least = ... }} with one of {quantities}"
    )]
    NoRate {
        measure: &'static str,
        quantities: String,
    },
    /// The measure has no such quantity.
    #[error("{measure} has no quantity `{text}`; {hint}")]
    UnknownQuantity {
        measure: &'static str,
        text: String,
        hint: String,
    },
    /// The measure has no frames.
    #[error("{0} has no frame sizes: leave `size` out")]
    NoSizes(&'static str),
    /// The test has no frames of this size, but of others.
    #[error("the test has no frames of {0}; it has {1}")]
    OtherSize(FrameSize, String),
    /// A load is given for another quantity.
    #[error("`rate` belongs to the quantity frame-loss-rate: leave it out")]
    NoLoad,
    /// The test does not measure at this rate.
    #[error("the test does not try `{0}`: add it to its `rates`")]
    UntriedRate(String),
}

/// Reads `expect`. An expectation that no run could meet, or that none could miss, is a mistake.
pub(crate) fn read_expectations(section: &Section<'_>, of: &ExpectContext<'_>) -> Vec<Expectation> {
    let Some(tables) = section.tables("expect", "expect") else {
        let rate = section.value("expect", |text| of.least_rate(text));
        rate.inspect(|&rate| of.check_range(section, "expect", BoundedValue::Rate, rate));
        return rate.map(Expectation::at_least).into_iter().collect();
    };
    if tables.is_empty() && section.is_empty_list("expect") {
        section.mistake("expect", "at least one expectation is needed");
    }
    tables
        .into_iter()
        .filter_map(|table| of.read(table))
        .collect()
}

impl ExpectContext<'_> {
    fn read(&self, table: Section<'_>) -> Option<Expectation> {
        let what = if table.is_given("quantity") {
            table.text("quantity", |text| self.quantity(text))
        } else {
            self.only_rate()
                .map_err(|title| table.mistake("quantity", title.to_string()))
                .ok()
        };
        let frame_size = table.value("size", |text| self.size(text));
        let rate = table.value("rate", |text| self.load(what, text));
        if what == Some(BoundedValue::Quantity(Quantity::FrameLossRate)) && !table.is_given("rate")
        {
            table.mistake(
                "rate",
                "a frame loss rate belongs to a load: give `rate`, one of the test's `rates`",
            );
        }
        // Bounds of a quantity that was not understood have no known unit.
        let bound = |key| what.map(|what| table.value(key, |text| self.bound(what, text)))?;
        let (at_least, at_most) = (bound("at-least"), bound("at-most"));
        if !table.is_given("at-least") && !table.is_given("at-most") {
            table.mistake(
                "at-least",
                "an expectation needs `at-least`, `at-most`, or both",
            );
        }
        if at_least
            .zip(at_most)
            .is_some_and(|(least, most)| least > most)
        {
            table.mistake(
                "at-most",
                "`at-most` is below `at-least`, so no value can meet both",
            );
        }
        for (key, bound) in [("at-least", at_least), ("at-most", at_most)] {
            what.zip(bound)
                .inspect(|&(what, bound)| self.check_range(&table, key, what, bound));
        }
        // Bounds of a quantity that was not understood are not read, and would be reported as unknown keys.
        let keys = ["quantity", "size", "rate", "at-least", "at-most"];
        table.finish_with(&keys);
        let quantity = match what? {
            BoundedValue::Rate => None,
            BoundedValue::Quantity(quantity) => Some(quantity),
        };
        Some(Expectation {
            quantity,
            frame_size,
            rate,
            at_least,
            at_most,
        })
    }

    /// Returns the rate that is searched for, which is bounded if no quantity is given. Fails if the measure does not search for a rate.
    fn only_rate(&self) -> Result<BoundedValue, ExpectError> {
        has_rate(self.measure)
            .then_some(BoundedValue::Rate)
            .ok_or_else(|| ExpectError::NoRate {
                measure: self.measure.name(),
                quantities: self.names().join(", "),
            })
    }

    /// Returns the name of the rate: that of the measure if the measure searches for it, else `throughput`. `None` if the measure has no rate.
    fn rate_name(&self) -> Option<&'static str> {
        let name = if self.measure.is_searched_rate() {
            self.measure.name()
        } else {
            "throughput"
        };
        has_rate(self.measure).then_some(name)
    }

    fn names(&self) -> Vec<&'static str> {
        let quantities = self
            .measure
            .info()
            .quantities
            .iter()
            .map(|quantity| quantity.name());
        self.rate_name().into_iter().chain(quantities).collect()
    }

    fn quantity(&self, text: &str) -> Result<BoundedValue, ExpectError> {
        if self.rate_name() == Some(text) {
            return Ok(BoundedValue::Rate);
        }
        let mut own = self.measure.info().quantities.iter();
        let found = own.find(|quantity| quantity.name() == text);
        found
            .map(|quantity| BoundedValue::Quantity(*quantity))
            .ok_or_else(|| self.unknown_quantity(text))
    }

    fn unknown_quantity(&self, text: &str) -> ExpectError {
        let (measure, names) = (self.measure.name(), self.names());
        let hint = match nearest(text, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has {}", names.join(", ")),
        };
        ExpectError::UnknownQuantity {
            measure,
            text: text.to_owned(),
            hint,
        }
    }

    fn size(&self, text: &str) -> Result<FrameSize, ExpectError> {
        if !self.measure.family().has_frame_sizes() {
            return Err(ExpectError::NoSizes(self.measure.name()));
        }
        let size = units::frame_size(text)?;
        let known: Vec<String> = self.sizes.iter().map(ToString::to_string).collect();
        let is_known = self.sizes.contains(&size);
        is_known
            .then_some(size)
            .ok_or_else(|| ExpectError::OtherSize(size, known.join(", ")))
    }

    fn load(&self, what: Option<BoundedValue>, text: &str) -> Result<FrameRate, ExpectError> {
        if !matches!(what, Some(BoundedValue::Quantity(Quantity::FrameLossRate))) {
            return Err(ExpectError::NoLoad);
        }
        let rate = units::rate(text)?;
        if self.measure.loads().listed().contains(&rate) {
            Ok(rate)
        } else {
            Err(ExpectError::UntriedRate(text.to_owned()))
        }
    }

    /// Reads the value of an expectation that names no quantity.
    fn least_rate(&self, text: &str) -> Result<f64, ExpectError> {
        Ok(self.bound(self.only_rate()?, text)?)
    }

    /// Returns the bound as a number in the unit in which the quantity is stored.
    fn bound(&self, what: BoundedValue, text: &str) -> Result<f64, ValueError> {
        match what {
            BoundedValue::Rate => units::amount(text, self.measure.family().noun().per_second()),
            BoundedValue::Quantity(quantity) => match quantity.unit() {
                Unit::Nanoseconds => units::signed_ns(text),
                Unit::Percent => units::percent(text),
                Unit::Octets => units::octets(text),
                Unit::OctetsPerHour => units::octets(text.trim_end_matches("/h")),
                unit => units::amount(text, unit.symbol()),
            },
        }
    }

    /// Returns the lowest and the highest value that the search can result in, and the keys that set them. `None` if the quantity has no such range.
    fn range(&self, what: BoundedValue) -> Option<(f64, f64, &'static str)> {
        let search = self.defaults.search;
        match what {
            BoundedValue::Rate => Some((
                search.minimum.0 as f64,
                search.maximum.0 as f64,
                "`minimum` and `maximum` in [search]",
            )),
            BoundedValue::Quantity(_) => {
                let number = self.measure.loads().number()?;
                Some((0.0, number.most, number.keys))
            }
        }
    }

    /// Reports a bound outside the range of the search, which could never be missed or never be met.
    fn check_range(
        &self,
        section: &Section<'_>,
        key: &'static str,
        what: BoundedValue,
        bound: f64,
    ) {
        let Some((low, high, keys)) = self.range(what) else {
            return;
        };
        if !(low..=high).contains(&bound) {
            let title = format!(
                "{bound} cannot be decided, because the search only covers {low} to {high}"
            );
            section.mistake_with_help(key, title, format!("change the expectation, or {keys}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture_tests, parse, render};

    const DUTS: [&str; 1] = ["d"];

    fn source(tests: &[&str]) -> String {
        fixture_tests::plan(|_| DUTS[0], tests).replacen(
            "[[test]]",
            "[search]\nmaximum = \"1M\"\n[[test]]",
            1,
        )
    }

    fn expected(keys: &str) -> Vec<Expectation> {
        let source = source(&[keys]);
        match parse(&source, &DUTS) {
            Ok(loaded) => loaded.plan.tests[0].expect.clone(),
            Err(mistakes) => panic!("{}", render("plan.toml", &source, &mistakes, false)),
        }
    }

    fn mistakes(tests: &[&str]) -> String {
        fixture_tests::mistakes(&source(tests), &DUTS)
    }

    #[test]
    fn a_single_rate_is_expected_at_least_at_every_size() {
        assert_eq!(
            expected("expect = \"100k\""),
            [Expectation::at_least(100_000.0)]
        );
        assert_eq!(
            expected("expect = 100000"),
            [Expectation::at_least(100_000.0)]
        );
        assert_eq!(expected(""), []);
        assert_eq!(
            expected("measure = \"latency\"\nexpect = \"100k\""),
            [Expectation::at_least(100_000.0)]
        );
    }

    #[test]
    fn quantities_have_bounds_in_their_own_units_and_perhaps_a_size() {
        let keys = "measure = \"latency\"\nexpect = [{ quantity = \"throughput\", size = 84, at-least = \"50k\", at-most = \"1M\" },\n\
                    { quantity = \"typical-latency\", at-most = \"0.3ms\" }]";
        let throughput = Expectation {
            frame_size: Some(FrameSize(84)),
            at_most: Some(1e6),
            ..Expectation::at_least(50_000.0)
        };
        let latency = Expectation {
            quantity: Some(Quantity::TypicalLatency),
            at_least: None,
            at_most: Some(300_000.0),
            ..Expectation::at_least(0.0)
        };
        assert_eq!(expected(keys), [throughput, latency]);
        let of = |keys: &str| {
            let found = expected(keys);
            (
                found[0].quantity,
                found[0].at_least.or(found[0].at_most),
                found[0].rate,
            )
        };
        assert_eq!(
            of(
                "measure = \"ipdv\"\nexpect = { quantity = \"ipdv-minimum\", at-least = \"-50us\" }"
            ),
            (Some(Quantity::IpdvMinimum), Some(-50_000.0), None)
        );
        assert_eq!(
            of(
                "measure = \"frame-loss-rate\"\nrates = [\"50k\", \"90k\"]\nexpect = { quantity = \"frame-loss-rate\", rate = \"50k\", at-most = \"0.1%\" }"
            ),
            (
                Some(Quantity::FrameLossRate),
                Some(0.1),
                Some(FrameRate(50_000))
            )
        );
        assert_eq!(
            of(
                "measure = \"response-time\"\nrate-per-client = 1000\nexpect = { quantity = \"memory-growth\", at-most = \"2MB\" }"
            ),
            (Some(Quantity::MemoryGrowth), Some(2e6), None)
        );
        assert_eq!(
            of("measure = \"dns64\"\nexpect = { quantity = \"dns64\", at-least = \"10k\" }"),
            (None, Some(10_000.0), None)
        );
    }

    #[test]
    fn what_no_run_could_meet_or_miss_is_told_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "expect = \"2M\"",
            "expect = { at-least = 500, at-most = \"1001k\" }",
            "measure = \"pdv\"\nrate = \"10k\"\nexpect = \"50k\"",
            "measure = \"back-to-back\"\nburst-rate = \"100k\"\nlongest-burst = \"1s\"\n\
             expect = { quantity = \"back-to-back-frames\", at-least = \"101k\" }",
            "frame-sizes = [84, 512]\nexpect = { size = 128, at-least = \"50k\" }",
            "measure = \"dns64\"\nexpect = { size = 84, at-least = \"50k\" }",
            "measure = \"frame-loss-rate\"\nrates = [\"50k\"]\nexpect = [{ quantity = \"frame-loss-rate\", at-most = \"1%\" },\n\
             { quantity = \"frame-loss-rate\", rate = \"60k\", at-most = \"1%\" }]",
        ]));
    }

    #[test]
    fn slips_in_an_expectation_are_told_at_their_line() {
        insta::assert_snapshot!(mistakes(&[
            "expect = { quantity = \"troughput\", at-least = \"50k\" }",
            "expect = { quantity = \"typical-latency\", at-most = \"1ms\" }",
            "measure = \"latency\"\nexpect = [{ quantity = \"typical-latency\", at-most = \"0.3\" }]",
            "expect = { at-leas = \"50k\" }",
            "expect = { at-least = \"60k\", at-most = \"50k\" }",
            "expect = { rate = \"50k\", at-least = \"50k\" }",
            "expect = []",
            "expect = [\"50k\"]",
        ]));
    }
}
