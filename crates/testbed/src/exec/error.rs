//! Errors of the testbed, which advise on what to do next.

use super::quoted;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The reason why the testbed does not work: what is wrong, where, and what to do next.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum TestbedError {
    /// A program cannot be found. `cure` says how to obtain it, if known: a command, or its source.
    #[error("cannot run {program}: {}", absence(cure.as_deref()))]
    Missing {
        program: String,
        cure: Option<String>,
    },
    /// A command ended with an error.
    #[error("`{command}` failed ({status}): {output}")]
    Failed {
        command: String,
        status: String,
        output: String,
    },
    /// A file or directory cannot be used.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// Another run that still goes on needs a different value of a sysctl of this machine.
    #[error(
        "{file} would have to be {value}, but process {process} ({command}) needs {needed} until it ends, and it applies to the \
         whole machine; measure afterwards, or with the same `table-size` or `governor`"
    )]
    NeededByAnother {
        file: String,
        value: String,
        needed: String,
        process: u32,
        command: String,
    },
    /// A stop was requested before the work was done.
    #[error("interrupted")]
    Interrupted,
    /// Any other error, described by its text.
    #[error("{0}")]
    Other(String),
}

impl TestbedError {
    /// Returns a conversion of an I/O error for an action on a file.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::File {
            what,
            path: path.to_owned(),
            source,
        }
    }

    /// Replaces the text of an error, unless it is a stop request or names another run.
    pub(crate) fn explained(self, words: impl FnOnce(&Self) -> String) -> Self {
        match self {
            Self::Interrupted | Self::NeededByAnother { .. } => self,
            error => Self::Other(words(&error)),
        }
    }
}

fn absence(cure: Option<&str>) -> String {
    cure.map_or_else(
        || "it is not on the PATH".to_owned(),
        |cure| format!("not installed ({cure})"),
    )
}

/// Reports on standard error that something could not be undone, because a drop cannot return an error.
pub(crate) fn warn(what: &str, error: &TestbedError) {
    let _ = writeln!(std::io::stderr(), "warning: {what}: {error}");
}

pub(super) fn command_line(words: &[String]) -> String {
    format!("`{}`", quoted(words))
}

/// Returns the error of a command that did not finish, unless a stop was requested.
pub(super) fn given_up(words: &[String], why: TestbedError) -> TestbedError {
    match why {
        TestbedError::Interrupted => TestbedError::Interrupted,
        why => failed(words, "given up", &why.to_string()),
    }
}

/// Returns the error of a command that failed, with the last lines of its output.
pub(super) fn failed(words: &[String], status: &str, printed: &str) -> TestbedError {
    let lines: Vec<&str> = printed
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let last = lines[lines.len().saturating_sub(4)..].join("; ");
    TestbedError::Failed {
        command: quoted(words),
        status: status.to_owned(),
        output: last,
    }
}
