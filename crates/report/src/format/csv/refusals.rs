//! `refusals.csv`: why frames were not delivered, as the devices say.

use super::column::{FileColumn, FileRow};
use super::run;
use crate::digest::Digest;
use crate::subject::refusals::{RefusalRow, rows};

/// Returns one row for each reason at each point; `None` if no device said anything.
pub(crate) fn refusals_csv(digest: &Digest<'_>) -> Option<String> {
    let plan = digest.input.plan.name.as_str();
    let rows: Vec<_> = rows(digest)
        .map(|row| FileRow {
            hosts: String::new(),
            row,
        })
        .collect();
    (!rows.is_empty()).then(|| run::of_columns(digest, &columns(plan), rows))
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
