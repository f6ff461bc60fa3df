//! The requirements that a device meets and violates, in words.

use sixbench_method::trial::{RequirementLevel, RequirementResults, VectorResult};
use sixbench_method::units::counted;

/// Returns the result of a device in one line: `267 of 322 requirements met, 12 MUSTs violated`.
pub(crate) fn requirements_in_words(results: &RequirementResults) -> String {
    format!("{}, {}", met_in_words(results), violated_in_words(results))
}

/// Returns how many requirements are met: `267 of 322 requirements met`.
pub(crate) fn met_in_words(results: &RequirementResults) -> String {
    format!("{} of {} requirements met", results.met(), results.judged())
}

/// Returns how many are violated whose text says MUST, and how many have no result: `12 MUSTs violated`.
pub(crate) fn violated_in_words(results: &RequirementResults) -> String {
    let violated = match results.violated_of(RequirementLevel::Must) {
        0 => "no MUST violated".to_owned(),
        musts => format!("{} violated", counted(musts as u64, "MUST")),
    };
    match results.found(VectorResult::Unknown) {
        0 => violated,
        unknown => format!("{violated}, {unknown} without a result"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::fixtures::judged_vector;

    fn words(found: &[(RequirementLevel, VectorResult)]) -> String {
        let vectors = found
            .iter()
            .map(|(level, finding)| judged_vector("v", *level, *finding));
        requirements_in_words(&RequirementResults {
            vectors: vectors.collect(),
        })
    }

    #[test]
    fn one_line_has_what_is_met_and_which_musts_are_violated() {
        use RequirementLevel::{Must, Should};
        use VectorResult::{Allowed, NoAnswer, NotApplicable, Right, Unknown, Wrong};
        assert_eq!(
            words(&[(Must, Right), (Should, Wrong), (Must, NotApplicable)]),
            "1 of 2 requirements met, no MUST violated"
        );
        assert_eq!(
            words(&[
                (Must, Wrong),
                (Must, NoAnswer),
                (Must, Allowed),
                (Must, Unknown)
            ]),
            "1 of 3 requirements met, 2 MUSTs violated, 1 without a result"
        );
        assert_eq!(
            words(&[(Must, Wrong)]),
            "0 of 1 requirements met, 1 MUST violated"
        );
    }
}
