//! Gaps, order and copies in the trials at the limit of each point.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{load, title};
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{DirectionResult, LengthDistribution};

/// A direction of a trial at the limit of a point in which frames were lost, reordered or duplicated.
pub(super) struct FoundAtLimit<'d> {
    pub(super) record: &'d TrialRecord,
    pub(super) direction: &'d DirectionResult,
    /// True if the trial passed.
    pub(super) passed: bool,
}

/// Returns the directions with such frames, of the passing trial at the highest load and of the losing one at the lowest.
pub(super) fn at_limits<'d>(point: &PointDigest<'d>) -> impl Iterator<Item = FoundAtLimit<'d>> {
    let goal = point.first_goal();
    let trials = [
        point.highest_passing(goal).map(|record| (record, true)),
        point.lowest_losing(goal).map(|record| (record, false)),
    ];
    let directions = trials.into_iter().flatten().flat_map(|(record, passed)| {
        let directions = record.result.directions.iter();
        directions.map(move |direction| FoundAtLimit {
            record,
            direction,
            passed,
        })
    });
    directions.filter(|found| is_out_of_sequence(found.direction))
}

fn is_out_of_sequence(direction: &DirectionResult) -> bool {
    let is_any = direction.lost() > 0 || direction.reordered > 0 || direction.duplicate > 0;
    // Records of earlier versions do not say in which gaps frames were lost.
    is_any && (direction.gaps.is_some() || direction.lost() == 0)
}

/// Such a direction, and the point of its trial.
pub(crate) struct SequenceRow<'d> {
    pub(crate) point: &'d PointDigest<'d>,
    pub(crate) record: &'d TrialRecord,
    pub(crate) direction: &'d DirectionResult,
    passed: bool,
}

impl SequenceRow<'_> {
    /// Returns the word for the verdict on the trial.
    pub(crate) fn verdict(&self) -> &'static str {
        if self.passed { "passed" } else { "lost" }
    }
}

/// Returns a row for each such direction at each point.
pub(crate) fn rows<'d>(digest: &'d Digest<'d>) -> impl Iterator<Item = SequenceRow<'d>> {
    digest.points.iter().flat_map(|point| {
        at_limits(point).map(move |found| SequenceRow {
            point,
            record: found.record,
            direction: found.direction,
            passed: found.passed,
        })
    })
}

pub(super) fn table(digest: &Digest) -> Table {
    let columns = trial().into_iter().chain(gaps()).chain(order_and_copies());
    Table::new("Gaps, order and copies", columns, rows(digest)).with_note(
        "For the passing trial at the highest load and the losing one at the lowest. A gap is a run of frames, sent one after the other, of which nothing \
         arrived (loss period, RFC 3357); the distance is from its last frame to the first of the next gap. A reordered frame arrived after one that was sent \
         later; the extent is how many frames earlier the first of these arrived (RFC 4737), a lower bound (≥) where some are so far back that theirs is not \
         known; the mean is that of the known ones. A copy is behind by as many numbers as the newest frame is \
         ahead of it.",
    )
}

fn longest(of: Option<&LengthDistribution>) -> Cell {
    of.map_or(Cell::Missing, |of| Cell::Count(of.longest))
}

/// Returns the largest extent of a direction: a lower bound where a frame is so far back that its extent is not known.
fn largest_extent(of: &DirectionResult) -> Cell {
    let known = of.reordering_extents.as_ref();
    let largest = longest(known);
    let is_bound = known.is_some_and(|known| known.count < of.reordered);
    if is_bound {
        largest.signed("≥")
    } else {
        largest
    }
}

fn mean(of: Option<&LengthDistribution>) -> Cell {
    of.map_or(Cell::Missing, |of| Cell::Decimals(of.mean(), 1))
}

fn trial<'d>() -> [Column<'d, SequenceRow<'d>>; 5] {
    [
        Column::text("Test", |row: &SequenceRow| title(row.point.test)),
        Column::number("Size", |row: &SequenceRow| row.point.size()),
        Column::text("Direction", |row: &SequenceRow| row.direction.direction),
        Column::text("Load", |row: &SequenceRow| load(&row.record.result.spec)),
        Column::text("Trial", SequenceRow::verdict),
    ]
}

fn gaps<'d>() -> [Column<'d, SequenceRow<'d>>; 5] {
    [
        Column::number("Lost", |row: &SequenceRow| {
            Cell::Count(row.direction.lost())
        }),
        Column::number("Gaps", |row: &SequenceRow| {
            let gaps = row.direction.gaps.as_ref();
            Cell::Count(gaps.map_or(0, |of| of.count))
        }),
        Column::number("Mean gap", |row: &SequenceRow| {
            mean(row.direction.gaps.as_ref())
        }),
        Column::number("Longest", |row: &SequenceRow| {
            longest(row.direction.gaps.as_ref())
        }),
        Column::number("Least distance", |row: &SequenceRow| {
            let distances = row.direction.gap_distances.as_ref();
            distances.map_or(Cell::Missing, |of| Cell::Count(of.shortest))
        }),
    ]
}

fn order_and_copies<'d>() -> [Column<'d, SequenceRow<'d>>; 5] {
    [
        Column::number("Reordered", |row: &SequenceRow| {
            Cell::Count(row.direction.reordered)
        }),
        Column::number("Mean extent", |row: &SequenceRow| {
            mean(row.direction.reordering_extents.as_ref())
        }),
        Column::number("Largest", |row: &SequenceRow| largest_extent(row.direction)),
        Column::number("Copies", |row: &SequenceRow| {
            Cell::Count(row.direction.duplicate)
        }),
        Column::number("Farthest behind", |row: &SequenceRow| {
            longest(row.direction.duplicate_distances.as_ref())
        }),
    ]
}
