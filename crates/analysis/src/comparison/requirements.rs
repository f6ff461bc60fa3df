//! The requirements that one side of a comparison meets and the other violates. They are told by name, since no row of values does: a device may lose
//! one requirement and gain another, and nothing about them is a matter of chance.

use crate::gate::Gate;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{JudgedVector, RequirementLevel, RequirementResults, VectorResult};
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
    /// The load at which A was asked once more, frames per second in each direction; absent if it was asked quietly alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_a: Option<FrameRate>,
    /// The same of B. What is found under load is compared if both loads are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_b: Option<FrameRate>,
    /// The number of vectors with a result on both sides, quietly.
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
    /// The load under which both were found, frames per second in each direction; absent if they were found quietly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_load: Option<FrameRate>,
}

/// The key of a finding. One under a load is another one than that of the quiet run, and is compared only with those under the same load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FindingKey<'r> {
    /// The load, frames per second in each direction; none of a finding of the quiet run. Those come first.
    pub(crate) load: Option<FrameRate>,
    /// The name of the vector.
    pub(crate) vector: &'r str,
}

/// A finding about a vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequirementFinding<'r> {
    /// The vector with what it asks for.
    vector: &'r JudgedVector,
    /// The finding, quietly or under load.
    result: VectorResult,
}

impl RequirementFinding<'_> {
    /// Returns whether the device is known to meet or violate the requirement.
    pub(crate) fn is_known(&self) -> bool {
        self.result.is_met() || self.result.is_violation()
    }
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

/// Returns the worst finding of each vector of a test, quietly and under load, without those of vectors that the device could not be asked.
pub(crate) fn findings<'r>(
    test: &Test,
    runs: &[&'r [TrialRecord]],
) -> BTreeMap<FindingKey<'r>, RequirementFinding<'r>> {
    let mut worst: BTreeMap<FindingKey<'r>, RequirementFinding<'r>> = BTreeMap::new();
    let of_test = runs
        .iter()
        .copied()
        .flatten()
        .filter(|record| record.point.test == test.name);
    for (key, finding) in of_test
        .filter_map(|record| record.result.requirements())
        .flat_map(found_in)
        .filter(|(_, finding)| finding.result != VectorResult::NotApplicable)
    {
        let known = worst.entry(key).or_insert(finding);
        // `VectorResult` is ordered from the worst to the best.
        if finding.result < known.result {
            *known = finding;
        }
    }
    worst
}

/// Returns the findings of a trial: those of the quiet run and, if the tester offered a load, those under it.
fn found_in(
    results: &RequirementResults,
) -> impl Iterator<Item = (FindingKey<'_>, RequirementFinding<'_>)> {
    let rate = results.offered_load().map(|load| load.rate);
    results.vectors.iter().flat_map(move |vector| {
        let loaded = results.result_under_load(vector);
        let under_load = loaded.map(|result| keyed(vector, rate, result));
        [keyed(vector, None, vector.result)]
            .into_iter()
            .chain(under_load)
    })
}

fn keyed(
    vector: &JudgedVector,
    load: Option<FrameRate>,
    result: VectorResult,
) -> (FindingKey<'_>, RequirementFinding<'_>) {
    let key = FindingKey {
        load,
        vector: &vector.name,
    };
    (key, RequirementFinding { vector, result })
}

fn compared(
    a: &Test,
    b: &Test,
    of_a: &BTreeMap<FindingKey<'_>, RequirementFinding<'_>>,
    of_b: &BTreeMap<FindingKey<'_>, RequirementFinding<'_>>,
) -> RequirementComparison {
    let mut changes: Vec<RequirementChange> = Vec::new();
    let mut compared = 0;
    // The findings of the quiet run come first, so that a change under load is told where it is another one.
    for (key, in_a) in of_a {
        let Some(in_b) = of_b.get(key) else { continue };
        let is_known = in_a.is_known() && in_b.is_known();
        compared += usize::from(key.load.is_none() && is_known);
        let change = requirement_change(*key, in_a, in_b);
        changes.extend(change.filter(|change| !is_told(change, &changes)));
    }
    changes.sort_by_key(|change| (change.change, change.level));
    RequirementComparison {
        test_a: a.name.clone(),
        test_b: b.name.clone(),
        title: b.title.clone(),
        load_a: load_of(of_a),
        load_b: load_of(of_b),
        compared,
        changes,
        only_a: alone(of_a, of_b),
        only_b: alone(of_b, of_a),
    }
}

/// Returns the load of a side; none if it was asked quietly alone. Of several it is the highest.
fn load_of(of: &BTreeMap<FindingKey<'_>, RequirementFinding<'_>>) -> Option<FrameRate> {
    // Keys are ordered by load, quiet ones first.
    of.keys().last().and_then(|key| key.load)
}

/// Returns whether the same requirement turned in the same way in the quiet run: that it did so under load as well is no news.
pub(crate) fn is_told<'c>(
    change: &RequirementChange,
    told: impl IntoIterator<Item = &'c RequirementChange>,
) -> bool {
    told.into_iter().any(|told| {
        told.under_load.is_none()
            && change.under_load.is_some()
            && (&told.vector, told.change) == (&change.vector, change.change)
    })
}

/// Returns the names of the vectors that only one side was sent.
fn alone(
    of: &BTreeMap<FindingKey<'_>, RequirementFinding<'_>>,
    other: &BTreeMap<FindingKey<'_>, RequirementFinding<'_>>,
) -> Vec<String> {
    let quiet = of.keys().filter(|key| key.load.is_none());
    let names = quiet.filter(|key| !other.contains_key(*key));
    names.map(|key| key.vector.to_owned()).collect()
}

/// Returns the change between two findings about the same; `None` if it means nothing.
pub(crate) fn requirement_change(
    key: FindingKey<'_>,
    in_a: &RequirementFinding<'_>,
    in_b: &RequirementFinding<'_>,
) -> Option<RequirementChange> {
    let vector = in_b.vector;
    Some(RequirementChange {
        vector: vector.name.clone(),
        clause: vector.citation(),
        level: vector.level,
        sentence: vector.sentence.clone(),
        a: in_a.result,
        b: in_b.result,
        change: RequirementTurn::between(in_a.result, in_b.result)?,
        under_load: key.load,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Compared, ComparedSide, RunOrder, compare};
    use sixbench_method::fixtures::{
        judged_vector, loaded_finding, outcome, requirement_load, requirement_record,
        requirement_record_under, requirement_test,
    };
    use sixbench_method::trial::RequirementLevel::{Must, Should};
    use sixbench_method::trial::RequirementLoad;
    use sixbench_method::trial::VectorResult::{
        Allowed, NoAnswer, NotApplicable, Right, Unknown, Wrong,
    };

    fn record(vectors: &[(&str, RequirementLevel, VectorResult)]) -> TrialRecord {
        let vectors = vectors
            .iter()
            .map(|(name, level, result)| judged_vector(name, *level, *result));
        requirement_record(&requirement_test("t", "d"), vectors.collect())
    }

    /// Returns the comparison of two runs, each with what a test of requirements found.
    fn compared(a: &[TrialRecord], b: &[TrialRecord]) -> (RequirementComparison, Gate) {
        let test = requirement_test("t", "d");
        let outcomes = [outcome("t", 84, 1)];
        let side = |which| Compared {
            which,
            tests: vec![&test],
            runs: vec![&outcomes],
        };
        let compared = compare(
            &side(ComparedSide::A),
            &side(ComparedSide::B),
            0.0,
            RunOrder::AFirst,
        )
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

    /// Returns a run under a load of this rate in which the vectors have the first result quietly and the second one under load.
    fn loaded(rate: u64, vectors: &[(&str, VectorResult, VectorResult)]) -> TrialRecord {
        let vectors = vectors.iter().map(|(name, quiet, loaded)| JudgedVector {
            under_load: (quiet != loaded).then(|| Box::new(loaded_finding(*loaded))),
            ..judged_vector(name, Must, *quiet)
        });
        let load = RequirementLoad {
            rate: FrameRate(rate),
            ..requirement_load()
        };
        requirement_record_under(Some(load), &requirement_test("t", "d"), vectors.collect())
    }

    #[test]
    fn what_broke_under_load_alone_is_told_and_what_broke_in_both_once() {
        let before = loaded(
            20_000,
            &[
                ("loaded", Right, Right),
                ("both", Right, Right),
                ("crossed", Wrong, Right),
                ("cured", Right, NoAnswer),
            ],
        );
        let after = loaded(
            20_000,
            &[
                ("loaded", Right, NoAnswer),
                ("both", Wrong, NoAnswer),
                ("crossed", Right, Wrong),
                ("cured", Right, Right),
            ],
        );
        let (found, gate) = compared(&[before], &[after]);
        let changes = found.changes.iter();
        let changes: Vec<_> = changes
            .map(|change| (&change.vector[..], change.change.verb(), change.under_load))
            .collect();
        let rate = Some(FrameRate(20_000));
        assert_eq!(
            changes,
            [
                ("both", "became wrong", None),
                ("crossed", "became wrong", rate),
                ("loaded", "became wrong", rate),
                ("crossed", "became right", None),
                ("cured", "became right", rate),
            ]
        );
        assert_eq!((found.compared, gate), (4, Gate::Worse));
    }

    #[test]
    fn findings_under_other_loads_and_under_none_are_not_compared() {
        let before = || loaded(20_000, &[("v", Right, Right)]);
        let other = loaded(50_000, &[("v", Right, Wrong)]);
        let (found, gate) = compared(&[before()], &[other]);
        assert_eq!((found.changes, gate), (vec![], Gate::Passed));
        assert_eq!(
            (found.load_a, found.load_b),
            (Some(FrameRate(20_000)), Some(FrameRate(50_000)))
        );
        let quiet = record(&[("v", Must, Wrong)]);
        let (found, gate) = compared(&[before()], &[quiet]);
        assert_eq!((found.changes.len(), gate), (1, Gate::Worse));
        assert_eq!(found.load_b, None);
        assert_eq!(found.only_a, Vec::<String>::new());
    }
}
