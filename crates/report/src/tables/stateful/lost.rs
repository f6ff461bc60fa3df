//! Examples of lost connections, to look up in the DUT's own tables.

use crate::digest::{Digest, Losing, LostIn, PointDigest};
use crate::layout::table::Table;
use crate::wording::numbers::{title, whole};

/// The number of lost connections that are listed for each test.
const NAMED: usize = 3;

/// Returns the table of the first connections lost in the trial at the lowest rate that lost some.
pub(super) fn table(digest: &Digest) -> Table {
    let columns = ["Test", "#Rate", "#Repetition", "#Trial", "Lost", "First example"];
    // The first step of a series is enough, since the others only repeat its information with other numbers.
    let rows = digest.points.iter().filter(|p| digest.is_compared(p.test)).flat_map(|p| rows(p));
    Table::new("Lost connections", columns)
        .with_rows(rows)
        .with_note("For each test (for a series, its first step), the trial at the lowest rate that lost connections. Rate: that of phase 1, in connections/s.")
}

fn rows(point: &PointDigest) -> Vec<Vec<String>> {
    let Some(Losing { record, connections, lost_in, lost }) = point.losing_connections(point.first_goal()) else {
        return Vec::new();
    };
    let name = match lost_in {
        LostIn::PhaseOne => "phase\u{a0}1",
        LostIn::Validation => "validation",
    };
    let place = [whole(connections.rate.0), record.repetition.to_string(), record.trial.to_string()];
    let lost = format!("{}\u{a0}of\u{a0}{}, {name}", whole(lost), whole(connections.offered));
    let head: Vec<String> = [title(point.test)].into_iter().chain(place).chain([lost]).collect();
    // Cells common to all rows appear only in the first.
    let row = |(i, example): (usize, &String)| {
        let head = if i == 0 { head.clone() } else { vec![String::new(); head.len()] };
        head.into_iter().chain([example.clone()]).collect()
    };
    connections.examples.iter().take(NAMED).enumerate().map(row).collect()
}
