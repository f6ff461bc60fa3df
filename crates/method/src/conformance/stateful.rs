//! Stateful gateways: RFC 9693. Its sections were not read, so no clause cites one and none is judged (`docs/standards.toml`). The requirements follow
//! the description of the draft in the siitperf paper.

use crate::clause::numbers::seconds;
use crate::clause::{Clause, RFC_9693};
use crate::plan::{Stateful, Test, ValueOrder};

pub(super) fn clauses(test: &Test) -> Vec<Clause> {
    let Some(stateful) = &test.stateful else {
        return Vec::new();
    };
    let mut clauses = phase_1(test, stateful);
    if !test.measure.family().ends_with_phase_one() {
        clauses.extend(phase_2(stateful));
    }
    clauses
}

fn phase_1(test: &Test, stateful: &Stateful) -> Vec<Clause> {
    let tuples = test.traffic.tuples();
    let ranges = format!("N = {} of {tuples} combinations", stateful.connections);
    let is_random = stateful.enumeration == ValueOrder::Pseudorandom;
    let order = if is_random {
        "a keyed permutation: every one once, none twice"
    } else {
        "in order"
    };
    vec![
        Clause::must(
            RFC_9693,
            "the number of network flows is limited, so that the table is not exhausted",
            ranges,
            true,
        ),
        Clause::must(
            RFC_9693,
            "every frame of phase 1 opens a new connection",
            order,
            true,
        ),
        Clause::should(
            RFC_9693,
            "the four-tuples are enumerated pseudorandomly",
            order,
            is_random,
        ),
        Clause::must(
            RFC_9693,
            "the connection tracking table is empty at first, and large enough",
            "emptied before every trial, as the recipe says, and checked to be empty; its size is queried if the recipe has a \
             command for it",
            true,
        ),
    ]
}

fn phase_2(stateful: &Stateful) -> Vec<Clause> {
    let delay = match stateful.delay_ns {
        Some(delay_ns) => format!("D = {}", seconds(delay_ns)),
        None => format!("D = N / R + 2 T, T = {}", seconds(stateful.timeout_ns)),
    };
    let rate = format!(
        "R = {}, all frames must arrive, otherwise there is no phase 2",
        stateful.rate
    );
    let keeps_all = stateful.state_table >= stateful.connections;
    let held = if keeps_all {
        "every frame is compared with the mapping of its connection, and the DUT's own count, if there is one, with the \
             tester's"
    } else {
        "M is below N: for connections that the state table has lost, any source of the pool counts as correct"
    };
    let is_random = stateful.responder == ValueOrder::Pseudorandom;
    let order = if is_random {
        "pseudorandomly"
    } else {
        "in the plan's order"
    };
    vec![
        Clause::must(
            RFC_9693,
            "no frame of phase 2 opens a connection",
            held,
            true,
        ),
        Clause::must(
            RFC_9693,
            "phase 1 precedes it, at a rate safely below the maximum",
            rate,
            true,
        ),
        Clause::must(
            RFC_9693,
            "a delay D between the beginnings of both phases",
            delay,
            true,
        ),
        Clause::should(
            RFC_9693,
            "the state table is read pseudorandomly",
            order,
            is_random,
        ),
    ]
}
