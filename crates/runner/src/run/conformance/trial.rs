//! A test of requirements in a plan: which vectors it sends, and their results as a record has them. What a device is asked does not depend on whether
//! a plan or a command asks: both go through [`super::perform`].

use super::directory::under_load;
use super::{RfcVector, VectorOptions, applicable, perform};
use crate::error::{PlanError, RunError};
use crate::request::Site;
use crate::results::store::Store;
use sixbench_conformance::Vector;
use sixbench_conformance::notation::{RequirementFile, built_in};
use sixbench_engine::conformance::VectorRecord;
use sixbench_io::pcap;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{RequirementTest, Test};
use sixbench_method::record::DutFacts;
use sixbench_method::trial::{RequirementResults, TrialOutcome, TrialResult, TrialSpec};
use sixbench_testbed::Recipe;

/// The results of a trial, before they are on disk.
pub(crate) struct RequirementTrial {
    /// The results, without captures.
    pub(crate) results: RequirementResults,
    /// The facts of the device.
    pub(crate) facts: DutFacts,
    /// The records of the same vectors, in the same order.
    records: Vec<VectorRecord>,
    /// The same under load; empty if there was none.
    loaded_records: Vec<VectorRecord>,
}

impl RequirementTrial {
    /// Returns the results as those of a trial.
    pub(crate) fn result(self, spec: &TrialSpec) -> TrialResult {
        TrialResult {
            outcome: TrialOutcome::Requirements(Some(Box::new(self.results))),
            ..TrialResult::new(*spec, Vec::new(), Vec::new())
        }
    }

    /// Stores the frames of each vector that is not right, by the name that `name` returns for it, and notes where they are.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub(crate) fn keep_captures(
        &mut self,
        store: &Store,
        name: impl Fn(&str) -> String,
    ) -> Result<(), RunError> {
        let quiet = self.results.vectors.iter_mut().zip(&self.records);
        for (vector, record) in quiet {
            let violating = vector.result.is_violation().then_some(record);
            vector.capture = kept(store, &name(&vector.name), violating)?;
        }
        let loaded = self.results.vectors.iter_mut().zip(&self.loaded_records);
        for (vector, record) in loaded {
            let name = name(&under_load(&vector.name));
            let differing = vector.under_load.as_mut();
            match differing.filter(|loaded| loaded.result.is_violation()) {
                Some(loaded) => loaded.capture = kept(store, &name, Some(record))?,
                None => drop(kept(store, &name, None)?),
            }
        }
        Ok(())
    }
}

/// Stores the frames of a violation, and returns where they are; of anything else, what a killed run may have left by that name is removed.
fn kept(
    store: &Store,
    name: &str,
    violating: Option<&VectorRecord>,
) -> Result<Option<String>, RunError> {
    let Some(record) = violating else {
        store.remove_capture(name)?;
        return Ok(None);
    };
    let octets = pcap::octets(&record.capture)?;
    Ok(Some(store.write_capture(name, &octets)?))
}

/// Refuses a test whose device no vector applies to, or not those that the test names, and addresses that a host on the Internet could have.
///
/// # Errors
/// The reason.
pub(crate) fn check(
    recipe: &Recipe,
    test: &Test,
    selection: &RequirementTest,
    isolation: Isolation,
) -> Result<(), RunError> {
    let files = files()?;
    selected(recipe, selection, files)
        .and_then(|_| super::check(recipe, isolation))
        .map_err(|error| error.of_test(&test.name))
}

/// Brings the device up, sends it the vectors of a test, and undoes everything.
///
/// # Errors
/// Those of [`perform`]; no vector is selected.
pub(crate) fn trial(
    site: &Site<'_>,
    recipe: &Recipe,
    selection: &RequirementTest,
) -> Result<RequirementTrial, RunError> {
    let files = files()?;
    let selected = selected(recipe, selection, files)?;
    let vectors: Vec<&Vector> = selected.iter().map(|selected| selected.vector).collect();
    let options = VectorOptions {
        load: selection.under_load,
        ..VectorOptions::default()
    };
    let done = perform(site, recipe, &vectors, options)?;
    if done.is_interrupted {
        // A part of the vectors is no trial.
        return Err(RunError::Interrupted);
    }
    let known = [&recipe.defect_vectors[..], &selection.known_violations].concat();
    let mut results = done.results(&selected);
    for vector in &mut results.vectors {
        vector.is_known = known.contains(&vector.name);
    }
    let loaded = done.under_load;
    Ok(RequirementTrial {
        results,
        facts: done.facts,
        records: done.records,
        loaded_records: loaded.map_or(Vec::new(), |loaded| loaded.records),
    })
}

fn files() -> Result<&'static [RequirementFile], RunError> {
    Ok(built_in().map_err(|mistake| PlanError(mistake.to_string()))?)
}

/// Returns the vectors that apply to a device and that a test selects.
fn selected<'f>(
    recipe: &Recipe,
    selection: &RequirementTest,
    files: &'f [RequirementFile],
) -> Result<Vec<RfcVector<'f>>, RunError> {
    let RequirementTest { only, vectors, .. } = selection;
    let applicable = applicable(recipe, files)?;
    let unknown = only
        .iter()
        .find(|rfc| !applicable.iter().any(|file| file.rfc == **rfc));
    if let Some(rfc) = unknown {
        let text = format!("there are no vectors of RFC {rfc} for {}", recipe.name);
        return Err(PlanError(text).into());
    }
    let found: Vec<RfcVector<'f>> = applicable
        .into_iter()
        .filter(|file| only.is_empty() || only.contains(&file.rfc))
        .flat_map(|file| {
            file.vectors.iter().map(|vector| RfcVector {
                rfc: file.rfc,
                vector,
            })
        })
        .filter(|found| vectors.is_empty() || vectors.contains(&found.vector.name))
        .collect();
    let missing = vectors
        .iter()
        .find(|name| !found.iter().any(|found| found.vector.name == **name));
    if let Some(name) = missing {
        let text = format!("the vector {name} is none of those for {}", recipe.name);
        return Err(PlanError(text).into());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_testbed::Library;

    fn checked(dut: &str, selection: RequirementTest) -> Result<(), String> {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let recipe = library.get(dut).expect("the recipe");
        let test = Test::new("right", dut);
        check(recipe, &test, &selection, Isolation::Unknown)
            .map_err(|error| crate::with_causes(&error))
    }

    #[test]
    fn a_test_names_rfcs_and_vectors_that_apply_to_its_device() {
        let of = |only: &[u32], vectors: &[&str]| RequirementTest {
            only: only.to_vec(),
            vectors: vectors.iter().map(|&name| name.to_owned()).collect(),
            ..RequirementTest::default()
        };
        assert_eq!(checked("tayga-siit", of(&[], &[])), Ok(()));
        assert_eq!(checked("tayga-siit", of(&[7915], &["64-udp"])), Ok(()));
        let other = checked("tayga-siit", of(&[6052], &["64-udp"])).expect_err("refused");
        assert!(
            other.contains("right") && other.contains("the vector 64-udp is none"),
            "{other}"
        );
        let router = checked("linux-ipv4", of(&[], &[])).expect_err("refused");
        assert!(router.contains("no vectors for linux-ipv4"), "{router}");
    }

    #[test]
    fn a_test_without_a_choice_sends_every_vector_that_applies_and_a_choice_only_its_own() {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let recipe = library.get("tayga-siit").expect("the recipe");
        let files = files().expect("vectors");
        let all = selected(recipe, &RequirementTest::default(), files).expect("vectors");
        let of_files: usize = applicable(recipe, files)
            .expect("files")
            .iter()
            .map(|file| file.vectors.len())
            .sum();
        assert_eq!(all.len(), of_files);
        let only = RequirementTest {
            only: vec![6052],
            ..RequirementTest::default()
        };
        let found = selected(recipe, &only, files).expect("vectors");
        assert!(!found.is_empty() && found.iter().all(|found| found.rfc == 6052));
    }
}
