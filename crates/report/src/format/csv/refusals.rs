//! `refusals.csv`: why frames were not delivered, as the devices say.

use super::column::FileColumn;
use super::run;
use crate::digest::Digest;
use crate::subject::refusals::{RefusalRow, rows};

/// Returns one row for each reason at each point; `None` if no device said anything.
pub(crate) fn refusals_csv(digest: &Digest<'_>) -> Option<String> {
    run::of_whole_run(digest, &columns(&digest.input.plan.name), rows(digest))
}

fn columns(plan: &str) -> [FileColumn<'_, RefusalRow<'_>>; 9] {
    [
        FileColumn::new("plan", move |_: &RefusalRow| plan),
        FileColumn::new("test", |row: &RefusalRow| row.point.test.name.clone()),
        FileColumn::new("frame_size_octets", |row: &RefusalRow| {
            row.point.point.frame_size
        }),
        FileColumn::optional("direction", |row: &RefusalRow| row.refusal.direction),
        FileColumn::new("frames", |row: &RefusalRow| row.refusal.frames),
        FileColumn::new("offered", |row: &RefusalRow| row.refusal.offered),
        FileColumn::new("missing", |row: &RefusalRow| row.refusal.missing),
        FileColumn::new("device_says", |row: &RefusalRow| row.refusal.what.clone()),
        FileColumn::optional("advice", |row: &RefusalRow| row.refusal.advice.clone()),
    ]
}
