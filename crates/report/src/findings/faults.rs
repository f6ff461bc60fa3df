//! Where the tester fell short.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::faults::kind;
use crate::wording::numbers::title;
use std::collections::BTreeMap;

/// The faults of one kind at a point.
struct FaultRow<'d> {
    point: &'d PointDigest<'d>,
    kind: &'static str,
    times: u64,
    first: String,
}

/// Returns a table of the tester's faults, by point and kind, each with its first example.
pub(crate) fn table(digest: &Digest) -> Table {
    let columns = [
        Column::text("Test", |row: &FaultRow| title(row.point.test)),
        Column::number("Size", |row: &FaultRow| row.point.size()),
        Column::text("Fault", |row: &FaultRow| row.kind),
        Column::number("Times", |row: &FaultRow| Cell::Number(row.times)),
        Column::text("First example", |row: &FaultRow| row.first.clone()),
    ];
    Table::new("Where the tester fell short", columns, digest.points.iter().flat_map(fault_rows))
        .with_note(
            "A fault invalidates a trial only if it can explain what is missing; sending too slowly always invalidates it.",
        )
        .with_note_if(
            digest.has_faults_of_connections(),
            "Phase 1 incomplete, connections differ: not caused by the tester, but the trial did not take place as planned.",
        )
        .with_note_if(
            digest.has_faults_of_names(),
            "Names not resolved before, cache hits differ, too few names: not caused by the tester, but the trial did not take \
             place as planned.",
        )
}

fn fault_rows<'d>(point: &'d PointDigest<'d>) -> Vec<FaultRow<'d>> {
    let mut kinds: BTreeMap<&str, FaultRow> = BTreeMap::new();
    for fault in point.records.iter().flat_map(|r| &r.result.faults) {
        let kind = kind(fault);
        kinds
            .entry(kind)
            .or_insert_with(|| FaultRow {
                point,
                kind,
                times: 0,
                first: fault.to_string(),
            })
            .times += 1;
    }
    kinds.into_values().collect()
}
