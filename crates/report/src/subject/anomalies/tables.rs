//! Anomalous frames by test and kind, by their first wrong field, and examples of them.

use crate::digest::Digest;
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::title;
use sixbench_method::measures::Family;
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{AnomalyKind, DirectionResult};
use std::collections::BTreeMap;

/// Returns the heading of the column of a kind of anomaly.
fn heading(kind: AnomalyKind) -> &'static str {
    match kind {
        AnomalyKind::Late => "Late",
        AnomalyKind::Mistranslated => "Mistranslated",
        AnomalyKind::Corrupt => "Corrupt",
        AnomalyKind::Duplicate => "Duplicate",
        AnomalyKind::Reordered => "Reordered",
        AnomalyKind::Defective => "Defective",
        AnomalyKind::Foreign => "Foreign",
        AnomalyKind::Icmp => "ICMP",
        AnomalyKind::Fragments => "Fragments",
        AnomalyKind::Misdirected => "Misdirected",
        AnomalyKind::Refused => "Refused",
    }
}

/// Returns a table of the frames that were neither correct nor simply lost.
pub(super) fn anomalies(digest: &Digest) -> Table {
    let of_frames = digest
        .input
        .plan
        .tests
        .iter()
        .filter(|test| match test.measure.family() {
            // The outcomes of queries and of vectors have separate tables.
            Family::Queries | Family::Vectors => false,
            Family::Frames | Family::Requests | Family::PhaseOne | Family::Tcp => true,
        });
    let tests = of_frames.filter(|test| directions(digest, test).next().is_some());
    let counts = AnomalyKind::ALL.iter().map(|&kind| {
        Column::number(heading(kind), move |test: &&Test| {
            Cell::Count(
                directions(digest, test)
                    .map(|of| kind.count(of))
                    .fold(0, u64::saturating_add),
            )
        })
    });
    let columns = std::iter::once(Column::text("Test", |test: &&Test| title(test))).chain(counts);
    Table::new("Frames that were neither correct nor simply lost", columns, tests).with_note(
        "Frames in all trials, losing ones included. Defective: with a defect that the recipe names, otherwise correct; \
         counted as received. Refused: the link had no room because the device's receive queue was full. Foreign: not test \
         frames, ignored (RFC 2544 section 10); ICMP and fragments are among them.",
    )
}

/// The frames of a test in one direction that were wrong first in one field.
struct FieldRow<'d> {
    test: &'d Test,
    direction: Direction,
    field: &'d str,
    frames: u64,
}

/// Returns a table of the wrong frames of each test by the first wrong field.
pub(super) fn wrong_fields(digest: &Digest) -> Table {
    let columns = [
        Column::text("Test", |row: &FieldRow| title(row.test)),
        Column::text("Direction", |row: &FieldRow| row.direction),
        Column::text("Field", |row: &FieldRow| row.field),
        Column::number("Frames", |row: &FieldRow| Cell::Count(row.frames)),
    ];
    let rows = digest
        .input
        .plan
        .tests
        .iter()
        .flat_map(|test| field_rows(digest, test));
    Table::new("Wrong fields", columns, rows).with_note(
        "Mistranslated and corrupt frames in all trials, losing ones included, each under the first of its fields that was not as it must be.",
    )
}

fn field_rows<'d>(digest: &'d Digest, test: &'d Test) -> Vec<FieldRow<'d>> {
    let mut fields: BTreeMap<_, u64> = BTreeMap::new();
    for direction in directions(digest, test) {
        for (field, frames) in &direction.wrong_fields {
            *fields.entry((direction.direction, field)).or_default() += frames;
        }
    }
    fields
        .into_iter()
        .map(|((direction, field), frames)| FieldRow {
            test,
            direction,
            field,
            frames,
        })
        .collect()
}

/// Returns the trials of all points of a test.
fn records<'d>(digest: &'d Digest, test: &Test) -> impl Iterator<Item = &'d TrialRecord> {
    let name = test.name.clone();
    let points = digest
        .all_points()
        .filter(move |point| point.test.name == name);
    points.flat_map(|point| point.records.iter().copied())
}

fn directions<'d>(digest: &'d Digest, test: &Test) -> impl Iterator<Item = &'d DirectionResult> {
    records(digest, test).flat_map(|r| r.result.directions.iter())
}

/// The number of different examples that are listed for each test.
pub(crate) const EXAMPLES: usize = 3;

pub(crate) fn examples(digest: &Digest) -> Vec<String> {
    digest
        .input
        .plan
        .tests
        .iter()
        .flat_map(|test| examples_of(digest, test))
        .collect()
}

/// Returns examples of wrong frames; lost connections have a separate table.
fn examples_of(digest: &Digest, test: &Test) -> Vec<String> {
    let of_frames = |r: &&TrialRecord| r.result.spec.kind.connections().is_none();
    let directions = records(digest, test)
        .filter(of_frames)
        .flat_map(|r| &r.result.directions);
    let examples = directions.flat_map(|d| d.examples.iter().map(move |e| (d.direction, e)));
    // The same wrong frame may appear in every trial, so each kind is listed once.
    let mut told = std::collections::BTreeSet::new();
    let fresh = examples.filter(|&(direction, e)| told.insert((direction, e)));
    fresh
        .take(EXAMPLES)
        .map(|(direction, e)| format!("{}, {direction}: {e}", title(test)))
        .collect()
}
