//! The resource that limited a DUT, for each point.

use crate::digest::{Digest, PointDigest};
use crate::layout::table::Table;
use crate::wording::numbers::capitalised;
use sixbench_method::bottleneck::{explain, weakest};

/// Returns rows for each point: one on the DUT's machine, and for a chain one on its devices, as far as they are known; `None` if nothing is known.
pub(crate) fn bottlenecks(digest: &Digest) -> Option<Table> {
    // Losses that a measurement provokes say nothing about a limit.
    let is_of_a_limit = |point: &&PointDigest| point.test.measure.finds_a_limit();
    let explained = |point: &PointDigest| explain(&point.records, point.first_goal()).map(|found| found.to_string());
    let chained = |point: &PointDigest| weakest(&point.found_trials(point.first_goal())).map(|found| found.to_string());
    let rows_of = |point: &PointDigest| {
        let found = [explained(point), chained(point)].into_iter().flatten();
        found.map(|words| row(&point.name(), &words)).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = digest.points.iter().filter(is_of_a_limit).flat_map(rows_of).collect();
    (!rows.is_empty())
        .then(|| Table::new("What held the device back", ["Point", "What held it back", "Seen by"]).with_rows(rows))
}

/// Returns a row with the point, the finding, and its basis, which follows the finding in brackets.
fn row(name: &str, words: &str) -> Vec<String> {
    let (finding, seen) = words.split_once(" (").unwrap_or((words, ""));
    vec![name.to_owned(), capitalised(finding), seen.strip_suffix(')').unwrap_or(seen).to_owned()]
}
