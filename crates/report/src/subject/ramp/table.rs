//! The frames of the ramps before the trials of each point.

use super::totals::{RampTotals, of_point};
use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::title;
use sixbench_method::lists::each_once;

/// The ramps of one direction of a point.
pub(crate) struct RampRow<'d> {
    pub(crate) point: &'d PointDigest<'d>,
    pub(crate) totals: RampTotals,
}

/// Returns a row for each direction of each point with ramps.
pub(crate) fn rows<'d>(digest: &'d Digest<'d>) -> impl Iterator<Item = RampRow<'d>> {
    digest.points.iter().flat_map(|point| {
        of_point(point)
            .into_iter()
            .map(move |totals| RampRow { point, totals })
    })
}

/// Returns a sentence that names the tests with ramps; `None` if there are none.
pub(super) fn sentence(digest: &Digest) -> Option<String> {
    let with_ramps = rows(digest).map(|row| title(row.point.test));
    let names = each_once(with_ramps);
    (!names.is_empty()).then(|| {
        format!(
            "Test frames at a rising load went before each trial of {}, and count apart: this is not the procedure of RFC 2544, whose trials include the \
             first frames that a device sees.",
            names.join(", ")
        )
    })
}

pub(super) fn table(digest: &Digest) -> Table {
    Table::new("Frames of the ramps before the trials", columns(), rows(digest)).with_note(
        "Of all trials of a point. The load rises to that of the trial, which begins after the pause. These frames are verified like those of the trials, and \
         no other number contains them: not a procedure of RFC 2544.",
    )
}

fn columns<'d>() -> Vec<Column<'d, RampRow<'d>>> {
    vec![
        Column::text("Test", |row: &RampRow| title(row.point.test)),
        Column::number("Size", |row: &RampRow| row.point.size()),
        Column::text("Direction", |row: &RampRow| row.totals.direction),
        Column::number("Ramp", |row: &RampRow| Cell::Time(row.totals.duration_ns)),
        Column::number("Ramps", |row: &RampRow| Cell::Count(row.totals.ramps)),
        Column::number("With loss", |row: &RampRow| {
            Cell::Count(row.totals.ramps_with_loss)
        }),
        Column::number("Offered", |row: &RampRow| Cell::Count(row.totals.offered)),
        Column::number("Received", |row: &RampRow| Cell::Count(row.totals.received)),
        Column::number("Lost", |row: &RampRow| Cell::Count(row.totals.lost)),
        Column::number("Wrong", |row: &RampRow| {
            Cell::Count(row.totals.mistranslated + row.totals.corrupt)
        }),
        Column::number("Longest pause (ms)", |row: &RampRow| {
            Cell::Milliseconds(row.totals.longest_pause_ns as f64)
        }),
    ]
}
