//! The directory with the results of a device against the RFCs: `conformance.json`, and the frames of each vector that is not right. A run replaces
//! what an earlier one wrote, and nothing else. A capture looks like that of any other program, so the results name each with its SHA-256.

use crate::error::store::{Result, StoreError};
use crate::results::own_files::OwnFile;
use crate::results::store::make_directory;
use crate::results::unfinished::UnfinishedFile;
use crate::results::written::write;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use sixbench_conformance::{DeviceResults, VectorOutcome};
use sixbench_engine::conformance::VectorRecord;
use sixbench_io::files::Folder;
use sixbench_io::pcap;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the file with the results.
const RESULTS: &str = "conformance.json";

/// A directory for the results of a device, open. One that was made for them is removed again where none were written.
pub struct ConformanceDirectory {
    folder: Folder,
    path: PathBuf,
    is_new: bool,
}

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
}

impl ConformanceDirectory {
    /// Opens a directory, or makes it, for the results of vectors with these names.
    ///
    /// # Errors
    /// It cannot be made or written to, or something that no run has written has the name of a file that this run may write.
    pub fn open<'v>(path: &Path, vectors: impl Iterator<Item = &'v str>) -> Result<Self> {
        let is_new = !path.exists();
        let folder = make_directory(path).map_err(|error| StoreError::NotCreated {
            directory: path.to_owned(),
            error,
        })?;
        let opened = Self {
            folder,
            path: path.to_owned(),
            is_new,
        };
        opened.check_writable()?;
        OwnFile::DeviceResults.check(&path.join(RESULTS))?;
        opened.check_captures(vectors, &opened.earlier_captures())?;
        Ok(opened)
    }

    /// Writes the results, and the frames of each vector that is not right, whose file is noted in its outcome. What an earlier run wrote is removed,
    /// so that no capture is left of a vector that is right now.
    ///
    /// # Errors
    /// As of [`ConformanceDirectory::open`]; a file cannot be written.
    pub fn write(&self, results: &mut DeviceResults, records: &[VectorRecord]) -> Result<()> {
        let earlier = self.earlier_captures();
        let mut captures = Vec::new();
        let judged = results.vectors.iter_mut().zip(records);
        for (outcome, record) in
            judged.filter(|(outcome, _)| outcome.judgement.result.is_violation())
        {
            let octets = self.written(RESULTS, pcap::octets(&record.capture))?;
            self.note(outcome, &octets);
            captures.push((capture_of(&outcome.name), octets));
        }
        OwnFile::DeviceResults.check(&self.path.join(RESULTS))?;
        let violated = results
            .vectors
            .iter()
            .filter(|vector| vector.capture.is_some());
        self.check_captures(violated.map(|vector| &vector.name[..]), &earlier)?;
        for file in &earlier {
            self.written(file, self.folder.remove(file))?;
        }
        // The results come first: they name the captures, so that those of a run that is killed here can be replaced.
        write(
            &self.folder,
            RESULTS,
            serde_json::to_string_pretty(results)?,
        )?;
        captures
            .iter()
            .try_for_each(|(file, octets)| write(&self.folder, file, octets))
    }

    /// Refuses a directory in which no file can be made, before the time is spent for results that would be lost.
    fn check_writable(&self) -> Result<()> {
        let made = UnfinishedFile::create(&self.folder, format!(".{RESULTS}"));
        self.written(RESULTS, made.map(drop))
    }

    fn note(&self, outcome: &mut VectorOutcome, octets: &[u8]) {
        let file = self.path.join(capture_of(&outcome.name));
        outcome.capture = Some(file.display().to_string());
        outcome.capture_sha256 = Some(sha256(octets));
    }

    /// Refuses captures that this run may write where there is another file, and not one of an earlier run.
    fn check_captures<'v>(
        &self,
        mut vectors: impl Iterator<Item = &'v str>,
        earlier: &[String],
    ) -> Result<()> {
        vectors.try_for_each(|vector| {
            let file = capture_of(vector);
            if earlier.contains(&file) {
                return Ok(());
            }
            OwnFile::Capture.check(&self.path.join(file))
        })
    }

    /// Returns the captures of an earlier run that are as it wrote them.
    fn earlier_captures(&self) -> Vec<String> {
        let text = self.folder.text(RESULTS).unwrap_or_default();
        let earlier: Option<EarlierResults> = serde_json::from_str(&text).ok();
        let vectors = earlier.into_iter().flat_map(|earlier| earlier.vectors);
        let captures = vectors.filter_map(|vector| {
            let file = capture_of(&vector.name);
            let octets = self.folder.octets(&file).ok()?;
            (vector.capture_sha256? == sha256(&octets)).then_some(file)
        });
        captures.collect()
    }

    fn written<T>(&self, file: &str, result: io::Result<T>) -> Result<T> {
        result.map_err(|error| StoreError::NotWritten {
            path: self.path.join(file),
            error,
        })
    }
}

impl Drop for ConformanceDirectory {
    fn drop(&mut self) {
        // Only an empty directory can be removed so.
        if self.is_new {
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

fn capture_of(vector: &str) -> String {
    format!("{vector}.pcap")
}

fn sha256(octets: &[u8]) -> String {
    let digest = Sha256::digest(octets);
    digest.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_conformance::{VectorJudgement, VectorResult, notation};
    use sixbench_io::pcap::TimedFrame;
    use std::fs;

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
            let directory = ConformanceDirectory::open(&self.0, NAMES.into_iter())?;
            let files = notation::built_in().expect("the vectors");
            let all: Vec<_> = files.iter().flat_map(|file| &file.vectors).collect();
            let records = results.map(record);
            let outcomes = NAMES.iter().zip(&records).map(|(name, record)| {
                let vector = all.iter().find(|vector| vector.name == *name);
                let vector = vector.expect("the vector");
                VectorOutcome::new(7915, vector, record.judgement.clone(), 1)
            });
            let mut results = DeviceResults::new("d", "D", "1", outcomes.collect());
            directory.write(&mut results, &records).map(|()| results)
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
        let noted = first.vectors[0].capture.as_deref().expect("a capture");
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
