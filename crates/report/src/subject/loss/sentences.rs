//! The sentence on a frame loss rate.

use crate::digest::PointDigest;
use crate::wording::numbers::{percentage, short, title};

/// Returns the loss at the highest rate, and up to which rate there was none.
pub(super) fn sentence(point: &PointDigest) -> Option<String> {
    let losses = point.losses();
    let (rate, most) = losses.last()?;
    let lossless = losses.iter().take_while(|(_, s)| s.median == 0.0).last();
    let up_to = lossless
        .filter(|(r, _)| r != rate)
        .map(|(r, _)| format!(", none at {} and below", short(r.0 as f64)));
    Some(format!(
        "{}: lost {}\u{a0}% of the frames at {} frames/s and {}\u{a0}bytes{}.",
        title(point.test),
        percentage(most.median),
        short(rate.0 as f64),
        point.point.frame_size,
        up_to.unwrap_or_default()
    ))
}
