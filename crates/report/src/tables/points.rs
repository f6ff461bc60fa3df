//! Every planned point with its status: the only complete table.

use crate::digest::{Digest, PointDigest};
use crate::numbers::{size_cell, title};
use crate::status::{counted, status, why};
use crate::table::Table;

pub(crate) fn table(digest: &Digest) -> Table {
    let columns = ["Name", "Test", "DUT", "#Size", "Measure", "Status", "#Result", "#n", "Why"];
    Table::new("Every planned point", columns)
        .with_rows(digest.all_points().map(|point| row(digest, point)))
        .with_note(format!("{}.", counted(digest)))
        .with_note(
            "Result: the median of the repetitions, in the worse direction (for latency TL, for IPDV its maximum, for the \
             frame loss rate that at the highest rate); for bursts, recovery and reset the average. n: repetitions with a \
             result. If the DUT lost frames even at the lowest load, that is a result, too: 0.",
        )
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
