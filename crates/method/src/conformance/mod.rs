//! Which requirements of the RFCs a test meets, bends or breaks: known from the plan, before anything runs.
//! Judges plans, never results.
//!
//! One table in code for what a plan decides (a file here for each theme that concerns several measures, and in the file of a measure what
//! concerns it alone), one in `docs/deviations.toml` for what no plan can change.
//! Three rules give a requirement its level where the text is loose:
//!
//! - A key word in lower case (RFC 2544 has some) counts as if it were written in capitals; "are recommended" is a SHOULD.
//! - A procedure told in the imperative, with no key word, is a MUST: another procedure is another test.
//! - The phases of a trial in RFC 2544 section 23 are a SHOULD: RFC 8219 section 4 calls them recommendations.

mod clause;
mod deviation;
pub(crate) mod numbers;
mod order;
mod overload;
mod report;
mod stateful;
#[cfg(test)]
mod tests;
mod traffic;
mod trial;

pub use clause::{Clause, Conformance, Level};

use crate::lists::by_key;
use crate::plan::{Measure, Plan, Test};
use std::fmt;

/// The word of RFC 2544 section 5 for a list of clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compliance {
    /// All MUST and all SHOULD requirements are met.
    Unconditional,
    /// All MUST requirements are met, but not all SHOULD requirements.
    Conditional,
    /// A MUST requirement is not met, or only in part.
    No,
}

/// Every clause that concerns this test: the plan's and the instrument's, in the order of [`of_plan`].
pub fn clauses(plan: &Plan, test: &Test) -> Vec<Clause> {
    let mut clauses = of_the_test(plan, test);
    clauses.extend(of_the_instrument(&test.measure));
    order::sort(&mut clauses);
    clauses
}

/// The clauses that another plan could meet or break.
pub fn of_the_test(plan: &Plan, test: &Test) -> Vec<Clause> {
    let mut clauses = trial::clauses(plan, test);
    clauses.extend(traffic::clauses(plan, test));
    clauses.extend(test.measure.clauses(&test.context(plan)));
    clauses.extend(stateful::clauses(test));
    clauses.extend(overload::clauses(plan, test));
    clauses.extend(report::clauses());
    order::sort(&mut clauses);
    clauses
}

/// The clauses that sixbench meets in part or not at all, whatever the plan says: `docs/deviations.toml`.
pub fn of_the_instrument(measure: &Measure) -> Vec<Clause> {
    let mut clauses = deviation::clauses(measure);
    order::sort(&mut clauses);
    clauses
}

/// All clauses of a plan with the names of the tests each is about: RFC by RFC, the worst first.
/// Tests that stand alike share a row.
pub fn of_plan(plan: &Plan) -> Vec<(Clause, Vec<String>)> {
    let of_test = |test| clauses(plan, test).into_iter().map(|clause| (clause, test.name.clone()));
    let mut rows = by_key(plan.tests.iter().flat_map(of_test));
    rows.sort_by_cached_key(|(clause, _)| order::key(clause));
    rows
}

/// Returns the term of RFC 2544 section 5 for a test with these clauses.
pub fn compliance(clauses: &[Clause]) -> Compliance {
    let fails = |level: Level| clauses.iter().any(|c| c.level == level && c.conformance != Conformance::Met);
    match (fails(Level::Must), fails(Level::Should)) {
        (true, _) => Compliance::No,
        (false, true) => Compliance::Conditional,
        (false, false) => Compliance::Unconditional,
    }
}

impl fmt::Display for Compliance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unconditional => "unconditionally compliant",
            Self::Conditional => "conditionally compliant",
            Self::No => "not compliant",
        })
    }
}
