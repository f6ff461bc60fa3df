//! The directions in the figures that tell them apart: their colours, their names, and what is sent in them.

use super::style::{self, LegendEntry};
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::Direction;
use sixbench_method::trial::TrialKind;

/// A direction, the place of its colour, and its name.
const DIRECTIONS: [(Direction, usize, &str); 2] = [(Direction::Forward, 0, "forward"), (Direction::Reverse, 1, "reverse")];

/// The legend of the directions; queries have one alone.
pub(super) fn keys<'r>(trials: impl Iterator<Item = &'r TrialRecord> + Clone) -> Vec<LegendEntry> {
    let mut of_queries = trials.map(|r| r.result.spec.kind == TrialKind::Queries);
    let (some, all) = (of_queries.clone().any(|is| is), of_queries.all(|is| is));
    let name = |i: usize, name: &str| match (some, i) {
        (true, 0) => format!("{name}, or queries"),
        _ => name.to_owned(),
    };
    match some && all {
        true => vec![LegendEntry::new("▬", style::color(0), "queries")],
        false => DIRECTIONS.map(|(_, i, word)| LegendEntry::new("▬", style::color(i), name(i, word))).to_vec(),
    }
}

pub(super) fn line(direction: Direction, points: Vec<(f64, f64)>) -> Plot {
    let color = DIRECTIONS.iter().find(|(of, ..)| *of == direction).map_or(0, |(_, color, _)| *color);
    style::line(points, style::color(color), 1.5)
}

/// Returns the noun for the units that a trial sends.
pub(super) fn noun(record: &TrialRecord) -> &'static str {
    if record.result.spec.kind == TrialKind::Queries { "queries" } else { "frames" }
}
