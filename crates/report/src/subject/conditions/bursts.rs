//! The bursts of the trials of each point: how fast they left the tester.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::title;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::terms::Direction;
use sixbench_method::trial::BurstTimes;

/// The bursts of one direction in all trials of a point.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BurstTotals {
    pub(crate) direction: Direction,
    /// The frames of each burst.
    pub(crate) frames: u32,
    /// The bursts that were timed: whole ones.
    pub(crate) bursts: u64,
    /// The mean time that a burst took to leave the tester, nanoseconds; an upper bound. `None` if none was timed.
    pub(crate) mean_ns: Option<u64>,
    /// The longest such time, nanoseconds.
    pub(crate) longest_ns: Option<u64>,
}

/// Returns the totals of each direction that was sent in bursts.
pub(super) fn of_point(point: &PointDigest) -> Vec<BurstTotals> {
    [Direction::Forward, Direction::Reverse]
        .into_iter()
        .filter_map(|direction| of_direction(point, direction))
        .collect()
}

fn of_direction(point: &PointDigest, direction: Direction) -> Option<BurstTotals> {
    let times: Vec<BurstTimes> = point
        .in_direction(direction)
        .filter_map(|of| of.bursts)
        .collect();
    let bursts = times
        .iter()
        .map(|of| of.bursts)
        .fold(0, u64::saturating_add);
    let total_ns = times
        .iter()
        .map(|of| of.total_ns)
        .fold(0, u64::saturating_add);
    Some(BurstTotals {
        direction,
        frames: times.first()?.frames,
        bursts,
        mean_ns: total_ns.checked_div(bursts),
        longest_ns: times
            .iter()
            .filter(|of| of.bursts > 0)
            .map(|of| of.longest_ns)
            .max(),
    })
}

/// The bursts of one direction of a point.
pub(crate) struct SentBurstsRow<'d> {
    pub(crate) point: &'d PointDigest<'d>,
    pub(crate) totals: BurstTotals,
}

impl SentBurstsRow<'_> {
    /// Returns the frames per second within a burst, which are at least so many.
    fn rate(&self) -> Option<Cell> {
        let mean_ns = self.totals.mean_ns.filter(|ns| *ns > 0)?;
        let rate = f64::from(self.totals.frames) * 1e9 / mean_ns as f64;
        Some(Cell::Rate(rate).signed("≥\u{a0}"))
    }
}

/// Returns the directions in which points were sent bursts.
pub(crate) fn rows<'d>(digest: &'d Digest<'_>) -> impl Iterator<Item = SentBurstsRow<'d>> {
    digest.points.iter().flat_map(|point| {
        of_point(point)
            .into_iter()
            .map(move |totals| SentBurstsRow { point, totals })
    })
}

pub(super) fn table(digest: &Digest) -> Table {
    Table::new("Bursts within the trials", columns(), rows(digest)).with_note(
        "Of all trials of a point. The frames of a burst are handed to the port as fast as it takes them (RFC 2544 section 21); the times are from the first \
         frame to the return from the last one, so the rates are lower bounds. What the port and the kernel hold back is not in them.",
    )
}

fn columns<'d>() -> Vec<Column<'d, SentBurstsRow<'d>>> {
    vec![
        Column::text("Test", |row: &SentBurstsRow| title(row.point.test)),
        Column::number("Size", |row: &SentBurstsRow| row.point.size()),
        Column::text("Direction", |row: &SentBurstsRow| row.totals.direction),
        Column::number("Burst size", |row: &SentBurstsRow| {
            Cell::Count(row.totals.frames.into())
        }),
        Column::number("Bursts", |row: &SentBurstsRow| {
            Cell::Count(row.totals.bursts)
        }),
        Column::number("Mean time (ms)", |row: &SentBurstsRow| {
            row.totals.mean_ns.map(|ns| Cell::Milliseconds(ns as f64))
        }),
        Column::number("Longest (ms)", |row: &SentBurstsRow| {
            row.totals
                .longest_ns
                .map(|ns| Cell::Milliseconds(ns as f64))
        }),
        Column::number("Frames/s within a burst", SentBurstsRow::rate),
    ]
}
