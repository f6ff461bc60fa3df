//! The form of a sentence on the result of one point, which is not ranked.

use crate::digest::PointDigest;
use crate::wording::numbers::{short, title};

/// Returns the sentence: `TAYGA, SIIT: typical latency 0.085 ms, worst-case 0.9 ms at 84 bytes and 20 k frames/s.`
pub(super) fn at_its_load(point: &PointDigest, result: &str) -> Option<String> {
    let rate = short(point.samples.first()?.load.0 as f64);
    Some(format!(
        "{}: {result}{} at {}\u{a0}bytes and {rate} frames/s.",
        title(point.test),
        point.beside_the_goal(),
        point.point.frame_size
    ))
}
