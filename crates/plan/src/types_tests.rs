//! Every key of a plan file takes one type of TOML value and refuses the others, each at its line.

use super::{Diagnostic, parse};
use sixbench_method::plan::ExportFormat;

/// The type of value that a key takes.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    Text,
    Number,
    Truth,
    /// A number, or a string with a unit.
    Quantity,
}
use Type::{Number, Quantity, Text, Truth};

/// The place of a key: before the tests, in a table, or in a test with this measure.
type Place = &'static str;

const KEYS: &[(Place, &str, Type)] = &[
    ("", "name", Text),
    ("", "profile", Text),
    ("", "seed", Number),
    ("", "recipes", Text),
    ("", "interleave", Truth),
    ("", "reference", Text),
    ("", "exports", Text),
    ("[trial]", "duration", Quantity),
    ("[trial]", "residual", Quantity),
    ("[trial]", "rest", Quantity),
    ("[trial]", "frame-timeout", Quantity),
    ("[trial]", "stall", Quantity),
    ("[trial]", "patience", Quantity),
    ("[search]", "method", Text),
    ("[search]", "minimum", Quantity),
    ("[search]", "maximum", Quantity),
    ("[search]", "width", Quantity),
    ("[search]", "loss-goals", Quantity),
    ("[search]", "max-invalid", Number),
    ("[search]", "start", Text),
    ("[testbed]", "left", Text),
    ("[testbed]", "right", Text),
    ("[testbed]", "host", Text),
    ("[testbed]", "dut-left", Text),
    ("[testbed]", "dut-right", Text),
    ("[testbed]", "ssh-config", Text),
    ("[testbed]", "io", Text),
    ("[testbed]", "link-rate", Quantity),
    ("[testbed]", "queues", Number),
    ("[testbed]", "busy-poll", Truth),
    ("[testbed]", "governor", Text),
    ("[testbed]", "lend-addresses", Truth),
    ("[testbed]", "offloads-on", Text),
    ("[testbed]", "offloads-off", Text),
    ("[testbed]", "rx-ring", Number),
    ("[testbed]", "tx-ring", Number),
    ("[testbed]", "rss-hash", Text),
    ("[testbed]", "tester-cores", Number),
    ("[testbed]", "dut-cores", Number),
    ("throughput", "name", Text),
    ("throughput", "title", Text),
    ("throughput", "dut", Text),
    ("throughput", "optional", Truth),
    ("throughput", "fresh-device", Truth),
    ("throughput", "frame-sizes", Number),
    ("throughput", "directions", Text),
    ("throughput", "frame-timeout", Quantity),
    ("throughput", "maximum", Quantity),
    ("throughput", "dut-rss-hash", Text),
    ("throughput", "background", Quantity),
    ("throughput", "flows", Number),
    ("throughput", "flow-step", Quantity),
    ("throughput", "subscribers", Number),
    ("throughput", "cores", Number),
    ("throughput", "ports", Text),
    ("throughput", "payload", Text),
    ("throughput", "left-networks", Number),
    ("throughput", "right-networks", Number),
    ("throughput", "connections", Quantity),
    ("throughput", "table-size", Quantity),
    ("latency", "rate", Quantity),
    ("latency", "duration", Quantity),
    ("latency", "tag-after", Quantity),
    ("latency", "tagged", Number),
    ("frame-loss-rate", "rates", Quantity),
    ("back-to-back", "burst-rate", Quantity),
    ("back-to-back", "longest-burst", Quantity),
    ("back-to-back", "step", Number),
    ("recovery", "overload", Quantity),
    ("recovery", "after", Quantity),
    ("reset", "before", Quantity),
    ("reset", "after", Quantity),
    ("response-time", "rate-per-client", Quantity),
    ("response-time", "outstanding", Number),
    ("soak", "rate", Quantity),
    ("soak", "duration", Quantity),
    ("soak", "warm-up", Quantity),
    ("tcp-soak", "rate", Quantity),
    ("tcp-soak", "duration", Quantity),
    ("tcp-soak", "warm-up", Quantity),
    ("table-capacity", "start", Quantity),
    ("table-capacity", "most", Quantity),
    ("table-capacity", "beta", Quantity),
    ("table-capacity", "gamma", Quantity),
    ("table-capacity", "error", Quantity),
    ("table-capacity", "state-table", Quantity),
    ("table-capacity", "phase-1-rate", Quantity),
    ("table-capacity", "phase-1-timeout", Quantity),
    ("table-capacity", "phase-1-delay", Quantity),
    ("table-capacity", "enumerate", Text),
    ("table-capacity", "responder-order", Text),
    ("table-capacity", "validation-rate", Quantity),
    ("tcp-capacity", "object-size", Number),
    ("tcp-capacity", "time-limit", Quantity),
    ("tcp-capacity", "close", Text),
    ("tcp-capacity", "server-ports", Quantity),
    ("tcp-capacity", "start", Quantity),
    ("tcp-capacity", "rate", Quantity),
    ("dns64", "domain", Text),
    ("dns64", "names", Text),
    ("dns64", "authority", Text),
    ("dns64", "timeout", Quantity),
    ("dns64", "ttl", Quantity),
    ("dns64", "cached", Quantity),
    ("dns64", "with-aaaa", Quantity),
    ("dns64", "cached-names", Quantity),
    ("dns64", "source-ports", Number),
    ("dns64", "burst", Number),
    ("dns64", "rate", Text),
];

/// Returns a plan with `line` at its place, in which the key is not set anywhere else.
fn plan(place: Place, key: &str, line: &str) -> String {
    let unless = |own: &str, text: &'static str| {
        if key == own && !place.starts_with('[') {
            ""
        } else {
            text
        }
    };
    let table = if place.starts_with('[') {
        format!("{place}\n{line}\n")
    } else {
        String::new()
    };
    let head = if place.is_empty() {
        format!("{line}\n{}", unless("name", "name = \"p\"\n"))
    } else {
        "name = \"p\"\n".to_owned()
    };
    if place.is_empty() || place.starts_with('[') {
        return format!("{head}{table}[[test]]\nname = \"t\"\ndut = \"d\"\n");
    }
    let (name, dut) = (
        unless("name", "name = \"t\"\n"),
        unless("dut", "dut = \"d\"\n"),
    );
    format!("{head}[[test]]\n{name}{dut}measure = \"{place}\"\n{line}\n")
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
    for (place, key, wanted) in KEYS {
        let values = [
            ("\"1\"", Text, Quantity),
            ("1", Number, Quantity),
            ("true", Truth, Truth),
            ("1979-05-27", Truth, Truth),
        ];
        for (value, one, other) in values {
            let line = format!("{key} = {value}");
            let is_date = value.contains('-');
            let is_taken = !is_date && (*wanted == one || *wanted == other);
            let mistake = type_mistake(&plan(place, key, &line), &line);
            assert_eq!(mistake.is_none(), is_taken, "{place} {line}: {mistake:?}");
        }
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
            type_mistake(&plan("throughput", key, &line), &line).is_some(),
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
            type_mistake(&plan(measure, "", line), line).is_some(),
            "{line}"
        );
    }
    let line = "repetitions = \"3\"";
    let source = plan("throughput", "repetitions", line);
    let mistakes = parse(&source, &["d"]).expect_err("mistakes");
    assert_eq!(
        mistakes[0].title,
        "expected a number without quotes, or (adaptive), not `3`"
    );
}

#[test]
fn a_number_in_another_base_is_that_number() {
    let sizes = |text: &str| {
        parse(&plan("throughput", "frame-sizes", text), &["d"])
            .map(|loaded| loaded.plan.tests[0].frame_sizes.clone())
    };
    assert_eq!(
        sizes("frame-sizes = [0x80, 0o200, 0b10000000, 1_28]"),
        sizes("frame-sizes = [128, 128, 128, 128]")
    );
}

#[test]
fn exports_are_formats_and_parquet_is_referred_to_the_package_for_python() {
    let parsed = |line: &str| parse(&plan("", "exports", line), &["d"]);
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
