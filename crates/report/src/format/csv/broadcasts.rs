//! `broadcasts.csv`: the broadcast frames of the trials, in each direction of a point.

use super::column::FileColumn;
use super::run;
use crate::digest::Digest;
use crate::subject::conditions::broadcasts::{BroadcastRow, rows};

/// Returns one row for each direction of each point with broadcast frames; `None` if there are none.
pub(crate) fn broadcasts_csv(digest: &Digest<'_>) -> Option<String> {
    run::of_whole_run(digest, &columns(&digest.input.plan.name), rows(digest))
}

fn columns(plan: &str) -> Vec<FileColumn<'_, BroadcastRow<'_>>> {
    vec![
        FileColumn::new("plan", move |_: &BroadcastRow| plan),
        FileColumn::new("test", |row: &BroadcastRow| row.point.test.name.clone()),
        FileColumn::new("frame_size_octets", |row: &BroadcastRow| {
            row.point.point.frame_size
        }),
        FileColumn::new("direction", |row: &BroadcastRow| row.totals.direction),
        FileColumn::new("trials", |row: &BroadcastRow| row.totals.trials),
        FileColumn::new("sent", |row: &BroadcastRow| row.totals.sent),
        FileColumn::new("forwarded", |row: &BroadcastRow| row.totals.forwarded),
    ]
}
