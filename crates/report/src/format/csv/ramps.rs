//! `ramps.csv`: the frames of the ramps before the trials of each point.

use super::column::FileColumn;
use super::run;
use crate::digest::Digest;
use crate::subject::ramp::totals::RampTotals;
use crate::subject::ramp::{RampRow, rows};

/// Returns one row for each direction of each point with ramps; `None` if there are none.
pub(crate) fn ramps_csv(digest: &Digest<'_>) -> Option<String> {
    run::of_whole_run(digest, &columns(&digest.input.plan.name), rows(digest))
}

fn total<'c>(name: &'static str, number: fn(&RampTotals) -> u64) -> FileColumn<'c, RampRow<'c>> {
    FileColumn::new(name, move |row: &RampRow| number(&row.totals))
}

fn columns(plan: &str) -> Vec<FileColumn<'_, RampRow<'_>>> {
    vec![
        FileColumn::new("plan", move |_: &RampRow| plan),
        FileColumn::new("test", |row: &RampRow| row.point.test.name.clone()),
        FileColumn::new("frame_size_octets", |row: &RampRow| {
            row.point.point.frame_size
        }),
        FileColumn::new("direction", |row: &RampRow| row.totals.direction),
        total("ramp_ns", |of| of.duration_ns),
        total("ramps", |of| of.ramps),
        total("ramps_with_loss", |of| of.ramps_with_loss),
        total("offered", |of| of.offered),
        total("received", |of| of.received),
        total("lost", |of| of.lost),
        total("late", |of| of.late),
        total("mistranslated", |of| of.mistranslated),
        total("corrupt", |of| of.corrupt),
        total("duplicate", |of| of.duplicate),
        total("reordered", |of| of.reordered),
        total("longest_pause_ns", |of| of.longest_pause_ns),
    ]
}
