//! The requirements that a device meets and violates, in words.

use sixbench_analysis::comparison::RequirementChange;
use sixbench_method::measures::Quantity;
use sixbench_method::trial::{RequirementLevel, RequirementResults, VectorResult};
use sixbench_method::units::counted;

/// Returns the result of a device in one line: `267 of 322 requirements met, 12 MUSTs violated; under load 3 more requirements violated`.
pub(crate) fn requirements_in_words(results: &RequirementResults) -> String {
    let (met, violated) = (met_in_words(results), violated_in_words(results));
    format!("{met}, {violated}{}", loaded_beside(results))
}

/// Returns what a load changes, to stand behind what was found quietly: `; under load the same`; empty if there was no load.
pub(crate) fn loaded_beside(results: &RequirementResults) -> String {
    let loaded = loaded_in_words(results);
    loaded.map_or_else(String::new, |loaded| format!("; under load {loaded}"))
}

/// Returns what a load changes: `3 more requirements violated, 2 of them MUSTs`; `None` if there was no load.
pub(crate) fn loaded_in_words(results: &RequirementResults) -> Option<String> {
    results.load.as_ref()?;
    if results.offered_load().is_none() {
        return Some("nothing is known, because the tester did not offer the load".to_owned());
    }
    let differing = results.count(|vector| results.differing(vector).is_some());
    let all = results.count(|vector| results.is_violated_under_load_alone(vector));
    let musts = results.count(|vector| {
        results.is_violated_under_load_alone(vector) && vector.level == RequirementLevel::Must
    });
    Some(match (all, musts) {
        (0, _) if differing == 0 => "the same".to_owned(),
        (0, _) => format!("no more violated, {differing} with another result"),
        (all, musts) if all == musts => format!("{} violated", counted(all, "more MUST")),
        (all, 0) => format!("{} violated", counted(all, "more requirement")),
        (all, musts) => format!(
            "{} violated, {}",
            counted(all, "more requirement"),
            if musts == 1 {
                "one of them a MUST".to_owned()
            } else {
                format!("{musts} of them MUSTs")
            }
        ),
    })
}

/// Returns the load of a change: ` under a load of 20000 frames/s`; empty of a change of the quiet run.
pub(crate) fn under_load(change: &RequirementChange) -> String {
    let load = change.under_load;
    load.map_or_else(String::new, |load| format!(" under a load of {load}"))
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

/// Returns a number of requirements as a quantity counts them: `1 MUST violated`; `None` of a quantity that counts something else.
pub(crate) fn counted_in_words(quantity: Quantity, number: f64) -> Option<String> {
    let number = number.round() as u64;
    match quantity {
        Quantity::MustsViolated => Some(format!("{} violated", counted(number, "MUST"))),
        Quantity::RequirementsViolated => {
            Some(format!("{} violated", counted(number, "requirement")))
        }
        Quantity::NewViolations => Some(counted(number, "new violation")),
        Quantity::ViolatedUnderLoad => Some(format!(
            "{} violated under load alone",
            counted(number, "requirement")
        )),
        Quantity::RequirementsMet => Some(format!("{} met", counted(number, "requirement"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::fixtures::{judged_vector, loaded_finding, requirement_load};
    use sixbench_method::trial::{JudgedVector, RequirementLoad};

    fn words(found: &[(RequirementLevel, VectorResult)]) -> String {
        let vectors = found
            .iter()
            .map(|(level, finding)| judged_vector("v", *level, *finding));
        requirements_in_words(&vectors.collect::<Vec<_>>().into())
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

    #[test]
    fn the_line_says_what_is_violated_under_load_alone_and_how_much_of_it_is_a_must() {
        use RequirementLevel::{Must, Should};
        use VectorResult::{NoAnswer, Right, Unknown, Wrong};
        let words = |found: &[(RequirementLevel, VectorResult, VectorResult)]| {
            let vectors = found.iter().map(|(level, quiet, loaded)| JudgedVector {
                under_load: (quiet != loaded).then(|| Box::new(loaded_finding(*loaded))),
                ..judged_vector("v", *level, *quiet)
            });
            loaded_in_words(&RequirementResults {
                load: Some(requirement_load()),
                vectors: vectors.collect(),
            })
        };
        assert_eq!(words(&[(Must, Right, Right)]).as_deref(), Some("the same"));
        assert_eq!(
            words(&[(Must, Right, NoAnswer), (Should, Right, Wrong)]).as_deref(),
            Some("2 more requirements violated, one of them a MUST")
        );
        assert_eq!(
            words(&[(Must, Wrong, NoAnswer), (Must, Right, Unknown)]).as_deref(),
            Some("no more violated, 2 with another result")
        );
        assert_eq!(loaded_in_words(&RequirementResults::default()), None);
        let not_offered = RequirementResults {
            load: Some(RequirementLoad {
                invalid_trials: 1,
                ..requirement_load()
            }),
            vectors: Vec::new(),
        };
        let words = loaded_in_words(&not_offered);
        let unknown = "nothing is known, because the tester did not offer the load";
        assert_eq!(words.as_deref(), Some(unknown));
    }
}
