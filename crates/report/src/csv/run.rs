//! The columns that the rows of every file end with: when, where and by which command was measured, and the labels.

use super::line;
use crate::Input;
use crate::origin::{Span, command, hosts, machine_time};
use std::borrow::Cow;

const COLUMNS: &str = "run_started,run_ended,host,command,sixbench";

/// The rows of a file, and the names of their cells. A row is made when it is written: a long run has millions.
pub(crate) struct Rows<'r> {
    pub(crate) columns: Vec<String>,
    /// The cells of each row that are its own.
    pub(crate) rows: Box<dyn Iterator<Item = Vec<Cow<'r, str>>> + 'r>,
    /// The cells that every row has behind its own.
    pub(crate) run: Vec<String>,
}

impl<'r> Rows<'r> {
    /// Returns the rows as lines of comma-separated values, the first of them the names of the columns.
    pub(crate) fn lines(self) -> impl Iterator<Item = String> + 'r {
        let run = self.run;
        let of_row = move |row: Vec<Cow<'r, str>>| line(row.iter().map(|cell| &**cell).chain(run.iter().map(String::as_str)));
        std::iter::once(self.columns.join(",") + "\n").chain(self.rows.map(of_row))
    }
}

/// Returns these rows, each with the columns of the run behind its own.
pub(super) fn rows<'r>(input: &Input, own: &str, rows: impl Iterator<Item = Vec<Cow<'r, str>>> + 'r) -> Rows<'r> {
    let labels = input.facts.labels.keys().map(|key| format!("label_{key}"));
    let columns = own.split(',').chain(COLUMNS.split(',')).map(str::to_owned).chain(labels).collect();
    Rows { columns, rows: Box::new(rows), run: fields(input) }
}

/// Returns a file of these rows.
pub(super) fn file<'r>(input: &Input, own: &str, of: impl Iterator<Item = Vec<String>> + 'r) -> String {
    rows(input, own, of.map(|row| row.into_iter().map(Cow::Owned).collect())).lines().collect()
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
