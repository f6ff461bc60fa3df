//! Throughput, RFC 2544 section 26.1 and RFC 8219 section 7.1: the highest rate at which every frame offered comes back right.

use super::info::HIGHEST_LOAD_PASSED;
use super::{Info, Measurement, Noun, Procedure, ProcedureContext, Searched, SendingTime, Term};
use crate::conformance::{self, Clause};
use crate::plan::{Plan, Test};

/// The measurement; it has no settings but the plan's.
pub(super) struct Throughput;

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "throughput",
        definition: "The highest rate at which the DUT forwards every frame it is offered.",
        clause: "RFC 2544 section 26.1, RFC 8219 section 7.1",
        here: "A search over loads; at each load a trial in which every frame is numbered, verified and accounted for. It \
               passes only if every offered frame came back correctly, in every loaded direction, and the tester kept its \
               schedule.",
        unit: "frames per second, per direction",
    },
    summary: "the highest rate without loss (RFC 2544 section 26.1, RFC 8219 section 7.1)",
    noun: Noun::Frames,
    searched: Some(Searched::Throughput),
    quantities: &[],
    headline: None,
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl Measurement for Throughput {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AsPlanned
    }

    fn clauses(&self, plan: &Plan, test: &Test) -> Vec<Clause> {
        conformance::rate::throughput(plan, test)
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(context.throughput())
    }
}
