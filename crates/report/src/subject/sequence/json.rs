//! Gaps, order and copies in `results.json`.

use super::table::at_limits;
use crate::digest::PointDigest;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::terms::Direction;
use sixbench_method::trial::LengthDistribution;

/// How frames of one direction were lost, reordered and duplicated in a trial at the limit of a point.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JsonSequence<'a> {
    direction: Direction,
    /// Frames per second that were offered in the trial.
    load: u64,
    /// Whether the trial passed: the one at the highest load that did, or else the one at the lowest load that lost more than the goal allows.
    passed: bool,
    offered: u64,
    lost: u64,
    reordered: u64,
    duplicate: u64,
    /// The gaps by their lengths in frames: the loss periods of RFC 3357.
    gaps: Option<&'a LengthDistribution>,
    /// The distances from the last frame of a gap to the first of the next.
    gap_distances: Option<&'a LengthDistribution>,
    /// The extents of reordered frames (RFC 4737).
    reordering_extents: Option<&'a LengthDistribution>,
    /// By how many numbers the newest frame was ahead of each duplicate.
    duplicate_distances: Option<&'a LengthDistribution>,
}

/// Returns the directions with such frames in the trials at the limit of a point.
pub(super) fn sequence<'p>(point: &PointDigest<'p>) -> Vec<JsonSequence<'p>> {
    at_limits(point)
        .map(|found| JsonSequence {
            direction: found.direction.direction,
            load: found.record.result.spec.rate.0,
            passed: found.passed,
            offered: found.direction.offered,
            lost: found.direction.lost(),
            reordered: found.direction.reordered,
            duplicate: found.direction.duplicate,
            gaps: found.direction.gaps.as_ref(),
            gap_distances: found.direction.gap_distances.as_ref(),
            reordering_extents: found.direction.reordering_extents.as_ref(),
            duplicate_distances: found.direction.duplicate_distances.as_ref(),
        })
        .collect()
}
