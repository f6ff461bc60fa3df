//! The results directory. `trials.jsonl` is the truth: each line is on disk before the next trial starts.

use super::owner;
pub use super::store_error::StoreError;
use super::trial_file::each_record;
pub use super::trial_lines::RecordError;
use super::trial_lines::{record, records};
use super::writer::WritingProcess;
use sixbench_io::files::NO_LINK;
use sixbench_method::plan::{Plan, Point, Selection};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_plan::resolved;
use sixbench_testbed::Recipe;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The subdirectory of a results directory with the recipes of the run.
pub const RECIPES: &str = "recipes";

/// The subdirectory of a results directory with the records of DNS queries.
pub(crate) const QUERIES: &str = "queries";

type Result<T> = std::result::Result<T, StoreError>;

/// An open results directory.
pub struct Store {
    directory: PathBuf,
    trials: File,
}

/// The contents of a results directory.
pub struct Stored {
    /// The plan with every default filled in.
    pub plan: Plan,
    /// The trials, in the order in which they were made.
    pub records: Vec<TrialRecord>,
    /// The facts of the run; empty if it was killed before there were any.
    pub facts: Facts,
    /// Every command that the testbed ran, as a shell script.
    pub commands: String,
    /// True if the last line was cut off when the run was killed.
    pub is_torn: bool,
}

impl Store {
    /// Makes a new directory for the results of what is selected of `plan`; `source` is the plan file's text.
    ///
    /// # Errors
    /// A directory that holds results, or that cannot be made or written.
    pub fn create(directory: &Path, plan: &Plan, source: &str, selection: &Selection) -> Result<Self> {
        check_new(directory)?;
        let resolved = resolved::write(plan, source, RECIPES).map_err(StoreError::NotResolved)?;
        make_directory(directory).map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull => cannot_write(directory, error),
            _ => StoreError::NotCreated { directory: directory.to_owned(), error },
        })?;
        // Before anything is written: another run may be about to use the same directory.
        let store = Self::open(directory)?;
        if has_trials(directory) {
            return Err(StoreError::HoldsResults(directory.to_owned()));
        }
        write(directory, "plan.toml", source)?;
        // A run that is killed before its facts are known must not go on with all of the plan.
        if !selection.is_all() {
            write(directory, "facts.json", &serde_json::to_string_pretty(&selected(selection))?)?;
        }
        // The last one: only a directory that has it can be resumed, and any other be used again.
        write(directory, "resolved.toml", &resolved)?;
        Ok(store)
    }

    /// Opens an existing directory to go on; a torn last line is cut off.
    ///
    /// # Errors
    /// No results directory, one that another process writes to, or one that cannot be read or written.
    pub fn reopen(directory: &Path) -> Result<(Self, Stored)> {
        // No other process may be writing when the torn line is removed.
        let store = Self::open(directory)?;
        let stored = load(directory)?;
        if stored.is_torn {
            let path = directory.join("trials.jsonl");
            // Counted in the file: an earlier version may have written the same records in other octets.
            let whole = end_of_lines(read(&path)?.as_bytes());
            store.trials.set_len(whole as u64).map_err(|error| cannot_write(&path, error))?;
        }
        Ok((store, stored))
    }

    fn open(directory: &Path) -> Result<Self> {
        let path = directory.join("trials.jsonl");
        // The directory may be anybody's: a link there could lead to any file.
        let trials = OpenOptions::new().create(true).append(true).custom_flags(NO_LINK).open(&path);
        let trials = trials.map_err(|error| cannot_write(&path, error))?;
        owner::give(&path).map_err(|error| cannot_write(&path, error))?;
        // Two writers would number the same trials; the lock goes with the file.
        let is_locked = || matches!(trials.try_lock(), Err(fs::TryLockError::WouldBlock));
        // A process that looks whether a run is under way has the lock for a moment.
        let waited = || thread::sleep(Duration::from_millis(50));
        if is_locked() && {
            waited();
            is_locked()
        } {
            return Err(StoreError::InUse { directory: directory.to_owned(), writer: WritingProcess::of(&path) });
        }
        Ok(Self { directory: directory.to_owned(), trials })
    }

    /// Returns the path of the results directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Keeps the recipes of the run beside its results: what a resumed run goes on with.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep_recipes<'r>(&self, recipes: impl Iterator<Item = &'r Recipe>) -> Result<()> {
        let directory = self.directory.join(RECIPES);
        make_directory(&directory).map_err(|error| cannot_write(&directory, error))?;
        for recipe in recipes {
            let files = recipe.to_files().map_err(|source| StoreError::Recipe { recipe: recipe.name.clone(), source })?;
            files.iter().try_for_each(|(name, text)| write(&directory, name, text))?;
        }
        Ok(())
    }

    /// Puts a trial on disk, for good.
    ///
    /// # Errors
    /// The disk does not take it.
    pub(crate) fn append(&mut self, record: &TrialRecord) -> Result<()> {
        let text = line(record)?;
        let written = self.trials.write_all(text.as_bytes()).and_then(|()| self.trials.sync_data());
        written.map_err(|error| cannot_write(&self.directory.join("trials.jsonl"), error))
    }

    /// Puts trials of other runs on disk, in this order.
    ///
    /// # Errors
    /// The disk does not take them.
    pub(crate) fn append_all(&mut self, records: &[&TrialRecord]) -> Result<()> {
        let lines = records.iter().map(|record| line(record)).collect::<Result<String>>()?;
        let written = self.trials.write_all(lines.as_bytes()).and_then(|()| self.trials.sync_data());
        written.map_err(|error| cannot_write(&self.directory.join("trials.jsonl"), error))
    }

    /// Returns the path for the record of every DNS query of a trial, and makes its directory.
    pub(crate) fn queries(&self, point: &Point, repetition: u32, trial: u32) -> Result<PathBuf> {
        let directory = self.directory.join(QUERIES);
        make_directory(&directory).map_err(|error| cannot_write(&directory, error))?;
        Ok(directory.join(format!("{}-r{repetition}-t{trial}.csv", point.test)))
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        write(&self.directory, name, text)
    }

    pub(crate) fn write_facts(&self, facts: &Facts) -> Result<()> {
        self.write("facts.json", &serde_json::to_string_pretty(facts)?)
    }
}

/// Refuses a directory that is not for a new run.
///
/// # Errors
/// It holds results, or those of a run that has made no trial yet.
pub fn check_new(directory: &Path) -> Result<()> {
    let was_begun = directory.join("trials.jsonl").exists() && directory.join("resolved.toml").exists();
    match was_begun || has_trials(directory) {
        true => Err(StoreError::HoldsResults(directory.to_owned())),
        false => Ok(()),
    }
}

fn has_trials(directory: &Path) -> bool {
    fs::metadata(directory.join("trials.jsonl")).is_ok_and(|trials| trials.len() > 0)
}

fn selected(selection: &Selection) -> Facts {
    Facts { selection: selection.clone(), ..Facts::default() }
}

pub(crate) fn line(record: &TrialRecord) -> Result<String> {
    Ok(serde_json::to_string(record)? + "\n")
}

/// Writes a file of a results directory, in a folder of it that is made where there is none. It goes through a temporary file, so that a reader never
/// sees half of it.
pub(crate) fn write(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
    write_with(directory, name, |file| file.write_all(content.as_ref()))
}

/// Writes a file as of [`write`], with what `print` writes to it, part by part.
pub(crate) fn write_with(
    directory: &Path,
    name: &str,
    print: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<()> {
    let path = directory.join(name);
    let folder = path.parent().unwrap_or(directory);
    if folder != directory && folder.is_symlink() {
        return Err(cannot_write(&path, io::Error::other(format!("{} is a link to another folder", folder.display()))));
    }
    let directory = folder;
    let temporary = directory.join(format!(".{}.new", path.file_name().unwrap_or_default().display()));
    let written = make_directory(directory).and_then(|()| {
        // The one that a killed run has left, or a link that somebody has put there.
        let _ = fs::remove_file(&temporary);
        let mut file = BufWriter::new(OpenOptions::new().write(true).create_new(true).open(&temporary)?);
        print(&mut file)?;
        file.flush()?;
        owner::give(&temporary)?;
        fs::rename(&temporary, &path)
    });
    written.map_err(|error| {
        // Half a file is of no use, and takes room on a disk that may be full.
        let _ = fs::remove_file(&temporary);
        cannot_write(&path, error)
    })
}

/// Writes files that must not exist yet, and the directories above them. Nothing is written if one of them exists.
///
/// # Errors
/// A file that exists, or that cannot be written.
pub fn write_new(files: &[(&Path, &str)]) -> Result<()> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(StoreError::Exists(path.to_path_buf()));
    }
    files.iter().try_for_each(|(path, text)| {
        let directory = path.parent().unwrap_or(Path::new(""));
        make_directory(directory).map_err(|error| cannot_write(directory, error))?;
        let created = OpenOptions::new().write(true).create_new(true).open(path);
        let written = created.and_then(|mut file| file.write_all(text.as_bytes())).and_then(|()| owner::give(path));
        written.map_err(|error| cannot_write(path, error))
    })
}

/// Writes a file at a path that the user named, in a directory that is made where there is none.
///
/// # Errors
/// It cannot be written.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Err(cannot_write(path, io::ErrorKind::InvalidFilename.into()));
    };
    write(make_folder_of(path)?, name, text)
}

/// Makes the folder of a file at a path that the user named, where there is none; returns it.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_folder_of(path: &Path) -> Result<&Path> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_directory(folder).map_err(|error| cannot_write(path, error))?;
    Ok(folder)
}

fn cannot_write(path: &Path, error: io::Error) -> StoreError {
    StoreError::NotWritten { path: path.to_owned(), error }
}

/// Makes a directory and those above it, as those of the user who called sudo.
///
/// # Errors
/// As of [`fs::create_dir_all`].
pub fn make_directory(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(directory)?;
    missing.into_iter().try_for_each(owner::give)
}

fn plan_in(directory: &Path) -> Result<Plan> {
    let path = directory.join("resolved.toml");
    let text = read(&path)?;
    resolved::plan_of(&text).map_err(|mistake| {
        let line = text[..mistake.span.start.min(text.len())].lines().count().max(1);
        StoreError::NoPlan { path, line, title: mistake.title }
    })
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|source| StoreError::NotRead { path: path.to_owned(), source })
}

/// Reads the plan file of an interrupted run. Only it says on which interfaces the run took place, so one that is gone, empty or changed is
/// refused: the run would go on somewhere else.
///
/// # Errors
/// No results directory, or a plan file that is not the one the run began with.
pub fn source_of(directory: &Path) -> Result<String> {
    let owned = || directory.to_owned();
    let resolved =
        fs::read_to_string(directory.join("resolved.toml")).map_err(|error| StoreError::NoRun { directory: owned(), error })?;
    let source =
        fs::read_to_string(directory.join("plan.toml")).map_err(|error| StoreError::PlanGone { directory: owned(), error })?;
    let is_same = match resolved::digest_in(&resolved) {
        Some(digest) => digest == resolved::digest(&source),
        // Of an earlier version, which kept none.
        None => !source.trim().is_empty(),
    };
    if !is_same {
        return Err(StoreError::PlanChanged(owned()));
    }
    Ok(source)
}

/// Reads a results directory.
///
/// # Errors
/// No results directory, a plan of another version, or a line of `trials.jsonl` other than the last one that is no record.
pub fn load(directory: &Path) -> Result<Stored> {
    let mut stored = load_without_records(directory)?;
    stored.is_torn = each_record(directory, record, |_, record| stored.records.push(record))?;
    Ok(stored)
}

/// Reads everything but the records.
///
/// # Errors
/// No results directory, or a plan of another version.
pub(crate) fn load_without_records(directory: &Path) -> Result<Stored> {
    let plan = plan_in(directory)?;
    // Facts and commands come late in a run that was killed early.
    let facts = read(&directory.join("facts.json")).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let commands = read(&directory.join("commands.sh")).unwrap_or_default();
    Ok(Stored { plan, records: Vec::new(), facts, commands, is_torn: false })
}

/// Returns the number of octets up to the end of the last whole line.
fn end_of_lines(octets: &[u8]) -> usize {
    octets.iter().rposition(|octet| *octet == b'\n').map_or(0, |last| last + 1)
}

/// The part of `trials.jsonl` that was read: octets and lines.
#[derive(Default)]
pub(crate) struct ReadTrials {
    octets: u64,
    lines: usize,
}

/// Returns the records that were written behind the part of `trials.jsonl` that was read, and counts them as read. A line whose end is not
/// written yet is left for later.
///
/// # Errors
/// The file cannot be read, or a whole line is no record.
pub(crate) fn new_records(directory: &Path, before: &mut ReadTrials) -> Result<Vec<TrialRecord>> {
    let path = directory.join("trials.jsonl");
    let mut octets = Vec::new();
    let opened = File::open(&path).and_then(|mut file| {
        file.seek(SeekFrom::Start(before.octets))?;
        file.read_to_end(&mut octets)
    });
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(|source| StoreError::NotRead { path: path.clone(), source })?,
    };
    let whole = end_of_lines(&octets);
    let text = String::from_utf8_lossy(&octets[..whole]);
    let (records, _) = records(&text, before.lines).map_err(|source| StoreError::NoRecords { path, source })?;
    before.octets += whole as u64;
    before.lines += records.len();
    Ok(records)
}

/// Returns whether a process is writing to this results directory.
pub(crate) fn is_in_use(directory: &Path) -> bool {
    lock_to_read(directory).is_none()
}

/// Returns what keeps other processes from writing to this results directory for as long as it lives; `None` where one is writing. A directory without
/// trials, or on a file system without locks, has no lock.
pub(crate) fn lock_to_read(directory: &Path) -> Option<Option<File>> {
    let Ok(trials) = File::open(directory.join("trials.jsonl")) else { return Some(None) };
    match trials.try_lock_shared() {
        Err(fs::TryLockError::WouldBlock) => None,
        _ => Some(Some(trials)),
    }
}

/// Returns the token of a run's live page. It stays the same when the run is resumed or shown again, so that an open page finds it again; only
/// the owner of the results can read it.
///
/// # Errors
/// No random number can be had.
pub fn live_token(directory: &Path) -> io::Result<String> {
    let path = directory.join(".live-token");
    let is_token = |text: &String| text.len() == 32 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    if let Some(token) = fs::read_to_string(&path).ok().filter(is_token) {
        return Ok(token);
    }
    let mut octets = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut octets)?;
    let token: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    // Where it cannot be kept, the page is there all the same, and has another address the next time.
    let created = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).custom_flags(NO_LINK).open(&path);
    let _ = created.and_then(|mut file| file.write_all(token.as_bytes())).and_then(|()| owner::give(&path));
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::Point;
    use sixbench_method::record::FORMAT;
    use sixbench_method::record::{CoreRole, CoreWatch, CpuSample, Watch};
    use sixbench_method::terms::{Direction, FrameRate, FrameSize};
    use sixbench_method::trial::{DirectionResult, TrialResult, TrialSpec};

    fn record(trial: u32) -> TrialRecord {
        TrialRecord {
            format: FORMAT,
            point: Point { test: "t".to_owned(), frame_size: FrameSize(84) },
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
        assert_eq!(records(&whole, 0).expect("readable"), (vec![record(1), record(2)], false));
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
            records(&text, 0).map(drop).map_err(|error| error.to_string())
        };
        let sample = |idle| CpuSample { idle, ..CpuSample::default() };
        let watch = |idle| {
            let core = CoreWatch { core: 0, role: CoreRole::Dut, samples: vec![sample(idle)] };
            Some(Watch { cores: vec![core], ..Watch::default() }.into())
        };
        assert_eq!(told(|_| ()), Ok(()));
        for (number, told) in [
            ("0 is no repetition", told(|record| record.repetition = 0)),
            ("18446744073709551615 is no rate", told(|record| record.result.spec.rate = FrameRate(u64::MAX))),
            ("18446744073709551615 is no duration_ns", told(|record| record.result.spec.duration_ns = u64::MAX)),
        ] {
            assert_eq!(told, Err(format!("line 2 was changed after it was written: {number} of a trial")));
        }
        let mut busy = record(1);
        busy.watch = watch(1000);
        assert_eq!(busy.first_outside(), None);
        busy.watch = watch(1001);
        assert_eq!(busy.first_outside().as_deref(), Some("1001 is no per mille of a core's time of a trial"));
    }

    #[test]
    fn a_newer_format_is_refused() {
        let newer = TrialRecord { format: FORMAT + 1, ..record(1) };
        assert!(records(&line(&newer).expect("json"), 0).is_err());
    }
}
