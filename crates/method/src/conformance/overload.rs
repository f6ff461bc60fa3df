//! Overload scalability: RFC 8219 section 10, for tests with a bounded number of network flows.

use super::traffic::{series, siblings};
use crate::clause::Clause;
use crate::clause::numbers::{SECOND_NS, count, list, seconds};
use crate::measures::SendingTime;
use crate::plan::{Flows, Plan, SeriesBy, Test};

const SIMULTANEOUS: &str = "RFC 8219 section 10.2.1";
const INCREMENTAL: &str = "RFC 8219 section 10.2.2";

/// Returns the clauses of section 10; none for a test with an unbounded number of flows.
pub(super) fn clauses(plan: &Plan, test: &Test) -> Vec<Clause> {
    let Some(flows) = test.traffic.flows else {
        return Vec::new();
    };
    let section = if flows.step_ns == 0 {
        SIMULTANEOUS
    } else {
        INCREMENTAL
    };
    let steps = steps(plan, test);
    let mut clauses = degradation(section, flows, &steps);
    match section {
        SIMULTANEOUS => clauses.push(Clause::must(
            section,
            "the flows are started simultaneously",
            "their frames take turns from the start",
            true,
        )),
        _ => clauses.extend(incremental(plan, test, flows)),
    }
    clauses.extend(between(&steps).filter(|_| flows.step_ns > 0));
    clauses
}

/// Returns the numbers of flows that this test is compared with, including its own.
fn steps(plan: &Plan, test: &Test) -> Vec<u32> {
    let number = |step: &Test| step.traffic.flows.map(|flows| flows.count);
    let mut steps: Vec<u32> = match series(plan, test, SeriesBy::Flows) {
        Some(series) => series.into_iter().filter_map(number).collect(),
        None => siblings(plan, test).filter_map(number).collect(),
    };
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn degradation(section: &'static str, flows: Flows, steps: &[u32]) -> Vec<Clause> {
    let has_one = steps.contains(&1);
    let measured = format!("measured with {} flows", list(steps));
    let degradation = if has_one {
        "against one flow, in per cent"
    } else {
        "not without the result of one flow"
    };
    let number = format!("n = {}", flows.count);
    vec![
        Clause::must(section, "first one network flow, then n", measured, has_one),
        Clause::should(
            section,
            "the degradation from one flow to n, in per cent",
            degradation,
            has_one,
        ),
        Clause::must(section, "the number of flows n is specified", number, true),
    ]
}

fn incremental(plan: &Plan, test: &Test, flows: Flows) -> Vec<Clause> {
    let requirement =
        "flow i+1 is started a time t after flow i, and the trial is longer by (n-1) t";
    let starts = u64::from(flows.count.saturating_sub(1));
    let is_ramped = test.measure.info().is_steady;
    let actual = if is_ramped {
        format!(
            "t = {}, longer by {}",
            seconds(flows.step_ns),
            seconds(starts * flows.step_ns)
        )
    } else {
        format!(
            "{} at once: this measurement cannot start them one after the other",
            count(u64::from(flows.count), "flow")
        )
    };
    let first_ns = duration_ns(plan, test);
    vec![
        Clause::must(INCREMENTAL, requirement, actual, is_ramped),
        Clause::should(
            INCREMENTAL,
            "at least 60 s for the first flow",
            seconds(first_ns),
            first_ns >= 60 * SECOND_NS,
        ),
    ]
}

fn duration_ns(plan: &Plan, test: &Test) -> u64 {
    match test.measure.sending() {
        SendingTime::AsPlanned | SendingTime::UntilConnected => plan.trial.duration_ns,
        SendingTime::For(ns) | SendingTime::AtMost(ns) => ns,
    }
}

fn between(steps: &[u32]) -> impl Iterator<Item = Clause> + use<> {
    let most = steps.last().copied().unwrap_or(1);
    let has_all = most >= 4
        && [1, 2, 3]
            .iter()
            .all(|quarter| steps.contains(&(most / 4 * quarter)));
    has_all
        .then(|| {
            Clause::may(
                INCREMENTAL,
                "degradation at n/4, n/2 and 3n/4",
                format!("of n = {most}"),
            )
        })
        .into_iter()
}
