//! A history as JSON: `history.json`, and the data of the page's script.

use super::tested::TestedHistory;
use super::{requirements, words};
use crate::wording::amount;
use serde_json::{Map, Value, json};
use sixbench_analysis::history::{HistorySeries, SeriesPoint};
use sixbench_stats::shift_rank;
use std::collections::BTreeSet;

/// The version of the format of `history.json`.
const FORMAT: u32 = 1;

/// Returns a history as JSON, with the keys of docs/HISTORY.md.
pub(super) fn value(document: &TestedHistory<'_>) -> Value {
    let input = document.input;
    let runs = input.runs.iter().map(|run| {
        json!({
            "name": run.name, "started": run.started, "directory": run.directory, "report": run.link,
            "labels": run.facts.labels, "sixbench": run.facts.sixbench, "changed": run.changed,
        })
    });
    json!({
        "format": FORMAT,
        "title": input.title,
        "label": input.label,
        "runs": runs.collect::<Vec<_>>(),
        "series": document.series.iter().enumerate().map(|(index, series)| of_series(index, series)).collect::<Vec<_>>(),
        "requirements": requirements::value(document),
        "ranks": ranks(&document.series),
        "skipped": input.skipped,
    })
}

fn of_series(index: usize, series: &HistorySeries<'_>) -> Value {
    let frame_size = words::has_size(series.test).then_some(series.frame_size);
    let changes = series.changes.iter().map(|change| {
        let mut value = json!(change);
        if let Some(fields) = value.as_object_mut() {
            fields.remove("at");
            fields.insert("run".to_owned(), json!(series.points[change.at].entry));
        }
        value
    });
    json!({
        "id": words::id(index),
        "name": words::name(series),
        "test": series.test.name,
        "device": series.test.dut,
        "measure": series.test.measure.name(),
        "frame_size": frame_size,
        "title": series.subject.to_string(),
        "unit": series.subject.unit(),
        "is_higher_better": series.subject.is_higher_better(),
        "is_tested": series.is_tested(),
        "usual_ratio": series.usual_ratio,
        "points": series.points.iter().map(|point| of_point(series, point)).collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn of_point(series: &HistorySeries<'_>, point: &SeriesPoint) -> Value {
    json!({
        "run": point.entry,
        "median": point.summary.median,
        "interval": point.interval,
        "values": point.values,
        "is_at_least": point.is_at_least,
        "is_at_most": point.is_at_most,
        "shown": amount::show(&series.subject, point.summary.median),
    })
}

/// Returns the ranks at which the interval of a ratio begins, by the numbers of repetitions of two runs: `{"7,7": 9}`.
fn ranks(series: &[HistorySeries<'_>]) -> Value {
    let numbers: BTreeSet<usize> = series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.values.len())
        .collect();
    let pairs = numbers
        .iter()
        .flat_map(|m| numbers.iter().map(move |n| (*m, *n)));
    let of_pair = |(m, n): (usize, usize)| Some((format!("{m},{n}"), json!(shift_rank(m, n)?)));
    Value::Object(pairs.filter_map(of_pair).collect::<Map<_, _>>())
}
