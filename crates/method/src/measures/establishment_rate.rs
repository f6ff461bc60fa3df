//! Connection establishment rate, RFC 9693: the highest rate at which every frame of phase 1 opens a connection that works.

use super::info::HIGHEST_LOAD_PASSED;
use super::loads::Loads;
use super::{
    Family, Info, Measurement, Procedure, ProcedureContext, SearchedRate, SendingTime, Term,
    TestContext, TrafficRequirements,
};
use crate::clause::numbers::percent;
use crate::clause::{Clause, RFC_9693};
use crate::plan::{Profile, Stateful};
use crate::search::{SearchMethod, SearchSettings};
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{TrialKind, TrialSpec};

/// The measurement; its only settings are those of the two phases.
pub(super) struct EstablishmentRate;

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "establishment-rate",
        definition: "Maximum connection establishment rate: the highest rate at which every frame of phase 1 opens a \
                     connection that works.",
        clause: "RFC 9693",
        here: "A search over the rate of phase 1; the table is emptied before each trial. A trial passes only if every frame \
               arrived correctly and from the pool, no two connections look the same behind the DUT, and then, in validation, \
               a frame from the Responder on each of them came back to its Initiator. If the DUT counts its connections, the \
               count must agree.",
        unit: "connections per second",
    },
    summary: "the highest rate at which a stateful device opens connections that work (RFC 9693)",
    family: Family::PhaseOne,
    // Phase 1 has one direction, and no particular frame sizes are required.
    traffic: TrafficRequirements::Addresses,
    demand: None,
    is_steady: true,
    is_of_delay: false,
    finds_a_limit: true,
    searches_phase_one: true,
    repetitions: 20,
    searched: Some(SearchedRate::Named("Connection establishment rate")),
    quantities: &[],
    headline: None,
    is_averaged: false,
    axis: "establishment rate",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl Measurement for EstablishmentRate {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::Searched
    }

    fn sending(&self) -> SendingTime {
        SendingTime::UntilConnected
    }

    fn largest_kind(&self, stateful: Option<Stateful>) -> TrialKind {
        let connections = stateful.map_or(1, |stateful| stateful.connections);
        TrialKind::Establish {
            connections,
            validation: FrameRate(1),
        }
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let Some(stateful) = &test.stateful else {
            return Vec::new();
        };
        let is_zero = test.search.goals.first().is_some_and(|goal| goal.0 == 0.0);
        let validation = format!(
            "at {} of the rate, in every trial whose frames all arrived",
            percent(stateful.validation)
        );
        vec![
            Clause::must(
                RFC_9693,
                "the highest rate at which all frames of phase 1 arrive",
                format!(
                    "{} connections; {}",
                    stateful.connections,
                    test.search.start.phrase()
                ),
                is_zero,
            ),
            Clause::must(
                RFC_9693,
                "the Responder sends a frame on every connection, and all come back",
                validation,
                stateful.state_table >= stateful.connections,
            ),
        ]
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let stateful = context.stateful();
        // A trial lasts as long as N frames take, so the durations by which MLRsearch weights trials are meaningless here.
        let goals = vec![LossRatio::ZERO];
        let settings = SearchSettings {
            method: SearchMethod::Binary,
            goals,
            ..context.test.search.clone()
        };
        let establishing =
            move |spec: TrialSpec| stateful.establishing(stateful.connections, spec.rate);
        Box::new(context.search_with(&settings, LossRatio::ZERO, establishing))
    }
}
