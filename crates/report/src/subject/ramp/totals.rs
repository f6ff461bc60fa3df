//! The sums of the frames of the ramps before the trials of a point, as `results.json` has them.

use crate::digest::PointDigest;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::terms::Direction;
use sixbench_method::trial::RampCounts;

/// The frames of the ramps before all trials of a point, in one direction.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RampTotals {
    pub(crate) direction: Direction,
    /// The time of each ramp, nanoseconds.
    pub(crate) duration_ns: u64,
    pub(crate) ramps: u64,
    /// Ramps of which frames were lost or came back wrong.
    pub(crate) ramps_with_loss: u64,
    pub(crate) offered: u64,
    pub(crate) received: u64,
    /// Frames of which nothing came back before the trial began.
    pub(crate) lost: u64,
    pub(crate) late: u64,
    pub(crate) mistranslated: u64,
    pub(crate) corrupt: u64,
    pub(crate) duplicate: u64,
    pub(crate) reordered: u64,
    /// The longest time from the end of a ramp to the first frame of its trial, nanoseconds.
    pub(crate) longest_pause_ns: u64,
}

/// Returns the totals of each direction in which there was a ramp before a trial of the point.
pub(super) fn of_point(point: &PointDigest) -> Vec<RampTotals> {
    [Direction::Forward, Direction::Reverse]
        .into_iter()
        .filter_map(|direction| of_direction(point, direction))
        .collect()
}

fn of_direction(point: &PointDigest, direction: Direction) -> Option<RampTotals> {
    let ramps: Vec<RampCounts> = point
        .in_direction(direction)
        .filter_map(|of| of.ramp)
        .collect();
    let first = ramps.first()?;
    Some(RampTotals {
        direction,
        duration_ns: first.duration_ns,
        ramps: ramps.len() as u64,
        ramps_with_loss: ramps
            .iter()
            .filter(|ramp| ramp.lost() + ramp.wrong() > 0)
            .count() as u64,
        offered: sum(&ramps, |ramp| ramp.offered),
        received: sum(&ramps, |ramp| ramp.received),
        lost: sum(&ramps, RampCounts::lost),
        late: sum(&ramps, |ramp| ramp.late),
        mistranslated: sum(&ramps, |ramp| ramp.mistranslated),
        corrupt: sum(&ramps, |ramp| ramp.corrupt),
        duplicate: sum(&ramps, |ramp| ramp.duplicate),
        reordered: sum(&ramps, |ramp| ramp.reordered),
        longest_pause_ns: ramps.iter().map(|ramp| ramp.pause_ns).max().unwrap_or(0),
    })
}

fn sum(ramps: &[RampCounts], count: fn(&RampCounts) -> u64) -> u64 {
    ramps.iter().map(count).fold(0, u64::saturating_add)
}
