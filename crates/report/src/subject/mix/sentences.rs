//! Sentences on mixed traffic: one for each series, at its smallest frame size with results.

use crate::digest::{Digest, PointDigest};
use crate::subject::series::{TestSeries, series};
use crate::wording::numbers::{supported, three_digits};
use sixbench_method::plan::SeriesBy;

pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    series(digest, SeriesBy::Background)
        .iter()
        .filter_map(|steps| mixed(digest, steps))
        .collect()
}

/// Returns a sentence on mixed traffic: `mix: throughput by the share of translated frames, at 84 bytes: 356 k at 100 %, 711 k at 50 %, 458 k at 0 %.`
fn mixed(digest: &Digest, steps: &TestSeries) -> Option<String> {
    if !steps.is_of_throughput() {
        return None;
    }
    let (size, points) = steps.smallest_with_rates(digest)?;
    let step = |(background, p): &(f64, &PointDigest)| {
        let rate = p.headline().map_or(String::new(), |s| {
            supported(s.median, s.max - s.min, p.limits().bound())
        });
        format!(
            "{}{rate} at {}\u{a0}%",
            p.sign(),
            three_digits(100.0 - background)
        )
    };
    let list: Vec<String> = points.iter().map(step).collect();
    Some(format!(
        "{}: throughput by the share of translated frames, at {size}\u{a0}bytes: {}.",
        steps.name,
        list.join(", ")
    ))
}
