//! Which directories may become results directories: new ones, empty ones, and those of a run of ours that was killed before it had begun. In any
//! other, files that the user wrote would be replaced.

use super::stored::TRIALS;
use crate::error::store::{Result, StoreError};
use std::fs;
use std::io;
use std::path::Path;

/// The folder in which results are merged, until they are complete.
pub(crate) const MERGING: &str = ".merging";

/// The files that a run has written before it can be resumed, besides its records, which come first; those with `.new` are of versions up to 0.2.0.
const FIRST_FILES: [&str; 9] = [
    "plan.toml",
    "facts.json",
    "resolved.toml",
    ".plan.toml.sixbench-new",
    ".facts.json.sixbench-new",
    ".resolved.toml.sixbench-new",
    ".plan.toml.new",
    ".facts.json.new",
    ".resolved.toml.new",
];

/// Refuses a directory that cannot be used for a new run.
///
/// # Errors
/// It holds results, a run that has not yet made a trial, or files that no run has written.
pub fn check_new(directory: &Path) -> Result<()> {
    if directory.to_str().is_none() {
        return Err(StoreError::NotUtf8(directory.to_owned()));
    }
    if directory.is_relative() && std::env::current_dir().is_err() {
        return Err(StoreError::NoWorkingDirectory(directory.to_owned()));
    }
    // `trials.jsonl` is made first and `resolved.toml` last, so a directory with the first but without the second is one of a run that was killed before
    // it began; what it has is replaced.
    let was_begun = directory.join(TRIALS).exists() && directory.join("resolved.toml").exists();
    if was_begun || has_trials(directory) {
        return Err(StoreError::HoldsResults(directory.to_owned()));
    }
    let names = names_in(directory)?;
    let is_of_killed_run = names.iter().any(|name| name == TRIALS);
    let foreign = names
        .into_iter()
        .find(|name| name != TRIALS && !(is_of_killed_run && FIRST_FILES.contains(&name.as_str())));
    foreign.map_or(Ok(()), |file| {
        Err(StoreError::NotEmpty {
            directory: directory.to_owned(),
            file,
        })
    })
}

/// Refuses a directory that is not empty. The caller has removed what a killed merge has left.
///
/// # Errors
/// It holds results or other files.
pub(crate) fn check_empty(directory: &Path) -> Result<()> {
    check_new(directory)?;
    let file = names_in(directory)?.into_iter().next();
    file.map_or(Ok(()), |file| {
        Err(StoreError::NotEmpty {
            directory: directory.to_owned(),
            file,
        })
    })
}

/// Returns true if a directory has records of trials.
pub(crate) fn has_trials(directory: &Path) -> bool {
    fs::metadata(directory.join(TRIALS)).is_ok_and(|trials| trials.len() > 0)
}

/// Returns the names of all that is in a directory, ascending; none if there is no directory.
fn names_in(directory: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| StoreError::NotCreated {
            directory: directory.to_owned(),
            error,
        })?,
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> std::result::Result<(), String> {
        let directory =
            std::env::temp_dir().join(format!("sixbench-new-directory-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        for (name, text) in files {
            fs::write(directory.join(name), text).expect("a file");
        }
        let told = check_new(&directory).map_err(|error| error.to_string());
        fs::remove_dir_all(&directory).expect("removed");
        told.map_err(|error| error.replace(&directory.display().to_string(), "DIR"))
    }

    #[test]
    fn only_what_a_run_of_ours_has_written_may_be_replaced() {
        assert_eq!(told(&[]), Ok(()));
        // A run that was killed before it could be resumed.
        assert_eq!(told(&[(TRIALS, "")]), Ok(()));
        assert_eq!(
            told(&[
                (TRIALS, ""),
                ("plan.toml", "x"),
                (".resolved.toml.new", "x"),
                (".plan.toml.sixbench-new", "x")
            ]),
            Ok(())
        );
        for files in [
            &[("plan.toml", "mine")][..],
            &[("resolved.toml", "mine")],
            &[(".hidden", "mine")],
            &[(TRIALS, ""), ("notes.txt", "mine")],
        ] {
            let error = told(files).expect_err("refused");
            assert!(
                error.starts_with("DIR is neither empty nor a results directory: it contains "),
                "{error}"
            );
        }
        assert_eq!(
            told(&[(TRIALS, ""), ("resolved.toml", "x")]),
            Err("DIR already holds results".to_owned())
        );
        assert_eq!(
            told(&[(TRIALS, "{}\n")]),
            Err("DIR already holds results".to_owned())
        );
    }

    #[test]
    fn a_name_that_cannot_be_shown_is_refused() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = Path::new(std::ffi::OsStr::from_bytes(b"res\xff"));
        assert!(check_new(name).is_err_and(|error| error.to_string().contains("must be UTF-8")));
    }

    #[test]
    fn a_directory_that_is_not_there_is_new_and_a_file_is_none() {
        let none =
            std::env::temp_dir().join(format!("sixbench-no-directory-{}", std::process::id()));
        assert!(check_new(&none).is_ok());
        fs::write(&none, "").expect("a file");
        let refused = check_new(&none).map_err(|error| error.to_string());
        fs::remove_file(&none).expect("removed");
        assert!(refused.is_err_and(|error| error.contains("Not a directory")));
    }
}
