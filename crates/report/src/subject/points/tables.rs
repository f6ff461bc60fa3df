//! Every planned point with its status: the only complete table.

use crate::digest::{Digest, PointDigest, result_is};
use crate::findings::status::{counted, status, why};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::title;
use sixbench_method::lists::each_once;
use sixbench_method::status::PlannedPoint;

/// A planned point.
struct PlannedRow<'d> {
    point: &'d PointDigest<'d>,
    device: &'d str,
    planned: Option<&'d PlannedPoint<'d>>,
    result: Option<String>,
}

pub(super) fn table(digest: &Digest) -> Table {
    let rows = digest.all_points().map(|point| PlannedRow {
        point,
        device: digest.dut_title(point.test),
        planned: point.planned(digest),
        result: point.result(digest).map(|result| result.shown),
    });
    Table::new("Every planned point", columns(), rows)
        .with_note(format!("{}.", counted(digest)))
        .with_note("n: repetitions with a result.")
}

fn columns<'d>() -> Vec<Column<'d, PlannedRow<'d>>> {
    vec![
        Column::text("Name", |row: &PlannedRow| row.point.test.name.clone()),
        Column::text("Test", |row: &PlannedRow| title(row.point.test)),
        Column::text("Device", |row: &PlannedRow| row.device),
        Column::number("Size", |row: &PlannedRow| row.point.size()),
        Column::text("Measure", |row: &PlannedRow| row.point.test.measure.name()),
        Column::text("Status", |row: &PlannedRow| {
            row.planned.map(|planned| status(&planned.status))
        }),
        Column::number("Result", |row: &PlannedRow| row.result.clone()),
        Column::number("n", |row: &PlannedRow| {
            Cell::Number(
                row.planned
                    .map_or(0, |planned| planned.repetitions.with_result.into()),
            )
        }),
        Column::text("Why", |row: &PlannedRow| {
            row.planned.map(why).filter(|why| !why.is_empty())
        }),
    ]
}

/// What the results of a measure are.
struct MeaningRow {
    measure: &'static str,
    meaning: String,
}

/// Returns a table of what the column of results shows for each measure of the run.
pub(super) fn meanings(digest: &Digest) -> Table {
    let of_tests = digest
        .all_points()
        .map(|point| (point.test.measure.name(), result_is(&point.test.measure)));
    let rows = each_once(of_tests)
        .into_iter()
        .map(|(measure, meaning)| MeaningRow { measure, meaning });
    let columns = [
        Column::text("Measure", |row: &MeaningRow| row.measure),
        Column::text("Result is", |row: &MeaningRow| row.meaning.clone()),
    ];
    Table::new("What the results are", columns, rows)
}
