//! The next repetition of a test of a plan.

use super::{Procedure, ProcedureContext};
use crate::measures::{LoadSource, Outcome};
use crate::plan::{Plan, Test};
use crate::search::start_for;
use crate::terms::FrameSize;

/// The next repetition of a measurement, given the outcomes of the earlier ones of the same point.
///
/// A measurement made at the throughput is made at that of `source`. Without one it takes what an earlier repetition found, as all results
/// recorded before throughputs were shared did, and where none did it searches first.
pub fn procedure(
    plan: &Plan,
    test: &Test,
    frame_size: FrameSize,
    earlier: &[Outcome],
    source: Option<&LoadSource>,
) -> Box<dyn Procedure> {
    let known = source.map(|source| source.throughput).or_else(|| earlier.iter().find_map(Outcome::throughput));
    let found: Vec<_> = earlier.iter().map(Outcome::throughput).collect();
    let start = start_for(&test.search_settings(plan), plan.seed, (&test.name, frame_size), &found);
    test.measure.procedure(&ProcedureContext { test: test.context(plan), frame_size, start, known })
}
