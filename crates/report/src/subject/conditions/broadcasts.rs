//! The broadcast frames of the trials of each point.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::title;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::terms::Direction;
use sixbench_method::trial::BroadcastCounts;

/// The broadcast frames of one direction in all trials of a point.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BroadcastTotals {
    pub(crate) direction: Direction,
    /// Trials.
    pub(crate) trials: u64,
    /// Frames to the hardware broadcast address that left the tester.
    pub(crate) sent: u64,
    /// Broadcast frames of the trials, of either direction, that arrived where this direction is received.
    pub(crate) forwarded: u64,
}

/// Returns the totals of each direction in which there were broadcast frames.
pub(super) fn of_point(point: &PointDigest) -> Vec<BroadcastTotals> {
    [Direction::Forward, Direction::Reverse]
        .into_iter()
        .filter_map(|direction| of_direction(point, direction))
        .collect()
}

fn of_direction(point: &PointDigest, direction: Direction) -> Option<BroadcastTotals> {
    let counts: Vec<BroadcastCounts> = point
        .in_direction(direction)
        .filter_map(|of| of.broadcasts)
        .collect();
    (!counts.is_empty()).then(|| BroadcastTotals {
        direction,
        trials: counts.len() as u64,
        sent: counts.iter().map(|of| of.sent).fold(0, u64::saturating_add),
        forwarded: counts
            .iter()
            .map(|of| of.forwarded)
            .fold(0, u64::saturating_add),
    })
}

/// The broadcast frames of one direction of a point.
pub(crate) struct BroadcastRow<'d> {
    pub(crate) point: &'d PointDigest<'d>,
    pub(crate) totals: BroadcastTotals,
}

/// Returns the directions in which points had broadcast frames.
pub(crate) fn rows<'d>(digest: &'d Digest<'_>) -> impl Iterator<Item = BroadcastRow<'d>> {
    digest.points.iter().flat_map(|point| {
        of_point(point)
            .into_iter()
            .map(move |totals| BroadcastRow { point, totals })
    })
}

pub(super) fn table(digest: &Digest) -> Table {
    Table::new("Broadcast frames within the trials", columns(), rows(digest)).with_note(
        "Of all trials of a point. Frames to the hardware broadcast address, of an EtherType that no router processes (RFC 2544 section 11.1), each in place of \
         a test frame. No other count contains them: they are neither offered nor lost. Forwarded: by a router none, by a bridge all.",
    )
}

fn columns<'d>() -> Vec<Column<'d, BroadcastRow<'d>>> {
    vec![
        Column::text("Test", |row: &BroadcastRow| title(row.point.test)),
        Column::number("Size", |row: &BroadcastRow| row.point.size()),
        Column::text("Direction", |row: &BroadcastRow| row.totals.direction),
        Column::number("Trials", |row: &BroadcastRow| {
            Cell::Count(row.totals.trials)
        }),
        Column::number("Sent", |row: &BroadcastRow| Cell::Count(row.totals.sent)),
        Column::number("Forwarded", |row: &BroadcastRow| {
            Cell::Count(row.totals.forwarded)
        }),
    ]
}
