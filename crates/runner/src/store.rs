//! The results directory. `trials.jsonl` is authoritative: each line is on disk before the next trial starts.

use super::owner;
use super::trial_file::each_record;
pub use super::trial_lines::RecordError;
use super::trial_lines::{record, records};
use super::writer::{WritingProcess, how_to_stop, writer_words};
use sixbench_io::files::NO_LINK;
use sixbench_method::plan::{Plan, Point, Selection};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::replay::ReplayMismatch;
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

/// The reason why a results directory cannot be written or read.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum StoreError {
    /// A new run would mix its results with existing ones.
    #[error("{} already holds results", .0.display())]
    HoldsResults(PathBuf),
    /// The user may have edited the file.
    #[error("{} already exists; it is left as it is", .0.display())]
    Exists(PathBuf),
    /// The directory cannot be created.
    #[error("cannot create the results directory {}: {error}", directory.display())]
    NotCreated { directory: PathBuf, error: io::Error },
    /// Another process writes to it.
    #[error("{} is writing to {}; wait until it has ended, or {}", writer_words(writer.as_ref()), directory.display(), how_to_stop(writer.as_ref()))]
    InUse { directory: PathBuf, writer: Option<WritingProcess> },
    /// A file cannot be written.
    #[error("cannot write {}: {error}{}", path.display(), room(error))]
    NotWritten { path: PathBuf, error: io::Error },
    /// The resolved plan cannot be represented in TOML.
    #[error("cannot write the resolved plan")]
    NotResolved(#[source] toml::ser::Error),
    /// A recipe cannot be represented in TOML.
    #[error("cannot write the recipe {recipe}")]
    Recipe { recipe: String, source: toml::ser::Error },
    /// A record or the facts cannot be represented in JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A file cannot be read.
    #[error("cannot read {}; is this a results directory?", path.display())]
    NotRead { path: PathBuf, source: io::Error },
    /// The resolved plan is not one of this version.
    #[error("{} is not a plan of this version of sixbench: line {line}: {title}", path.display())]
    NoPlan { path: PathBuf, line: usize, title: String },
    /// The records cannot be read.
    #[error("{}", path.display())]
    NoRecords { path: PathBuf, source: RecordError },
    /// There is no run to resume.
    #[error("{} is not the directory of an interrupted run: cannot read resolved.toml there: {error}", directory.display())]
    NoRun { directory: PathBuf, error: io::Error },
    /// The plan file of the run no longer exists.
    #[error("cannot read {}/plan.toml, which says where the run took place: {error}; {}", directory.display(), new_run(directory))]
    PlanGone { directory: PathBuf, error: io::Error },
    /// The plan file of the run has changed.
    #[error("{}/plan.toml has changed since the run began: {}", .0.display(), new_run(.0))]
    PlanChanged(PathBuf),
    /// No directory below this one has readable results. The others are listed with the reasons.
    #[error("no results that can be read in {}{}", folder.display(), listed(skipped))]
    NoneBelow { folder: PathBuf, skipped: Vec<String> },
    /// There is neither a trial nor a failed setup.
    #[error("{} holds no trial yet, so there is nothing to report", .0.display())]
    NoTrial(PathBuf),
    /// No record matches the plan.
    #[error("{}", directory.display())]
    Mismatch { directory: PathBuf, source: Box<ReplayMismatch> },
}

/// Returns these lines, indented and each on a new line.
fn listed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

fn room(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space on that disk; completed trials are kept and the run can be resumed",
        _ => "",
    }
}

fn new_run(directory: &Path) -> String {
    format!("restore it, or start a new run with {}/resolved.toml", directory.display())
}

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
    /// The trials in the order in which they were performed.
    pub records: Vec<TrialRecord>,
    /// The facts about the run. Empty if the run was killed before there were any.
    pub facts: Facts,
    /// Every command that the testbed ran, as a shell script.
    pub commands: String,
    /// True if the last line is incomplete because the run was killed.
    pub is_torn: bool,
}

impl Store {
    /// Creates a new directory for the results of the selected part of `plan`. `source` is the text of the plan file.
    ///
    /// # Errors
    /// The directory already holds results, or cannot be created or written to.
    pub fn create(directory: &Path, plan: &Plan, source: &str, selection: &Selection) -> Result<Self> {
        check_new(directory)?;
        let resolved = resolved::write(plan, source, RECIPES).map_err(StoreError::NotResolved)?;
        make_directory(directory).map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull => cannot_write(directory, error),
            _ => StoreError::NotCreated { directory: directory.to_owned(), error },
        })?;
        // Done before anything is written, because another run may be about to use the same directory.
        let store = Self::open(directory)?;
        if has_trials(directory) {
            return Err(StoreError::HoldsResults(directory.to_owned()));
        }
        write(directory, "plan.toml", source)?;
        // If the run is killed before its facts are known, it must not be resumed with the whole plan.
        if !selection.is_all() {
            write(directory, "facts.json", &serde_json::to_string_pretty(&selected(selection))?)?;
        }
        // Written last: only a directory with this file can be resumed, and any other can be reused.
        write(directory, "resolved.toml", &resolved)?;
        Ok(store)
    }

    /// Opens an existing directory to resume its run. An incomplete last line is removed.
    ///
    /// # Errors
    /// There are no results, another process writes to the directory, or it cannot be read or written to.
    pub fn reopen(directory: &Path) -> Result<(Self, Stored)> {
        // No other process may be writing when the incomplete line is removed.
        let store = Self::open(directory)?;
        let stored = load(directory)?;
        if stored.is_torn {
            let path = directory.join("trials.jsonl");
            // Counted in the file, because an earlier version may have written the same records with different octets.
            let whole = end_of_lines(read(&path)?.as_bytes());
            store.trials.set_len(whole as u64).map_err(|error| cannot_write(&path, error))?;
        }
        Ok((store, stored))
    }

    fn open(directory: &Path) -> Result<Self> {
        let path = directory.join("trials.jsonl");
        // The directory may belong to another user, whose link could point to any file.
        let trials = OpenOptions::new().create(true).append(true).custom_flags(NO_LINK).open(&path);
        let trials = trials.map_err(|error| cannot_write(&path, error))?;
        owner::give(&path).map_err(|error| cannot_write(&path, error))?;
        // Two writers would number their trials alike. The lock is released with the file.
        let is_locked = || matches!(trials.try_lock(), Err(fs::TryLockError::WouldBlock));
        // A process that checks whether a run is in progress holds the lock for a moment.
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

    /// Stores the recipes of the run with its results, so that a resumed run uses them.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep_recipes<'r>(&self, recipes: impl Iterator<Item = &'r Recipe>) -> Result<()> {
        let directory = self.directory.join(RECIPES);
        make_directory(&directory).map_err(|error| cannot_write(&directory, error))?;
        for recipe in recipes {
            let files = recipe.to_files().map_err(|source| StoreError::Recipe { recipe: recipe.name.clone(), source })?;
            files.iter().try_for_each(|(name, text)| write(&directory, name, text))?;
        }
        Ok(())
    }

    /// Writes a trial to disk durably.
    ///
    /// # Errors
    /// The trial cannot be written.
    pub(crate) fn append(&mut self, record: &TrialRecord) -> Result<()> {
        let text = line(record)?;
        let written = self.trials.write_all(text.as_bytes()).and_then(|()| self.trials.sync_data());
        written.map_err(|error| cannot_write(&self.directory.join("trials.jsonl"), error))
    }

    /// Writes trials of other runs to disk, in this order.
    ///
    /// # Errors
    /// The trials cannot be written.
    pub(crate) fn append_all(&mut self, records: &[&TrialRecord]) -> Result<()> {
        let lines = records.iter().map(|record| line(record)).collect::<Result<String>>()?;
        let written = self.trials.write_all(lines.as_bytes()).and_then(|()| self.trials.sync_data());
        written.map_err(|error| cannot_write(&self.directory.join("trials.jsonl"), error))
    }

    /// Returns the path for the record of every DNS query of a trial, and creates its directory.
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

/// Refuses a directory that cannot be used for a new run.
///
/// # Errors
/// It holds results, or a run that has not yet made a trial.
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

/// Writes a file of a results directory, creating its folder if necessary. The file is written under a temporary name, so that a reader never sees
/// a part of it.
pub(crate) fn write(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
    write_with(directory, name, |file| file.write_all(content.as_ref()))
}

/// Writes a file like [`write`], with the content that `print` writes piece by piece.
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
        // Removes a file left by a killed run, or a link that another user has created.
        let _ = fs::remove_file(&temporary);
        let mut file = BufWriter::new(OpenOptions::new().write(true).create_new(true).open(&temporary)?);
        print(&mut file)?;
        file.flush()?;
        owner::give(&temporary)?;
        fs::rename(&temporary, &path)
    });
    written.map_err(|error| {
        // An incomplete file is useless and takes up space on a disk that may be full.
        let _ = fs::remove_file(&temporary);
        cannot_write(&path, error)
    })
}

/// Writes files that must not exist yet, with their parent directories. Nothing is written if one of the files exists.
///
/// # Errors
/// A file exists, or cannot be written.
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

/// Writes a file at a path given by the user, creating its directory if necessary.
///
/// # Errors
/// The file cannot be written.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Err(cannot_write(path, io::ErrorKind::InvalidFilename.into()));
    };
    write(make_folder_of(path)?, name, text)
}

/// Creates the folder of a file at a path given by the user, if necessary, and returns it.
///
/// # Errors
/// The folder cannot be created.
pub(crate) fn make_folder_of(path: &Path) -> Result<&Path> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_directory(folder).map_err(|error| cannot_write(path, error))?;
    Ok(folder)
}

fn cannot_write(path: &Path, error: io::Error) -> StoreError {
    StoreError::NotWritten { path: path.to_owned(), error }
}

/// Creates a directory and its parents, owned by the user who called sudo.
///
/// # Errors
/// Those of [`fs::create_dir_all`].
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

/// Reads the plan file of an interrupted run. Only this file has the interfaces of the run, so it is refused if it is missing, empty or changed:
/// the run might resume elsewhere.
///
/// # Errors
/// There are no results, or the plan file is not the one with which the run started.
pub fn source_of(directory: &Path) -> Result<String> {
    let owned = || directory.to_owned();
    let resolved =
        fs::read_to_string(directory.join("resolved.toml")).map_err(|error| StoreError::NoRun { directory: owned(), error })?;
    let source =
        fs::read_to_string(directory.join("plan.toml")).map_err(|error| StoreError::PlanGone { directory: owned(), error })?;
    let is_same = match resolved::digest_in(&resolved) {
        Some(digest) => digest == resolved::digest(&source),
        // Earlier versions stored no digest.
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
/// There are no results, the plan is of another version, or a line of `trials.jsonl` other than the last is not a record.
pub fn load(directory: &Path) -> Result<Stored> {
    let mut stored = load_without_records(directory)?;
    stored.is_torn = each_record(directory, record, |_, record| stored.records.push(record))?;
    Ok(stored)
}

/// Reads everything except the records.
///
/// # Errors
/// There are no results, or the plan is of another version.
pub(crate) fn load_without_records(directory: &Path) -> Result<Stored> {
    let plan = plan_in(directory)?;
    // Facts and commands may be missing if a run was killed early.
    let facts = read(&directory.join("facts.json")).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let commands = read(&directory.join("commands.sh")).unwrap_or_default();
    Ok(Stored { plan, records: Vec::new(), facts, commands, is_torn: false })
}

/// Returns the number of octets up to the end of the last complete line.
fn end_of_lines(octets: &[u8]) -> usize {
    octets.iter().rposition(|octet| *octet == b'\n').map_or(0, |last| last + 1)
}

/// The part of `trials.jsonl` that has been read, in octets and lines.
#[derive(Default)]
pub(crate) struct ReadTrials {
    octets: u64,
    lines: usize,
}

/// Returns the records written after the part of `trials.jsonl` that has been read, and adds them to that part. An incomplete last line is left for
/// later.
///
/// # Errors
/// The file cannot be read, or a complete line is not a record.
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

/// Returns true if a process is writing to this results directory.
pub(crate) fn is_in_use(directory: &Path) -> bool {
    lock_to_read(directory).is_none()
}

/// Returns a guard that keeps other processes from writing to this results directory, or `None` if one is writing. The guard is empty for a
/// directory without trials.
pub(crate) fn lock_to_read(directory: &Path) -> Option<Option<File>> {
    let Ok(trials) = File::open(directory.join("trials.jsonl")) else { return Some(None) };
    match trials.try_lock_shared() {
        Err(fs::TryLockError::WouldBlock) => None,
        _ => Some(Some(trials)),
    }
}

/// Returns the token of a run's live page. It stays the same when the run is resumed or shown again, so that an open page reconnects. Only the
/// owner of the results can read it.
///
/// # Errors
/// No random number is available.
pub fn live_token(directory: &Path) -> io::Result<String> {
    let path = directory.join(".live-token");
    let is_token = |text: &String| text.len() == 32 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    if let Some(token) = fs::read_to_string(&path).ok().filter(is_token) {
        return Ok(token);
    }
    let mut octets = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut octets)?;
    let token: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    // If the token cannot be stored, the page still works, but has another address the next time.
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
