//! The directory with the results of a device against the RFCs: `conformance.json`, and the frames of each vector that is not right. A run replaces
//! what an earlier one wrote, and nothing else. A capture looks like that of any other program, so the results name each with its SHA-256.

use super::results_folder::{ResultsFolder, sha256};
use crate::error::store::Result;
use crate::results::own_files::OwnFile;
use crate::results::written::write;
use serde::Deserialize;
use sixbench_conformance::DeviceResults;
use sixbench_engine::conformance::VectorRecord;
use sixbench_io::pcap;
use std::path::Path;

/// The name of the file with the results.
const RESULTS: &str = "conformance.json";

/// A directory for the results of a device, open. One that was made for them is removed again where none were written.
pub struct ConformanceDirectory(ResultsFolder);

/// What is read of the results of an earlier run.
#[derive(Deserialize)]
struct EarlierResults {
    vectors: Vec<EarlierVector>,
}

#[derive(Deserialize)]
struct EarlierVector {
    name: String,
    #[serde(default)]
    capture_sha256: Option<String>,
    #[serde(default)]
    under_load: Option<EarlierLoaded>,
}

#[derive(Deserialize)]
struct EarlierLoaded {
    #[serde(default)]
    capture_sha256: Option<String>,
}

/// A capture, and the name of its file.
struct NamedCapture {
    file: String,
    octets: Vec<u8>,
}

impl ConformanceDirectory {
    /// Opens a directory, or makes it, for the results of vectors with these names.
    ///
    /// # Errors
    /// It cannot be made or written to, or something that no run has written has the name of a file that this run may write.
    pub fn open<'v>(path: &Path, vectors: impl Iterator<Item = &'v str>) -> Result<Self> {
        let opened = Self(ResultsFolder::open(path, RESULTS)?);
        OwnFile::DeviceResults.check(&path.join(RESULTS))?;
        let files = vectors.flat_map(|vector| [capture_of(vector), loaded_capture_of(vector)]);
        opened.check_captures(files, &opened.earlier_captures())?;
        Ok(opened)
    }

    /// Returns whether an earlier run has left its results there.
    pub fn has_results(&self) -> bool {
        self.0.path_of(RESULTS).exists()
    }

    /// Writes the results, and the frames of each vector that is not right, quietly or under load, whose files are noted in its outcome. What an earlier
    /// run wrote is removed, so that no capture is left of a vector that is right now. `loaded` is empty if there was no load.
    ///
    /// # Errors
    /// Those of [`ConformanceDirectory::open`]; a file cannot be written.
    pub fn write(
        &self,
        results: &mut DeviceResults,
        quiet: &[VectorRecord],
        loaded: &[VectorRecord],
    ) -> Result<()> {
        let earlier = self.earlier_captures();
        let captures = self.note_captures(results, quiet, loaded)?;
        OwnFile::DeviceResults.check(&self.0.path_of(RESULTS))?;
        let files = captures.iter().map(|capture| capture.file.clone());
        self.check_captures(files, &earlier)?;
        for file in &earlier {
            self.0.written(file, self.0.folder.remove(file))?;
        }
        // The results come first: they name the captures, so that those of a run that is killed here can be replaced.
        write(
            &self.0.folder,
            RESULTS,
            serde_json::to_string_pretty(results)?,
        )?;
        captures
            .iter()
            .try_for_each(|NamedCapture { file, octets }| write(&self.0.folder, file, octets))
    }

    /// Returns the captures of what is not right, which are noted in the outcomes.
    fn note_captures(
        &self,
        results: &mut DeviceResults,
        quiet: &[VectorRecord],
        loaded: &[VectorRecord],
    ) -> Result<Vec<NamedCapture>> {
        let mut captures = Vec::new();
        for (outcome, record) in results.requirements.vectors.iter_mut().zip(quiet) {
            if outcome.result.is_violation() {
                let capture = self.named(capture_of(&outcome.name), record)?;
                outcome.capture = Some(self.0.shown(&capture.file));
                outcome.capture_sha256 = Some(sha256(&capture.octets));
                captures.push(capture);
            }
        }
        for (outcome, record) in results.requirements.vectors.iter_mut().zip(loaded) {
            let differing = outcome.under_load.as_mut();
            let violated = differing.filter(|loaded| loaded.result.is_violation());
            if let Some(loaded) = violated {
                let capture = self.named(loaded_capture_of(&outcome.name), record)?;
                loaded.capture = Some(self.0.shown(&capture.file));
                loaded.capture_sha256 = Some(sha256(&capture.octets));
                captures.push(capture);
            }
        }
        Ok(captures)
    }

    fn named(&self, file: String, record: &VectorRecord) -> Result<NamedCapture> {
        let octets = self.0.written(&file, pcap::octets(&record.capture))?;
        Ok(NamedCapture { file, octets })
    }

    /// Refuses captures that this run may write where there is another file, and not one of an earlier run.
    fn check_captures(
        &self,
        mut files: impl Iterator<Item = String>,
        earlier: &[String],
    ) -> Result<()> {
        files.try_for_each(|file| {
            if earlier.contains(&file) {
                return Ok(());
            }
            OwnFile::Capture.check(&self.0.path_of(&file))
        })
    }

    /// Returns the captures of an earlier run that are as it wrote them.
    fn earlier_captures(&self) -> Vec<String> {
        let text = self.0.folder.text(RESULTS).unwrap_or_default();
        let earlier: Option<EarlierResults> = serde_json::from_str(&text).ok();
        let vectors = earlier.into_iter().flat_map(|earlier| earlier.vectors);
        let named = vectors.flat_map(|vector| {
            let loaded = vector.under_load.and_then(|loaded| loaded.capture_sha256);
            [
                (capture_of(&vector.name), vector.capture_sha256),
                (loaded_capture_of(&vector.name), loaded),
            ]
        });
        let captures = named.filter_map(|(file, digest)| {
            let octets = self.0.folder.octets(&file).ok()?;
            (digest? == sha256(&octets)).then_some(file)
        });
        captures.collect()
    }
}

fn capture_of(vector: &str) -> String {
    format!("{vector}.pcap")
}

fn loaded_capture_of(vector: &str) -> String {
    capture_of(&under_load(vector))
}

/// Returns the name by which the frames of a vector under load are told from those of the quiet run.
pub(super) fn under_load(vector: &str) -> String {
    format!("{vector}-under-load")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::store::StoreError;
    use sixbench_conformance::{
        VectorJudgement, VectorResult, judged_vector, loaded_finding, notation,
    };
    use sixbench_io::pcap::TimedFrame;
    use std::fs;
    use std::path::PathBuf;

    /// Two vectors of those that come along.
    const NAMES: [&str; 2] = ["46-udp", "64-udp"];

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("sixbench-conformance-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        /// Writes the results of a run in which the vectors have these results.
        fn run(&self, results: [VectorResult; 2]) -> Result<DeviceResults> {
            self.run_loaded(results, None)
        }

        /// The same, with these results under load.
        fn run_loaded(
            &self,
            results: [VectorResult; 2],
            loaded: Option<[VectorResult; 2]>,
        ) -> Result<DeviceResults> {
            let directory = ConformanceDirectory::open(&self.0, NAMES.into_iter())?;
            let files = notation::built_in().expect("the vectors");
            let all: Vec<_> = files.iter().flat_map(|file| &file.vectors).collect();
            let records = results.map(record);
            let outcomes = NAMES.iter().zip(&records).map(|(name, record)| {
                let vector = all.iter().find(|vector| vector.name == *name);
                let vector = vector.expect("the vector");
                judged_vector(7915, vector, record.judgement.clone(), 1)
            });
            let mut results =
                DeviceResults::new("d", "D", "1", outcomes.collect::<Vec<_>>().into());
            let loaded: Vec<VectorRecord> = loaded.into_iter().flatten().map(record).collect();
            for (outcome, record) in results.requirements.vectors.iter_mut().zip(&loaded) {
                let judgement = record.judgement.clone();
                outcome.under_load = loaded_finding(outcome, judgement, record.attempts);
            }
            directory
                .write(&mut results, &records, &loaded)
                .map(|()| results)
        }

        fn has(&self, name: &str) -> bool {
            self.0.join(name).exists()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn record(result: VectorResult) -> VectorRecord {
        VectorRecord {
            judgement: VectorJudgement {
                result,
                alternative: None,
                reason: None,
                frames: Vec::new(),
                steps: Vec::new(),
            },
            capture: vec![TimedFrame {
                unix_ns: 1,
                octets: vec![0; 60],
            }],
            attempts: 1,
        }
    }

    #[test]
    fn a_second_run_replaces_what_the_first_wrote_and_leaves_no_capture_of_what_is_right_now() {
        let scratch = Scratch::new("twice");
        let first = scratch
            .run([VectorResult::Wrong, VectorResult::NoAnswer])
            .expect("written");
        assert!(scratch.has("46-udp.pcap") && scratch.has("64-udp.pcap"));
        let noted = first.requirements.vectors[0]
            .capture
            .as_deref()
            .expect("a capture");
        assert!(Path::new(noted).exists(), "{noted}");
        let second = scratch
            .run([VectorResult::Wrong, VectorResult::Right])
            .expect("written again");
        assert!(scratch.has("46-udp.pcap") && !scratch.has("64-udp.pcap"));
        let text = fs::read_to_string(scratch.0.join(RESULTS)).expect("the results");
        assert_eq!(
            text,
            serde_json::to_string_pretty(&second).expect("JSON"),
            "the results are those of the second run"
        );
    }

    #[test]
    fn what_differs_under_load_has_a_capture_of_its_own_until_it_does_not() {
        let scratch = Scratch::new("loaded");
        let right = [VectorResult::Right; 2];
        let lost = Some([VectorResult::NoAnswer, VectorResult::Right]);
        let first = scratch.run_loaded(right, lost).expect("written");
        assert!(scratch.has("46-udp-under-load.pcap") && !scratch.has("46-udp.pcap"));
        assert!(!scratch.has("64-udp-under-load.pcap"));
        let noted = first.requirements.vectors[0].under_load.as_ref();
        let noted = noted.and_then(|loaded| loaded.capture.as_deref());
        assert!(noted.is_some_and(|file| Path::new(file).exists()));
        assert_eq!(first.requirements.vectors[1].under_load, None);
        scratch.run_loaded(right, Some(right)).expect("written");
        assert!(!scratch.has("46-udp-under-load.pcap"));
    }

    #[test]
    fn a_directory_that_was_made_for_results_is_not_left_without_them() {
        let scratch = Scratch::new("interrupted");
        let open = || ConformanceDirectory::open(&scratch.0, NAMES.into_iter());
        drop(open().expect("a directory"));
        assert!(!scratch.0.exists());
        fs::create_dir(&scratch.0).expect("a directory");
        drop(open().expect("a directory"));
        assert!(scratch.0.exists(), "it was there before");
    }

    #[test]
    fn what_others_wrote_is_left_as_it_is() {
        let all_wrong = [VectorResult::Wrong; 2];
        for name in [RESULTS, "46-udp.pcap"] {
            let scratch = Scratch::new(name);
            fs::create_dir(&scratch.0).expect("a directory");
            fs::write(scratch.0.join(name), "{\"mine\": 1}").expect("a file");
            let refused = scratch.run(all_wrong).map(drop);
            assert!(matches!(refused, Err(StoreError::Foreign(_))), "{name}");
            let kept = fs::read_to_string(scratch.0.join(name)).expect("the file");
            assert_eq!(kept, "{\"mine\": 1}");
            assert_eq!(fs::read_dir(&scratch.0).expect("a directory").count(), 1);
        }
    }

    #[test]
    fn a_capture_that_was_replaced_after_the_run_is_no_longer_its_own() {
        let scratch = Scratch::new("replaced");
        scratch.run([VectorResult::Wrong; 2]).expect("written");
        let replaced = scratch.0.join("64-udp.pcap");
        fs::write(&replaced, "another capture").expect("a file");
        let again = scratch.run([VectorResult::Wrong; 2]).map(drop);
        assert!(matches!(again, Err(StoreError::Foreign(_))), "{again:?}");
        let kept = fs::read_to_string(&replaced).expect("the file");
        assert_eq!(kept, "another capture");
    }
}
