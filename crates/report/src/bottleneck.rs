//! What held a DUT back, in sentences.

use crate::digest::{Digest, PointDigest};
use sixbench_method::bottleneck::explain;
use sixbench_method::plan::Measure;

/// One sentence for each point of which it is known.
pub(crate) fn bottlenecks(digest: &Digest) -> Vec<String> {
    // Losses that a measurement makes on purpose say nothing of a limit.
    let is_of_a_limit = |point: &&PointDigest| {
        use Measure::{Dns, EstablishmentRate, FrameLossRate, TableCapacity, Throughput};
        matches!(point.test.measure, Throughput | FrameLossRate(_) | EstablishmentRate | TableCapacity(_) | Dns(_))
    };
    let sentence = |point: &PointDigest| {
        let bottleneck = explain(&point.records, digest.goal())?;
        Some(format!("{}: {bottleneck}.", point.name()))
    };
    digest.points.iter().filter(is_of_a_limit).filter_map(sentence).collect()
}
