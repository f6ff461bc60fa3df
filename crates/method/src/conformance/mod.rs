//! The requirements of the RFCs that a test meets, meets in part or violates: determined from the plan, before anything runs. Judges plans, never
//! results.
//!
//! The code lists the requirements that depend on the plan: a file here for each topic that concerns several measures, and the file of a measure for
//! those that concern it alone. `docs/deviations.toml` lists those that no plan can change. Three rules give a requirement its level if the text is
//! ambiguous:
//!
//! - A key word in lower case (RFC 2544 has some) counts as if it were written in capitals; "are recommended" is a SHOULD.
//! - A procedure described in the imperative, without a key word, is a MUST: another procedure is another test.
//! - The phases of a trial in RFC 2544 section 23 are a SHOULD: RFC 8219 section 4 calls them recommendations.

mod deviation;
mod modifiers;
mod order;
mod overload;
mod report;
mod standard;
mod stateful;
#[cfg(test)]
mod tests;
mod traffic;
mod trial;

pub use crate::clause::{Clause, Conformance, Level};
pub use standard::{Standard, is_read, parts, standards};

use crate::lists::by_key;
use crate::plan::{Plan, Test};
use std::fmt;

/// The term of RFC 2544 section 5 for a list of clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compliance {
    /// All MUST and all SHOULD requirements are met.
    Unconditional,
    /// All MUST requirements are met, but not all SHOULD requirements.
    Conditional,
    /// A MUST requirement is not met, or only in part.
    No,
    /// Nothing that was judged excludes conditional compliance, but a MUST requirement was not checked against its text.
    Unchecked,
}

/// Returns every clause that concerns this test, those of the plan and of the instrument, in the order of [`of_plan`].
pub fn clauses(plan: &Plan, test: &Test) -> Vec<Clause> {
    let mut clauses = of_the_test(plan, test);
    clauses.extend(of_the_instrument(test));
    order::sort(&mut clauses);
    clauses
}

/// Returns the clauses that another plan could meet or violate. Those whose sections were not read are not judged.
pub fn of_the_test(plan: &Plan, test: &Test) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = judged(plan, test)
        .into_iter()
        .map(standard::as_read)
        .collect();
    order::sort(&mut clauses);
    clauses
}

/// Returns the clauses that another plan could meet or violate, all of them judged as if their sections had been read.
fn judged(plan: &Plan, test: &Test) -> Vec<Clause> {
    if !test.measure.family().has_load() {
        // Those RFCs are about loads and their results. What vectors ask of the device is in the results.
        return Vec::new();
    }
    let mut clauses = trial::clauses(plan, test);
    clauses.extend(traffic::clauses(plan, test));
    clauses.extend(test.measure.clauses(&test.context(plan)));
    clauses.extend(stateful::clauses(test));
    clauses.extend(overload::clauses(plan, test));
    clauses.extend(modifiers::clauses(plan, test));
    clauses.extend(report::clauses());
    clauses
}

/// Returns the clauses that sixbench meets only in part or not at all, whatever the plan: `docs/deviations.toml`.
pub fn of_the_instrument(test: &Test) -> Vec<Clause> {
    if !test.measure.family().has_load() {
        return Vec::new();
    }
    let mut clauses: Vec<Clause> = deviation::clauses(test)
        .into_iter()
        .map(standard::as_read)
        .collect();
    order::sort(&mut clauses);
    clauses
}

/// Returns all clauses of a plan with the names of the tests they concern, by RFC and the worst first. Tests with the same clause share a row.
pub fn of_plan(plan: &Plan) -> Vec<(Clause, Vec<String>)> {
    let of_test = |test| {
        clauses(plan, test)
            .into_iter()
            .map(|clause| (clause, test.name.clone()))
    };
    let mut rows = by_key(plan.tests.iter().flat_map(of_test));
    rows.sort_by_cached_key(|(clause, _)| order::key(clause));
    rows
}

/// Returns the term of RFC 2544 section 5 for a test with these clauses.
pub fn compliance(clauses: &[Clause]) -> Compliance {
    let has = |level: Level, found: &[Conformance]| {
        clauses
            .iter()
            .any(|c| c.level == level && found.contains(&c.conformance))
    };
    let fails = |level: Level| has(level, &[Conformance::Partial, Conformance::Violated]);
    let is_unknown = |level: Level| has(level, &[Conformance::Unchecked]);
    if fails(Level::Must) {
        Compliance::No
    } else if is_unknown(Level::Must) {
        Compliance::Unchecked
    } else if fails(Level::Should) || is_unknown(Level::Should) {
        Compliance::Conditional
    } else {
        Compliance::Unconditional
    }
}

impl fmt::Display for Compliance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unconditional => "unconditionally compliant",
            Self::Conditional => "conditionally compliant",
            Self::No => "not compliant",
            Self::Unchecked => "compliance unknown: not every clause was checked against its text",
        })
    }
}
