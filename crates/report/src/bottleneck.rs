//! What held a DUT back, in sentences.

use crate::digest::{Digest, PointDigest};
use sixbench_method::bottleneck::{explain, weakest};

/// For each point a sentence on the machine under the DUT, and of a chain one on its devices, as far as they are known.
pub(crate) fn bottlenecks(digest: &Digest) -> Vec<String> {
    // Losses that a measurement makes on purpose say nothing of a limit.
    let is_of_a_limit = |point: &&PointDigest| point.test.measure.finds_a_limit();
    let explained = |point: &PointDigest| explain(&point.records, point.first_goal()).map(|found| found.to_string());
    let chained = |point: &PointDigest| weakest(&point.found_trials(point.first_goal())).map(|found| found.to_string());
    let sentences = |point: &PointDigest| {
        let found = [explained(point), chained(point)].into_iter().flatten();
        found.map(|words| format!("{}: {words}.", point.name())).collect::<Vec<_>>()
    };
    digest.points.iter().filter(is_of_a_limit).flat_map(sentences).collect()
}
