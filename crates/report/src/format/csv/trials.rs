//! `trials.parquet`: one row for each trial and direction. Data that does not fit into a table, such as the samples of the processors, is in
//! `trials.jsonl`.

use super::run::{RunCells, columns};
use super::{directions, unquoted};
use crate::digest::Digest;
use crate::format::parquet::{ColumnTable, ParquetCell, TableRow};
use crate::wording::numbers::title;
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{AnomalyKind, DirectionResult, Fault, TrialKind, Verdict};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The data that all trials share.
pub(crate) struct TrialTable<'r> {
    digest: &'r Digest<'r>,
    /// The cells of each test, in the order of the plan.
    tests: Vec<TestCells>,
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
        Self {
            title: title(test),
            dut: test.dut.clone(),
            directions: directions(test),
            measure: test.measure.name(),
        }
    }
}

/// A column that belongs to a trial as a whole.
type TrialColumn = (
    &'static str,
    for<'c> fn(&'c TrialTable<'_>, &'c DirectionRow<'_>) -> ParquetCell<'c>,
);

const OF_TRIAL: [TrialColumn; 15] = [
    ("plan", |table, _| text(&table.digest.input.plan.name)),
    ("test", |_, row| text(&row.record.point.test)),
    ("title", |table, row| {
        text(table.test(row).map_or("", |test| &test.title))
    }),
    ("dut", |table, row| {
        text(table.test(row).map_or("", |test| &test.dut))
    }),
    ("frame_size_octets", |_, row| {
        ParquetCell::Number(row.record.point.frame_size.0.into())
    }),
    ("directions", |table, row| {
        text(table.test(row).map_or("", |test| &test.directions))
    }),
    ("measure", |table, row| {
        text(table.test(row).map_or("", |test| test.measure))
    }),
    ("repetition", |_, row| {
        ParquetCell::Number(row.record.repetition.into())
    }),
    ("trial", |_, row| {
        ParquetCell::Number(row.record.trial.into())
    }),
    ("started", |_, row| text(&row.record.started)),
    ("kind", |_, row| kind(&row.record.result.spec.kind)),
    ("rate_per_s", |_, row| {
        ParquetCell::Number(row.record.result.spec.rate.0)
    }),
    ("duration_ns", |_, row| {
        ParquetCell::Number(row.record.result.spec.duration_ns)
    }),
    ("verdict", |_, row| text(verdict(row.verdict))),
    ("faults", |_, row| {
        ParquetCell::Text(faults(row.record).into())
    }),
];

/// A column with a number for each direction.
type DirectionColumn = (&'static str, fn(&DirectionResult) -> Option<u64>);

const OF_DIRECTION: [DirectionColumn; 12] = [
    ("intended", |d| Some(d.intended)),
    ("offered", |d| Some(d.offered)),
    ("received", |d| Some(d.received)),
    ("lost", |d| Some(d.lost())),
    ("sending_took_ns", |d| Some(d.sending.took_ns)),
    ("worst_lateness_ns", |d| Some(d.sending.worst_lateness_ns)),
    ("late_frames", |d| Some(d.sending.late_frames)),
    ("worst_gap_ns", |d| Some(d.receiving.worst_gap_ns)),
    ("delay_min_ns", |d| Some(d.delay.as_ref()?.min_ns)),
    ("delay_median_ns", |d| Some(d.delay.as_ref()?.median_ns)),
    ("delay_p999_ns", |d| Some(d.delay.as_ref()?.p999_ns)),
    ("delay_max_ns", |d| Some(d.delay.as_ref()?.max_ns)),
];

/// A trial and one of its directions.
#[derive(Clone, Copy)]
pub(crate) struct DirectionRow<'r> {
    record: &'r TrialRecord,
    /// `None` for a trial without directions.
    direction: Option<&'r DirectionResult>,
    /// The index of its test in the plan.
    test: Option<usize>,
    verdict: Verdict,
}

/// Returns every trial of the run, in order. A trial without directions, because its phase 1 was incomplete, has one row.
pub(crate) fn trials<'r>(
    digest: &'r Digest<'r>,
) -> ColumnTable<TrialTable<'r>, impl Iterator<Item = DirectionRow<'r>>> {
    let of_trial = OF_TRIAL.iter().map(|(name, _)| *name).chain(["direction"]);
    let anomalies = AnomalyKind::ALL.iter().map(|kind| kind.name());
    let own = of_trial
        .chain(OF_DIRECTION.iter().map(|(name, _)| *name))
        .chain(anomalies);
    let of_plan = &digest.input.plan.tests;
    let places: HashMap<&str, usize> = of_plan
        .iter()
        .enumerate()
        .map(|(place, test)| (test.name.as_str(), place))
        .collect();
    let rows = digest.input.records.iter().flat_map(move |record| {
        let directions = &record.result.directions;
        let test = places.get(record.point.test.as_str()).copied();
        let whole = DirectionRow {
            record,
            direction: None,
            test,
            verdict: digest.verdict(record),
        };
        let without = directions.is_empty().then_some(whole);
        directions
            .iter()
            .map(move |direction| DirectionRow {
                direction: Some(direction),
                ..whole
            })
            .chain(without)
    });
    let tests = of_plan.iter().map(TestCells::of).collect();
    ColumnTable {
        columns: columns(digest, own),
        common: TrialTable {
            digest,
            tests,
            run: RunCells::of(digest),
        },
        rows,
    }
}

impl TrialTable<'_> {
    fn test(&self, row: &DirectionRow<'_>) -> Option<&TestCells> {
        self.tests.get(row.test?)
    }

    /// Returns a cell of the run, which follow those of the trial.
    fn of_run(&self, record: &TrialRecord, place: usize) -> ParquetCell<'_> {
        if place != RunCells::HOST {
            return text(self.run.behind("").nth(place).unwrap_or_default());
        }
        let on = self
            .digest
            .hosts
            .of(&record.point, record.repetition)
            .join(", ");
        ParquetCell::Text(Cow::Owned(
            self.run
                .behind(&on)
                .nth(place)
                .unwrap_or_default()
                .to_owned(),
        ))
    }
}

impl<'r> TableRow<TrialTable<'r>> for DirectionRow<'_> {
    fn cell<'c>(&'c self, table: &'c TrialTable<'r>, place: usize) -> ParquetCell<'c> {
        let Self {
            record, direction, ..
        } = *self;
        let of_direction = |place: usize| match (place.checked_sub(1), direction) {
            (_, None) => text(""),
            (None, Some(direction)) => ParquetCell::Text(direction.direction.to_string().into()),
            (Some(number), Some(direction)) => {
                of_number(number, direction).map_or(text(""), ParquetCell::Number)
            }
        };
        match place.checked_sub(OF_TRIAL.len()) {
            None => OF_TRIAL[place].1(table, self),
            Some(place) if place <= NUMBERS => of_direction(place),
            Some(place) => table.of_run(record, place - NUMBERS - 1),
        }
    }
}

/// The number of columns of each direction that hold a number.
const NUMBERS: usize = OF_DIRECTION.len() + AnomalyKind::ALL.len();

/// Returns the number of a direction in the column with this index: those of [`OF_DIRECTION`], then a count for each kind of anomaly.
fn of_number(number: usize, direction: &DirectionResult) -> Option<u64> {
    match number.checked_sub(OF_DIRECTION.len()) {
        None => OF_DIRECTION[number].1(direction),
        Some(kind) => Some(AnomalyKind::ALL[kind].count(direction)),
    }
}

/// Returns the word for a verdict from a small cache.
fn verdict(of: Verdict) -> &'static str {
    static WORDS: LazyLock<[String; 3]> = LazyLock::new(|| {
        [Verdict::Passed, Verdict::Lost, Verdict::Invalid].map(|verdict| unquoted(&verdict))
    });
    &WORDS[of as usize]
}

/// Returns the word for the kind of a trial; that of the most frequent kind is cached.
fn kind(of: &TrialKind) -> ParquetCell<'static> {
    static CONSTANT: LazyLock<String> = LazyLock::new(|| unquoted(&TrialKind::Constant));
    ParquetCell::Text(if *of == TrialKind::Constant {
        Cow::Borrowed(&**CONSTANT)
    } else {
        Cow::Owned(unquoted(of))
    })
}

fn text(text: &str) -> ParquetCell<'_> {
    ParquetCell::Text(Cow::Borrowed(text))
}

/// Returns the names of the faults of a trial.
fn faults(record: &TrialRecord) -> String {
    let name = |fault: &Fault| {
        Some(
            serde_json::to_value(fault.itself()).ok()?["fault"]
                .as_str()?
                .to_owned(),
        )
    };
    record
        .result
        .faults
        .iter()
        .filter_map(name)
        .collect::<Vec<_>>()
        .join(" ")
}
