//! The two sides of a comparison of stored results: each is a results directory, or a folder with several of the same plan.

mod reference;

use super::collection::{CollectedRun, collect, has_results};
use super::differences::{changes_since, differences_of};
use super::store::StoreError;
use crate::results::order;
use sixbench_analysis::comparison::{
    Compared, ComparedSide, Comparison, Reference, RunOrder, compare,
};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{MeasurementKey, Point, Selection, Test};
use sixbench_method::record::RepetitionHosts;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The reason why two sets cannot be compared.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum SetError {
    /// A set cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The two sides were measured in different ways: results would differ even for one device.
    #[error("the two runs cannot be compared: they differ in their {0}")]
    Unlike(String),
    /// The runs of one set do not have the same tests.
    #[error(
        "{which} is no set of runs of one plan: {first} and {other} {how}; give a folder that has only runs of one plan"
    )]
    Mixed {
        which: ComparedSide,
        first: String,
        other: String,
        how: String,
    },
    /// A side has no test of this name, which was to be the reference.
    #[error("{which} has no test {test}, which is to be the reference; it has {tests}")]
    NoReference {
        which: ComparedSide,
        test: String,
        tests: String,
    },
    /// The test that was to be the reference is of another device, or asks something else of it, in B.
    #[error(
        "the test {test}, which is to be the reference, does not measure the same device in the same way in A and B"
    )]
    OtherReference { test: String },
}

/// Two sets of runs.
pub struct TwoSets {
    sets: [Vec<CollectedRun>; 2],
    order: RunOrder,
    /// The name of the test of the reference device, if there is one.
    reference: Option<String>,
    /// Texts about what casts doubt on the comparison.
    pub warnings: Vec<String>,
}

/// Returns true if this directory is, or contains, a results directory.
pub fn is_set(path: &Path) -> bool {
    has_results(path)
}

impl TwoSets {
    /// Reads A and B. `reference` names the test of a device that shows whether the machine changed between them; without it, it is the reference that
    /// their plans name.
    ///
    /// # Errors
    /// A directory has no results, the runs of one side do not have the same tests, the sides were measured in different ways, or a side has no test of the
    /// name given, or one of another device.
    pub fn read(paths: [&Path; 2], reference: Option<&str>) -> Result<Self, SetError> {
        let [mut a, mut b] = [collect(paths[0])?, collect(paths[1])?];
        let mut warnings: Vec<String> = Vec::new();
        for (which, collection) in [(ComparedSide::A, &a), (ComparedSide::B, &b)] {
            is_of_one_plan(which, &collection.runs)?;
            warnings.extend(
                collection
                    .skipped
                    .iter()
                    .map(|line| format!("warning: {which} is without {line}")),
            );
            warnings.extend(changes_within(which, &collection.runs));
        }
        let unlike = a.runs[0].stored.plan.ways_unlike(&b.runs[0].stored.plan);
        if !unlike.is_empty() {
            return Err(SetError::Unlike(unlike.join(" and ")));
        }
        let mut pairs = a.runs.iter().chain(&b.runs).map(|run| (&a.runs[0], run));
        if let Some(test) = pairs.find_map(|(first, run)| joined_unlike(first, run)) {
            return Err(SetError::Unlike(format!(
                "way to the device of {test}, which shares memory with the tester in some runs only: no frame passes a kernel there"
            )));
        }
        warnings.extend(differences_of([&a.runs[0].directory, &b.runs[0].directory]));
        let agreed = reference::agreed([&a.runs, &b.runs], reference)?;
        warnings.extend(agreed.warning);
        warnings.extend(keep_one_host([&mut a.runs, &mut b.runs]));
        let (order, note) = order::run_order([&a.runs, &b.runs]);
        warnings.push(note);
        Ok(Self {
            sets: [a.runs, b.runs],
            order,
            reference: agreed.test,
            warnings,
        })
    }

    /// Compares the two, ignoring differences up to `margin`; the reference is not compared itself. Returns `None` if they have no test in common.
    pub fn compare(&self, margin: f64) -> Option<Comparison<'_>> {
        let is_reference = |test: &Test| self.reference.as_ref() == Some(&test.name);
        let [a, b] = self.sides(|test| !is_reference(test));
        let [of_a, of_b] = self.sets.each_ref().map(|runs| {
            runs.iter()
                .map(|run| &run.stored.records[..])
                .collect::<Vec<_>>()
        });
        let compared = compare(&a, &b, margin, self.order)?
            .with_anomalies([&of_a, &of_b])
            .with_requirements([&of_a, &of_b]);
        Some(match self.order {
            RunOrder::InTurns => compared,
            RunOrder::AFirst | RunOrder::BFirst => compared.between_sessions(self.of_machine()),
        })
    }

    /// Returns both sides with those of their tests that are `wanted`.
    fn sides(&self, wanted: impl Fn(&Test) -> bool) -> [Compared<'_>; 2] {
        [
            (ComparedSide::A, &self.sets[0]),
            (ComparedSide::B, &self.sets[1]),
        ]
        .map(|(which, runs)| {
            let tests: Vec<&Test> = runs[0]
                .stored
                .plan
                .tests
                .iter()
                .filter(|test| wanted(test))
                .collect();
            Compared {
                which,
                tests,
                runs: runs
                    .iter()
                    .map(|run| &run.outcomes[..])
                    .collect::<Vec<&[Outcome]>>(),
            }
        })
    }

    /// Returns what the reference shows of the machine; `None` if there is none.
    fn of_machine(&self) -> Option<Reference> {
        let name = self.reference.as_deref()?;
        let [a, b] = self.sides(|test| test.name == name);
        Some(Reference::compare(name, &a, &b))
    }
}

/// Returns the name of a test whose device shares memory with the tester on one side only, so that its results must not be compared; `None` if there is
/// none.
fn joined_unlike(a: &CollectedRun, b: &CollectedRun) -> Option<String> {
    let (tests, others) = (&a.stored.plan.tests, &b.stored.plan.tests);
    let are_single = tests.len() == 1 && others.len() == 1;
    let is_unlike = |test: &&Test| {
        let other = others
            .iter()
            .find(|other| are_single || other.name == test.name);
        let link_group = |run: &CollectedRun, test: &Test| run.stored.facts.link_group(&test.dut);
        other.is_some_and(|other| link_group(a, test) != link_group(b, other))
    };
    tests.iter().find(is_unlike).map(|test| test.name.clone())
}

/// Refuses a set of runs that do not have the same tests, because their medians would differ even for the same device.
fn is_of_one_plan(which: ComparedSide, runs: &[CollectedRun]) -> Result<(), SetError> {
    let Some((first, others)) = runs.split_first() else {
        return Ok(());
    };
    for other in others {
        let (plan, of_other) = (&first.stored.plan, &other.stored.plan);
        let unlike = plan.ways_unlike(of_other);
        let is_same = |test: &&Test| {
            of_other
                .test(&test.name)
                .is_some_and(|other| test.asks_the_same_as(other) && test.dut == other.dut)
        };
        let how = match plan.tests.iter().find(|test| !is_same(test)) {
            _ if !unlike.is_empty() => format!("differ in their {}", unlike.join(" and ")),
            Some(test) => format!("do not have the same test {}", test.name),
            None => continue,
        };
        let [first, other] = [first, other].map(|run| run.directory.display().to_string());
        return Err(SetError::Mixed {
            which,
            first,
            other,
            how,
        });
    }
    Ok(())
}

/// If several hosts each measured a part of the results, keeps those of a single host: of the hosts in both sets, the one with the most
/// repetitions. Returns a text about what was left out, or `None` if each run was measured on one host.
fn keep_one_host(sets: [&mut Vec<CollectedRun>; 2]) -> Option<String> {
    let is_divided = |run: &CollectedRun| {
        RepetitionHosts::new(&run.stored.facts, &run.stored.records).are_several()
    };
    sets.iter()
        .flat_map(|runs| runs.iter())
        .any(is_divided)
        .then_some(())?;
    let [a, b] = [&sets[0], &sets[1]].map(|runs| repetitions_of_hosts(runs));
    let common = a
        .iter()
        .filter_map(|(host, count)| Some((count.min(b.get(host)?), host)));
    let Some((_, host)) = common.max() else {
        return Some(
            "warning: no host measured both A and B, and numbers of different hosts cannot be compared".to_owned(),
        );
    };
    for CollectedRun {
        stored, outcomes, ..
    } in sets.into_iter().flatten()
    {
        let hosts = RepetitionHosts::new(&stored.facts, &stored.records);
        let is_own = |point: &Point, repetition| hosts.is_only_on(host, point, repetition);
        outcomes.retain(|outcome| is_own(&outcome.point, outcome.repetition));
        let own: BTreeSet<(Point, u32)> = hosts
            .iter()
            .filter(|(point, repetition, _)| is_own(point, *repetition))
            .map(|(point, repetition, _)| (point.clone(), repetition))
            .collect();
        // What the other hosts measured must not count as missing.
        let key = |(point, repetition): &(Point, u32)| MeasurementKey {
            point: point.clone(),
            repetition: Some(*repetition),
        };
        stored.plan = own
            .iter()
            .map(key)
            .collect::<Selection>()
            .narrowed(&stored.plan);
        stored
            .records
            .retain(|record| own.contains(&(record.point.clone(), record.repetition)));
    }
    Some(format!(
        "note: several hosts measured A and B; what {host} measured is compared, and the rest left out"
    ))
}

/// Returns the number of repetitions that each host has measured alone.
fn repetitions_of_hosts(runs: &[CollectedRun]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for run in runs {
        for (_, _, hosts) in RepetitionHosts::new(&run.stored.facts, &run.stored.records).iter() {
            if let [host] = hosts.iter().collect::<Vec<_>>()[..] {
                *counts.entry((*host).to_owned()).or_default() += 1;
            }
        }
    }
    counts
}

/// Returns the warnings about a set whose runs have different facts.
fn changes_within(which: ComparedSide, runs: &[CollectedRun]) -> Vec<String> {
    let changes = runs
        .windows(2)
        .flat_map(|pair| changes_since(&pair[0].stored.facts, &pair[1].stored.facts));
    changes
        .map(|change| format!("warning: the runs of {which} differ among themselves: {change}"))
        .collect()
}
