//! A test of requirements in a plan: which vectors it sends, and their results as a record has them. What a device is asked does not depend on whether
//! a plan or a command asks: both go through [`super::perform`].

use super::{DeviceConformance, applicable, perform};
use crate::error::{PlanError, RunError};
use crate::request::Site;
use sixbench_conformance::Vector;
use sixbench_conformance::judge::FrameVerdict;
use sixbench_conformance::notation::{RequirementFile, built_in};
use sixbench_engine::conformance::VectorRecord;
use sixbench_io::pcap;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{RequirementTest, Test};
use sixbench_method::record::DutFacts;
use sixbench_method::trial::{
    JudgedFrame, JudgedVector, RequirementResults, TrialOutcome, TrialResult, TrialSpec,
};
use sixbench_testbed::Recipe;
use std::io;

/// A vector with the number of its RFC.
struct ChosenVector<'f> {
    rfc: u32,
    vector: &'f Vector,
}

/// The results of a trial, before they are on disk.
pub(crate) struct RequirementTrial {
    /// The results, without captures.
    pub(crate) results: RequirementResults,
    /// The facts of the device.
    pub(crate) facts: DutFacts,
    /// The records of the same vectors, in the same order.
    records: Vec<VectorRecord>,
}

impl RequirementTrial {
    /// Returns the results as those of a trial.
    pub(crate) fn result(self, spec: &TrialSpec) -> TrialResult {
        TrialResult {
            outcome: TrialOutcome::Requirements(Some(Box::new(self.results))),
            ..TrialResult::new(*spec, Vec::new(), Vec::new())
        }
    }

    /// Gives each vector that is not right its capture: `name` returns the path for the name of a vector, and `keep` stores the octets there.
    ///
    /// # Errors
    /// Those of `keep`.
    pub(crate) fn keep_captures<E: From<io::Error>>(
        &mut self,
        name: impl Fn(&str) -> String,
        mut keep: impl FnMut(&str, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let judged = self.results.vectors.iter_mut().zip(&self.records);
        for (vector, record) in judged.filter(|(vector, _)| vector.result.is_violation()) {
            let path = name(&vector.name);
            keep(&path, &pcap::octets(&record.capture)?)?;
            vector.capture = Some(path);
        }
        Ok(())
    }
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
    selected(recipe, selection, &files)
        .and_then(|_| super::check(recipe, isolation))
        .map_err(|error| error.of_test(&test.name))
}

/// Brings the device up, sends it the vectors of a test, and undoes everything.
///
/// # Errors
/// As of [`perform`]; no vector is selected.
pub(crate) fn trial(
    site: &Site<'_>,
    recipe: &Recipe,
    selection: &RequirementTest,
) -> Result<RequirementTrial, RunError> {
    let files = files()?;
    let selected = selected(recipe, selection, &files)?;
    let vectors: Vec<&Vector> = selected.iter().map(|selected| selected.vector).collect();
    let DeviceConformance { facts, records } = perform(site, recipe, &vectors)?;
    let known = [&recipe.defect_vectors[..], &selection.known_violations].concat();
    let judged = selected.iter().zip(&records).map(|(selected, record)| {
        judged_vector(selected, record, known.contains(&selected.vector.name))
    });
    Ok(RequirementTrial {
        results: RequirementResults {
            vectors: judged.collect(),
        },
        facts,
        records,
    })
}

fn files() -> Result<Vec<RequirementFile>, RunError> {
    Ok(built_in().map_err(|mistake| PlanError(mistake.to_string()))?)
}

/// Returns the vectors that apply to a device and that a test selects.
fn selected<'f>(
    recipe: &Recipe,
    selection: &RequirementTest,
    files: &'f [RequirementFile],
) -> Result<Vec<ChosenVector<'f>>, RunError> {
    let RequirementTest { only, vectors, .. } = selection;
    let applicable = applicable(recipe, files)?;
    let unknown = only
        .iter()
        .find(|rfc| !applicable.iter().any(|file| file.rfc == **rfc));
    if let Some(rfc) = unknown {
        let text = format!("there are no vectors of RFC {rfc} for {}", recipe.name);
        return Err(PlanError(text).into());
    }
    let found: Vec<ChosenVector<'f>> = applicable
        .into_iter()
        .filter(|file| only.is_empty() || only.contains(&file.rfc))
        .flat_map(|file| {
            file.vectors.iter().map(|vector| ChosenVector {
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

fn judged_vector(
    selected: &ChosenVector<'_>,
    record: &VectorRecord,
    is_known: bool,
) -> JudgedVector {
    let (vector, judgement) = (selected.vector, &record.judgement);
    JudgedVector {
        name: vector.name.clone(),
        rfc: selected.rfc,
        clause: vector.clause.clone(),
        level: vector.level,
        sentence: vector.sentence.clone(),
        result: judgement.result,
        choice: judgement.alternative.clone(),
        reason: judgement.reason.clone(),
        sent: vector.sent_lines(),
        frames: judgement.all_frames().map(judged_frame).collect(),
        attempts: record.attempts,
        is_known,
        capture: None,
    }
}

fn judged_frame(frame: &FrameVerdict) -> JudgedFrame {
    JudgedFrame {
        expected: frame.expected.clone(),
        came: frame.came.clone(),
        differences: frame.differences.iter().map(ToString::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_conformance::VectorJudgement;
    use sixbench_conformance::judge::StepVerdict;
    use sixbench_testbed::Library;

    fn checked(dut: &str, selection: RequirementTest) -> Result<(), String> {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let recipe = library.get(dut).expect("the recipe");
        let test = Test::of("right", dut);
        check(recipe, &test, &selection, Isolation::Unknown)
            .map_err(|error| crate::in_words(&error))
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
        let all = selected(recipe, &RequirementTest::default(), &files).expect("vectors");
        let of_files: usize = applicable(recipe, &files)
            .expect("files")
            .iter()
            .map(|file| file.vectors.len())
            .sum();
        assert_eq!(all.len(), of_files);
        let only = RequirementTest {
            only: vec![6052],
            ..RequirementTest::default()
        };
        let found = selected(recipe, &only, &files).expect("vectors");
        assert!(!found.is_empty() && found.iter().all(|found| found.rfc == 6052));
    }

    fn record_of(judgement: VectorJudgement) -> VectorRecord {
        VectorRecord {
            judgement,
            attempts: 1,
            capture: Vec::new(),
        }
    }

    #[test]
    fn what_was_sent_is_recorded_of_every_kind_of_vector() {
        let record = record_of(VectorJudgement::not_applicable(&"none"));
        for file in files().expect("vectors") {
            for vector in &file.vectors {
                let selected = ChosenVector {
                    rfc: file.rfc,
                    vector,
                };
                let judged = judged_vector(&selected, &record, false);
                assert!(!judged.sent.is_empty(), "{}", vector.name);
            }
        }
    }

    #[test]
    fn the_frames_of_every_step_of_an_exchange_are_recorded() {
        let files = files().expect("vectors");
        let mut vectors = files.iter().flat_map(|file| &file.vectors);
        let vector = vectors.find(|vector| vector.steps.len() > 1);
        let selected = ChosenVector {
            rfc: 4787,
            vector: vector.expect("an exchange"),
        };
        let frame = |came: &str| FrameVerdict {
            expected: None,
            came: Some(came.to_owned()),
            differences: Vec::new(),
        };
        let step = |came: &str| StepVerdict {
            wait_ms: None,
            send: Vec::new(),
            frames: vec![frame(came)],
            names: Vec::new(),
        };
        let judgement = VectorJudgement {
            steps: vec![step("first"), step("last")],
            frames: vec![frame("last")],
            ..VectorJudgement::not_applicable(&"none")
        };
        let judged = judged_vector(&selected, &record_of(judgement), false);
        let came: Vec<&str> = judged
            .frames
            .iter()
            .filter_map(|frame| frame.came.as_deref())
            .collect();
        assert_eq!(came, ["first", "last"]);
    }
}
