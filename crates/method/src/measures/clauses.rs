//! Clauses that several measures share.

use super::context::TestContext;
use super::load::Load;
use crate::clause::Clause;
use crate::clause::numbers::{SECOND_NS, list, percent, repetitions, seconds};
use crate::repeat::Repetition;
use crate::terms::LossRatio;
use crate::units::agreeing;

/// The requirement of RFC 8219 section 7 before delays are measured.
pub(super) const DETERMINED: &str = "the throughput is determined at each frame size";

/// Returns the clause on the repetitions that RFC 8219 section 7 requires of latency and of delay variation.
pub(super) fn twenty_times(
    times: Repetition,
    section: &'static str,
    requirement: &'static str,
) -> Clause {
    Clause::must(
        section,
        requirement,
        repetitions(times),
        times.least() >= 20,
    )
}

/// Returns the clause on the repetitions where the RFC gives no number: at least two.
pub(super) fn several_times(times: Repetition, section: &'static str) -> Clause {
    let is_met = times.least() >= 2;
    Clause::should(
        section,
        "the measurement is repeated",
        repetitions(times),
        is_met,
    )
}

/// Returns whether the first goal is zero loss. That goal decides at which load delays, recovery and resets are measured.
pub(super) fn is_first_goal_zero(test: &TestContext<'_>) -> bool {
    test.search.first_goal() == LossRatio::ZERO && !test.search.tolerates_lossy_trials()
}

pub(super) fn goals(test: &TestContext<'_>) -> String {
    let goals = if test.search.goals.is_empty() {
        &[LossRatio::ZERO][..]
    } else {
        &test.search.goals
    };
    format!(
        "{}: {} of loss",
        agreeing(goals.len() == 1, "goal"),
        list(goals)
    )
}

/// Returns the clauses on the load of a measurement that is to be made at the throughput: how the throughput is determined, and whether the load
/// equals it.
pub(super) fn at_throughput(
    test: &TestContext<'_>,
    load: Load,
    section: &'static str,
    determines: Clause,
) -> Vec<Clause> {
    let actual = match load {
        Load::OfThroughput(share) if is_first_goal_zero(test) => {
            format!("{} of it", percent(share))
        }
        Load::OfThroughput(share) => {
            format!("{} of a rate with loss, {}", percent(share), goals(test))
        }
        Load::Rate(rate) => format!("{rate}, as the plan says"),
    };
    let is_met = load == Load::OfThroughput(1.0) && is_first_goal_zero(test);
    vec![
        determines,
        Clause::must(
            section,
            "the stream is offered at the throughput rate",
            actual,
            is_met,
        ),
    ]
}

/// Returns how the throughput is determined before the measurement, and whether it is determined, for the `should` or `must` of its section.
pub(super) fn determined(load: Load) -> (&'static str, bool) {
    match load {
        Load::OfThroughput(_) => ("searched for at each size, in the first repetition", true),
        Load::Rate(_) => ("not determined", false),
    }
}

/// Returns the clauses that the two delay variations share: a stream of 60 s at the throughput rate, which the RFC words in the imperative there.
pub(super) fn stream(
    test: &TestContext<'_>,
    load: Load,
    duration_ns: u64,
    section: &'static str,
) -> Vec<Clause> {
    let (how, is_determined) = determined(load);
    let determines = Clause::must(section, DETERMINED, how, is_determined);
    let mut clauses = at_throughput(test, load, section, determines);
    clauses.push(lasts(section, "a stream of at least 60 s", duration_ns, 60));
    clauses
}

pub(super) fn lasts(
    section: &'static str,
    requirement: &'static str,
    duration_ns: u64,
    least: u64,
) -> Clause {
    Clause::should(
        section,
        requirement,
        seconds(duration_ns),
        duration_ns >= least * SECOND_NS,
    )
}
