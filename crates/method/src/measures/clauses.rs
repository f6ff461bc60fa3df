//! Clauses that several measures have in common.

use crate::conformance::Clause;
use crate::conformance::numbers::repetitions;
use crate::repeat::Repetition;

/// Returns the clause on the repetitions that RFC 8219 section 7 requires of latency and of delay variation.
pub(crate) fn twenty_times(times: Repetition, section: &'static str, requirement: &'static str) -> Clause {
    Clause::must(section, requirement, repetitions(times), times.least() >= 20)
}

/// Returns the clause on the repetitions where no number is given: more than one is required.
pub(crate) fn several_times(times: Repetition, section: &'static str) -> Clause {
    let is_met = times.least() >= 2;
    Clause::should(section, "the measurement is repeated", repetitions(times), is_met)
}
