//! The results directory. `trials.jsonl` is authoritative: each line is on disk before the next trial starts.

pub use super::new_directory::check_new;
use super::new_directory::has_trials;
use super::owner;
pub use super::stored::{
    RECIPES, StoredRun, begun, folder, kept_recipes, load, load_from, source_of,
};
pub(crate) use super::stored::{
    ReadTrials, is_in_use, load_without_records, lock_to_read, new_records,
};
use super::stored::{TRIALS, whole_length};
use super::written::make_folder;
pub use super::written::{make_directory, write_file, write_new};
pub(crate) use super::written::{make_folder_of, write, write_with};
pub use crate::error::records::RecordError;
pub use crate::error::store::StoreError;
use crate::error::store::{Result, cannot_write};
use crate::error::writer::WritingProcess;
use sixbench_io::files::Folder;
use sixbench_method::plan::{Plan, Point, Selection};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_plan::resolved;
use sixbench_testbed::Recipe;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The subdirectory of a results directory with the records of DNS queries.
pub(crate) const QUERIES: &str = "queries";

/// The subdirectory of a results directory with the frames of vectors that are not right.
pub(crate) const VECTORS: &str = "vectors";

/// An open results directory.
pub struct Store {
    folder: Folder,
    trials: File,
}

impl Store {
    /// Creates a new directory for the results of the selected part of `plan`. `source` is the text of the plan file.
    ///
    /// # Errors
    /// The directory already holds results, or cannot be created or written to.
    pub fn create(
        directory: &Path,
        plan: &Plan,
        source: &str,
        selection: &Selection,
    ) -> Result<Self> {
        check_new(directory)?;
        let resolved = resolved::write(plan, source, RECIPES).map_err(StoreError::NotResolved)?;
        let folder = make_directory(directory).map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull => cannot_write(directory)(error),
            _ => StoreError::NotCreated {
                directory: directory.to_owned(),
                error,
            },
        })?;
        // Before anything is written: another run may be about to use the same directory.
        let store = Self::open(folder)?;
        if has_trials(directory) {
            return Err(StoreError::HoldsResults(directory.to_owned()));
        }
        store.write("plan.toml", source)?;
        // A run that is killed before its facts are known must not go on with all of the plan.
        if !selection.is_all() {
            store.write_facts(&selected(selection))?;
        }
        // The last one: only a directory that has it can be resumed, and any other be used again.
        store.write("resolved.toml", &resolved)?;
        Ok(store)
    }

    /// Opens an existing directory to resume its run. An incomplete last line is removed.
    ///
    /// # Errors
    /// No results directory, one that another process writes to, or one that cannot be read or written.
    pub fn reopen(folder: Folder) -> Result<(Self, StoredRun)> {
        // No other process may be writing when the torn line is removed.
        let store = Self::open(folder)?;
        let stored = load_from(&store.folder)?;
        if stored.is_torn {
            let trials = store
                .folder
                .read(TRIALS)
                .and_then(|trials| whole_length(&trials));
            trials
                .and_then(|whole| store.trials.set_len(whole))
                .map_err(cannot_write(&store.trials_path()))?;
        }
        Ok((store, stored))
    }

    fn open(folder: Folder) -> Result<Self> {
        let path = folder.path().join(TRIALS);
        let opened = owner::check_writers(&folder).and_then(|()| folder.append(TRIALS));
        let trials = opened
            .and_then(|trials| owner::give(&trials).map(|()| trials))
            .map_err(cannot_write(&path))?;
        // Two writers would number the same trials; the lock goes with the file.
        let is_locked = || matches!(trials.try_lock(), Err(fs::TryLockError::WouldBlock));
        // A process that checks whether a run is in progress holds the lock for a moment.
        let waited = || thread::sleep(Duration::from_millis(50));
        if is_locked() && {
            waited();
            is_locked()
        } {
            return Err(StoreError::InUse {
                directory: folder.path().to_owned(),
                writer: WritingProcess::find(&path),
            });
        }
        Ok(Self { folder, trials })
    }

    /// Returns the path of the results directory.
    pub fn directory(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the results directory.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    fn trials_path(&self) -> PathBuf {
        self.directory().join(TRIALS)
    }

    /// Stores the recipes of the run with its results, so that a resumed run uses them.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep_recipes<'r>(&self, recipes: impl Iterator<Item = &'r Recipe>) -> Result<()> {
        // Also where there is no recipe: the resolved plan names the folder.
        make_folder(&self.folder, RECIPES)
            .map_err(cannot_write(&self.directory().join(RECIPES)))?;
        for recipe in recipes {
            let files = recipe.to_files().map_err(|source| StoreError::Recipe {
                recipe: recipe.name.clone(),
                source,
            })?;
            files
                .iter()
                .try_for_each(|(name, text)| self.write(&format!("{RECIPES}/{name}"), text))?;
        }
        Ok(())
    }

    /// Writes a trial to disk durably.
    ///
    /// # Errors
    /// The trial cannot be written, or the results are no longer where the run began to write them.
    pub(crate) fn append(&mut self, record: &TrialRecord) -> Result<()> {
        let text = line(record)?;
        let written = self
            .trials
            .write_all(text.as_bytes())
            .and_then(|()| self.trials.sync_data());
        written.map_err(cannot_write(&self.trials_path()))?;
        self.check_place()
    }

    /// Checks that the records are still where the run began to write them.
    ///
    /// # Errors
    /// They were removed or moved meanwhile.
    pub(crate) fn check_place(&self) -> Result<()> {
        let path = self.trials_path();
        let own = self.trials.metadata().map_err(cannot_write(&path))?;
        if fs::metadata(&path)
            .is_ok_and(|found| (found.dev(), found.ino()) == (own.dev(), own.ino()))
        {
            return Ok(());
        }
        if own.nlink() == 0 {
            return Err(StoreError::Removed(path));
        }
        // The kernel's name for an open file, wherever it was moved to.
        let now = fs::read_link(format!("/proc/self/fd/{}", self.trials.as_raw_fd())).ok();
        let to = now.and_then(|now| Some(now.parent()?.to_owned()));
        Err(StoreError::Moved {
            directory: self.directory().to_owned(),
            to,
        })
    }

    /// Writes trials of other runs to disk, in this order.
    ///
    /// # Errors
    /// The trials cannot be written.
    pub(crate) fn append_all(&mut self, records: &[&TrialRecord]) -> Result<()> {
        let lines = records
            .iter()
            .map(|record| line(record))
            .collect::<Result<String>>()?;
        let written = self
            .trials
            .write_all(lines.as_bytes())
            .and_then(|()| self.trials.sync_data());
        written.map_err(cannot_write(&self.trials_path()))
    }

    /// Returns the folder and the name of the file for the record of every DNS query of a trial, and makes the folder.
    pub(crate) fn queries(
        &self,
        point: &Point,
        repetition: u32,
        trial: u32,
    ) -> Result<(Folder, String)> {
        let folder = make_folder(&self.folder, QUERIES)
            .map_err(cannot_write(&self.directory().join(QUERIES)))?;
        Ok((folder, format!("{}-r{repetition}-t{trial}.csv", point.test)))
    }

    /// Writes the frames of a vector; `name` is a name below [`VECTORS`]. Returns the path within the results directory.
    pub(crate) fn write_capture(&self, name: &str, octets: &[u8]) -> Result<String> {
        let path = format!("{VECTORS}/{name}");
        write(&self.folder, &path, octets)?;
        Ok(path)
    }

    /// Removes the frames of a vector, if there are any: a run that was killed after it had written them, and before it wrote the record, has left frames
    /// of a trial that is made again.
    pub(crate) fn remove_capture(&self, name: &str) -> Result<()> {
        let removed = self
            .folder
            .folder(VECTORS)
            .and_then(|folder| folder.remove(name));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot_write(
                &self.directory().join(VECTORS).join(name),
            )(error)),
            _ => Ok(()),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        write(&self.folder, name, text)
    }

    pub(crate) fn write_facts(&self, facts: &Facts) -> Result<()> {
        self.write("facts.json", &serde_json::to_string_pretty(facts)?)
    }
}

/// Returns the name of the frames of a vector below [`VECTORS`].
pub(crate) fn capture_name(point: &Point, repetition: u32, trial: u32, vector: &str) -> String {
    format!("{}-r{repetition}-t{trial}-{vector}.pcap", point.test)
}

fn selected(selection: &Selection) -> Facts {
    Facts {
        selection: selection.clone(),
        ..Facts::default()
    }
}

pub(crate) fn line(record: &TrialRecord) -> Result<String> {
    Ok(serde_json::to_string(record)? + "\n")
}

/// Returns the token of a run's live page. It stays the same when the run is resumed or shown again, so that an open page finds it again; only
/// the owner of the results can read it.
///
/// # Errors
/// No random number can be had.
pub fn live_token(folder: &Folder) -> io::Result<String> {
    const NAME: &str = ".live-token";
    let is_token =
        |text: &String| text.len() == 32 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    if let Some(token) = folder.text(NAME).ok().filter(is_token) {
        return Ok(token);
    }
    let mut octets = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut octets)?;
    let token: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    // Where it cannot be kept, the page is there all the same, and has another address the next time.
    let kept = folder.create(NAME).and_then(|mut file| {
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(token.as_bytes())?;
        owner::give(file)
    });
    drop(kept);
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::trial_lines::records;
    use sixbench_method::plan::Point;
    use sixbench_method::record::FORMAT;
    use sixbench_method::record::{CoreRole, CoreWatch, CpuSample, Watch};
    use sixbench_method::terms::{Direction, FrameRate, FrameSize};
    use sixbench_method::trial::{DirectionResult, TrialResult, TrialSpec};

    fn record(trial: u32) -> TrialRecord {
        TrialRecord {
            format: FORMAT,
            point: Point {
                test: "t".to_owned(),
                frame_size: FrameSize(84),
            },
            repetition: 1,
            trial,
            load: None,
            started: "2026-01-01T00:00:00Z".to_owned(),
            result: TrialResult::new(
                TrialSpec::constant(FrameRate(1000), 1_000_000_000),
                vec![DirectionResult::counted(Direction::Forward, 1000, 1000)],
                vec![],
            ),
            watch: None,
        }
    }

    #[test]
    fn a_line_torn_by_a_kill_costs_one_trial_and_no_more() {
        let whole = line(&record(1)).expect("json") + &line(&record(2)).expect("json");
        let torn = &whole[..whole.len() - 20];
        assert_eq!(records(torn, 0).expect("readable"), (vec![record(1)], true));
        assert_eq!(
            records(&whole, 0).expect("readable"),
            (vec![record(1), record(2)], false)
        );
    }

    #[test]
    fn a_broken_line_in_the_middle_is_an_error_that_names_it() {
        let text = format!("{}nonsense\n", line(&record(1)).expect("json"));
        let error = records(&text, 0).expect_err("an error");
        assert_eq!(error.to_string(), "line 2 is not a trial");
    }

    #[test]
    fn a_record_with_a_number_that_no_trial_has_is_refused_with_its_line() {
        let told = |change: fn(&mut TrialRecord)| {
            let mut changed = record(2);
            change(&mut changed);
            let text = line(&record(1)).expect("json") + &line(&changed).expect("json");
            records(&text, 0)
                .map(drop)
                .map_err(|error| error.to_string())
        };
        let sample = |idle| CpuSample {
            idle,
            ..CpuSample::default()
        };
        let watch = |idle| {
            let core = CoreWatch {
                core: 0,
                role: CoreRole::Dut,
                samples: vec![sample(idle)],
            };
            Some(
                Watch {
                    cores: vec![core],
                    ..Watch::default()
                }
                .into(),
            )
        };
        assert_eq!(told(|_| ()), Ok(()));
        for (number, told) in [
            ("0 is no repetition", told(|record| record.repetition = 0)),
            (
                "18446744073709551615 is no rate",
                told(|record| record.result.spec.rate = FrameRate(u64::MAX)),
            ),
            (
                "18446744073709551615 is no duration_ns",
                told(|record| record.result.spec.duration_ns = u64::MAX),
            ),
        ] {
            assert_eq!(
                told,
                Err(format!(
                    "line 2 was changed after it was written: {number} of a trial"
                ))
            );
        }
        let mut busy = record(1);
        busy.watch = watch(1000);
        assert_eq!(busy.first_outside(), None);
        busy.watch = watch(1001);
        assert_eq!(
            busy.first_outside().as_deref(),
            Some("1001 is no per mille of a core's time of a trial")
        );
    }

    #[test]
    fn a_newer_format_is_refused() {
        let newer = TrialRecord {
            format: FORMAT + 1,
            ..record(1)
        };
        assert!(records(&line(&newer).expect("json"), 0).is_err());
    }

    #[test]
    fn records_that_were_removed_or_moved_are_no_longer_where_the_run_writes() {
        let path = std::env::temp_dir().join(format!("sixbench-displaced-{}", std::process::id()));
        let results = path.join("results");
        let begin = || {
            fs::create_dir_all(&results).expect("directories");
            Store::open(Folder::open(&results).expect("a directory")).expect("a store")
        };
        let told = |store: &mut Store| store.append(&record(1)).expect_err("displaced").to_string();
        let mut store = begin();
        store.append(&record(1)).expect("in its place");
        fs::remove_file(results.join(TRIALS)).expect("removed");
        let removed = told(&mut store);
        fs::write(results.join(TRIALS), "").expect("a file of another");
        let replaced = told(&mut store);
        fs::remove_file(results.join(TRIALS)).expect("removed");
        let mut store = begin();
        fs::rename(&results, path.join("moved")).expect("moved");
        let moved = told(&mut store);
        fs::remove_dir_all(path.join("moved")).expect("removed");
        let gone = told(&mut store);
        fs::remove_dir_all(&path).expect("removed");
        let trials = results.join(TRIALS);
        let lost = format!(
            "{} was removed while the run wrote to it, so its trials are lost",
            trials.display()
        );
        assert_eq!([&removed, &replaced, &gone], [&lost; 3]);
        let kept = path.join("moved");
        let to = format!(
            "{} was moved to {} while",
            results.display(),
            kept.display()
        );
        assert!(moved.starts_with(&to), "{moved}");
    }

    #[test]
    fn records_of_queries_are_not_made_in_a_folder_that_is_a_link() {
        let path = std::env::temp_dir().join(format!("sixbench-store-{}", std::process::id()));
        let (elsewhere, results) = (path.join("elsewhere"), path.join("results"));
        fs::create_dir_all(&elsewhere)
            .and_then(|()| fs::create_dir_all(&results))
            .expect("directories");
        let (folder, trials) = (
            Folder::open(&results).expect("a directory"),
            results.join(TRIALS),
        );
        let store = Store {
            folder,
            trials: File::create(trials).expect("a file"),
        };
        std::os::unix::fs::symlink(&elsewhere, results.join(QUERIES)).expect("a link");
        let error = store
            .queries(&record(1).point, 1, 1)
            .map(drop)
            .expect_err("a link")
            .to_string();
        fs::remove_file(results.join(QUERIES)).expect("removed");
        let (folder, name) = store.queries(&record(1).point, 1, 1).expect("a folder");
        assert_eq!(
            (folder.path(), name.as_str()),
            (results.join(QUERIES).as_path(), "t-r1-t1.csv")
        );
        fs::remove_dir_all(path).expect("removed");
        assert!(error.contains("is a link to another folder"), "{error}");
    }
}
