//! The columns that the rows of every file end with: when, where and by which command was measured, and the labels.

use super::line;
use crate::digest::Digest;
use crate::origin::{command, hosts, machine_time};
use crate::parquet::ColumnTable;
use crate::span::Span;
use std::borrow::Cow;

const COLUMNS: &str = "run_started,run_ended,host,command,sixbench";

/// A row with the hosts that it was measured on; none where it is of the whole run, or where they are not known.
pub(crate) type HostedRow<'r> = (String, Vec<Cow<'r, str>>);

/// The rows of a file, and the names of their cells. A row is made when it is written: a long run has millions.
pub(crate) struct Rows<'r> {
    pub(crate) columns: Vec<String>,
    /// The cells of each row that are its own.
    pub(crate) rows: Box<dyn Iterator<Item = HostedRow<'r>> + 'r>,
    /// The cells that every row has behind its own.
    pub(crate) run: RunCells,
}

/// The cells of the run: all but the host are the same in every row.
pub(crate) struct RunCells {
    /// Start and end.
    times: [String; 2],
    /// All hosts, for a row that names none.
    hosts: String,
    /// What stands behind the host.
    rest: Vec<String>,
}

impl RunCells {
    /// The place of the host among them.
    pub(super) const HOST: usize = 2;

    pub(super) fn of(digest: &Digest) -> Self {
        let input = digest.input;
        let rest = [command(input).to_owned(), input.facts.sixbench.clone()];
        let rest = rest.into_iter().chain(input.facts.labels.values().cloned()).collect();
        Self { times: times(digest.span), hosts: hosts(input), rest }
    }

    /// Returns the cells of a row that was measured on `host`.
    pub(crate) fn behind<'c>(&'c self, host: &'c str) -> impl Iterator<Item = &'c str> {
        let host = if host.is_empty() { &self.hosts } else { host };
        let before = self.times.iter().map(String::as_str);
        before.chain([host]).chain(self.rest.iter().map(String::as_str))
    }
}

impl<'r> Rows<'r> {
    /// Returns the rows as a table that is written column by column.
    pub(crate) fn by_columns(self) -> ColumnTable<RunCells, impl Iterator<Item = HostedRow<'r>>> {
        ColumnTable { columns: self.columns, common: self.run, rows: self.rows }
    }

    /// Returns the rows as lines of comma-separated values, the first of them the names of the columns.
    pub(crate) fn lines(self) -> impl Iterator<Item = String> + 'r {
        let run = self.run;
        let of_row = move |(host, row): HostedRow<'r>| line(row.iter().map(|cell| &**cell).chain(run.behind(&host)));
        std::iter::once(self.columns.join(",") + "\n").chain(self.rows.map(of_row))
    }
}

/// Returns these columns and those of the run behind them.
pub(super) fn columns<'c>(digest: &Digest, own: impl Iterator<Item = &'c str>) -> Vec<String> {
    let labels = digest.input.facts.labels.keys().map(|key| format!("label_{key}"));
    own.chain(COLUMNS.split(',')).map(str::to_owned).chain(labels).collect()
}

/// Returns these rows, each with the columns of the run behind its own. The host is that of the row, else all of the run.
pub(super) fn rows<'r>(digest: &Digest, own: &str, rows: impl Iterator<Item = HostedRow<'r>> + 'r) -> Rows<'r> {
    let columns = columns(digest, own.split(','));
    Rows { columns, rows: Box::new(rows), run: RunCells::of(digest) }
}

/// Returns a file of these rows.
pub(super) fn file<'r>(digest: &Digest, own: &str, of: impl Iterator<Item = (String, Vec<String>)> + 'r) -> String {
    let hosted = |(on, row): (String, Vec<String>)| (on, row.into_iter().map(Cow::Owned).collect());
    rows(digest, own, of.map(hosted)).lines().collect()
}

/// Returns both ends of a span, empty where there is none.
pub(super) fn times(span: Option<Span>) -> [String; 2] {
    span.map_or_else(Default::default, |span| [span.from, span.to].map(machine_time))
}
