//! The requirements that one side of a comparison meets and the other violates. They are told by name, since no row of values does: a device may lose
//! one requirement and gain another, and nothing about them is a matter of chance.

use crate::gate::Gate;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{JudgedVector, RequirementLevel, VectorResult};
use std::collections::BTreeMap;

/// The requirements that both sides of a test were asked for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RequirementComparison {
    /// The name of A's test.
    pub test_a: String,
    /// The name of B's test.
    pub test_b: String,
    /// The title of B's test.
    pub title: String,
    /// The number of vectors with a result on both sides.
    pub compared: usize,
    /// The changes from A to B, the strongest requirements first.
    pub changes: Vec<RequirementChange>,
    /// The names of vectors that only A was sent, or could be asked.
    pub only_a: Vec<String>,
    /// The same of B.
    pub only_b: Vec<String>,
}

/// A requirement whose finding is another one in B.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequirementChange {
    /// The name of the vector.
    pub vector: String,
    /// The clause with its RFC.
    pub clause: String,
    /// The word by which the text asks for it.
    pub level: RequirementLevel,
    /// The requirement in one sentence.
    pub sentence: String,
    /// The finding of A.
    pub a: VectorResult,
    /// The finding of B.
    pub b: VectorResult,
    /// The meaning of the two.
    pub change: RequirementTurn,
}

/// The way in which a requirement changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementTurn {
    /// B violates what A meets.
    BecameWrong,
    /// Nothing is known of B, because control frames were lost.
    NotKnown,
    /// B meets what A violates.
    BecameRight,
}

impl RequirementTurn {
    /// Returns the verb for it: `became wrong`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::BecameWrong => "became wrong",
            Self::NotKnown => "is no longer known",
            Self::BecameRight => "became right",
        }
    }

    fn between(a: VectorResult, b: VectorResult) -> Option<Self> {
        let is_known = a.is_met() || a.is_violation();
        if a.is_met() && b.is_violation() {
            Some(Self::BecameWrong)
        } else if a.is_violation() && b.is_met() {
            Some(Self::BecameRight)
        } else if is_known && b == VectorResult::Unknown {
            Some(Self::NotKnown)
        } else {
            None
        }
    }

    /// Returns the verdict that this change implies for the whole comparison.
    pub(super) fn gate(self) -> Gate {
        match self {
            Self::BecameWrong => Gate::Worse,
            Self::NotKnown => Gate::TesterUnfit,
            Self::BecameRight => Gate::Passed,
        }
    }
}

impl RequirementComparison {
    /// Returns the comparison of two tests in the runs of A and of B; `None` if one of them has no results of vectors.
    pub(super) fn new(a: &Test, b: &Test, [of_a, of_b]: [&[&[TrialRecord]]; 2]) -> Option<Self> {
        let (in_a, in_b) = (findings(a, of_a), findings(b, of_b));
        (!in_a.is_empty() && !in_b.is_empty()).then(|| compared(a, b, &in_a, &in_b))
    }
}

/// Returns the worst result of each vector of a test, by name.
fn findings<'r>(test: &Test, runs: &[&'r [TrialRecord]]) -> BTreeMap<&'r str, &'r JudgedVector> {
    let mut worst: BTreeMap<&str, &JudgedVector> = BTreeMap::new();
    let of_test = runs
        .iter()
        .copied()
        .flatten()
        .filter(|record| record.point.test == test.name);
    for vector in of_test
        .filter_map(|record| record.result.requirements())
        .flat_map(|results| &results.vectors)
        .filter(|vector| vector.result != VectorResult::NotApplicable)
    {
        let known = worst.entry(&vector.name).or_insert(vector);
        if vector.result < known.result {
            *known = vector;
        }
    }
    worst
}

fn compared(
    a: &Test,
    b: &Test,
    of_a: &BTreeMap<&str, &JudgedVector>,
    of_b: &BTreeMap<&str, &JudgedVector>,
) -> RequirementComparison {
    let common: Vec<(&JudgedVector, &JudgedVector)> = of_a
        .iter()
        .filter_map(|(name, in_a)| Some((*in_a, *of_b.get(name)?)))
        .collect();
    let mut changes: Vec<RequirementChange> = common
        .iter()
        .filter_map(|(in_a, in_b)| changed(in_a, in_b))
        .collect();
    changes.sort_by_key(|change| (change.change, change.level));
    RequirementComparison {
        test_a: a.name.clone(),
        test_b: b.name.clone(),
        title: b.title.clone(),
        compared: common
            .iter()
            .filter(|(in_a, in_b)| {
                [in_a.result, in_b.result]
                    .iter()
                    .all(|result| *result != VectorResult::Unknown)
            })
            .count(),
        changes,
        only_a: alone(of_a, of_b),
        only_b: alone(of_b, of_a),
    }
}

/// Returns the names of the vectors that only one side was sent.
fn alone(of: &BTreeMap<&str, &JudgedVector>, other: &BTreeMap<&str, &JudgedVector>) -> Vec<String> {
    let names = of.keys().filter(|name| !other.contains_key(*name));
    names.map(|name| (*name).to_owned()).collect()
}

fn changed(in_a: &JudgedVector, in_b: &JudgedVector) -> Option<RequirementChange> {
    Some(RequirementChange {
        vector: in_b.name.clone(),
        clause: in_b.citation(),
        level: in_b.level,
        sentence: in_b.sentence.clone(),
        a: in_a.result,
        b: in_b.result,
        change: RequirementTurn::between(in_a.result, in_b.result)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Compared, RunOrder, Which, compare};
    use sixbench_method::fixtures::{judged_vector, outcome};
    use sixbench_method::plan::{Measure, RequirementTest};
    use sixbench_method::record::FORMAT;
    use sixbench_method::trial::RequirementLevel::{Must, Should};
    use sixbench_method::trial::VectorResult::{
        Allowed, NoAnswer, NotApplicable, Right, Unknown, Wrong,
    };
    use sixbench_method::trial::{RequirementResults, TrialOutcome, TrialResult, TrialSpec};

    fn record(vectors: &[(&str, RequirementLevel, VectorResult)]) -> TrialRecord {
        let vectors = vectors
            .iter()
            .map(|(name, level, result)| judged_vector(name, *level, *result))
            .collect();
        let results = RequirementResults { vectors };
        TrialRecord {
            format: FORMAT,
            point: outcome("t", 84, 1).point,
            repetition: 1,
            trial: 1,
            load: None,
            started: String::new(),
            result: TrialResult {
                outcome: TrialOutcome::Requirements(Some(Box::new(results))),
                ..TrialResult::new(TrialSpec::requirements(1), vec![], vec![])
            },
            watch: None,
        }
    }

    /// Returns the comparison of two runs, each with what a test of requirements found.
    fn compared(a: &[TrialRecord], b: &[TrialRecord]) -> (RequirementComparison, Gate) {
        let test = Test {
            measure: Measure::Requirements(RequirementTest::default()),
            ..Test::of("t", "d")
        };
        let outcomes = [outcome("t", 84, 1)];
        let side = |which| Compared {
            which,
            tests: vec![&test],
            runs: vec![&outcomes],
        };
        let compared = compare(&side(Which::A), &side(Which::B), 0.0, RunOrder::AFirst)
            .expect("a test in common")
            .with_requirements([&[a], &[b]]);
        assert_eq!(compared.missing, []);
        (compared.requirements[0].clone(), compared.gate())
    }

    #[test]
    fn what_became_wrong_and_right_is_named_and_the_strongest_comes_first() {
        use RequirementTurn::{BecameRight, BecameWrong, NotKnown};
        let before = record(&[
            ("same", Must, Wrong),
            ("should", Should, Right),
            ("must", Must, Allowed),
            ("cured", Must, NoAnswer),
            ("lost", Must, Right),
            ("gone", Must, Right),
            ("asked", Must, NotApplicable),
        ]);
        let after = record(&[
            ("same", Must, NoAnswer),
            ("should", Should, NoAnswer),
            ("must", Must, Wrong),
            ("cured", Must, Right),
            ("lost", Must, Unknown),
            ("new", Must, Wrong),
            ("asked", Must, Right),
        ]);
        let (found, gate) = compared(&[before], &[after]);
        let changes: Vec<_> = found
            .changes
            .iter()
            .map(|change| (change.vector.as_str(), change.change))
            .collect();
        assert_eq!(
            changes,
            [
                ("must", BecameWrong),
                ("should", BecameWrong),
                ("lost", NotKnown),
                ("cured", BecameRight),
            ]
        );
        assert_eq!(found.compared, 4);
        assert_eq!(
            (found.only_a, found.only_b),
            (
                vec!["gone".to_owned()],
                vec!["asked".to_owned(), "new".to_owned()]
            )
        );
        assert_eq!(gate, Gate::Worse);
    }

    #[test]
    fn a_new_vector_or_one_that_was_wrong_before_stops_nothing() {
        let before = || record(&[("old", Must, Wrong), ("right", Must, Right)]);
        let after = record(&[
            ("old", Must, Wrong),
            ("right", Must, Right),
            ("new", Must, Wrong),
        ]);
        let (found, gate) = compared(&[before()], &[after]);
        assert_eq!((found.changes, gate), (vec![], Gate::Passed));
        let unknown = record(&[("right", Must, Unknown)]);
        assert_eq!(compared(&[before()], &[unknown]).1, Gate::TesterUnfit);
    }

    #[test]
    fn of_several_trials_of_one_side_the_worst_finding_counts() {
        let right = || record(&[("v", Must, Right)]);
        let wrong = record(&[("v", Must, Wrong)]);
        let (found, gate) = compared(&[right()], &[right(), wrong, right()]);
        assert_eq!((found.changes.len(), gate), (1, Gate::Worse));
    }
}
