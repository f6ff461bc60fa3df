//! Connection tear-down rate, RFC 9693: the rate at which the DUT deletes its connections.

use super::info::HIGHEST_LOAD_PASSED;
use super::loads::Loads;
use super::procedure::reading::sent_as_asked;
use super::procedure::{Reading, SingleTrial};
use super::{
    Demand, Family, Info, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Term,
    TestContext, TrafficRequirements, Value,
};
use crate::clause::numbers::count;
use crate::clause::{Clause, RFC_9693};
use crate::plan::{Profile, Stateful};
use crate::terms::Direction;
use crate::trial::{TrialKind, TrialResult, Verdict};

/// The measurement; its only settings are those of the two phases.
pub(super) struct TearDownRate;

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "tear-down-rate",
        definition: "Connection tear-down rate: connections that the DUT deletes in a second.",
        clause: "RFC 9693",
        here: "N connections are opened; then the recipe's own command deletes all of them, timed until the DUT counts none. \
               The result is N divided by that time. This is not a black-box test: the command is part of the device, and \
               starting it is part of the time.",
        unit: "connections per second",
    },
    summary: "how fast a stateful device deletes its connections (RFC 9693)",
    family: Family::PhaseOne,
    traffic: TrafficRequirements::Addresses,
    demand: Some(Demand::TearDown),
    is_steady: true,
    is_of_delay: false,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: None,
    quantities: &[Quantity::TearDownRate],
    headline: Some(Quantity::TearDownRate),
    is_averaged: false,
    axis: "tear-down rate",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl Measurement for TearDownRate {
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
        TrialKind::TearDown {
            connections: stateful.map_or(1, |stateful| stateful.connections),
        }
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let Some(stateful) = &test.stateful else {
            return Vec::new();
        };
        let actual = format!(
            "{}, by the recipe's command, its start included",
            count(stateful.connections, "connection")
        );
        vec![Clause::must(
            RFC_9693,
            "the time to delete N connections is measured",
            actual,
            true,
        )]
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(SingleTrial::new(
            context.stateful().tearing_down(),
            context.tries(),
            read,
        ))
    }
}

/// Returns the number of connections divided by the time the DUT took to delete them all (RFC 9693).
fn read(result: &TrialResult) -> Reading {
    let connections = result
        .phase_one_result()
        .filter(|connections| connections.lost() == 0);
    let Some((opened, took_ns)) = connections.and_then(|c| Some((c.established, c.torn_down_ns?)))
    else {
        return Reading::new(Verdict::Invalid, Vec::new());
    };
    let value = Value {
        quantity: Quantity::TearDownRate,
        direction: result
            .directions
            .first()
            .map_or(Direction::Forward, |first| first.direction),
        load: result.spec.rate,
        value: opened as f64 * 1e9 / took_ns.max(1) as f64,
        is_at_least: false,
        is_at_most: false,
    };
    Reading::new(sent_as_asked(result), vec![value])
}
