//! The directory with what became of a device: `robustness.json`, and after a crash the frames that make it, as `robustness.pcap`. A run replaces only
//! what an earlier run wrote. A capture does not show which program wrote it, so `robustness.json` has its SHA-256.

use crate::error::store::Result;
use crate::results::own_files::OwnFile;
use crate::results::written::write;
use crate::run::conformance::results_folder::{ResultsFolder, sha256};
use serde::Deserialize;
use sixbench_conformance::robustness::RobustnessResults;
use sixbench_io::pcap::{self, TimedFrame};
use std::path::{Path, PathBuf};

/// The name of the file with the data.
const RESULTS: &str = "robustness.json";
/// The name of the file with the frames.
const CAPTURE: &str = "robustness.pcap";

/// A directory for what becomes of a device, open. One that was made for it is removed again where nothing was written.
pub struct RobustnessDirectory(ResultsFolder);

#[derive(Deserialize)]
struct EarlierCapture {
    capture_sha256: Option<String>,
}

impl RobustnessDirectory {
    /// Opens a directory, or makes it.
    ///
    /// # Errors
    /// It cannot be made or written to, or something that no run has written has the name of a file that this run may write.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = Self(ResultsFolder::open(path, RESULTS)?);
        opened.check_and_find_capture()?;
        Ok(opened)
    }

    /// Returns the path of the file from which the frames of a crash are sent once more.
    pub fn results(&self) -> PathBuf {
        self.0.path_of(RESULTS)
    }

    /// Writes the results, and after a crash its frames, whose file is noted in them. What an earlier run wrote is removed.
    ///
    /// # Errors
    /// Those of [`RobustnessDirectory::open`]; a file cannot be written.
    pub fn write(&self, results: &mut RobustnessResults, capture: &[TimedFrame]) -> Result<()> {
        let has_earlier = self.check_and_find_capture()?;
        let octets = self.0.written(CAPTURE, pcap::octets(capture))?;
        if results.robustness.crash.is_some() {
            results.capture = Some(self.0.shown(CAPTURE));
            results.capture_sha256 = Some(sha256(&octets));
        }
        if has_earlier {
            self.0.written(CAPTURE, self.0.folder.remove(CAPTURE))?;
        }
        // The JSON is written first: it has the digest of the capture, so a later run recognises and replaces a capture even if this run is killed before
        // the end.
        let text = serde_json::to_string_pretty(results)?;
        write(&self.0.folder, RESULTS, text)?;
        if results.capture.is_some() {
            write(&self.0.folder, CAPTURE, octets)?;
        }
        Ok(())
    }

    /// Refuses files that no run has written, and returns true if there is the capture of an earlier one.
    fn check_and_find_capture(&self) -> Result<bool> {
        OwnFile::Robustness.check(&self.results())?;
        let text = self.0.folder.text(RESULTS).unwrap_or_default();
        let earlier: Option<EarlierCapture> = serde_json::from_str(&text).ok();
        let noted = earlier.and_then(|earlier| earlier.capture_sha256);
        let octets = self.0.folder.octets(CAPTURE).ok();
        let is_own = noted.is_some() && noted == octets.as_deref().map(sha256);
        if !is_own {
            OwnFile::Capture.check(&self.0.path_of(CAPTURE))?;
        }
        Ok(is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::store::StoreError;
    use sixbench_conformance::robustness::{CrashRecord, CrashSign, FrameCoverage, ProbeOutcome};
    use std::fs;

    struct Scratch(PathBuf);

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn scratch(name: &str) -> Scratch {
        let name = format!("sixbench-robustness-{name}-{}", std::process::id());
        Scratch(std::env::temp_dir().join(name))
    }

    fn results(has_crash: bool) -> RobustnessResults {
        let crash = has_crash.then(|| CrashRecord {
            sign: CrashSign::Silent { from: Vec::new() },
            after: 1,
            is_repeatable: true,
            attempts: 1,
            is_minimal: true,
            frames: Vec::new(),
        });
        let outcome = ProbeOutcome {
            seed: Some(1),
            wanted: 1,
            sent: 1,
            batches: 1,
            came: 0,
            has_kernel_log: false,
            coverage: FrameCoverage::default(),
            memory: None,
            crash,
        };
        RobustnessResults::new("d", "D", "1", outcome)
    }

    fn frame() -> TimedFrame {
        TimedFrame {
            unix_ns: 1,
            octets: vec![0; 60],
        }
    }

    #[test]
    fn a_second_run_replaces_the_capture_of_the_first_and_leaves_none_where_the_device_lives() {
        let scratch = scratch("twice");
        let run = |has_crash| {
            let directory = RobustnessDirectory::open(&scratch.0).expect("a directory");
            let mut results = results(has_crash);
            directory.write(&mut results, &[frame()]).expect("written");
            results.capture
        };
        let capture = run(true).expect("a capture");
        assert_eq!(run(true).as_ref(), Some(&capture));
        assert!(Path::new(&capture).exists());
        assert_eq!(run(false), None);
        assert!(!Path::new(&capture).exists() && scratch.0.join(RESULTS).exists());
    }

    #[test]
    fn what_others_wrote_is_left_as_it_is_and_an_empty_directory_is_not_left() {
        let scratch = scratch("others");
        drop(RobustnessDirectory::open(&scratch.0).expect("a directory"));
        assert!(!scratch.0.exists());
        fs::create_dir(&scratch.0).expect("a directory");
        fs::write(scratch.0.join(CAPTURE), "mine").expect("a file");
        let refused = RobustnessDirectory::open(&scratch.0).map(drop);
        assert!(
            matches!(refused, Err(StoreError::Foreign(_))),
            "{refused:?}"
        );
    }
}
