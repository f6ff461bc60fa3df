//! Throughput, RFC 2544 section 26.1 and RFC 8219 section 7.1: the highest rate at which every frame offered comes back right.

use super::{Info, Measurement, Noun, Procedure, ProcedureContext, Searched};

/// The measurement; it has no settings but the plan's.
pub(super) struct Throughput;

pub(super) static INFOS: [Info; 1] =
    [Info { name: "throughput", noun: Noun::Frames, searched: Some(Searched::Throughput), quantities: &[], headline: None }];

impl Measurement for Throughput {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(context.throughput())
    }
}
