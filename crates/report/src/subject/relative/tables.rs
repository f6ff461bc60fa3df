//! The rates of one device with different traffic side by side, as in the tables of siitperf's paper: tests in columns, statistics in rows, and in the
//! last row the performance relative to the first test.

use crate::digest::{Digest, PointDigest, PrintedSummary, RatedSummary, common_goal};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::{OPEN, dispersion};
use crate::wording::bound::Bound;
use crate::wording::numbers::{commonly_searched, frames, full_rate_unit, title};
use sixbench_method::lists::by_key;

/// A test with a result. The others of its group are compared with the first.
struct RatedTest<'d> {
    point: &'d PointDigest<'d>,
    rated: RatedSummary,
}

/// Returns a table for each device, measure and frame size at which several tests have a result.
pub(super) fn tables(digest: &Digest) -> Vec<Table> {
    groups(digest)
        .iter()
        .map(|tests| table(digest, tests))
        .collect()
}

/// Does the same as [`tables`] for a terminal, which is too narrow for the titles of several tests: with a row for each test.
pub(crate) fn narrow_tables(digest: &Digest) -> Vec<Table> {
    groups(digest)
        .iter()
        .map(|tests| narrow_table(digest, tests))
        .collect()
}

fn narrow_table(digest: &Digest, tests: &[RatedTest]) -> Table {
    let columns = [
        Column::text("Test", |test: &&RatedTest| title(test.point.test)),
        Column::number("Dispersion", |test: &&RatedTest| {
            dispersion(&test.rated.summary)
        }),
        Column::number("Rel. perf. (%)", |test: &&RatedTest| {
            test.relative_to(&tests[0])
        }),
    ];
    Table::new(name(digest, tests[0].point), columns, tests)
}

const REFERENCE: &str = "reference";

fn name(digest: &Digest, first: &PointDigest) -> String {
    format!(
        "Relative performance: {}, {}",
        digest.dut_title(first.test),
        frames(first.size())
    )
}

/// Returns the tests in groups, without those of a series, which have separate tables.
fn groups<'d>(digest: &'d Digest<'d>) -> Vec<Vec<RatedTest<'d>>> {
    let alone = digest
        .searched_points()
        .filter(|point| point.test.series.is_none());
    let rated = alone.filter_map(|point| {
        Some(RatedTest {
            point,
            rated: point.rated()?,
        })
    });
    let key = |point: &PointDigest| {
        (
            point.test.dut.clone(),
            point.test.measure.name(),
            point.size(),
        )
    };
    let groups = by_key(rated.map(|test| (key(test.point), test)));
    groups
        .into_iter()
        .map(|(_, tests)| tests)
        .filter(|tests| tests.len() > 1)
        .collect()
}

/// A row of the table: a statistic, and its value for a test.
struct StatisticRow {
    name: &'static str,
    cell: fn(&RatedTest, &RatedTest) -> Cell,
}

/// The statistics of a test; the second test is the reference.
const STATISTICS: [StatisticRow; 6] = [
    StatisticRow {
        name: "Median",
        cell: |test, _| test.printed().median.into(),
    },
    StatisticRow {
        name: "Minimum",
        cell: |test, _| test.printed().min.into(),
    },
    StatisticRow {
        name: "Maximum",
        cell: |test, _| test.printed().max.into(),
    },
    StatisticRow {
        name: "n",
        cell: |test, _| Cell::Number(test.rated.summary.n as u64),
    },
    StatisticRow {
        name: "Dispersion",
        cell: |test, _| dispersion(&test.rated.summary),
    },
    StatisticRow {
        name: "Rel. perf. (%)",
        cell: |test, reference| test.relative_to(reference),
    },
];

fn table(digest: &Digest, tests: &[RatedTest]) -> Table {
    let first = tests[0].point;
    let what = commonly_searched(
        &first.test.measure,
        common_goal(tests.iter().map(|test| test.point)),
    );
    let is_open = tests.iter().any(|test| test.rated.limits.is_median_open);
    let of_tests = tests.iter().map(|test| {
        Column::number(title(test.point.test), |row: &StatisticRow| {
            (row.cell)(test, &tests[0])
        })
    });
    let columns =
        std::iter::once(Column::text("Test", |row: &StatisticRow| row.name)).chain(of_tests);
    Table::new(name(digest, first), columns, STATISTICS)
        .with_note(format!(
            "{what}, {}. Dispersion: (max - min) / median. Relative performance: the median divided by that of the first test here.",
            full_rate_unit(&first.test.measure)
        ))
        .with_note_if(is_open, OPEN)
}

impl RatedTest<'_> {
    fn printed(&self) -> PrintedSummary {
        self.rated.limits.printed(&self.rated.summary)
    }

    /// Returns the ratio of the median to that of the reference, per cent.
    fn relative_to(&self, reference: &RatedTest<'_>) -> Cell {
        if std::ptr::eq(self.point, reference.point) {
            return REFERENCE.into();
        }
        let bound = Bound::of_ratio(
            self.rated.limits.is_median_open,
            reference.rated.limits.is_median_open,
        );
        let percent = 100.0 * self.rated.summary.median / reference.rated.summary.median;
        if percent.is_finite() {
            Cell::rounded(percent, bound, 2)
        } else {
            Cell::Missing
        }
    }
}
