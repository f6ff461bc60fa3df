//! `bursts.csv`: how the bursts of the trials left the tester, in each direction of a point.

use super::column::FileColumn;
use super::run;
use crate::digest::Digest;
use crate::subject::conditions::bursts::{SentBurstsRow, rows};

/// Returns one row for each direction of each point with bursts; `None` if there are none.
pub(crate) fn bursts_csv(digest: &Digest<'_>) -> Option<String> {
    run::of_whole_run(digest, &columns(&digest.input.plan.name), rows(digest))
}

fn columns(plan: &str) -> Vec<FileColumn<'_, SentBurstsRow<'_>>> {
    vec![
        FileColumn::new("plan", move |_: &SentBurstsRow| plan),
        FileColumn::new("test", |row: &SentBurstsRow| row.point.test.name.clone()),
        FileColumn::new("frame_size_octets", |row: &SentBurstsRow| {
            row.point.point.frame_size
        }),
        FileColumn::new("direction", |row: &SentBurstsRow| row.totals.direction),
        FileColumn::new("burst_size_frames", |row: &SentBurstsRow| row.totals.frames),
        FileColumn::new("bursts", |row: &SentBurstsRow| row.totals.bursts),
        FileColumn::optional("mean_burst_ns_at_most", |row: &SentBurstsRow| {
            row.totals.mean_ns
        }),
        FileColumn::optional("longest_burst_ns_at_most", |row: &SentBurstsRow| {
            row.totals.longest_ns
        }),
    ]
}
