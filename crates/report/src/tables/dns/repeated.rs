//! Trials repeated at a rate that another test found.

use crate::digest::Digest;
use crate::layout::table::Table;
use crate::wording::numbers::title;

const TITLE: &str = "Repeated at the rate that was found";

/// Returns a row for each test that repeats a rate.
pub(super) fn table(digest: &Digest) -> Table {
    let columns = ["Test", "#Queries/s", "Found by", "#Passed", "#Worst loss (%)", "Idle time of the cores"];
    let rows = digest.repeated_points().map(|(point, repeated)| {
        let idle = digest.idle_words(point, &repeated.trials);
        [title(point.test), repeated.rate(), repeated.found_by(), repeated.passed_of(), repeated.worst_loss(), idle].to_vec()
    });
    Table::new(TITLE, columns).with_rows(rows).with_note(
        "Each repetition is one trial at the median of the searches of the test that found it. Passed: of the valid trials. Idle \
         time: of each core, the mean over these trials without the first and the last sample of each.",
    )
}

/// Does the same as [`table`] for a terminal, on which the verdict has the idle times.
pub(crate) fn narrow_table(digest: &Digest) -> Table {
    let row = |(point, repeated): (&crate::digest::PointDigest, crate::digest::RepeatedRate)| {
        vec![title(point.test), repeated.rate(), repeated.found_by(), repeated.passed_of()]
    };
    Table::new(TITLE, ["Test", "#Queries/s", "Found by", "#Passed"]).with_rows(digest.repeated_points().map(row))
}
