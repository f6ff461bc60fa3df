//! `points.csv`: one row for each planned point, with or without a result.

use super::{GROUP, anomalies, directions, run};
use crate::digest::{Digest, PointDigest};
use crate::findings::status::why;
use crate::span::Span;
use crate::wording::numbers::title;
use sixbench_method::anomaly;
use sixbench_method::status::PlannedPoint;

const COLUMNS: &str = "plan,test,title,dut,frame_size_octets,directions,measure,status,reason,why,quantity,statistic,value,unit,\
     load_frames_per_s_per_direction,repetitions_with_result,repetitions_made,repetitions_planned,trials,first_trial_started,\
     last_trial_ended";

/// Returns the names of the columns.
fn columns() -> String {
    format!("{COLUMNS},{},{GROUP}", anomalies::columns())
}

/// Returns every planned point with its status, its main number and its run, and a column `label_KEY` for each label of the run.
pub(crate) fn points_csv(digest: &Digest<'_>) -> String {
    let rows = digest.all_points().filter_map(|point| {
        let on = digest.hosts.of_points([&point.point]).into_iter().collect::<Vec<_>>().join(", ");
        Some((on, row(digest, point, point.planned(digest)?)))
    });
    run::file(digest, &columns(), rows)
}

fn row(digest: &Digest, point: &PointDigest, planned: &PlannedPoint) -> Vec<String> {
    let test = point.test;
    let mut row = vec![
        digest.input.plan.name.clone(),
        test.name.clone(),
        title(test),
        test.dut.clone(),
        point.point.frame_size.to_string(),
        directions(test),
        test.measure.name().to_owned(),
        planned.status.name().to_owned(),
        planned.status.reason().unwrap_or_default().to_owned(),
        why(planned),
    ];
    row.extend(number(digest, point));
    let repetitions = planned.repetitions;
    row.extend([repetitions.with_result, repetitions.made, repetitions.planned].map(|n| n.to_string()));
    row.push(point.records.len().to_string());
    row.extend(run::times(Span::of(point.records.iter().copied())));
    row.extend(anomalies::cells(Some(&anomaly::counts(point.records.iter().copied()))));
    row.push(digest.group(test).name().to_owned());
    row
}

/// Returns quantity, statistic, value, unit and load; empty for a point without a result.
fn number(digest: &Digest, point: &PointDigest) -> [String; 5] {
    match point.result(digest) {
        Some(result) => [
            result.quantity.to_owned(),
            result.statistic.to_owned(),
            result.value.to_string(),
            result.unit.to_owned(),
            result.load.map(|load| load.0.to_string()).unwrap_or_default(),
        ],
        None => Default::default(),
    }
}
