//! `sizes.csv`: the frames of each size of a mix, in each direction of a point.

use super::column::FileColumn;
use super::run;
use crate::digest::Digest;
use crate::subject::sizes::totals::SizeTotals;
use crate::subject::sizes::{FrameSizeRow, rows};

/// Returns one row for each size in each direction of each point with a mix of sizes; `None` if there are none.
pub(crate) fn sizes_csv(digest: &Digest<'_>) -> Option<String> {
    run::of_whole_run(digest, &columns(&digest.input.plan.name), rows(digest))
}

fn total<'c>(
    name: &'static str,
    number: fn(&SizeTotals) -> u64,
) -> FileColumn<'c, FrameSizeRow<'c>> {
    FileColumn::new(name, move |row: &FrameSizeRow| number(&row.totals))
}

fn columns(plan: &str) -> Vec<FileColumn<'_, FrameSizeRow<'_>>> {
    vec![
        FileColumn::new("plan", move |_: &FrameSizeRow| plan),
        FileColumn::new("test", |row: &FrameSizeRow| row.point.test.name.clone()),
        FileColumn::optional("mix", |row: &FrameSizeRow| {
            let mix = row.point.test.traffic.size_mix;
            mix.map(|mix| mix.to_string())
        }),
        FileColumn::new("direction", |row: &FrameSizeRow| row.totals.direction),
        FileColumn::new("frame_size_octets", |row: &FrameSizeRow| {
            row.totals.frame_size
        }),
        total("trials", |of| of.trials),
        total("trials_with_loss", |of| of.trials_with_loss),
        total("offered", |of| of.offered),
        total("not_received", |of| of.not_received),
    ]
}
