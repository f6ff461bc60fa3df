//! A sentence on each series over a condition, at its smallest frame size with results.

use super::condition_label;
use crate::digest::{Digest, PointDigest};
use crate::subject::series::TestSeries;
use crate::wording::numbers::supported;

/// Returns a sentence on a searched rate: `filter: throughput at 84 bytes: 712 k with 0 filters, 640 k with 1 filter, 455 k with 25 filters.`
pub(super) fn sentence(digest: &Digest, steps: &TestSeries) -> Option<String> {
    if !steps.is_of_throughput() {
        return None;
    }
    let (size, points) = steps.smallest_with_rates(digest)?;
    let step = |(at, point): &(f64, &PointDigest)| {
        let rate = point.headline().map_or(String::new(), |of| {
            supported(of.median, of.max - of.min, point.limits().bound())
        });
        format!(
            "{}{rate} with {}",
            point.sign(),
            condition_label(steps.by, *at)
        )
    };
    let list: Vec<String> = points.iter().map(step).collect();
    Some(format!(
        "{}: throughput at {size}\u{a0}bytes: {}.",
        steps.name,
        list.join(", ")
    ))
}
