//! Clauses on the conditions of RFC 2544 section 11 under which tests are repeated.

use super::traffic::siblings;
use crate::clause::Clause;
use crate::measures::Family;
use crate::plan::{Plan, Test};
use crate::units::counted;

pub(super) fn clauses(plan: &Plan, test: &Test) -> Vec<Clause> {
    match test.measure.family() {
        Family::Frames | Family::Requests => filters(plan, test),
        // `docs/deviations.toml` has these.
        Family::PhaseOne | Family::Tcp | Family::Queries | Family::Vectors => Vec::new(),
    }
}

/// Returns the clauses on one filter and on 25, which are further runs of a measurement, so further tests of a plan.
fn filters(plan: &Plan, test: &Test) -> Vec<Clause> {
    const ONE: &str = "first one filter condition, which permits the test frames";
    const ALL: &str = "then 25 filters, of which the last permits the test frames and the others block other addresses";
    let with = |filters: u32| {
        siblings(plan, test)
            .find(|other| other.filters == filters)
            .map(|other| in_words(test, other))
    };
    let missing = |filters: u32| format!("no test with `filters = {filters}`");
    let (one, all) = (with(1), with(25));
    let mut clauses = vec![
        should(ONE, one.is_some(), one.unwrap_or_else(|| missing(1))),
        should(ALL, all.is_some(), all.unwrap_or_else(|| missing(25))),
    ];
    if test.filters > 1 {
        clauses.push(Clause::should(
            "RFC 2544 section 11.4.1",
            "the 25 filter case follows a sequence in which the 13th filter permits the test frames",
            "the last one does, as section 11.4 says, which this sequence contradicts",
            false,
        ));
    }
    clauses
}

fn should(requirement: &'static str, is_met: bool, actual: String) -> Clause {
    Clause::should("RFC 2544 section 11.4", requirement, actual, is_met)
}

/// Returns the filters of another test, with its name if it is another one.
fn in_words(test: &Test, other: &Test) -> String {
    let filters = counted(u64::from(other.filters), "filter");
    if test.name == other.name {
        filters
    } else {
        format!("{filters} in {}", other.name)
    }
}
