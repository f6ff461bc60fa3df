//! Trials repeated at a rate that another test found.

use crate::digest::{Digest, PointDigest, RepeatedRate};
use crate::layout::table::{Column, Table};
use crate::wording::numbers::title;

const TITLE: &str = "Repeated at the rate that was found";

/// A test that repeats a rate.
struct RepeatedRow<'d> {
    point: &'d PointDigest<'d>,
    repeated: RepeatedRate<'d>,
}

/// Returns a row for each test that repeats a rate.
pub(super) fn table(digest: &Digest) -> Table {
    let idle = |row: &RepeatedRow| digest.idle_words(row.point, &row.repeated.trials);
    let evidence = [
        Column::number("Worst loss (%)", |row: &RepeatedRow| {
            row.repeated.worst_loss()
        }),
        Column::text("Idle time of the cores", idle),
    ];
    Table::new(TITLE, columns().into_iter().chain(evidence), rows(digest)).with_note(
        "Each repetition is one trial at the median of the searches of the test that found it. Passed: of the valid trials. Idle \
         time: of each core, the mean over these trials without the first and the last sample of each.",
    )
}

/// Does the same as [`table`] for a terminal, on which the verdict has the idle times.
pub(crate) fn narrow_table(digest: &Digest) -> Table {
    Table::new(TITLE, columns(), rows(digest))
}

fn columns<'d>() -> [Column<'d, RepeatedRow<'d>>; 4] {
    [
        Column::text("Test", |row: &RepeatedRow| title(row.point.test)),
        Column::number("Queries/s", |row: &RepeatedRow| row.repeated.rate()),
        Column::text("Found by", |row: &RepeatedRow| row.repeated.found_by()),
        Column::number("Passed", |row: &RepeatedRow| row.repeated.passed_of()),
    ]
}

fn rows<'d>(digest: &'d Digest<'d>) -> impl Iterator<Item = RepeatedRow<'d>> {
    digest
        .repeated_points()
        .map(|(point, repeated)| RepeatedRow { point, repeated })
}
