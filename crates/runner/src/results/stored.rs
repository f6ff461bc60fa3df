//! A results directory as it is read. It may be untrusted: each file is read by [`Folder`], which follows no link and opens only regular files.

use super::owner;
use super::trial_file::each_record;
use super::trial_lines::{record, records};
use crate::error::records::{LONGEST_LINE, RecordError};
use crate::error::store::{Result, StoreError};
use sixbench_io::files::Folder;
use sixbench_method::plan::Plan;
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_plan::resolved;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// The records of a results directory.
pub(crate) const TRIALS: &str = "trials.jsonl";

/// The subdirectory of a results directory with the recipes of the run.
pub const RECIPES: &str = "recipes";

/// The contents of a results directory.
pub struct StoredRun {
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

/// Opens a results directory, which stays the same one whatever takes its place.
///
/// # Errors
/// There is none, or root would reach it by a link of a user who owns neither it nor this process.
pub fn folder(directory: &Path) -> Result<Folder> {
    owner::open(directory).map_err(|error| StoreError::NoDirectory {
        directory: directory.to_owned(),
        error,
    })
}

/// Opens the results directory of a run that goes on.
///
/// # Errors
/// Those of [`folder`].
pub fn begun(directory: &Path) -> Result<Folder> {
    owner::open(directory).map_err(|error| StoreError::NoRun {
        directory: directory.to_owned(),
        error,
    })
}

/// Returns what makes an error of a file that cannot be read.
pub(crate) fn cannot_read(folder: &Folder, name: &str) -> impl Fn(io::Error) -> StoreError + use<> {
    let (directory, file) = (folder.path().to_owned(), name.to_owned());
    move |error| StoreError::NotRead {
        directory: directory.clone(),
        file: file.clone(),
        error,
    }
}

fn read(folder: &Folder, name: &str) -> Result<String> {
    folder.text(name).map_err(cannot_read(folder, name))
}

/// Reads a file that comes late in a run, and so is not there if it was killed early.
fn read_late(folder: &Folder, name: &str) -> Result<String> {
    match folder.text(name) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::InvalidData
            ) =>
        {
            Ok(String::new())
        }
        read => read.map_err(cannot_read(folder, name)),
    }
}

fn plan_in(folder: &Folder) -> Result<Plan> {
    let text = read(folder, "resolved.toml")?;
    resolved::plan_of(&text).map_err(|mistake| {
        let line = text[..mistake.span.start.min(text.len())]
            .lines()
            .count()
            .max(1);
        StoreError::NoPlan {
            path: folder.path().join("resolved.toml"),
            line,
            title: mistake.title,
        }
    })
}

/// Reads the plan file of an interrupted run. Only it says on which interfaces the run took place, so one that is gone, empty or changed is
/// refused: the run would go on somewhere else.
///
/// # Errors
/// No results directory, or a plan file that is not the one the run began with.
pub fn source_of(folder: &Folder) -> Result<String> {
    let owned = || folder.path().to_owned();
    let resolved = folder
        .text("resolved.toml")
        .map_err(|error| StoreError::NoRun {
            directory: owned(),
            error,
        })?;
    let source = folder
        .text("plan.toml")
        .map_err(|error| StoreError::PlanGone {
            directory: owned(),
            error,
        })?;
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

/// Returns the paths and texts of the recipes that were kept when the run began.
///
/// # Errors
/// One that cannot be read.
pub fn kept_recipes(folder: &Folder) -> Result<Vec<(String, String)>> {
    let kept = match folder.folder(RECIPES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        kept => kept.map_err(cannot_read(folder, RECIPES))?,
    };
    let names = kept.names().map_err(cannot_read(folder, RECIPES))?;
    let names = names
        .iter()
        .filter_map(|name| name.to_str())
        .filter(|name| name.ends_with(".toml"));
    names
        .map(|name| {
            Ok((
                kept.path().join(name).display().to_string(),
                read(&kept, name)?,
            ))
        })
        .collect()
}

/// Reads the results directory at a path.
///
/// # Errors
/// Those of [`folder`] and of [`load_from`].
pub fn load(directory: &Path) -> Result<StoredRun> {
    load_from(&folder(directory)?)
}

/// Reads a results directory.
///
/// # Errors
/// No results directory, a plan of another version, or a line of `trials.jsonl` other than the last one that is not a record.
pub fn load_from(folder: &Folder) -> Result<StoredRun> {
    let mut stored = load_without_records(folder)?;
    stored.is_torn = each_record(folder, record, |_, record| stored.records.push(record))?;
    Ok(stored)
}

/// Reads everything but the records.
///
/// # Errors
/// No results directory, or a plan of another version.
pub(crate) fn load_without_records(folder: &Folder) -> Result<StoredRun> {
    let plan = plan_in(folder)?;
    let facts = serde_json::from_str(&read_late(folder, "facts.json")?).unwrap_or_default();
    let commands = read_late(folder, "commands.sh")?;
    Ok(StoredRun {
        plan,
        records: Vec::new(),
        facts,
        commands,
        is_torn: false,
    })
}

/// Returns the number of octets up to the end of the last whole line.
fn end_of_lines(octets: &[u8]) -> usize {
    octets
        .iter()
        .rposition(|octet| *octet == b'\n')
        .map_or(0, |last| last + 1)
}

/// Returns the length of the whole lines of a file. It is counted in the file: an earlier version may have written the same records in other octets.
pub(crate) fn whole_length(mut file: &File) -> io::Result<u64> {
    let begin = file.metadata()?.len().saturating_sub(2 * LONGEST_LINE);
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(begin))?;
    file.take(2 * LONGEST_LINE).read_to_end(&mut end)?;
    Ok(begin + end_of_lines(&end) as u64)
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
/// The file cannot be read, or a whole line is not a record.
pub(crate) fn new_records(folder: &Folder, before: &mut ReadTrials) -> Result<Vec<TrialRecord>> {
    let mut file = match folder.read(TRIALS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(cannot_read(folder, TRIALS))?,
    };
    let mut all = Vec::new();
    loop {
        let mut octets = Vec::new();
        let read = file
            .seek(SeekFrom::Start(before.octets))
            .and_then(|_| (&file).take(LONGEST_LINE).read_to_end(&mut octets));
        let is_end = (read.map_err(cannot_read(folder, TRIALS))? as u64) < LONGEST_LINE;
        let no_records = |source| StoreError::NoRecords {
            path: folder.path().join(TRIALS),
            source,
        };
        let whole = end_of_lines(&octets);
        if whole == 0 && !is_end {
            return Err(no_records(RecordError::TooLong {
                line: before.lines + 1,
            }));
        }
        let (new, _) = records(&String::from_utf8_lossy(&octets[..whole]), before.lines)
            .map_err(no_records)?;
        before.octets += whole as u64;
        before.lines += new.len();
        all.extend(new);
        if is_end {
            return Ok(all);
        }
    }
}

/// Returns whether a process is writing to this results directory.
pub(crate) fn is_in_use(folder: &Folder) -> bool {
    lock_to_read(folder).is_none()
}

/// Returns what keeps other processes from writing to this results directory for as long as it lives; `None` where one is writing. A directory without
/// trials, or on a file system without locks, has no lock.
pub(crate) fn lock_to_read(folder: &Folder) -> Option<Option<File>> {
    let Ok(trials) = folder.read(TRIALS) else {
        return Some(None);
    };
    match trials.try_lock_shared() {
        Err(TryLockError::WouldBlock) => None,
        _ => Some(Some(trials)),
    }
}
