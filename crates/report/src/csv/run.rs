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

/// A row with the hosts that it was measured on; none where it is of the whole run, or where they are not known.
pub(super) type HostedRow = (String, Vec<String>);

/// Returns these rows, each with the columns of the run behind its own. The host is that of the row, else all of the run.
pub(super) fn rows(input: &Input, own: &str, rows: impl Iterator<Item = HostedRow>) -> Rows {
    let labels = input.facts.labels.keys().map(|key| format!("label_{key}"));
    let columns = own.split(',').chain(COLUMNS.split(',')).map(str::to_owned).chain(labels).collect();
    let (of_run, all) = (fields(input), hosts(input));
    let whole = |(on, row): HostedRow| {
        let host = if on.is_empty() { all.clone() } else { on };
        row.into_iter().chain(of_run(host)).collect()
    };
    Rows { columns, rows: rows.map(whole).collect() }
}

/// Returns a file of these rows.
pub(super) fn file(input: &Input, own: &str, of: impl Iterator<Item = HostedRow>) -> String {
    rows(input, own, of).csv()
}

/// Returns what makes the columns of the run for a host: all but the host are the same in every row.
fn fields(input: &Input) -> impl Fn(String) -> Vec<String> {
    let [started, ended] = times(Span::of(input.records.iter()));
    let before = [started, ended];
    let after = [command(input).to_owned(), input.facts.sixbench.clone()];
    let after: Vec<String> = after.into_iter().chain(input.facts.labels.values().cloned()).collect();
    move |host| before.iter().cloned().chain([host]).chain(after.iter().cloned()).collect()
}

/// Returns both ends of a span, empty where there is none.
pub(super) fn times(span: Option<Span>) -> [String; 2] {
    span.map_or_else(Default::default, |span| [span.from, span.to].map(machine_time))
}
