//! The frames of each size of a mix, in each direction of a point.

use super::totals::{SizeTotals, of_point};
use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::title;

/// One size in one direction of a point.
pub(crate) struct FrameSizeRow<'d> {
    pub(crate) point: &'d PointDigest<'d>,
    pub(crate) totals: SizeTotals,
}

/// Returns a row for each size in each direction of each point with a mix of sizes.
pub(crate) fn rows<'d>(digest: &'d Digest<'d>) -> impl Iterator<Item = FrameSizeRow<'d>> {
    digest.points.iter().flat_map(|point| {
        of_point(point)
            .into_iter()
            .map(move |totals| FrameSizeRow { point, totals })
    })
}

pub(super) fn table(digest: &Digest) -> Table {
    Table::new("Frames of each size of a mix", columns(), rows(digest)).with_note(
        "Of all trials of a point. Size: octets of the IPv6 frame with FCS; the IPv4 frame of the same name is 20 shorter. Not received: frames of this size \
         that did not come back right in every field and in time, each counted by its number.",
    )
}

fn columns<'d>() -> Vec<Column<'d, FrameSizeRow<'d>>> {
    vec![
        Column::text("Test", |row: &FrameSizeRow| title(row.point.test)),
        Column::text("Direction", |row: &FrameSizeRow| row.totals.direction),
        Column::number("Size", |row: &FrameSizeRow| row.totals.frame_size),
        Column::number("Trials", |row: &FrameSizeRow| {
            Cell::Count(row.totals.trials)
        }),
        Column::number("With loss", |row: &FrameSizeRow| {
            Cell::Count(row.totals.trials_with_loss)
        }),
        Column::number("Offered", |row: &FrameSizeRow| {
            Cell::Count(row.totals.offered)
        }),
        Column::number("Not received", |row: &FrameSizeRow| {
            Cell::Count(row.totals.not_received)
        }),
        Column::number("Loss", |row: &FrameSizeRow| {
            row.totals.loss_ratio().map(Cell::Share)
        }),
    ]
}
