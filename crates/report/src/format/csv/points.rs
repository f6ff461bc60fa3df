//! `points.csv`: one row for each planned point, with or without a result.

use super::column::{FileColumn, FileRow};
use super::run;
use super::{GROUP, anomalies, directions};
use crate::digest::{Digest, Headline, PointDigest};
use crate::findings::status::why;
use crate::span::Span;
use crate::wording::numbers::title;
use sixbench_method::anomaly;
use sixbench_method::status::PlannedPoint;

/// A planned point, with or without a result.
struct PointRow<'d> {
    point: &'d PointDigest<'d>,
    planned: &'d PlannedPoint<'d>,
    result: Option<Headline>,
    first_trial_started: String,
    last_trial_ended: String,
    anomalies: anomalies::AnomalyCounts,
    group: &'static str,
}

impl<'d> PointRow<'d> {
    /// Returns the row of a point; `None` if it was not planned.
    fn new(digest: &'d Digest<'d>, point: &'d PointDigest<'d>) -> Option<Self> {
        let [first_trial_started, last_trial_ended] =
            run::times(Span::of(point.records.iter().copied()));
        Some(Self {
            point,
            planned: point.planned(digest)?,
            result: point.result(digest),
            first_trial_started,
            last_trial_ended,
            anomalies: anomaly::counts(point.records.iter().copied()),
            group: digest.group(point.test).name(),
        })
    }
}

/// Returns every planned point with its status, its main number and its run, and a column `label_KEY` for each label of the run.
pub(crate) fn points_csv(digest: &Digest<'_>) -> String {
    let rows = digest.all_points().filter_map(|point| {
        let hosts = digest
            .hosts
            .of_points([&point.point])
            .into_iter()
            .collect::<Vec<_>>()
            .join(", ");
        Some(FileRow {
            hosts,
            row: PointRow::new(digest, point)?,
        })
    });
    run::of_columns(digest, &columns(&digest.input.plan.name), rows)
}

fn columns(plan: &str) -> Vec<FileColumn<'_, PointRow<'_>>> {
    let mut columns = vec![FileColumn::new("plan", move |_: &PointRow| plan)];
    columns.extend(test_columns());
    columns.extend(result_columns());
    columns.extend(run_columns());
    columns.extend(anomalies::file_columns(|row: &PointRow| &row.anomalies));
    columns.push(FileColumn::new(GROUP, |row: &PointRow| row.group));
    columns
}

fn test_columns<'d>() -> [FileColumn<'d, PointRow<'d>>; 9] {
    [
        FileColumn::new("test", |row: &PointRow| row.point.test.name.clone()),
        FileColumn::new("title", |row: &PointRow| title(row.point.test)),
        FileColumn::new("dut", |row: &PointRow| row.point.test.dut.clone()),
        FileColumn::new("frame_size_octets", |row: &PointRow| {
            row.point.point.frame_size
        }),
        FileColumn::new("directions", |row: &PointRow| directions(row.point.test)),
        FileColumn::new("measure", |row: &PointRow| row.point.test.measure.name()),
        FileColumn::new("status", |row: &PointRow| row.planned.status.name()),
        FileColumn::optional("reason", |row: &PointRow| row.planned.status.reason()),
        FileColumn::new("why", |row: &PointRow| why(row.planned)),
    ]
}

/// Returns the columns that are empty for a point without a result.
fn result_columns<'d>() -> [FileColumn<'d, PointRow<'d>>; 5] {
    [
        FileColumn::optional("quantity", |row: &PointRow| {
            Some(row.result.as_ref()?.quantity)
        }),
        FileColumn::optional("statistic", |row: &PointRow| {
            Some(row.result.as_ref()?.statistic)
        }),
        FileColumn::optional("value", |row: &PointRow| Some(row.result.as_ref()?.value)),
        FileColumn::optional("unit", |row: &PointRow| Some(row.result.as_ref()?.unit)),
        FileColumn::optional("load_frames_per_s_per_direction", |row: &PointRow| {
            Some(row.result.as_ref()?.load?.0)
        }),
    ]
}

fn run_columns<'d>() -> [FileColumn<'d, PointRow<'d>>; 6] {
    [
        FileColumn::new("repetitions_with_result", |row: &PointRow| {
            row.planned.repetitions.with_result
        }),
        FileColumn::new("repetitions_made", |row: &PointRow| {
            row.planned.repetitions.made
        }),
        FileColumn::new("repetitions_planned", |row: &PointRow| {
            row.planned.repetitions.planned
        }),
        FileColumn::new("trials", |row: &PointRow| row.point.records.len()),
        FileColumn::new("first_trial_started", |row: &PointRow| {
            row.first_trial_started.clone()
        }),
        FileColumn::new("last_trial_ended", |row: &PointRow| {
            row.last_trial_ended.clone()
        }),
    ]
}
