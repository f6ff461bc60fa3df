//! Every planned point with its status: the only complete table.

use crate::digest::{Digest, PointDigest, result_is};
use crate::findings::status::{counted, status, why};
use crate::layout::table::Table;
use crate::wording::numbers::{size_cell, title};
use sixbench_method::lists::each_once;

pub(crate) fn table(digest: &Digest) -> Table {
    let columns = ["Name", "Test", "Device", "#Size", "Measure", "Status", "#Result", "#n", "Why"];
    Table::new("Every planned point", columns)
        .with_rows(digest.all_points().map(|point| row(digest, point)))
        .with_note(format!("{}.", counted(digest)))
        .with_note("n: repetitions with a result.")
}

/// Returns a table of what the column of results shows for each measure of the run.
pub(crate) fn meanings(digest: &Digest) -> Table {
    let of_tests = digest.all_points().map(|point| (point.test.measure.name().to_owned(), result_is(&point.test.measure)));
    let rows = each_once(of_tests).into_iter().map(|(measure, meaning)| vec![measure, meaning]);
    Table::new("What the results are", ["Measure", "Result is"]).with_rows(rows)
}

fn row(digest: &Digest, point: &PointDigest) -> Vec<String> {
    let (test, planned) = (point.test, point.planned(digest));
    vec![
        test.name.clone(),
        title(test),
        digest.dut_title(test).to_owned(),
        size_cell(point.size()),
        test.measure.name().to_owned(),
        planned.map_or("–", |planned| status(&planned.status)).to_owned(),
        point.result(digest).map_or("–".to_owned(), |result| result.shown),
        planned.map_or(0, |planned| planned.repetitions.with_result).to_string(),
        planned.map(why).filter(|why| !why.is_empty()).unwrap_or_else(|| "–".to_owned()),
    ]
}
