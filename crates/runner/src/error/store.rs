//! Why a results directory cannot be written or read.

use super::records::RecordError;
use crate::error::writer::{WritingProcess, how_to_stop, writer_words};
use sixbench_method::replay::ReplayMismatch;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) type Result<T> = std::result::Result<T, StoreError>;

/// The reason why a results directory cannot be written or read.
#[derive(Debug, thiserror::Error)]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum StoreError {
    /// A new run would mix its results with those that are there.
    #[error("{} already holds results", .0.display())]
    HoldsResults(PathBuf),
    /// Files that no run has written would be replaced.
    #[error("{} is neither empty nor a results directory: it contains {file}, which is left as it is", directory.display())]
    NotEmpty { directory: PathBuf, file: String },
    /// Somebody has removed the records of a run that goes on.
    #[error("{} was removed while the run wrote to it, so its trials are lost", .0.display())]
    Removed(PathBuf),
    /// Somebody has moved the results of a run that goes on. `to` is where they are now, if known.
    #[error("{} was moved{} while the run wrote to it; all trials so far are there", directory.display(), moved_to(to.as_deref()))]
    Moved {
        directory: PathBuf,
        to: Option<PathBuf>,
    },
    /// The user may have edited the file.
    #[error("{} already exists; it is left as it is", .0.display())]
    Exists(PathBuf),
    /// A file that the user named has a content that sixbench has not written.
    #[error("{} is there, and sixbench has not written it; it is left as it is; name another file, or remove it", .0.display())]
    Foreign(PathBuf),
    /// The page of a history would be replaced by its data, which is written beside it.
    #[error("{} would be page and data at once; name a page that ends with .html", .0.display())]
    PageIsData(PathBuf),
    /// The working directory was removed, so a relative path leads nowhere.
    #[error("the working directory was removed, so there is no place for {}; change to another directory", .0.display())]
    NoWorkingDirectory(PathBuf),
    /// The name cannot be shown, nor be part of a command that is advised.
    #[error("the name of a results directory must be UTF-8, and {} is not; choose another with -o", .0.display())]
    NotUtf8(PathBuf),
    /// The directory cannot be made.
    #[error("cannot create the results directory {}: {error}", directory.display())]
    NotCreated {
        directory: PathBuf,
        error: io::Error,
    },
    /// Another process writes to it.
    #[error("{} is writing to {}; wait until it has ended, or {}", writer_words(writer.as_ref()), directory.display(), how_to_stop(writer.as_ref()))]
    InUse {
        directory: PathBuf,
        writer: Option<WritingProcess>,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}{}", path.display(), room(path, error))]
    NotWritten { path: PathBuf, error: io::Error },
    /// The resolved plan cannot be said in TOML.
    #[error("cannot write the resolved plan")]
    NotResolved(#[source] toml::ser::Error),
    /// A recipe cannot be said in TOML.
    #[error("cannot write the recipe {recipe}")]
    Recipe {
        recipe: String,
        source: toml::ser::Error,
    },
    /// A record or the facts cannot be said in JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// There is no such directory, or it cannot be opened.
    #[error("{}", not_opened(directory, error))]
    NoDirectory {
        directory: PathBuf,
        error: io::Error,
    },
    /// A file cannot be read.
    #[error("{}", not_read(directory, file, error))]
    NotRead {
        directory: PathBuf,
        file: String,
        error: io::Error,
    },
    /// The resolved plan was written by another version.
    #[error("{} is not a plan of this version of sixbench: line {line}: {title}", path.display())]
    NoPlan {
        path: PathBuf,
        line: usize,
        title: String,
    },
    /// The records cannot be read.
    #[error("{}", path.display())]
    NoRecords { path: PathBuf, source: RecordError },
    /// There is no run to go on with.
    #[error("{} is not the directory of an interrupted run: cannot read resolved.toml there: {error}", directory.display())]
    NoRun {
        directory: PathBuf,
        error: io::Error,
    },
    /// The plan file of the run is gone.
    #[error("cannot read {}/plan.toml, which says where the run took place: {error}; {}", directory.display(), new_run(directory))]
    PlanGone {
        directory: PathBuf,
        error: io::Error,
    },
    /// The plan file of the run was changed.
    #[error("{}/plan.toml has changed since the run began: {}", .0.display(), new_run(.0))]
    PlanChanged(PathBuf),
    /// No directory below this one has results that can be read; the others are named with the reason.
    #[error("no results that can be read in {}{}", folder.display(), listed(skipped))]
    NoneBelow {
        folder: PathBuf,
        skipped: Vec<String>,
    },
    /// There is neither a trial nor a set-up that failed.
    #[error("{} holds no trial yet, so there is nothing to report", .0.display())]
    NoTrial(PathBuf),
    /// No record is one that the plan asks for.
    #[error("{}", directory.display())]
    Mismatch {
        directory: PathBuf,
        source: Box<ReplayMismatch>,
    },
}

fn not_opened(directory: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            format!(
                "{} is not a results directory: {error}",
                directory.display()
            )
        }
        _ => format!(
            "cannot open the results directory {}: {error}",
            directory.display()
        ),
    }
}

fn not_read(directory: &Path, file: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!(
            "{} is not a results directory, because it has no {file}",
            directory.display()
        ),
        _ => format!("cannot read {}: {error}", directory.join(file).display()),
    }
}

fn moved_to(to: Option<&Path>) -> String {
    to.map_or_else(
        || " elsewhere".to_owned(),
        |to| format!(" to {}", to.display()),
    )
}

/// Returns these lines below what stands before them.
fn listed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

fn room(path: &Path, error: &io::Error) -> String {
    let what = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "this user may not write there: call sixbench as the owner of the directory, or name another place, such as a copy"
        }
        io::ErrorKind::ReadOnlyFilesystem => "name another place, such as a copy",
        io::ErrorKind::StorageFull => "free some space on that disk",
        io::ErrorKind::FileTooLarge => "raise the limit on the size of files (ulimit -f)",
        _ => return String::new(),
    };
    // Only a run writes these, and can go on after the trials that it has.
    let of_run = ["trials.jsonl", "facts.json", "commands.sh"];
    let is_of_run = path
        .file_name()
        .is_some_and(|name| of_run.iter().any(|file| name == *file));
    let is_full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::FileTooLarge
    );
    let kept = if is_of_run && is_full {
        "; completed trials are kept and the run can be resumed"
    } else {
        ""
    };
    format!("; {what}{kept}")
}

fn new_run(directory: &Path) -> String {
    format!(
        "restore it, or start a new run with {}/resolved.toml",
        directory.display()
    )
}

/// Returns what makes an error of a file that cannot be written.
pub(crate) fn cannot_write(path: &Path) -> impl Fn(io::Error) -> StoreError {
    |error| StoreError::NotWritten {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_on_a_full_disk_can_be_resumed() {
        let full = |file: &str| cannot_write(Path::new(file))(io::ErrorKind::StorageFull.into());
        let export = full("r/exports/csv/results.csv").to_string();
        assert!(
            export.ends_with("; free some space on that disk"),
            "{export}"
        );
        let run = full("r/trials.jsonl").to_string();
        assert!(
            run.ends_with("completed trials are kept and the run can be resumed"),
            "{run}"
        );
    }

    #[test]
    fn another_place_is_advised_for_a_file_system_that_cannot_be_written() {
        let error = io::ErrorKind::ReadOnlyFilesystem.into();
        let told = cannot_write(Path::new("r/exports/csv"))(error).to_string();
        assert!(
            told.ends_with("; name another place, such as a copy"),
            "{told}"
        );
    }

    #[test]
    fn a_directory_without_rights_is_told_as_such() {
        let path = Path::new("results");
        let told = cannot_write(path)(io::ErrorKind::PermissionDenied.into()).to_string();
        assert!(
            told.contains(
                "; this user may not write there: call sixbench as the owner of the directory"
            ),
            "{told}"
        );
    }
}
