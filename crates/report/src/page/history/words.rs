//! The changes of a history in words.

use super::requirements;
use super::tested::TestedHistory;
use crate::wording::amount;
use crate::wording::numbers::{count, title};
use serde::Serialize;
use sixbench_analysis::history::{HistorySeries, LevelChange};
use sixbench_method::plan::Test;
use sixbench_stats::fewest_values;

/// A change, as in the page's table.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ChangeRow {
    /// The first run after the change.
    pub(super) run: String,
    /// The anchor of the series.
    pub(super) id: String,
    pub(super) series: String,
    pub(super) before: String,
    pub(super) after: String,
    /// The effect with its interval.
    pub(super) effect: String,
    pub(super) verdict: &'static str,
    pub(super) p: String,
    /// The other changes since the run before, in words.
    pub(super) changed: Vec<String>,
    pub(super) sentence: String,
}

/// Returns the name of a series: device, quantity and frame size.
pub(super) fn name(series: &HistorySeries<'_>) -> String {
    let size = if has_size(series.test) {
        format!(", {}", series.test.size_in_words(series.frame_size))
    } else {
        String::new()
    };
    format!("{}: {}{size}", title(series.test), series.subject)
}

/// Returns whether a series is one of frames of a size of the plan.
pub(super) fn has_size(test: &Test) -> bool {
    test.measure.family().has_frame_sizes()
}

/// Returns the anchor of the series with this index.
pub(super) fn id(index: usize) -> String {
    format!("series-{}", index + 1)
}

/// Returns what the history shows: a sentence on requirements, if there are any, and one on numbers.
pub(super) fn headline(document: &TestedHistory<'_>) -> String {
    let tested: Vec<&HistorySeries> = document
        .series
        .iter()
        .filter(|series| series.is_tested())
        .collect();
    let of_requirements = requirements::headline(document);
    if tested.is_empty() {
        let runs = || count(document.input.runs.len() as u64, "run");
        return of_requirements.unwrap_or_else(|| format!("{} so far", runs()));
    }
    let of_series = of_series(document, &tested);
    of_requirements.map_or_else(
        || of_series.clone(),
        |requirements| format!("{requirements}. {of_series}"),
    )
}

fn of_series(document: &TestedHistory<'_>, tested: &[&HistorySeries]) -> String {
    let changes: Vec<ChangeRow> = changes(document);
    let runs = count(document.input.runs.len() as u64, "run");
    let (all, fewest) = (tested.len(), fewest_values(tested.len()));
    let lengths = tested.iter().map(|series| series.points.len());
    let longest = lengths.max().unwrap_or(0);
    let series = count(all as u64, "series");
    let of = format!("{series} over {runs}");
    match changes.as_slice() {
        [] if longest < fewest => {
            let so_far = count(longest as u64, "run");
            format!("{so_far} so far; a change in {series} can be shown from {fewest} runs on")
        }
        [] => format!("No change is shown in {of}"),
        [only] => format!("One change in {of}: {}", only.sentence),
        many => format!("{} changes in {of}", many.len()),
    }
}

/// Returns the changes of all series, in the order of their runs.
pub(super) fn changes(document: &TestedHistory<'_>) -> Vec<ChangeRow> {
    let mut found: Vec<(usize, ChangeRow)> = Vec::new();
    for (index, series) in document.series.iter().enumerate() {
        let rows = series.changes.iter().map(|change| {
            (
                series.points[change.at].entry,
                row(document, index, series, change),
            )
        });
        found.extend(rows);
    }
    found.sort_by_key(|(entry, _)| *entry);
    found.into_iter().map(|(_, row)| row).collect()
}

fn row(
    document: &TestedHistory<'_>,
    index: usize,
    series: &HistorySeries<'_>,
    change: &LevelChange,
) -> ChangeRow {
    // Any runs between the two did not measure this series.
    let (before, at) = (
        series.points[change.at - 1].entry,
        series.points[change.at].entry,
    );
    let runs = &document.input.runs;
    let changed = document.changed_between(before, at);
    let (verdict, effect) = (
        if change.is_better { "better" } else { "worse" },
        effect(change),
    );
    let way = if change.after > change.before {
        "rose"
    } else {
        "fell"
    };
    let perhaps = match changed.as_slice() {
        [] => String::new(),
        changed => format!(
            "; also new there, so it is perhaps not the device's: {}",
            changed.join("; ")
        ),
    };
    let size =
        relative(change).map_or_else(String::new, |percent| format!(" by {:.1} %", percent.abs()));
    let sentence = format!(
        "{} {way}{size} at {} ({verdict}){perhaps}",
        name(series),
        runs[at].name
    );
    ChangeRow {
        run: runs[at].name.clone(),
        id: id(index),
        series: name(series),
        before: amount::show(&series.subject, change.before),
        after: amount::show(&series.subject, change.after),
        effect,
        verdict,
        p: if change.p_value < 0.001 {
            "< 0.001".to_owned()
        } else {
            format!("{:.3}", change.p_value)
        },
        changed,
        sentence,
    }
}

/// Returns the change in per cent of the level before; `None` if that is zero.
pub(super) fn relative(change: &LevelChange) -> Option<f64> {
    (change.before > 0.0).then(|| (change.after / change.before - 1.0) * 100.0)
}

fn effect(change: &LevelChange) -> String {
    let Some(percent) = relative(change) else {
        return "–".to_owned();
    };
    let interval = change.shift.map(|shift| {
        let end = |ratio: f64| format!("{:+.1}", (ratio - 1.0) * 100.0);
        format!(" [{}, {}]", end(shift.low), end(shift.high))
    });
    format!("{percent:+.1}{} %", interval.unwrap_or_default())
}
