//! The two sides of a comparison of results that are there: each is one results directory, or a folder of several of the same plan.

use super::collection::{CollectedRun, collect, has_results};
use super::differences::{changes_since, differences_of};
use super::order;
use super::store::StoreError;
use sixbench_method::comparison::{Compared, Comparison, RunOrder, Which, compare};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Test;
use std::path::Path;

/// The reason why two sets cannot be compared.
#[derive(Debug, thiserror::Error)]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum SetError {
    /// A set cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The two were measured in different ways: their results differ whatever the devices do.
    #[error("the two runs cannot be compared: they differ in their {0}")]
    Unlike(String),
    /// The runs of one set do not measure the same.
    #[error("{which} is no set of runs of one plan: {first} and {other} {how}; give a folder that has only runs of one plan")]
    Mixed { which: Which, first: String, other: String, how: String },
}

/// Two sets of runs.
pub struct TwoSets {
    sets: [Vec<CollectedRun>; 2],
    order: RunOrder,
    /// What casts doubt on the comparison, in words.
    pub warnings: Vec<String>,
}

/// Returns whether there are results in this directory, or below it.
pub fn is_set(path: &Path) -> bool {
    has_results(path)
}

impl TwoSets {
    /// Reads A and B.
    ///
    /// # Errors
    /// Directories without results, runs of one side that do not measure the same, or sides that were measured in different ways.
    pub fn read(paths: [&Path; 2]) -> Result<Self, SetError> {
        let [a, b] = [collect(paths[0])?, collect(paths[1])?];
        let mut warnings: Vec<String> = Vec::new();
        for (which, collection) in [(Which::A, &a), (Which::B, &b)] {
            is_of_one_plan(which, &collection.runs)?;
            warnings.extend(collection.skipped.iter().map(|line| format!("warning: {which} is without {line}")));
            warnings.extend(changes_within(which, &collection.runs));
        }
        let unlike = a.runs[0].stored.plan.ways_unlike(&b.runs[0].stored.plan);
        if !unlike.is_empty() {
            return Err(SetError::Unlike(unlike.join(" and ")));
        }
        warnings.extend(differences_of([&a.runs[0].directory, &b.runs[0].directory]));
        let (order, note) = order::of([&a.runs, &b.runs]);
        warnings.push(note);
        Ok(Self { sets: [a.runs, b.runs], order, warnings })
    }

    /// Compares the two, with differences up to the `margin` not counted. `None` where they have no test in common.
    pub fn compare(&self, margin: f64) -> Option<Comparison<'_>> {
        let [a, b] = [(Which::A, &self.sets[0]), (Which::B, &self.sets[1])].map(|(which, runs)| {
            let tests: Vec<&Test> = runs[0].stored.plan.tests.iter().collect();
            Compared { which, tests, runs: runs.iter().map(|run| &run.outcomes[..]).collect::<Vec<&[Outcome]>>() }
        });
        compare(&a, &b, margin, self.order)
    }
}

/// Refuses a set of runs that do not measure the same: their medians would differ whatever the device does.
fn is_of_one_plan(which: Which, runs: &[CollectedRun]) -> Result<(), SetError> {
    let Some((first, others)) = runs.split_first() else { return Ok(()) };
    for other in others {
        let (plan, of_other) = (&first.stored.plan, &other.stored.plan);
        let unlike = plan.ways_unlike(of_other);
        let is_same =
            |test: &&Test| of_other.test(&test.name).is_some_and(|other| test.asks_the_same_as(other) && test.dut == other.dut);
        let how = match plan.tests.iter().find(|test| !is_same(test)) {
            _ if !unlike.is_empty() => format!("differ in their {}", unlike.join(" and ")),
            Some(test) => format!("do not have the same test {}", test.name),
            None => continue,
        };
        let [first, other] = [first, other].map(|run| run.directory.display().to_string());
        return Err(SetError::Mixed { which, first, other, how });
    }
    Ok(())
}

/// Returns the warnings about a set whose runs were not made under the same facts.
fn changes_within(which: Which, runs: &[CollectedRun]) -> Vec<String> {
    let changes = runs.windows(2).flat_map(|pair| changes_since(&pair[0].stored.facts, &pair[1].stored.facts));
    changes.map(|change| format!("warning: the runs of {which} differ among themselves: {change}")).collect()
}
