//! What held a DUT back, point by point.

use crate::digest::{Digest, PointDigest};
use crate::table::Table;
use crate::trust::capitalised;
use sixbench_method::bottleneck::{explain, weakest};

/// Returns a row for each point on the machine under the DUT, and of a chain one on its devices, as far as they are known; `None` where nothing is.
pub(crate) fn bottlenecks(digest: &Digest) -> Option<Table> {
    // Losses that a measurement makes on purpose say nothing of a limit.
    let is_of_a_limit = |point: &&PointDigest| point.test.measure.finds_a_limit();
    let explained = |point: &PointDigest| explain(&point.records, point.first_goal()).map(|found| found.to_string());
    let chained = |point: &PointDigest| weakest(&point.found_trials(point.first_goal())).map(|found| found.to_string());
    let rows_of = |point: &PointDigest| {
        let found = [explained(point), chained(point)].into_iter().flatten();
        found.map(|words| row(&point.name(), &words)).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = digest.points.iter().filter(is_of_a_limit).flat_map(rows_of).collect();
    (!rows.is_empty()).then(|| Table::new("What held the DUT back", ["Point", "What held it back", "Seen by"]).with_rows(rows))
}

/// The finding, and what it rests on, which is in brackets behind it.
fn row(name: &str, words: &str) -> Vec<String> {
    let (finding, seen) = words.split_once(" (").unwrap_or((words, ""));
    vec![name.to_owned(), capitalised(finding), seen.strip_suffix(')').unwrap_or(seen).to_owned()]
}
