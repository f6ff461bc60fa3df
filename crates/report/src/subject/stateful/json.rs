//! What `results.json` holds of a stateful test: the parameters of RFC 9693, and what the trials say of connections.

use crate::digest::{CapacityStep, Digest, PointDigest, phase_1_rate};
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::measures::ResultKind;
use sixbench_method::plan::{Stateful, ValueOrder};
use sixbench_method::trial::Mapping;

#[derive(Serialize, JsonSchema)]
pub(crate) struct JsonStateful {
    /// N; of a search for the capacity the first one.
    connections: u64,
    /// M: the number of four-tuples that the Responder keeps.
    state_table: u64,
    /// R, connections/s; `null` where it is what is searched.
    rate: Option<u64>,
    /// R over the establishment rate of the same DUT, where the run measured one.
    safety_factor: Option<f64>,
    /// True if that is an upper bound.
    safety_factor_at_most: bool,
    timeout_ns: u64,
    /// D; `null` where nothing follows phase 1 but the validation.
    delay_ns: Option<u64>,
    enumeration: ValueOrder,
    responder: ValueOrder,
    validation_share: f64,
    table_size: Option<u64>,
    /// Trials with a complete phase 1 in which the DUT counted as many connections as the tester, in which it did not, and in which it
    /// was not asked.
    count_agreed: usize,
    count_differed: usize,
    not_counted: usize,
    /// Losing trials that would have passed without their validation.
    lost_in_validation_alone: usize,
    /// The mapping behaviour of the DUT, from the trial that saw most connections; the collisions are those of all trials.
    mapping: Option<JsonMapping>,
    capacity_steps: Vec<CapacityStep>,
}

#[derive(Serialize, JsonSchema)]
struct JsonMapping {
    seen: u64,
    ports_preserved: u64,
    addresses: u64,
    collisions: u64,
    sources: u64,
    endpoint_independent: u64,
    address_dependent: u64,
    address_and_port_dependent: u64,
}

pub(super) fn point(digest: &Digest, point: &PointDigest) -> Option<JsonStateful> {
    let test = point.test;
    let stateful: Stateful = test.stateful?;
    let safety = digest.safety(test, &stateful);
    let agreement = point.agreement();
    Some(JsonStateful {
        connections: stateful.connections,
        state_table: stateful.state_table,
        rate: phase_1_rate(test, &stateful).map(|rate| rate.0),
        safety_factor: safety.map(|(ratio, _)| ratio),
        safety_factor_at_most: safety.is_some_and(|(_, is_open)| is_open),
        timeout_ns: stateful.timeout_ns,
        delay_ns: test.phase_two_delay_ns(),
        enumeration: stateful.enumeration,
        responder: stateful.responder,
        validation_share: stateful.validation,
        table_size: stateful.table_size,
        count_agreed: agreement.agreed,
        count_differed: agreement.differed,
        not_counted: agreement.uncounted,
        lost_in_validation_alone: point.lost_in_validation_alone(point.first_goal()),
        mapping: digest.mapping(&test.dut).map(mapping),
        capacity_steps: match test.measure.result_kind() {
            ResultKind::Number => point.steps(point.first_goal()),
            ResultKind::Rate
            | ResultKind::RepeatedRate
            | ResultKind::Quantity
            | ResultKind::Curve
            | ResultKind::Requirements => Vec::new(),
        },
    })
}

fn mapping(mapping: Mapping) -> JsonMapping {
    let Mapping {
        seen,
        ports_preserved,
        addresses,
        collisions,
        sources,
        ..
    } = mapping;
    let Mapping {
        endpoint_independent,
        address_dependent,
        address_and_port_dependent,
        ..
    } = mapping;
    JsonMapping {
        seen,
        ports_preserved,
        addresses,
        collisions,
        sources,
        endpoint_independent,
        address_dependent,
        address_and_port_dependent,
    }
}
