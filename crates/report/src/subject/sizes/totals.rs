//! The sums of the frames of each size over the trials of a point, as `results.json` has them.

use crate::digest::PointDigest;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::terms::{Direction, FrameSize};
use sixbench_method::trial::DirectionResult;
use std::collections::BTreeMap;

/// The frames of one size in one direction of all trials of a point.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SizeTotals {
    pub(crate) direction: Direction,
    /// The size: octets of the IPv6 frame with FCS.
    pub(crate) frame_size: FrameSize,
    /// Trials.
    pub(crate) trials: u64,
    /// Trials in which frames of this size did not come back right and in time.
    pub(crate) trials_with_loss: u64,
    pub(crate) offered: u64,
    /// Frames that did not come back right and in time.
    pub(crate) not_received: u64,
}

impl SizeTotals {
    /// Returns the share of the offered frames that was not received, 0..=1; `None` if none was offered.
    pub(crate) fn loss_ratio(&self) -> Option<f64> {
        (self.offered > 0).then(|| self.not_received as f64 / self.offered as f64)
    }
}

/// Returns the totals of each size in each direction, if the trials of the point have a mix of sizes.
pub(super) fn of_point(point: &PointDigest) -> Vec<SizeTotals> {
    let mut totals = BTreeMap::new();
    let results = point.records.iter().map(|record| &record.result);
    for direction in results.flat_map(|result| &result.directions) {
        add(&mut totals, direction);
    }
    totals.into_values().collect()
}

fn add(totals: &mut BTreeMap<(Direction, FrameSize), SizeTotals>, result: &DirectionResult) {
    for counts in &result.sizes {
        let (direction, frame_size) = (result.direction, counts.frame_size);
        let of_size = totals.entry((direction, frame_size)).or_insert(SizeTotals {
            direction,
            frame_size,
            trials: 0,
            trials_with_loss: 0,
            offered: 0,
            not_received: 0,
        });
        of_size.trials += 1;
        of_size.trials_with_loss += u64::from(counts.not_received > 0);
        of_size.offered = of_size.offered.saturating_add(counts.offered);
        of_size.not_received = of_size.not_received.saturating_add(counts.not_received);
    }
}
