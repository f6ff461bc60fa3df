//! Every parameter of a plan with its value and the tests that use it. The rows are made from the plan as written to `resolved.toml`, so that none is
//! forgotten.

use crate::Input;
use crate::conformance::named;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{grouped, three_digits};
use serde_json::{Map, Value};
use sixbench_method::lists::by_key;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::units::part_of;

/// Keys that identify a test rather than determine how it is made.
const IDENTITY: [&str; 7] = [
    "name",
    "title",
    "dut",
    "frame-sizes",
    "optional",
    "series",
    "expect",
];

/// Keys of a plan that are not parameters: its name, and its tests.
const OF_THE_FILE: [&str; 2] = ["name", "test"];

/// The name of a parameter, and its value.
type Parameter = (String, String);

/// A parameter, and the tests that have it.
struct ParameterRow {
    name: String,
    value: String,
    tests: String,
}

pub(super) fn table(input: &Input) -> Table {
    let plan = input.plan;
    let own = parameters(plan, &OF_THE_FILE, "frames/s per direction").into_iter();
    let own = own.map(|(name, value)| ParameterRow {
        name,
        value,
        tests: "all".to_owned(),
    });
    let of_tests = by_key(plan.tests.iter().flat_map(|test| {
        of_test(test)
            .into_iter()
            .map(|one| (one, test.name.clone()))
    }));
    let of_tests = of_tests
        .into_iter()
        .map(|((name, value), tests)| ParameterRow {
            name,
            value,
            tests: about(&tests, plan),
        });
    let columns = [
        Column::text("Parameter", |row: &ParameterRow| row.name.clone()),
        Column::text("Value", |row: &ParameterRow| row.value.clone()),
        Column::text("Tests", |row: &ParameterRow| row.tests.clone()),
    ];
    Table::new("Parameters", columns, own.chain(of_tests))
}

fn about(tests: &[String], plan: &Plan) -> String {
    if tests.len() == plan.tests.len() {
        "all".to_owned()
    } else {
        named(tests, plan).join(", ")
    }
}

fn of_test(test: &Test) -> Vec<Parameter> {
    parameters(
        test,
        &IDENTITY,
        test.measure.family().noun().per_second_and_direction(),
    )
}

fn parameters(of: &impl serde::Serialize, without: &[&str], unit: &str) -> Vec<Parameter> {
    let mut found = Vec::new();
    if let Ok(Value::Object(object)) = serde_json::to_value(of) {
        let own = object
            .iter()
            .filter(|(key, _)| !without.contains(&key.as_str()));
        own.for_each(|(key, value)| add(key, key, value, unit, &mut found));
    }
    found
}

/// Adds the parameters contained in a value, under the name of its key or the path of keys to it.
fn add(name: &str, key: &str, value: &Value, unit: &str, found: &mut Vec<Parameter>) {
    match value {
        Value::Object(object) => match show_object(object) {
            Some(words) => found.push((words_of(name), words)),
            // A variant with settings: the measure, followed by its keys.
            None if name == "measure" => object.iter().for_each(|(variant, settings)| {
                found.push((name.to_owned(), variant.clone()));
                add(variant, variant, settings, unit, found);
            }),
            None => object
                .iter()
                .for_each(|(key, value)| add(&format!("{name}: {key}"), key, value, unit, found)),
        },
        value => found.push((words_of(name), cell(key, value, unit))),
    }
}

/// Returns the words for a key: `trial: duration` for `trial: duration-ns`.
fn words_of(name: &str) -> String {
    let name = name
        .strip_suffix("-ns")
        .or_else(|| name.strip_suffix("-s"))
        .unwrap_or(name);
    name.replace('-', " ")
}

/// Returns the words for a single value that has several keys: a share of frames, or a range of values.
fn show_object(object: &Map<String, Value>) -> Option<String> {
    let field = |key: &str| object.get(key);
    let whole = |key: &str| usize::try_from(field(key)?.as_u64()?).ok();
    match object.len() {
        2 => Some(part_of(whole("foreground")?, whole("of")?, "frame")),
        3 => Some(format!(
            "{}\u{2013}{}, {}",
            field("first")?,
            field("last")?,
            field("order")?.as_str()?
        )),
        _ => None,
    }
}

fn cell(key: &str, value: &Value, unit: &str) -> String {
    match value {
        Value::Array(items) => listed(
            &items
                .iter()
                .map(|item| cell(key, item, unit))
                .collect::<Vec<_>>(),
        ),
        Value::String(text) => text.clone(),
        Value::Bool(is_so) => if *is_so { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => quantity(key, number.as_f64().unwrap_or(f64::NAN), unit),
        other => other.to_string(),
    }
}

/// Returns a list in which a unit that all values share appears once: `1, 2 frames/s`.
fn listed(values: &[String]) -> String {
    let unit = |value: &String| value.find(' ').map(|at| value[at..].to_owned());
    match values.last().and_then(unit) {
        Some(common)
            if values
                .iter()
                .all(|value| unit(value).as_ref() == Some(&common)) =>
        {
            let numbers: Vec<&str> = values
                .iter()
                .map(|value| value.trim_end_matches(common.as_str()))
                .collect();
            numbers.join(", ") + &common
        }
        _ => values.join(", "),
    }
}

/// Returns a number in the unit of its key.
fn quantity(key: &str, value: f64, unit: &str) -> String {
    match key {
        // Without a frame timeout, the end of the wait for residual frames decides.
        "frame-timeout-ns" if value == 0.0 => "none".to_owned(),
        "seed" => format!("{value}"),
        "link-rate" => bit_rate(value as u64),
        "ttl-s" => format!("{}\u{a0}s", grouped(value)),
        "cached" | "with-aaaa" => format!("{value}\u{a0}%"),
        "width" | "within" | "goals" | "loss-goals" | "of-throughput" | "validation"
        | "half-width" => {
            format!("{}\u{a0}%", percent_of(value))
        }
        "minimum" | "maximum" | "rate" | "rates" => format!("{} {unit}", grouped(value)),
        key if key.ends_with("-ns") => time(value as u64),
        _ if value.fract() == 0.0 => grouped(value),
        _ => value.to_string(),
    }
}

/// Returns a ratio in per cent, without binary rounding errors.
pub(super) fn percent_of(ratio: f64) -> String {
    format!("{}", (ratio * 1e9).round() / 1e7)
}

/// Returns a time with its unit: `60 s`, `1.5 ms`, `300 ns`.
pub(super) fn time(ns: u64) -> String {
    let (scale, unit) = match ns {
        0 | 1_000_000_000.. => (1e9, "s"),
        1_000_000.. => (1e6, "ms"),
        1_000.. => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    format!("{}\u{a0}{unit}", ns as f64 / scale)
}

/// Returns the rate of a medium: `10 Gbit/s`.
pub(super) fn bit_rate(rate: u64) -> String {
    let (scale, unit) = if rate >= 1_000_000_000 {
        (1e9, "Gbit/s")
    } else {
        (1e6, "Mbit/s")
    };
    format!("{}\u{a0}{unit}", three_digits(rate as f64 / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_units_of_their_keys() {
        let of = |key: &str, value: f64| quantity(key, value, "queries/s");
        assert_eq!(of("duration-ns", 60e9), "60\u{a0}s");
        assert_eq!(of("stall-ns", 1.5e6), "1.5\u{a0}ms");
        assert_eq!(of("maximum", 1e6), "1,000,000 queries/s");
        assert_eq!(of("goals", 0.001), "0.1\u{a0}%");
        assert_eq!(of("tagged", 50_000.0), "50,000");
        assert_eq!(of("link-rate", 1e10), "10\u{a0}Gbit/s");
    }
}
