//! The sentence on the longest bursts without loss.

use crate::digest::PointDigest;
use crate::subject::point_sentence::at_its_load;
use crate::wording::numbers::grouped;
use sixbench_method::measures::Quantity;

pub(super) fn sentence(point: &PointDigest) -> Option<String> {
    let sample = point.worst(Quantity::BackToBackFrames)?;
    let frames = format!("{}{}", sample.sign(), grouped(sample.mean));
    let result = match sample.summary.n {
        1 => format!("bursts of {frames} frames without loss"),
        n => format!(
            "bursts of {frames} frames on average without loss, at least {} (n = {n})",
            grouped(sample.summary.min)
        ),
    };
    at_its_load(point, &result)
}
