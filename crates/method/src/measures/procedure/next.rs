//! The procedure for the next repetition of a test in a plan.

use super::{Procedure, ProcedureContext};
use crate::measures::{LoadSource, Outcome};
use crate::plan::{Plan, Test};
use crate::search::start_for;
use crate::terms::FrameSize;

/// Returns the procedure of the next repetition, given the outcomes of the earlier ones at the same point.
///
/// A measurement at the throughput uses the throughput of `source`. Without a source it uses that of an earlier repetition, as in all results
/// recorded before throughputs were shared; if there is none either, it searches first.
pub fn procedure(
    plan: &Plan,
    test: &Test,
    frame_size: FrameSize,
    earlier: &[Outcome],
    source: Option<&LoadSource>,
) -> Box<dyn Procedure> {
    let known = source
        .map(|source| source.throughput)
        .or_else(|| earlier.iter().find_map(Outcome::throughput));
    let found: Vec<_> = earlier.iter().map(Outcome::throughput).collect();
    let start = start_for(
        &test.search_settings(plan),
        plan.seed,
        &test.name,
        frame_size,
        &found,
    );
    test.measure.procedure(&ProcedureContext {
        test: test.context(plan),
        frame_size,
        start,
        known,
    })
}
