//! The columns of anomalies in `results.csv` and `points.csv`: the number of frames of each kind.

use super::column::FileColumn;
use sixbench_method::anomaly;
use sixbench_method::plan::Point;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::AnomalyKind;
use std::collections::{BTreeMap, HashMap};

/// The number of frames of each kind; without those that are zero.
pub(super) type AnomalyCounts = BTreeMap<AnomalyKind, u64>;

/// Returns the names of the columns.
pub(super) fn columns() -> String {
    AnomalyKind::ALL
        .iter()
        .map(|kind| kind.name())
        .collect::<Vec<_>>()
        .join(",")
}

/// Returns the columns for rows with counts.
pub(super) fn file_columns<'c, Row: 'c>(
    counts: fn(&Row) -> &AnomalyCounts,
) -> impl Iterator<Item = FileColumn<'c, Row>> {
    AnomalyKind::ALL.iter().map(move |kind| {
        FileColumn::new(kind.name(), move |row: &Row| {
            counts(row).get(kind).copied().unwrap_or(0)
        })
    })
}

/// Returns the cells of a row.
pub(super) fn cells(counts: Option<&AnomalyCounts>) -> impl Iterator<Item = String> {
    let count = move |kind| {
        counts
            .and_then(|counts| counts.get(kind))
            .copied()
            .unwrap_or(0)
    };
    AnomalyKind::ALL
        .iter()
        .map(move |kind| count(kind).to_string())
}

/// Returns the counts of each repetition that has some, over all of its trials.
pub(super) fn by_repetition(records: &[TrialRecord]) -> HashMap<(&Point, u32), AnomalyCounts> {
    let mut found: HashMap<(&Point, u32), AnomalyCounts> = HashMap::new();
    for record in records {
        for (kind, frames) in anomaly::counts(std::iter::once(record)) {
            let sum = found
                .entry((&record.point, record.repetition))
                .or_default()
                .entry(kind)
                .or_default();
            *sum = sum.saturating_add(frames);
        }
    }
    found
}
