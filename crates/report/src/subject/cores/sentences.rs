//! Sentences on core scaling: one for each series, at its smallest frame size with results, then the bottlenecks of chains.

use super::tables::bottleneck;
use crate::digest::{Digest, common_goal};
use crate::subject::cores::scaling::scalings;
use crate::subject::series::{TestSeries, series};
use crate::wording::bound::Bound;
use crate::wording::numbers::{commonly_searched, in_a_sentence, three_digits};
use sixbench_method::plan::SeriesBy;

pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    series(digest, SeriesBy::Cores)
        .iter()
        .filter_map(|steps| scaling(digest, steps))
        .chain(bottlenecks(digest))
        .collect()
}

/// Returns a sentence on scaling: `cores: with 4 of the DUT's cores 2.8 times the throughput of 1, at 84 bytes.` `None` if the true values of both
/// rates may be higher.
fn scaling(digest: &Digest, steps: &TestSeries) -> Option<String> {
    let (size, points) = steps.smallest_with_rates(digest)?;
    let ((few, first), (many, last)) = (points.first()?, points.last()?);
    let gain = last.headline()?.median / first.headline().filter(|s| s.median > 0.0)?.median;
    let bound =
        Bound::of_ratio(last.limits().is_median_open, first.limits().is_median_open).phrase()?;
    let [few, many, gain] = [*few, *many, gain].map(three_digits);
    Some(format!(
        "{}: with {many} of {} cores {bound}{gain} times the {} of {few}{}.",
        steps.name,
        steps
            .device
            .map_or_else(|| "the device's".to_owned(), |device| format!("{device}'s")),
        in_a_sentence(&commonly_searched(
            steps.measure()?,
            common_goal([*first, *last])
        )),
        last.size()
            .map(|_| format!(", at {size}\u{a0}bytes"))
            .unwrap_or_default()
    ))
}

/// Returns the bottleneck of each chain with the fewest and with the most cores, which may be different devices.
fn bottlenecks(digest: &Digest) -> Vec<String> {
    let all = scalings(digest);
    let extremes = all.iter().flat_map(|scaling| match &scaling.steps[..] {
        [few, .., many] => vec![(scaling.name, few), (scaling.name, many)],
        few => few.iter().map(|step| (scaling.name, step)).collect(),
    });
    extremes
        .filter_map(|(name, step)| Some(format!("{name}, {}", bottleneck(step)?)))
        .collect()
}
