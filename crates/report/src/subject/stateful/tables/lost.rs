//! Examples of lost connections, to look up in the DUT's own tables.

use crate::digest::{ConnectionLoss, Digest, LostIn, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{title, whole};

/// The number of lost connections that are listed for each test.
const NAMED: usize = 3;

/// A connection that was lost.
struct LostRow<'d> {
    /// What the connections of the trial share; `None` in every row of a trial but its first.
    trial: Option<LosingTrial<'d>>,
    example: &'d str,
}

/// The trial of a point that lost connections.
struct LosingTrial<'d> {
    point: &'d PointDigest<'d>,
    losing: ConnectionLoss<'d>,
}

/// Returns the table of the first connections lost in the trial at the lowest rate that lost some.
pub(super) fn table(digest: &Digest) -> Table {
    // The first step of a series is enough, since the others only repeat its information with other numbers.
    let rows = digest
        .points
        .iter()
        .filter(|p| digest.is_compared(p.test))
        .flat_map(rows);
    Table::new("Lost connections", columns(), rows)
        .with_note("For each test (for a series, its first step), the trial at the lowest rate that lost connections. Rate: that of phase 1, in connections/s.")
}

fn columns<'d>() -> Vec<Column<'d, LostRow<'d>>> {
    vec![
        Column::text("Test", |row: &LostRow| {
            row.once(|trial| title(trial.point.test).into())
        }),
        Column::number("Rate", |row: &LostRow| {
            row.once(|trial| Cell::Count(trial.losing.connections.rate.0))
        }),
        Column::number("Repetition", |row: &LostRow| {
            row.once(|trial| Cell::Number(trial.losing.record.repetition.into()))
        }),
        Column::number("Trial", |row: &LostRow| {
            row.once(|trial| Cell::Number(trial.losing.record.trial.into()))
        }),
        Column::text("Lost", |row: &LostRow| {
            row.once(|trial| trial.losing.described().into())
        }),
        Column::text("First example", |row: &LostRow| row.example),
    ]
}

impl LostRow<'_> {
    /// Returns a cell that appears only in the first row of a trial.
    fn once(&self, cell: fn(&LosingTrial) -> Cell) -> Cell {
        self.trial.as_ref().map_or("".into(), cell)
    }
}

impl ConnectionLoss<'_> {
    /// Returns how many connections were lost in which phase: `3 of 1,000, validation`.
    fn described(&self) -> String {
        let phase = match self.lost_in {
            LostIn::PhaseOne => "phase\u{a0}1",
            LostIn::Validation => "validation",
        };
        format!(
            "{}\u{a0}of\u{a0}{}, {phase}",
            whole(self.lost),
            whole(self.connections.offered)
        )
    }
}

fn rows<'d>(point: &'d PointDigest<'d>) -> Vec<LostRow<'d>> {
    let Some(losing) = point.losing_connections(point.first_goal()) else {
        return Vec::new();
    };
    let examples = losing.connections.examples.iter().take(NAMED);
    let mut trial = Some(LosingTrial { point, losing });
    examples
        .map(|example| LostRow {
            trial: trial.take(),
            example,
        })
        .collect()
}
