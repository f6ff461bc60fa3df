//! What a load beside the vectors changes: the requirements with another result than in the quiet run, with both, and the counts of the load.

use super::tables::{VectorRow, answer_frames, rows};
use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{capitalised, title};
use crate::wording::requirements::loaded_in_words;
use sixbench_method::trial::{
    LoadedDirection, LoadedFinding, RequirementLevel, RequirementLoad, VectorResult,
};

/// A vector with another result under load.
struct DifferingRow<'d> {
    row: VectorRow<'d>,
    loaded: &'d LoadedFinding,
}

/// The counts of a load in one direction.
struct LoadRow<'d> {
    point: &'d PointDigest<'d>,
    load: &'d RequirementLoad,
    counts: &'d LoadedDirection,
}

/// Returns the requirements with another result under load, the strongest of those first that are violated under it.
pub(super) fn differing(digest: &Digest) -> Table {
    let mut found: Vec<DifferingRow> = rows(digest)
        .filter_map(|row| {
            let loaded = row.differing()?;
            Some(DifferingRow { row, loaded })
        })
        .collect();
    found.sort_by_key(DifferingRow::rank);
    Table::new("Requirements under load", differing_columns(), found).with_note(
        "Every vector was sent quietly, and once more while frames were sent in both directions. Those with the same result are left out. Frames: what \
         was required and came under load. A device that loses frames of the load may lose an answer by chance: what was answered quietly was sent up to \
         five times, and counts as answered if it was once.",
    )
}

impl DifferingRow<'_> {
    fn rank(&self) -> (bool, RequirementLevel, VectorResult) {
        let quiet = self.row.vector.result;
        let is_broken = self.loaded.result.is_violation() && !quiet.is_violation();
        (!is_broken, self.row.vector.level, self.loaded.result)
    }
}

fn differing_columns<'d>() -> Vec<Column<'d, DifferingRow<'d>>> {
    vec![
        Column::text("Test", |found: &DifferingRow| title(found.row.point.test)),
        Column::text("Vector", |found: &DifferingRow| {
            found.row.vector.name.clone()
        }),
        Column::text("Clause", |found: &DifferingRow| found.row.vector.citation()),
        Column::text("Level", |found: &DifferingRow| {
            found.row.vector.level.word()
        }),
        Column::text("Quietly", |found: &DifferingRow| {
            named(found.row.vector.result, &found.row.vector.choice)
        }),
        Column::text("Under load", |found: &DifferingRow| {
            named(found.loaded.result, &found.loaded.choice)
        }),
        Column::text("Requirement", |found: &DifferingRow| {
            found.row.vector.sentence.clone()
        }),
        Column::text("Frames", |found: &DifferingRow| {
            capitalised(&answer_frames(found.loaded))
        }),
    ]
}

/// Returns a result with the choice of the device, if it has made one.
fn named(result: VectorResult, choice: &Option<String>) -> String {
    match choice {
        Some(choice) => format!("{} ({choice})", result.title()),
        None => result.title().to_owned(),
    }
}

/// Returns the counts of the loads, with a note on each test that says what the load changes.
pub(super) fn counts(digest: &Digest) -> Table {
    let loaded: Vec<_> = digest.points.iter().filter_map(loaded_point).collect();
    let rows = loaded.iter().flat_map(|&(point, load)| {
        load.directions.iter().map(move |counts| LoadRow {
            point,
            load,
            counts,
        })
    });
    Table::new("Load beside the vectors", count_columns(), rows).with_notes(
        loaded
            .iter()
            .filter_map(|(point, load)| note(point, load))
            .collect::<Vec<_>>(),
    )
}

fn loaded_point<'d>(
    point: &'d PointDigest<'d>,
) -> Option<(&'d PointDigest<'d>, &'d RequirementLoad)> {
    Some((point, point.requirements()?.load.as_ref()?))
}

fn note(point: &PointDigest, load: &RequirementLoad) -> Option<String> {
    let words = loaded_in_words(point.requirements()?)?;
    let unfit = match load.invalid_trials {
        0 => String::new(),
        invalid => format!(
            " It did so in {} of {} trials.",
            load.trials - invalid,
            load.trials
        ),
    };
    Some(format!("{}: under load {words}.{unfit}", title(point.test)))
}

fn count_columns<'d>() -> Vec<Column<'d, LoadRow<'d>>> {
    vec![
        Column::text("Test", |row: &LoadRow| title(row.point.test)),
        Column::number("Load (frames/s)", |row: &LoadRow| {
            Cell::Count(row.load.rate.0)
        }),
        Column::number("Size (bytes)", |row: &LoadRow| {
            Cell::Number(row.load.frame_size.0.into())
        }),
        Column::text("Direction", |row: &LoadRow| {
            row.counts.direction.to_string()
        }),
        Column::number("Offered", |row: &LoadRow| Cell::Count(row.counts.offered)),
        Column::number("Received", |row: &LoadRow| Cell::Count(row.counts.received)),
        Column::number("Lost", |row: &LoadRow| Cell::Count(row.counts.lost())),
        Column::number("Wrong", |row: &LoadRow| Cell::Count(row.counts.wrong)),
        Column::number("Trials", |row: &LoadRow| {
            Cell::Number(row.load.trials.into())
        }),
        Column::number("Invalid", |row: &LoadRow| {
            Cell::Number(row.load.invalid_trials.into())
        }),
    ]
}
