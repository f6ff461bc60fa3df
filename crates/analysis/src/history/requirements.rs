//! The runs at which requirements of RFCs became wrong or right. A device may lose one requirement and gain another, so that its numbers stay as they
//! were; and nothing about a requirement is a matter of chance, so a single run shows it.

use super::HistoryEntry;
use crate::comparison::{
    FindingKey, RequirementChange, RequirementFinding, findings, is_told, requirement_change,
};
use sixbench_method::plan::Test;
use std::collections::BTreeMap;

/// The requirements that the runs of one test asked of its device, and those whose finding changed.
#[derive(Clone, Debug, PartialEq)]
pub struct RequirementHistory<'a> {
    /// The test, as the first of these entries has it.
    pub test: &'a Test,
    /// The entries that have results of vectors, in order; never empty.
    pub entries: Vec<usize>,
    /// The number of requirements that at least two entries met or violated.
    pub compared: usize,
    /// The changes, in the order of the entries; of one entry, first those that became wrong, the strongest first.
    pub changes: Vec<DatedRequirementChange>,
}

/// A requirement that an entry met and a later one violated, or the reverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedRequirementChange {
    /// The last entry with the finding before. Entries between the two did not ask for it, or lost its control frames.
    pub before: usize,
    /// The first entry with the finding after.
    pub at: usize,
    /// The requirement and both findings: A is the one before, B the one after.
    pub change: RequirementChange,
}

/// A history with what is known of each vector so far.
struct KnownFindings<'a> {
    history: RequirementHistory<'a>,
    last: BTreeMap<FindingKey<'a>, KnownFinding<'a>>,
}

/// The last entry in which a vector was met or violated.
#[derive(Clone, Copy)]
struct KnownFinding<'a> {
    entry: usize,
    finding: RequirementFinding<'a>,
    is_compared: bool,
}

/// Returns the requirements of each test that was asked for them, in the order in which the entries first have it. Unlike numbers, they are compared
/// however the plans measure, and vector by vector, so that a test may ask for more of them from some run on.
pub fn requirement_history<'a>(entries: &[HistoryEntry<'a>]) -> Vec<RequirementHistory<'a>> {
    let mut all: Vec<KnownFindings<'a>> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        for test in &entry.plan.tests {
            let found = findings(test, &[entry.records]);
            if found.is_empty() {
                continue;
            }
            let known = all
                .iter()
                .position(|known| known.history.is_of(test))
                .unwrap_or_else(|| {
                    all.push(KnownFindings::new(test));
                    all.len() - 1
                });
            all[known].learn(index, found);
        }
    }
    all.into_iter().map(KnownFindings::history).collect()
}

impl RequirementHistory<'_> {
    fn is_of(&self, test: &Test) -> bool {
        self.test.name == test.name && self.test.dut == test.dut
    }
}

impl<'a> KnownFindings<'a> {
    fn new(test: &'a Test) -> Self {
        Self {
            history: RequirementHistory {
                test,
                entries: Vec::new(),
                compared: 0,
                changes: Vec::new(),
            },
            last: BTreeMap::new(),
        }
    }

    /// Compares the findings of an entry with the last ones of which something is known.
    fn learn(&mut self, entry: usize, found: BTreeMap<FindingKey<'a>, RequirementFinding<'a>>) {
        let mut changes: Vec<DatedRequirementChange> = Vec::new();
        // The findings of the quiet run come first, so that a change under load is told where it is another one.
        for (key, finding) in found.into_iter().filter(|(_, finding)| finding.is_known()) {
            let before = self.last.get(&key).copied();
            let change = before.and_then(|before| before.change_to(entry, key, &finding));
            let news = change.filter(|dated| {
                !is_told(&dated.change, changes.iter().map(|earlier| &earlier.change))
            });
            changes.extend(news);
            let finding = KnownFinding {
                entry,
                finding,
                is_compared: before.is_some(),
            };
            self.last.insert(key, finding);
        }
        changes.sort_by_key(|dated| (dated.change.change, dated.change.level));
        self.history.entries.push(entry);
        self.history.changes.extend(changes);
    }

    fn history(self) -> RequirementHistory<'a> {
        let quiet = self.last.iter().filter(|(key, _)| key.load.is_none());
        RequirementHistory {
            compared: quiet.filter(|(_, last)| last.is_compared).count(),
            ..self.history
        }
    }
}

impl KnownFinding<'_> {
    fn change_to(
        &self,
        at: usize,
        key: FindingKey<'_>,
        finding: &RequirementFinding<'_>,
    ) -> Option<DatedRequirementChange> {
        Some(DatedRequirementChange {
            before: self.entry,
            at,
            change: requirement_change(key, &self.finding, finding)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::RequirementTurn;
    use crate::comparison::RequirementTurn::{BecameRight, BecameWrong};
    use sixbench_method::fixtures::{
        judged_vector, loaded_finding, plan, requirement_load, requirement_record,
        requirement_record_under, requirement_test,
    };
    use sixbench_method::plan::Plan;
    use sixbench_method::record::{Facts, TrialRecord};
    use sixbench_method::search::SearchMethod;
    use sixbench_method::trial::JudgedVector;
    use sixbench_method::trial::RequirementLevel::{self, Must, Should};
    use sixbench_method::trial::VectorResult::{
        self, NoAnswer, NotApplicable, Right, Unknown, Wrong,
    };

    type Vectors<'v> = &'v [(&'v str, RequirementLevel, VectorResult)];

    /// Returns the records of a run in which the vectors have these results.
    fn run(plan: &Plan, vectors: Vectors<'_>) -> Vec<TrialRecord> {
        let judged = vectors
            .iter()
            .map(|(name, level, result)| judged_vector(name, *level, *result));
        vec![requirement_record(&plan.tests[0], judged.collect())]
    }

    fn one_test() -> Plan {
        Plan {
            tests: vec![requirement_test("t", "d")],
            ..plan(SearchMethod::Binary, &[0.0])
        }
    }

    type Named = (String, RequirementTurn, usize, usize);

    /// Returns the history of the only test of a plan, over runs with these records.
    fn history_of<'a>(
        plan: &'a Plan,
        facts: &'a Facts,
        runs: &'a [Vec<TrialRecord>],
    ) -> RequirementHistory<'a> {
        let entry = |records| HistoryEntry {
            plan,
            outcomes: &[],
            records,
            facts,
        };
        let entries: Vec<_> = runs.iter().map(|records| entry(&records[..])).collect();
        let mut found = requirement_history(&entries);
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    /// Returns the changes of these runs of one test as name, turn, and the two entries; and the number of requirements that were compared.
    fn changes(runs: &[Vectors<'_>]) -> (Vec<Named>, usize) {
        let (plan, facts) = (one_test(), Facts::default());
        let records: Vec<_> = runs.iter().map(|vectors| run(&plan, vectors)).collect();
        let found = history_of(&plan, &facts, &records);
        let named = found.changes.iter().map(|dated| {
            let RequirementChange { vector, change, .. } = &dated.change;
            (vector.clone(), *change, dated.before, dated.at)
        });
        (named.collect(), found.compared)
    }

    #[test]
    fn a_requirement_is_named_at_the_run_at_which_it_broke_and_at_that_at_which_it_was_cured() {
        let (found, compared) = changes(&[
            &[
                ("a", Must, Right),
                ("b", Should, Right),
                ("c", Must, NoAnswer),
            ],
            &[("a", Must, Right), ("b", Should, Wrong), ("c", Must, Wrong)],
            &[("a", Must, Wrong), ("b", Should, Wrong), ("c", Must, Right)],
            &[("a", Must, Right), ("b", Should, Wrong), ("c", Must, Right)],
        ]);
        let expected = [
            ("b", BecameWrong, 0, 1),
            ("a", BecameWrong, 1, 2),
            ("c", BecameRight, 1, 2),
            ("a", BecameRight, 2, 3),
        ];
        assert_eq!(
            found,
            expected.map(|(name, turn, before, at)| (name.to_owned(), turn, before, at))
        );
        assert_eq!(compared, 3);
    }

    #[test]
    fn a_run_that_lost_the_control_frames_or_did_not_ask_hides_no_change() {
        let (found, _) = changes(&[
            &[("a", Must, Right), ("b", Must, Wrong)],
            &[("a", Must, Unknown)],
            &[("a", Must, NotApplicable), ("b", Must, Unknown)],
            &[("a", Must, Wrong), ("b", Must, Right)],
        ]);
        assert_eq!(
            found,
            [
                ("a".to_owned(), BecameWrong, 0, 3),
                ("b".to_owned(), BecameRight, 0, 3)
            ]
        );
    }

    #[test]
    fn a_vector_that_is_asked_for_the_first_time_is_no_change() {
        let (found, compared) = changes(&[
            &[("a", Must, Right)],
            &[("a", Must, Right), ("new", Must, Wrong)],
        ]);
        assert_eq!((found, compared), (vec![], 1));
    }

    #[test]
    fn a_requirement_that_broke_under_load_alone_is_named_with_the_load() {
        let (plan, facts) = (one_test(), Facts::default());
        let run = |loaded| {
            let vector = JudgedVector {
                under_load: (loaded != Right).then(|| Box::new(loaded_finding(loaded))),
                ..judged_vector("v", Must, Right)
            };
            let load = Some(requirement_load());
            vec![requirement_record_under(load, &plan.tests[0], vec![vector])]
        };
        let records = [run(Right), run(Unknown), run(NoAnswer)];
        let found = history_of(&plan, &facts, &records);
        let [dated] = &found.changes[..] else {
            panic!("one change, not {:?}", found.changes)
        };
        let load = requirement_load().rate;
        assert_eq!((dated.before, dated.at), (0, 2));
        assert_eq!(
            (dated.change.change, dated.change.under_load),
            (BecameWrong, Some(load))
        );
        assert_eq!(found.compared, 1);
    }
}
