//! `sequence.csv`: gaps, order and copies in the trials at the limit of each point.

use super::column::FileColumn;
use super::run;
use crate::digest::Digest;
use crate::subject::sequence::{SequenceRow, rows};
use sixbench_method::trial::{DirectionResult, LengthDistribution};

/// Returns one row for each direction in which frames were lost, reordered or duplicated, in the passing trial at the highest load and the losing one at
/// the lowest of each point; `None` if there are none.
pub(crate) fn sequence_csv(digest: &Digest<'_>) -> Option<String> {
    let plan = &digest.input.plan.name;
    let columns = trial(plan)
        .into_iter()
        .chain(gaps())
        .chain(order())
        .chain(copies());
    run::of_whole_run(digest, &columns.collect::<Vec<_>>(), rows(digest))
}

type SequenceColumn<'c> = FileColumn<'c, SequenceRow<'c>>;

/// Returns the column of one number of a distribution, which is empty where there is none.
fn length<'c>(
    name: &'static str,
    distribution: fn(&DirectionResult) -> &Option<LengthDistribution>,
    number: fn(&LengthDistribution) -> u64,
) -> SequenceColumn<'c> {
    FileColumn::optional(name, move |row: &SequenceRow| {
        distribution(row.direction).as_ref().map(number)
    })
}

fn trial(plan: &str) -> [SequenceColumn<'_>; 9] {
    [
        FileColumn::new("plan", move |_: &SequenceRow| plan),
        FileColumn::new("test", |row: &SequenceRow| row.point.test.name.clone()),
        FileColumn::new("frame_size_octets", |row: &SequenceRow| {
            row.point.point.frame_size
        }),
        FileColumn::new("direction", |row: &SequenceRow| row.direction.direction),
        FileColumn::new("repetition", |row: &SequenceRow| row.record.repetition),
        FileColumn::new("trial", |row: &SequenceRow| row.record.trial),
        FileColumn::new("load_frames_per_s", |row: &SequenceRow| {
            row.record.result.spec.rate.0
        }),
        FileColumn::new("verdict", SequenceRow::verdict),
        FileColumn::new("offered", |row: &SequenceRow| row.direction.offered),
    ]
}

fn gaps<'c>() -> [SequenceColumn<'c>; 8] {
    [
        FileColumn::new("lost", |row: &SequenceRow| row.direction.lost()),
        length("gaps", |of| &of.gaps, |of| of.count),
        length("shortest_gap", |of| &of.gaps, |of| of.shortest),
        length("longest_gap", |of| &of.gaps, |of| of.longest),
        length("frames_in_gaps", |of| &of.gaps, |of| of.total),
        length(
            "least_gap_distance",
            |of| &of.gap_distances,
            |of| of.shortest,
        ),
        length(
            "largest_gap_distance",
            |of| &of.gap_distances,
            |of| of.longest,
        ),
        length(
            "sum_of_gap_distances",
            |of| &of.gap_distances,
            |of| of.total,
        ),
    ]
}

fn order<'c>() -> [SequenceColumn<'c>; 5] {
    [
        FileColumn::new("reordered", |row: &SequenceRow| row.direction.reordered),
        length("extents", |of| &of.reordering_extents, |of| of.count),
        length(
            "least_extent",
            |of| &of.reordering_extents,
            |of| of.shortest,
        ),
        length(
            "largest_extent",
            |of| &of.reordering_extents,
            |of| of.longest,
        ),
        length("sum_of_extents", |of| &of.reordering_extents, |of| of.total),
    ]
}

fn copies<'c>() -> [SequenceColumn<'c>; 5] {
    [
        FileColumn::new("duplicate", |row: &SequenceRow| row.direction.duplicate),
        length(
            "duplicate_distances",
            |of| &of.duplicate_distances,
            |of| of.count,
        ),
        length(
            "least_duplicate_distance",
            |of| &of.duplicate_distances,
            |of| of.shortest,
        ),
        length(
            "largest_duplicate_distance",
            |of| &of.duplicate_distances,
            |of| of.longest,
        ),
        length(
            "sum_of_duplicate_distances",
            |of| &of.duplicate_distances,
            |of| of.total,
        ),
    ]
}
