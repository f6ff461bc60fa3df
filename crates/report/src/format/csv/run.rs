//! The last columns in every file: the time, the host and the command of the measurement, and the labels.

use super::column::{FileColumn, FileRow};
use super::line;
use crate::digest::Digest;
use crate::findings::origin::{command, hosts, machine_time};
use crate::span::Span;
use std::borrow::Cow;

const COLUMNS: &str = "run_started,run_ended,host,command,sixbench";

/// A row with the hosts it was measured on; empty if it concerns the whole run, or if the hosts are unknown.
pub(crate) type HostedRow<'r> = (String, Vec<Cow<'r, str>>);

/// The rows of a file, and the names of their columns. A row is made when it is written, since a long run has millions.
pub(crate) struct Rows<'r> {
    pub(crate) columns: Vec<String>,
    /// The cells specific to each row.
    pub(crate) rows: Box<dyn Iterator<Item = HostedRow<'r>> + 'r>,
    /// The cells that follow in every row.
    pub(crate) run: RunCells,
}

/// The cells of the run, which are the same in every row except for the host.
pub(crate) struct RunCells {
    /// Start and end.
    times: [String; 2],
    /// All hosts, for a row without hosts.
    hosts: String,
    /// The cells after the host.
    rest: Vec<String>,
}

impl RunCells {
    pub(super) fn new(digest: &Digest) -> Self {
        let input = digest.input;
        let rest = [command(input).to_owned(), input.facts.sixbench.clone()];
        let rest = rest
            .into_iter()
            .chain(input.facts.labels.values().cloned())
            .collect();
        Self {
            times: times(digest.span),
            hosts: hosts(input),
            rest,
        }
    }

    /// Returns the cells for a row that was measured on `host`.
    pub(crate) fn behind<'c>(&'c self, host: &'c str) -> impl Iterator<Item = &'c str> {
        let host = if host.is_empty() { &self.hosts } else { host };
        let before = self.times.iter().map(String::as_str);
        before
            .chain([host])
            .chain(self.rest.iter().map(String::as_str))
    }
}

/// Returns a file whose rows concern the whole run; `None` if there are none.
pub(super) fn of_whole_run<Row>(
    digest: &Digest,
    columns: &[FileColumn<'_, Row>],
    rows: impl Iterator<Item = Row>,
) -> Option<String> {
    let rows: Vec<_> = rows
        .map(|row| FileRow {
            hosts: String::new(),
            row,
        })
        .collect();
    (!rows.is_empty()).then(|| of_columns(digest, columns, rows))
}

impl<'r> Rows<'r> {
    /// Returns the rows as lines of comma-separated values, after a line with the names of the columns.
    pub(crate) fn lines(self) -> impl Iterator<Item = String> + 'r {
        let run = self.run;
        let of_row = move |(host, row): HostedRow<'r>| {
            line(row.iter().map(|cell| &**cell).chain(run.behind(&host)))
        };
        std::iter::once(self.columns.join(",") + "\n").chain(self.rows.map(of_row))
    }
}

/// Returns these columns followed by those of the run.
pub(super) fn columns<'c>(digest: &Digest, own: impl Iterator<Item = &'c str>) -> Vec<String> {
    let labels = digest
        .input
        .facts
        .labels
        .keys()
        .map(|key| format!("label_{key}"));
    own.chain(COLUMNS.split(','))
        .map(str::to_owned)
        .chain(labels)
        .collect()
}

/// Returns these rows, each followed by the cells of the run. The host is that of the row, or else all hosts of the run.
pub(super) fn rows<'r>(
    digest: &Digest,
    own: &str,
    rows: impl Iterator<Item = HostedRow<'r>> + 'r,
) -> Rows<'r> {
    let columns = columns(digest, own.split(','));
    Rows {
        columns,
        rows: Box::new(rows),
        run: RunCells::new(digest),
    }
}

/// Returns a file with a line for each row, with the cells of these columns.
pub(super) fn of_columns<Row>(
    digest: &Digest,
    columns: &[FileColumn<'_, Row>],
    rows: impl IntoIterator<Item = FileRow<Row>>,
) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let cells = |row: &Row| columns.iter().map(|column| column.cell(row)).collect();
    file(
        digest,
        &names.join(","),
        rows.into_iter()
            .map(|FileRow { hosts, row }| (hosts, cells(&row))),
    )
}

/// Returns a file with these rows.
pub(super) fn file<'r>(
    digest: &Digest,
    own: &str,
    of: impl Iterator<Item = (String, Vec<String>)> + 'r,
) -> String {
    let hosted = |(on, row): (String, Vec<String>)| (on, row.into_iter().map(Cow::Owned).collect());
    rows(digest, own, of.map(hosted)).lines().collect()
}

/// Returns both ends of a span; empty if there is none.
pub(super) fn times(span: Option<Span>) -> [String; 2] {
    span.map_or_else(Default::default, |span| {
        [span.from, span.to].map(machine_time)
    })
}
