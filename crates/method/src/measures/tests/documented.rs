//! The tables of docs/MEASURES.md have every measure.

use super::*;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../../docs/MEASURES.md");
/// The beginning of the head of each table of measures.
const HEAD: &str = "| `measure =` |";

/// Returns the words in the first cell of a row: the names of measures, without keys and their values.
fn names(row: &str) -> impl Iterator<Item = &str> {
    let cell = row.split('|').nth(1).unwrap_or_default();
    let codes = cell.split('`').skip(1).step_by(2);
    codes.filter(|code| !code.contains(' '))
}

#[test]
fn every_measure_is_in_one_table_of_the_documentation_and_no_other_is() {
    let mut documented: Vec<&str> = Vec::new();
    let mut is_of_measures = false;
    for line in PAGE.lines() {
        is_of_measures = line.starts_with('|') && (is_of_measures || line.starts_with(HEAD));
        if is_of_measures && !line.starts_with(HEAD) {
            documented.extend(names(line));
        }
    }
    let once: BTreeSet<&str> = documented.iter().copied().collect();
    let known: BTreeSet<&str> = Measure::infos().map(|info| info.term.name).collect();
    assert_eq!(once, known);
    assert_eq!(documented.len(), once.len(), "once each: {documented:?}");
}
