//! Every key of a plan file takes one type of TOML value and refuses the others, each at its line.

use crate::documented_keys_tests::{Place, places};
use crate::schema::rows::{KeyRow, rows};
use crate::{Diagnostic, parse};
use sixbench_method::plan::ExportFormat;

/// The type of a value.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    Text,
    Number,
    Truth,
    /// A number, or a string with a unit.
    Quantity,
}
use Type::{Number, Quantity, Text, Truth};

/// Returns the types of the kinds of values that the documentation gives a key; a table, and the items of a list, are looked at separately.
fn types(value: &str) -> Vec<Type> {
    let kind = |word: &str| match word {
        "text" => Some(Text),
        "number" => Some(Number),
        "true/false" => Some(Truth),
        "time" | "rate" | "share" | "quantity" => Some(Quantity),
        "list" | "table" => None,
        other => panic!("{other} is no kind of value"),
    };
    value.split(", ").filter_map(kind).collect()
}

fn type_mistake(source: &str, line: &str) -> Option<Diagnostic> {
    let mistakes = parse(source, &["d"]).err().unwrap_or_default();
    let (start, end) = (
        source.find(line).expect("a line"),
        source.find(line).expect("a line") + line.len(),
    );
    mistakes
        .into_iter()
        .find(|m| m.title.contains("found a TOML") && (start..=end).contains(&m.span.start))
}

#[test]
fn every_key_takes_values_of_its_type_alone() {
    for row in rows() {
        for (place, key) in places(&row) {
            check_types(&row, place, key);
        }
    }
}

fn check_types(row: &KeyRow, place: Place<'_>, key: &str) {
    let types = types(&row.value);
    let values = [
        ("\"1\"", Text, Quantity),
        ("1", Number, Quantity),
        ("true", Truth, Truth),
        ("1979-05-27", Truth, Truth),
    ];
    for (value, one, other) in values {
        let line = format!("{key} = {value}");
        let is_date = value.contains('-');
        let is_taken = !is_date && (types.contains(&one) || types.contains(&other));
        let mistake = type_mistake(&place.plan(key, &line), &line);
        assert_eq!(mistake.is_none(), is_taken, "{place:?} {line}: {mistake:?}");
    }
}

#[test]
fn every_item_of_a_list_is_of_its_type() {
    for (key, items) in [
        ("frame-sizes", "[84, \"128\"]"),
        ("flows", "[1, \"2\"]"),
        ("cores", "[true]"),
        ("background", "[0, false]"),
    ] {
        let line = format!("{key} = {items}");
        assert!(
            type_mistake(&Place::Test("throughput").plan(key, &line), &line).is_some(),
            "{line}"
        );
    }
}

#[test]
fn every_key_of_the_inline_tables_is_of_its_type() {
    for (measure, line) in [
        ("throughput", "repetitions = { least = \"6\" }"),
        ("throughput", "repetitions = { within = true }"),
        ("throughput", "repetitions = true"),
        ("throughput", "forward-ports = { source = true }"),
        ("throughput", "forward-ports = { source-order = 1 }"),
        (
            "throughput",
            "left-addresses = { range = \"1-2\", order = 1 }",
        ),
        (
            "throughput",
            "left-addresses = { range = \"1-2\", ipv6-offset = \"12\" }",
        ),
        (
            "frame-loss-rate",
            "rates = { from = true, to = 1, step = 1 }",
        ),
    ] {
        assert!(
            type_mistake(&Place::Test(measure).plan("", line), line).is_some(),
            "{line}"
        );
    }
    let line = "repetitions = \"3\"";
    let source = Place::Test("throughput").plan("repetitions", line);
    let mistakes = parse(&source, &["d"]).expect_err("mistakes");
    assert_eq!(
        mistakes[0].title,
        "expected a number without quotes, or (adaptive), not `3`"
    );
}

#[test]
fn a_number_in_another_base_is_that_number() {
    let sizes = |text: &str| {
        parse(&Place::Test("throughput").plan("frame-sizes", text), &["d"])
            .map(|loaded| loaded.plan.tests[0].frame_sizes.clone())
    };
    assert_eq!(
        sizes("frame-sizes = [0x80, 0o200, 0b10000000, 1_28]"),
        sizes("frame-sizes = [128, 128, 128, 128]")
    );
}

#[test]
fn exports_are_formats_and_parquet_is_referred_to_the_package_for_python() {
    let parsed = |line: &str| parse(&Place::Plan.plan("exports", line), &["d"]);
    let exports = |line: &str| parsed(line).expect("a plan").plan.exports;
    assert_eq!(
        exports("exports = [\"latex\", \"csv\"]"),
        [ExportFormat::Latex, ExportFormat::Csv]
    );
    assert_eq!(exports("exports = \"svg\""), [ExportFormat::Svg]);
    assert_eq!(exports("seed = 1"), []);
    let told = |line: &str| parsed(line).expect_err("a mistake")[0].title.clone();
    assert_eq!(
        told("exports = [\"svg\", \"pdf\"]"),
        "expected an export (latex, markdown, svg, junit, benchmarks, csv), not `pdf`"
    );
    assert_eq!(
        told("exports = [\"parquet\"]"),
        "sixbench no longer writes Parquet; its package for Python does: python3 -m sixbench to_parquet DIR"
    );
}
