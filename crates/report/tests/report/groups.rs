//! Devices in shared memory share no axis, no column and no ranking with devices at interfaces.

use crate::formats::{csv, figures, json, latex, markdown, points_csv, terminal};
use crate::sample::Sample;
use serde_json::Value;
use sixbench_report::Document;
use std::collections::BTreeMap;

/// The end of the titles of what shows devices in shared memory.
const IN_MEMORY: &str = "devices in shared memory (not to be compared with the others)";

/// Returns a run of `Device 0` at interfaces and `Device 1` in shared memory, with delays recorded.
fn mixed() -> Sample {
    let mut sample = Sample::of_many(2);
    sample
        .facts
        .duts
        .get_mut("tayga")
        .expect("the device of the second test")
        .in_memory = true;
    sample
}

/// Returns the sections of a text in Markdown by their headings.
fn sections(text: &str) -> BTreeMap<String, String> {
    text.split("\n## ")
        .skip(1)
        .filter_map(|part| part.split_once('\n'))
        .map(|(title, rest)| (title.to_owned(), rest.to_owned()))
        .collect()
}

#[test]
fn no_figure_has_devices_of_two_groups() {
    let sample = mixed();
    let drawn = figures(&sample.input());
    for (name, svg) in &drawn {
        let of_interfaces = svg.contains("Device 0");
        assert!(
            !of_interfaces || !svg.contains("Device 1"),
            "{name} has both"
        );
    }
    for name in ["throughput", "delay", "timeout", "loss", "repetitions"] {
        let svg = |name: &str| {
            drawn
                .iter()
                .find(|(file, _)| file == &format!("{name}.svg"))
                .map(|(_, svg)| svg.as_str())
        };
        assert!(
            svg(name).is_some_and(|svg| svg.contains("Device 0")),
            "{name}"
        );
        let of_memory = svg(&format!("{name}-shared-memory"));
        assert!(
            of_memory.is_some_and(|svg| svg.contains("Device 1") && svg.contains(IN_MEMORY)),
            "{name} in shared memory"
        );
    }
    let alone = figures(&Sample::of_many(2).input());
    assert!(
        alone
            .iter()
            .all(|(name, _)| !name.contains("shared-memory")),
        "one group needs no figures of its own"
    );
}

#[test]
fn no_table_of_results_has_devices_of_two_groups() {
    let sample = mixed();
    let (input, text) = (sample.input(), markdown(&sample.input()));
    // These list everything, and compare nothing.
    let lists = ["Every planned point", "Anomalies by test"];
    let of_results = sections(&text)
        .into_iter()
        .filter(|(title, _)| !lists.contains(&title.as_str()));
    let with = |rows: &str, device: &str| {
        rows.lines()
            .any(|line| line.starts_with('|') && line.contains(device))
    };
    for (title, rows) in of_results {
        assert!(
            !with(&rows, "Device 0") || !with(&rows, "Device 1"),
            "{title}: {rows}"
        );
        assert_eq!(
            with(&rows, "Device 1"),
            title.contains(IN_MEMORY),
            "{title}: {rows}"
        );
    }
    let bars = terminal(&input, 100, false);
    let (above, below) = bars
        .split_once("Devices in shared memory, not to be compared with those above:")
        .expect("two tables");
    assert!(
        above.contains("Device 0 ") && !above.contains("Device 1 "),
        "{bars}"
    );
    assert!(
        below
            .lines()
            .any(|line| line.starts_with("Device 1 ") && line.ends_with("100 %")),
        "a scale of its own: {bars}"
    );
    assert!(latex(&input).replace('~', " ").contains(IN_MEMORY));
}

#[test]
fn files_for_machines_name_the_group() {
    let sample = mixed();
    let input = sample.input();
    for text in [csv(&input), points_csv(&input)] {
        let (header, rows) = text.split_once('\n').expect("a header");
        assert!(
            header.split(',').any(|column| column == "comparison_group"),
            "{header}"
        );
        for row in rows.lines() {
            let group = if row.contains("Device 1") {
                ",shared-memory,"
            } else {
                ",interfaces,"
            };
            assert!(row.contains(group), "{row}");
        }
    }
    let results: Value = serde_json::from_str(&json(&input)).expect("JSON");
    let groups = results["points"]
        .as_array()
        .expect("points")
        .iter()
        .map(|point| point["comparison_group"].as_str());
    assert_eq!(
        groups.collect::<Vec<_>>(),
        [
            Some("interfaces"),
            Some("interfaces"),
            Some("shared-memory"),
            Some("shared-memory")
        ]
    );
    assert!(
        Document::new(&input)
            .expect("a report")
            .headline()
            .starts_with("Device 0 passed")
    );
}
