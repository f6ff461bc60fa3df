//! The tables of throughput: headline, all loss goals, and the reporting format of RFC 2544.

use crate::digest::{Digest, PointDigest, PrintedSummary, all_goals, common_goal, sizes};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::{
    Statistics, dispersion, limit_words, mbit, mbit_of_octets, percentile_note,
};
use crate::wording::numbers::{
    common_quantity, full_rate_unit, loss_goal, percent, quantity, title,
};
use sixbench_method::plan::Test;
use sixbench_method::search::{AcceptedLoss, Certainty};
use sixbench_method::terms::FrameSize;
use sixbench_method::units::show_ns;
use sixbench_stats::Summary;

/// A point with the result for its first goal.
struct HeadlineRow<'d> {
    point: &'d PointDigest<'d>,
    device: &'d str,
    rate: Statistics,
}

impl<'d> HeadlineRow<'d> {
    fn new(digest: &'d Digest, point: &'d PointDigest<'d>) -> Self {
        let none = || Statistics {
            median: point.nothing().into(),
            n: Cell::Number(0),
            ..Statistics::missing()
        };
        let found = point
            .headline()
            .map(|summary| Statistics::new(point.limits().printed(summary), summary.n));
        Self {
            point,
            device: digest.dut_title(point.test),
            rate: found.unwrap_or_else(none),
        }
    }

    /// Returns the median of the conditional throughput, which is only a lower bound where the rate is.
    fn conditional(&self) -> Option<Cell> {
        let summary = Summary::of(&self.point.goals.first()?.conditional)?;
        Some(Cell::Count(summary.median.round() as u64).signed(self.point.sign()))
    }

    /// Returns the bit rate of the median, Mbit/s.
    fn mbit(&self) -> Option<Cell> {
        let median = self.point.headline()?.median;
        let mbit = self.point.test.traffic.size_mix.map_or_else(
            || mbit(median, self.point.point.frame_size),
            |mix| mbit_of_octets(median, mix.mean_octets()),
        );
        Some(Cell::Rate(self.point.limits().bound().rounded(mbit, 1.0)).signed(self.point.sign()))
    }
}

/// Returns the table of the headline numbers: the first goal at every point.
pub(super) fn headline(digest: &Digest) -> Table {
    let rows = digest
        .throughput_points()
        .map(|point| HeadlineRow::new(digest, point));
    let name = common_quantity(common_goal(digest.throughput_points()));
    let certainty = digest.input.plan.search.certainty;
    let mut columns = headline_columns();
    if certainty.is_some() {
        columns.push(Column::number("Conditional", HeadlineRow::conditional));
    }
    Table::new(name.clone(), columns, rows)
        .with_notes(certainty.map(certainty_note))
        .with_note(format!(
            "{name}: frames/s per direction. Size: octets of the IPv6 frame with FCS; the IPv4 frame of the same name is 20 \
             shorter. \
             Mbit/s: layer 2, per direction, of the median and the nominal size, or the mean octets of a mix.",
        ))
        .with_note(sample_note(digest))
        .with_notes(digest.throughput_points().filter_map(beside))
}

/// Returns the note on the attributes of search goals, and on what they make of the number.
fn certainty_note(certainty: Certainty) -> String {
    let sum = show_ns(certainty.duration_sum_ns);
    let whose = if certainty.exceed_ratio > 0.0 {
        format!(
            "of which {} may lose more than the goal accepts; so no number here is the throughput of RFC 2544",
            percent(certainty.exceed_ratio)
        )
    } else {
        "none of which may lose more than the goal accepts".to_owned()
    };
    format!(
        "A load is decided by {sum} of trials (search goals of RFC 9971 section 4.6), {whose}. Conditional: the median of the rate that is \
         typically forwarded at that load (section 4.8.3)."
    )
}

fn headline_columns<'d>() -> Vec<Column<'d, HeadlineRow<'d>>> {
    vec![
        Column::text("Test", |row: &HeadlineRow| title(row.point.test)),
        Column::text("Device", |row: &HeadlineRow| row.device),
        Column::number("Size", |row: &HeadlineRow| row.point.point.frame_size),
        Column::number("Median", |row: &HeadlineRow| row.rate.median.clone()),
        Column::number("P1", |row: &HeadlineRow| row.rate.p1.clone()),
        Column::number("P99", |row: &HeadlineRow| row.rate.p99.clone()),
        Column::number("Min", |row: &HeadlineRow| row.rate.min.clone()),
        Column::number("Max", |row: &HeadlineRow| row.rate.max.clone()),
        Column::number("n", |row: &HeadlineRow| row.rate.n.clone()),
        Column::number("Dispersion", |row: &HeadlineRow| {
            row.point.headline().map(dispersion)
        }),
        Column::number("Mbit/s", HeadlineRow::mbit),
        Column::text("Limited by", |row: &HeadlineRow| {
            row.point.goals.first().map(limit_words)
        }),
        Column::number("Invalid", |row: &HeadlineRow| {
            Cell::Number(row.point.invalid().into())
        }),
    ]
}

/// Returns a note on what passing trials of a point had beside frames that were received as they were sent; `None` if nothing.
fn beside(point: &PointDigest) -> Option<String> {
    let beside = point.beside_the_goal();
    (!beside.is_empty())
        .then(|| format!("{}: {}{beside}.", point.name(), loss_goal(point.accepted())))
}

/// Returns the note on percentiles, which are never printed without the size of the sample.
pub(super) fn sample_note(digest: &Digest) -> String {
    percentile_note(digest.throughput_points().filter_map(PointDigest::headline))
}

/// Returns the reporting format of RFC 2544 section 26.1, with one table for each goal: frame sizes in columns, frame rates below.
pub(super) fn by_size(digest: &Digest) -> Vec<Table> {
    all_goals(digest.throughput_points())
        .into_iter()
        .map(|goal| size_table(digest, goal))
        .collect()
}

/// A row of the format: the medium, or a test.
enum SizeRow<'d> {
    Theoretical,
    Test(&'d Test),
}

fn size_table(digest: &Digest, goal: AcceptedLoss) -> Table {
    let sizes = sizes(digest.throughput_points());
    let has_goal = |test: &&Test| {
        test.loss_goals(digest.input.plan)
            .contains(&goal.loss_ratio)
    };
    let tests = digest.input.plan.tests.iter().filter(has_goal);
    // Other tests, and tests of another group of devices, have no point here.
    let tests = tests.filter(|test| {
        digest
            .throughput_points()
            .any(|point| point.test.name == test.name)
    });
    // The first row of the format is the medium, if its maximum is known.
    let is_known = sizes.iter().all(|&size| digest.theoretical(size).is_some());
    let rows = is_known
        .then_some(SizeRow::Theoretical)
        .into_iter()
        .chain(tests.map(SizeRow::Test));
    let of_sizes = sizes.iter().map(|&size| {
        Column::number(size.to_string(), move |row: &SizeRow| {
            row.cell(digest, size, goal)
        })
    });
    let columns = std::iter::once(Column::text("Frame size", SizeRow::name)).chain(of_sizes);
    let name = quantity(goal);
    Table::new(
        format!("{name} by frame size, frames/s per direction (RFC 2544 section 26.1)"),
        columns,
        rows,
    )
    .with_note("Median [P1–P99] (n).")
    .with_note(sample_note(digest))
}

impl SizeRow<'_> {
    fn name(&self) -> String {
        match self {
            Self::Theoretical => "Theoretical maximum of the medium".to_owned(),
            Self::Test(test) => title(test),
        }
    }

    fn cell(&self, digest: &Digest, size: FrameSize, goal: AcceptedLoss) -> Cell {
        match self {
            Self::Theoretical => digest
                .theoretical(size)
                .map(|rate| Cell::Count(rate.0))
                .into(),
            Self::Test(test) => digest
                .point(test, size)
                .and_then(|point| goal_cell(point, goal))
                .into(),
        }
    }
}

fn goal_cell(point: &PointDigest, goal: AcceptedLoss) -> Option<String> {
    let found = point.goals.iter().find(|found| found.goal == goal)?;
    let summary = found.summary.as_ref()?;
    let PrintedSummary {
        median, p1, p99, ..
    } = found.limits.printed(summary);
    Some(format!("{median} [{p1}–{p99}] ({})", summary.n))
}

/// Returns a table of every loss goal of every searched rate, if a test has several or their goals differ.
pub(super) fn goals(digest: &Digest) -> Table {
    let goals = all_goals(digest.searched_points());
    let of_goals = goals.iter().map(|&goal| {
        Column::number(quantity(goal), move |point: &&PointDigest| {
            goal_cell(point, goal)
        })
    });
    let head = [
        Column::text("Test", |point: &&PointDigest| title(point.test)),
        Column::number("Size", |point: &&PointDigest| point.size()),
        Column::text("Unit", |point: &&PointDigest| {
            full_rate_unit(&point.test.measure)
        }),
    ];
    let wanted = goals.len() > 1;
    let rows = digest.searched_points().filter(|_| wanted);
    Table::new("Every loss goal", head.into_iter().chain(of_goals), rows).with_note(
        "Median [P1–P99] (n). Only the rate without loss is the throughput of RFC 2544 section 26.1; the others accept the \
                    loss that is stated.",
    )
}
