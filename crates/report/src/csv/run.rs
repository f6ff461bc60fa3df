//! The columns that the rows of every file end with: when, where and by which command was measured, and the labels.

use super::line;
use crate::Input;
use crate::origin::{Span, command, hosts, machine_time};

const COLUMNS: &str = "run_started,run_ended,host,command,sixbench";

/// The rows of a file, and the names of their cells.
pub(crate) struct Rows {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Rows {
    /// Returns the rows as comma-separated values.
    pub(crate) fn csv(self) -> String {
        std::iter::once(self.columns.join(",") + "\n").chain(self.rows.into_iter().map(line)).collect()
    }
}

/// Returns these rows, each with the columns of the run behind its own.
pub(super) fn rows(input: &Input, own: &str, rows: impl Iterator<Item = Vec<String>>) -> Rows {
    let labels = input.facts.labels.keys().map(|key| format!("label_{key}"));
    let columns = own.split(',').chain(COLUMNS.split(',')).map(str::to_owned).chain(labels).collect();
    let run = fields(input);
    Rows { columns, rows: rows.map(|row| row.into_iter().chain(run.iter().cloned()).collect()).collect() }
}

/// Returns a file of these rows.
pub(super) fn file(input: &Input, own: &str, of: impl Iterator<Item = Vec<String>>) -> String {
    rows(input, own, of).csv()
}

/// Returns what stands in the columns of the run: the same in every row.
fn fields(input: &Input) -> Vec<String> {
    let [started, ended] = times(Span::of(input.records.iter()));
    let of_run = [started, ended, hosts(input), command(input).to_owned(), input.facts.sixbench.clone()];
    of_run.into_iter().chain(input.facts.labels.values().cloned()).collect()
}

/// Returns both ends of a span, empty where there is none.
pub(super) fn times(span: Option<Span>) -> [String; 2] {
    span.map_or_else(Default::default, |span| [span.from, span.to].map(machine_time))
}
