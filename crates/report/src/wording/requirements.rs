//! The requirements that a device meets and violates, in words.

use sixbench_method::trial::{RequirementResults, RequirementStrength, VectorFinding};
use sixbench_method::units::counted;

/// Returns the result of a device in one line: `267 of 322 requirements met, 12 MUSTs violated`.
pub(crate) fn requirements_in_words(results: &RequirementResults) -> String {
    let musts = results.violated_of(RequirementStrength::Must);
    let violated = if musts == 0 {
        "no MUST violated".to_owned()
    } else {
        format!("{} violated", counted(musts as u64, "MUST"))
    };
    let unknown = results.found(VectorFinding::Unknown);
    let unknown = if unknown == 0 {
        String::new()
    } else {
        format!(", {unknown} without a result")
    };
    format!(
        "{} of {} requirements met, {violated}{unknown}",
        results.met(),
        results.judged()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::fixtures::judged_vector;

    fn words(found: &[(RequirementStrength, VectorFinding)]) -> String {
        let vectors = found
            .iter()
            .map(|(level, finding)| judged_vector("v", *level, *finding));
        requirements_in_words(&RequirementResults {
            vectors: vectors.collect(),
        })
    }

    #[test]
    fn one_line_has_what_is_met_and_which_musts_are_violated() {
        use RequirementStrength::{Must, Should};
        use VectorFinding::{Allowed, NoAnswer, NotApplicable, Right, Unknown, Wrong};
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
