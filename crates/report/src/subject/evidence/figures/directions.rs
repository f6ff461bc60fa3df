//! The directions in the figures that overlay tests: their strokes, their names, and what is sent in them.

use crate::digest::{Digest, PointDigest};
use crate::plot::style::{self, LegendEntry};
use crate::wording::numbers::title;
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::Direction;
use sixbench_method::trial::TrialKind;

/// Returns the legend of an overlay: the tests by the dots at the ends of their lines, and the directions by their strokes if there are two.
pub(super) fn keys(digest: &Digest, trials: &[(&PointDigest, &TrialRecord)]) -> Vec<LegendEntry> {
    let tests = digest.input.plan.tests.iter().enumerate();
    let drawn =
        tests.filter(|(_, test)| trials.iter().any(|(point, _)| point.test.name == test.name));
    let entries = drawn.map(|(i, test)| style::key(i, title(test)));
    let has_both = trials
        .iter()
        .any(|(_, record)| record.result.directions.len() > 1);
    let has_queries = trials
        .iter()
        .any(|(_, record)| record.result.spec.kind == TrialKind::Queries);
    let forward = if has_queries {
        "forward, or queries"
    } else {
        "forward"
    };
    let strokes = [("──", forward), ("┄┄", "reverse")]
        .map(|(glyph, word)| LegendEntry::new(glyph, style::INK, word));
    entries
        .chain(strokes.into_iter().filter(|_| has_both))
        .collect()
}

/// Draws a direction of a test: forward solid, reverse dashed.
pub(super) fn line(test: usize, direction: Direction, points: Vec<(f64, f64)>) -> Plot {
    match direction {
        Direction::Forward => style::line(points, style::color(test), 1.5),
        Direction::Reverse => style::dashed(points, style::color(test), 1.5),
    }
}

/// Returns the noun for the units that a trial sends.
pub(super) fn noun(record: &TrialRecord) -> &'static str {
    if record.result.spec.kind == TrialKind::Queries {
        "queries"
    } else {
        "frames"
    }
}
