//! What a results directory gives to a paper and to other programs, on simulated results: without root and in milliseconds.
#![allow(missing_docs, reason = "tests")]

mod common;
#[path = "common/results.rs"]
mod results;

use common::{Scratch, output, text};
use sixbench_method::record::Facts;
use std::fs;
use std::path::Path;

/// Writes a results directory of one completed test; returns its path.
fn simulated(scratch: &Scratch) -> String {
    let plan = results::plan(&[results::test("kernel")]);
    let records = results::records(&plan, |_| results::dut(50_000));
    results::write(scratch, "results", &plan, &records, &Facts::default())
}

fn report(arguments: &[&str]) {
    let report = output(&[&["report"], arguments].concat());
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
}

#[test]
fn the_style_of_a_paper_is_kept_when_the_report_is_written_again() {
    let scratch = Scratch::new("style");
    let results = simulated(&scratch);
    let has_two_columns = || {
        let tables = fs::read_to_string(Path::new(&results).join("results.tex")).expect("results.tex");
        tables.contains("\\documentclass[a4paper,twocolumn]")
    };
    report(&[&results]);
    assert!(!has_two_columns());
    report(&["--style", "two-column", &results]);
    assert!(has_two_columns());
    report(&[&results]);
    assert!(has_two_columns(), "kept");
    report(&["--style", "one-column", &results]);
    assert!(!has_two_columns());
}

#[test]
fn another_style_is_a_mistake_of_the_command_line() {
    let refused = output(&["report", "--style", "three-column", "."]);
    assert_eq!(refused.status.code(), Some(2));
    let error = text(&refused.stderr);
    assert!(error.contains("expected one-column or two-column, not `three-column`"), "{error}");
}
