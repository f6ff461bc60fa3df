//! One row for each trial and direction: `trials.parquet`. What has no place in a table, such as the samples of the processors, is in `trials.jsonl`.

use super::run::{RunCells, columns};
use super::{directions, unquoted};
use crate::digest::Digest;
use crate::numbers::title;
use crate::parquet::{Cell, ColumnTable, TableRow};
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{DirectionResult, Fault};
use std::borrow::Cow;
use std::collections::HashMap;

/// What all trials have in common.
pub(crate) struct TrialTable<'r> {
    digest: &'r Digest<'r>,
    /// The cells of each test, by its name.
    tests: HashMap<&'r str, TestCells>,
    run: RunCells,
}

/// The cells that are the same for every trial of a test.
#[derive(Default)]
struct TestCells {
    title: String,
    dut: String,
    directions: String,
    measure: &'static str,
}

impl TestCells {
    fn of(test: &Test) -> Self {
        Self { title: title(test), dut: test.dut.clone(), directions: directions(test), measure: test.measure.name() }
    }
}

/// A column of what a trial has, whatever its directions are.
type TrialColumn = (&'static str, for<'c> fn(&'c TrialTable<'_>, &'c TrialRecord) -> Cell<'c>);

const OF_TRIAL: [TrialColumn; 15] = [
    ("plan", |table, _| text(&table.digest.input.plan.name)),
    ("test", |_, record| text(&record.point.test)),
    ("title", |table, record| text(table.test(record).map_or("", |test| &test.title))),
    ("dut", |table, record| text(table.test(record).map_or("", |test| &test.dut))),
    ("frame_size_octets", |_, record| Cell::Number(record.point.frame_size.0.into())),
    ("directions", |table, record| text(table.test(record).map_or("", |test| &test.directions))),
    ("measure", |table, record| text(table.test(record).map_or("", |test| test.measure))),
    ("repetition", |_, record| Cell::Number(record.repetition.into())),
    ("trial", |_, record| Cell::Number(record.trial.into())),
    ("started", |_, record| text(&record.started)),
    ("kind", |_, record| Cell::Text(unquoted(&record.result.spec.kind).into())),
    ("rate_per_s", |_, record| Cell::Number(record.result.spec.rate.0)),
    ("duration_ns", |_, record| Cell::Number(record.result.spec.duration_ns)),
    ("verdict", |table, record| Cell::Text(unquoted(&table.digest.verdict(record)).into())),
    ("faults", |_, record| Cell::Text(faults(record).into())),
];

/// A column of a number of a direction.
type DirectionColumn = (&'static str, fn(&DirectionResult) -> Option<u64>);

const OF_DIRECTION: [DirectionColumn; 21] = [
    ("intended", |d| Some(d.intended)),
    ("offered", |d| Some(d.offered)),
    ("received", |d| Some(d.received)),
    ("late", |d| Some(d.late)),
    ("mistranslated", |d| Some(d.mistranslated)),
    ("corrupt", |d| Some(d.corrupt)),
    ("lost", |d| Some(d.lost())),
    ("duplicate", |d| Some(d.duplicate)),
    ("reordered", |d| Some(d.reordered)),
    ("defective", |d| Some(d.defective)),
    ("misdirected", |d| Some(d.misdirected)),
    ("foreign", |d| Some(d.foreign)),
    ("refused", |d| Some(d.refused)),
    ("sending_took_ns", |d| Some(d.sending.took_ns)),
    ("worst_lateness_ns", |d| Some(d.sending.worst_lateness_ns)),
    ("late_frames", |d| Some(d.sending.late_frames)),
    ("worst_gap_ns", |d| Some(d.receiving.worst_gap_ns)),
    ("delay_min_ns", |d| Some(d.delay.as_ref()?.min_ns)),
    ("delay_median_ns", |d| Some(d.delay.as_ref()?.median_ns)),
    ("delay_p999_ns", |d| Some(d.delay.as_ref()?.p999_ns)),
    ("delay_max_ns", |d| Some(d.delay.as_ref()?.max_ns)),
];

/// A trial and a direction of it; none of a trial that has no directions.
pub(crate) type DirectionRow<'r> = (&'r TrialRecord, Option<&'r DirectionResult>);

/// Every trial of the run, in its order. A trial without directions, whose phase 1 was not complete, has one row.
pub(crate) fn trials<'r>(digest: &'r Digest<'r>) -> ColumnTable<TrialTable<'r>, impl Iterator<Item = DirectionRow<'r>>> {
    let of_trial = OF_TRIAL.iter().map(|(name, _)| *name).chain(["direction"]);
    let own = of_trial.chain(OF_DIRECTION.iter().map(|(name, _)| *name));
    let tests = digest.input.plan.tests.iter().map(|test| (test.name.as_str(), TestCells::of(test))).collect();
    let rows = digest.input.records.iter().flat_map(|record| {
        let directions = &record.result.directions;
        let without = directions.is_empty().then_some((record, None));
        directions.iter().map(move |direction| (record, Some(direction))).chain(without)
    });
    ColumnTable { columns: columns(digest, own), common: TrialTable { digest, tests, run: RunCells::of(digest) }, rows }
}

impl TrialTable<'_> {
    fn test(&self, record: &TrialRecord) -> Option<&TestCells> {
        self.tests.get(record.point.test.as_str())
    }

    /// Returns a cell of the run, of those behind the ones of the trial.
    fn of_run(&self, record: &TrialRecord, place: usize) -> Cell<'_> {
        if place != RunCells::HOST {
            return text(self.run.behind("").nth(place).unwrap_or_default());
        }
        let on = self.digest.hosts.of(&record.point, record.repetition).join(", ");
        Cell::Text(Cow::Owned(self.run.behind(&on).nth(place).unwrap_or_default().to_owned()))
    }
}

impl<'r> TableRow<TrialTable<'r>> for DirectionRow<'_> {
    fn cell<'c>(&'c self, table: &'c TrialTable<'r>, place: usize) -> Cell<'c> {
        let (record, direction) = *self;
        let of_direction = |place: usize| match (place.checked_sub(1), direction) {
            (_, None) => text(""),
            (None, Some(direction)) => Cell::Text(direction.direction.to_string().into()),
            (Some(number), Some(direction)) => OF_DIRECTION[number].1(direction).map_or(text(""), Cell::Number),
        };
        match place.checked_sub(OF_TRIAL.len()) {
            None => OF_TRIAL[place].1(table, record),
            Some(place) if place <= OF_DIRECTION.len() => of_direction(place),
            Some(place) => table.of_run(record, place - OF_DIRECTION.len() - 1),
        }
    }
}

fn text(text: &str) -> Cell<'_> {
    Cell::Text(Cow::Borrowed(text))
}

/// Returns the names of the faults of a trial.
fn faults(record: &TrialRecord) -> String {
    let name = |fault: &Fault| Some(serde_json::to_value(fault.itself()).ok()?["fault"].as_str()?.to_owned());
    record.result.faults.iter().filter_map(name).collect::<Vec<_>>().join(" ")
}
