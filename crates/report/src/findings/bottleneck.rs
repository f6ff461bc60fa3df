//! The resource that limited a DUT, for each point.

use crate::digest::{Digest, PointDigest};
use crate::layout::table::{Column, Table};
use crate::wording::numbers::capitalised;
use sixbench_method::bottleneck::{explain, weakest};

/// What held the device back at a point.
struct FindingRow {
    point: String,
    finding: String,
    /// The basis of the finding.
    seen: String,
}

/// Returns rows for each point: one on the DUT's machine, and for a chain one on its devices, as far as they are known; `None` if nothing is known.
pub(crate) fn bottlenecks(digest: &Digest) -> Option<Table> {
    // Losses that a measurement provokes say nothing about a limit.
    let points = digest
        .points
        .iter()
        .filter(|point| point.test.measure.info().finds_a_limit);
    let rows: Vec<FindingRow> = points.flat_map(rows).collect();
    let columns = [
        Column::text("Point", |row: &FindingRow| row.point.clone()),
        Column::text("What held it back", |row: &FindingRow| row.finding.clone()),
        Column::text("Seen by", |row: &FindingRow| row.seen.clone()),
    ];
    (!rows.is_empty()).then(|| Table::new("What held the device back", columns, rows))
}

fn rows(point: &PointDigest) -> Vec<FindingRow> {
    let explained = explain(&point.records, point.first_goal()).map(|found| found.to_string());
    let chained = weakest(&point.found_trials(point.first_goal())).map(|found| found.to_string());
    [explained, chained]
        .into_iter()
        .flatten()
        .map(|words| row(point.name(), &words))
        .collect()
}

/// Returns a row with the point, the finding, and its basis, which follows the finding in brackets.
fn row(point: String, words: &str) -> FindingRow {
    let (finding, seen) = words.split_once(" (").unwrap_or((words, ""));
    FindingRow {
        point,
        finding: capitalised(finding),
        seen: seen.strip_suffix(')').unwrap_or(seen).to_owned(),
    }
}
