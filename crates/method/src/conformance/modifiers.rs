//! Clauses on the conditions of RFC 2544 section 11 under which tests are repeated, and on bursts (section 21).

use super::traffic::siblings;
use crate::clause::Clause;
use crate::measures::Family;
use crate::plan::{BroadcastConflict, FilterConflict, Plan, Test};
use crate::units::counted;

pub(super) fn clauses(plan: &Plan, test: &Test) -> Vec<Clause> {
    match test.measure.family() {
        Family::Frames | Family::Requests => {
            let mut clauses = filters(plan, test);
            clauses.extend(broadcasts(plan, test));
            clauses.extend(bursts(plan, test));
            clauses
        }
        // `docs/deviations.toml` has these.
        Family::PhaseOne | Family::Tcp | Family::Queries | Family::Vectors => Vec::new(),
    }
}

/// Returns the clause on broadcast frames; `None` where they do not apply. "IPv6 does not use layer 2 or layer 3 broadcasts" (RFC 5180 section 6).
fn broadcasts(plan: &Plan, test: &Test) -> Option<Clause> {
    let conflict = test.conditioned().broadcast_conflict();
    let is_for_these = test.measure.can_have_broadcasts() && !test.ipv6_forwarded;
    let without = match conflict {
        Some(BroadcastConflict::State) => "not offered for connections",
        _ => "no test with `broadcast = \"1%\"`",
    };
    is_for_these.then(|| {
        let with = siblings(plan, test)
            .find(|other| other.traffic.broadcast_every == Some(100))
            .map(|other| format!("every 100th frame in {}", other.name));
        Clause::should(
            "RFC 2544 section 11.1",
            "augmented with 1% frames addressed to the hardware broadcast address",
            with.clone().unwrap_or_else(|| without.to_owned()),
            with.is_some(),
        )
    })
}

/// Returns the clause on bursts, each size of which is a further run of a measurement; `None` where the load is not held. How closely the frames of a burst
/// follow each other is up to the port.
fn bursts(plan: &Plan, test: &Test) -> Option<Clause> {
    const SIZES: [u32; 4] = [16, 64, 256, 1024];
    if !test.measure.has_held_load() {
        return None;
    }
    let (with, without): (Vec<u32>, Vec<u32>) = SIZES.into_iter().partition(|frames| {
        siblings(plan, test).any(|other| {
            other
                .traffic
                .burst
                .is_some_and(|burst| burst.get() == *frames)
        })
    });
    let actual = match (with.is_empty(), without.is_empty()) {
        (_, true) => "of each, as fast as the port takes the frames".to_owned(),
        (true, false) => "no test with `burst = [16, 64, 256, 1024]`".to_owned(),
        (false, false) => format!("bursts of {}; none of {}", listed(&with), listed(&without)),
    };
    Some(Clause::should(
        "RFC 2544 section 21",
        "tests run with burst sizes of 16, 64, 256 and 1024 frames",
        actual,
        without.is_empty(),
    ))
}

fn listed(sizes: &[u32]) -> String {
    let words: Vec<String> = sizes.iter().map(u32::to_string).collect();
    words.join(", ")
}

/// Returns the clauses on one filter and on 25, which are further runs of a measurement, so further tests of a plan.
fn filters(plan: &Plan, test: &Test) -> Vec<Clause> {
    const ONE: &str = "first one filter condition, which permits the test frames";
    const ALL: &str = "then 25 filters, of which the last permits the test frames and the others block other addresses";
    let mut clauses = vec![
        with_filters(plan, test, 1, ONE),
        with_filters(plan, test, 25, ALL),
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

fn with_filters(plan: &Plan, test: &Test, filters: u32, requirement: &'static str) -> Clause {
    let found = siblings(plan, test).find(|other| other.filters == filters);
    let is_offered = test.conditioned().filter_conflict() != Some(FilterConflict::State);
    let actual = match found {
        Some(other) => filters_of(other, test),
        None if is_offered => format!("no test with `filters = {filters}`"),
        None => "not offered for connections, whose addresses change on the way".to_owned(),
    };
    Clause::should(
        "RFC 2544 section 11.4",
        requirement,
        actual,
        found.is_some(),
    )
}

/// Returns the filters of another test, with its name if it is another one.
fn filters_of(other: &Test, test: &Test) -> String {
    let filters = counted(u64::from(other.filters), "filter");
    if test.name == other.name {
        filters
    } else {
        format!("{filters} in {}", other.name)
    }
}
