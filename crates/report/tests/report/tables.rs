//! The Parquet tables have the rows of the CSV files, with types.

use crate::formats::{csv, values_csv};
use crate::sample::{Sample, parquet_files};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use sixbench_report::Document;

fn rows(octets: Vec<u8>) -> Vec<Row> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(octets)).expect("a table");
    reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| row.expect("a row"))
        .collect()
}

/// Returns a cell as in a CSV file.
fn cell(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Bool(truth) => truth.to_string(),
        Field::TimestampMillis(ms) => {
            let time = jiff::Timestamp::from_millisecond(*ms).expect("a time");
            time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
        }
        other => panic!("{other:?}"),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn as_csv(rows: &[Row], header: &str) -> String {
    let line = |row: &Row| {
        row.get_column_iter()
            .map(|(_, field)| quoted(&cell(field)))
            .collect::<Vec<_>>()
            .join(",")
            + "\n"
    };
    format!("{header}\n{}", rows.iter().map(line).collect::<String>())
}

fn samples() -> [Sample; 5] {
    [
        Sample::empty(),
        Sample::of_every_measure(),
        Sample::of_stateful_gateways(),
        Sample::of_dns_servers(),
        Sample::of_every_status(),
    ]
}

#[test]
fn the_tables_of_parquet_have_the_cells_of_the_csv_files() {
    for sample in samples() {
        let input = sample.input();
        let files = parquet_files(&Document::new(&input).expect("a report"));
        for ((name, octets), csv) in files.into_iter().zip([csv(&input), values_csv(&input)]) {
            let header = csv.lines().next().expect("a header");
            assert!(
                as_csv(&rows(octets), header) == csv,
                "{}: {name}",
                input.plan.name
            );
        }
    }
}

#[test]
fn every_trial_has_a_row_for_each_direction_with_its_counts_as_numbers() {
    for sample in samples() {
        let input = sample.input();
        let document = Document::new(&input).expect("a report");
        let mut files = parquet_files(&document);
        let (name, octets) = files.pop().expect("a table");
        assert_eq!(name, "trials.parquet");
        let rows = rows(octets);
        let directions = input
            .records
            .iter()
            .map(|record| record.result.directions.len().max(1))
            .sum::<usize>();
        assert_eq!(rows.len(), directions, "{}", input.plan.name);
        let received = |row: &Row| match row.get_column_iter().find(|(name, _)| *name == "received")
        {
            Some((_, Field::Long(number))) => *number as u64,
            _ => 0,
        };
        let counted = input
            .records
            .iter()
            .flat_map(|record| &record.result.directions)
            .map(|direction| direction.received)
            .sum::<u64>();
        assert_eq!(rows.iter().map(received).sum::<u64>(), counted);
    }
}

#[test]
fn the_same_run_gives_the_same_tables() {
    let sample = Sample::complete();
    let tables = || parquet_files(&Document::new(&sample.input()).expect("a report"));
    assert!(tables() == tables());
}
