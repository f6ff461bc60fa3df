//! Results directories gathered in a folder.

use super::store::{StoreError, StoredRun, folder, is_in_use, load_from};
use crate::error::with_causes;
use jiff::Timestamp;
use sixbench_method::measures::Outcome;
use sixbench_method::replay;
use std::fs;
use std::path::{Path, PathBuf};

/// A results directory with its evaluated records.
pub struct CollectedRun {
    /// The directory.
    pub directory: PathBuf,
    /// Its contents.
    pub stored: StoredRun,
    /// The outcomes of the completed repetitions.
    pub outcomes: Vec<Outcome>,
    /// The start of the first trial.
    pub started: Timestamp,
}

/// The results directories in a folder.
pub struct Collection {
    /// Those that can be read, sorted by the start of their first trial.
    pub runs: Vec<CollectedRun>,
    /// The reasons why results directories were skipped, and the names of other directories.
    pub skipped: Vec<String>,
}

/// The directories inside a folder.
struct Subdirectories {
    results: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

/// Collects the results directories at any depth in a folder, or the folder itself if it is one. Symbolic links are not followed, because `latest`
/// would count twice.
///
/// # Errors
/// The folder cannot be read, or contains no readable results.
pub fn collect(folder: &Path) -> Result<Collection, StoreError> {
    if let Err(error) = fs::read_dir(folder) {
        return Err(StoreError::NoneBelow {
            folder: folder.to_owned(),
            skipped: vec![error.to_string()],
        });
    }
    let below = below(folder);
    let named = |path: &Path| {
        path.strip_prefix(folder)
            .unwrap_or(path)
            .display()
            .to_string()
    };
    let mut skipped: Vec<String> = below
        .others
        .iter()
        .filter(|path| **path != folder)
        .map(|path| format!("{}: no results directory", named(path)))
        .collect();
    let mut runs = Vec::new();
    for directory in below.results {
        match read_run(&directory) {
            Ok(run) => runs.push(run),
            Err(reason) if directory == folder => skipped.push(reason),
            Err(reason) => skipped.push(format!("{}: {reason}", named(&directory))),
        }
    }
    if runs.is_empty() {
        return Err(StoreError::NoneBelow {
            folder: folder.to_owned(),
            skipped,
        });
    }
    runs.sort_by(|a, b| (a.started, &a.directory).cmp(&(b.started, &b.directory)));
    Ok(Collection { runs, skipped })
}

/// Returns true if a folder is or contains a results directory.
pub(crate) fn has_results(folder: &Path) -> bool {
    !below(folder).results.is_empty()
}

/// Returns the results directories inside a directory, and the topmost directories without any.
fn below(directory: &Path) -> Subdirectories {
    if directory.join("resolved.toml").exists() {
        return Subdirectories {
            results: vec![directory.to_owned()],
            others: Vec::new(),
        };
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_directory = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let is_hidden = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
    let mut directories: Vec<PathBuf> = entries
        .filter(|entry| is_directory(entry) && !is_hidden(entry))
        .map(|entry| entry.path())
        .collect();
    directories.sort();
    let all: Vec<Subdirectories> = directories
        .iter()
        .map(|directory| below(directory))
        .collect();
    let (results, others): (Vec<_>, Vec<_>) = all
        .into_iter()
        .map(|below| (below.results, below.others))
        .unzip();
    let results: Vec<PathBuf> = results.concat();
    let others = if results.is_empty() {
        vec![directory.to_owned()]
    } else {
        others.concat()
    };
    Subdirectories { results, others }
}

/// Reads a results directory. The error explains why it cannot be used.
fn read_run(directory: &Path) -> Result<CollectedRun, String> {
    let folder = folder(directory).map_err(|error| with_causes(&error))?;
    if is_in_use(&folder) {
        return Err("still being written".to_owned());
    }
    let stored = load_from(&folder).map_err(|error| with_causes(&error))?;
    let replayed = replay::replay(&stored.plan, &stored.records);
    if let Some(mismatch) = replayed.mismatches.first() {
        return Err(mismatch.to_string());
    }
    let starts = stored
        .records
        .iter()
        .filter_map(|record| record.started.parse::<Timestamp>().ok());
    let started = starts.min().ok_or("no trial yet")?;
    Ok(CollectedRun {
        directory: directory.to_owned(),
        stored,
        outcomes: replayed.finished,
        started,
    })
}
