//! Errors of the testbed, which advise on what to do next. Every room of the crate returns the one type [`TestbedError`], so its kinds are here at the
//! bottom of the stack: one file for each subject, of plain data alone.

mod authority;
mod device;
mod interface;
mod lab;
mod machine;
mod recipe;
mod ssh;

pub use authority::ServerError;
pub use device::DeviceError;
pub use interface::{InterfaceError, InterfaceFault};
pub use lab::LabError;
pub use machine::MachineError;
pub use recipe::RecipeError;
pub use ssh::SshError;

use super::quoted;
use std::fmt::Display;
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
    /// A program is there but cannot be started.
    #[error("cannot run {program}: {error}")]
    NotStarted {
        program: String,
        error: std::io::Error,
    },
    /// A command ended with an error.
    #[error("`{command}` failed ({status}): {output}")]
    Failed {
        command: String,
        status: String,
        output: String,
    },
    /// A command did not end in time and was killed.
    #[error("it did not end within {seconds} s")]
    Late { seconds: f32 },
    /// A command ended, but its output stays open.
    #[error(
        "it ended, but a process that it left running holds its output; start that process as the recipe's [daemon]"
    )]
    OutputHeld,
    /// A line cannot undo a step on another machine, whose shell would read more than one command.
    #[error("cannot undo with `{line}`: it has more than one line")]
    UndoLine { line: String },
    /// The running program was to be copied to this machine.
    #[error("this program is copied to other machines only")]
    CopiedHere,
    /// A file or directory cannot be used.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// No network namespace can be made by this user.
    #[error(
        "no network namespace can be made: it takes root of the machine itself (sudo), or a privileged container; {cause}"
    )]
    NoNamespace { cause: String },
    /// The kernel does not take a frequency governor.
    #[error(
        "cannot set the frequency governor to {governor} ({cause}); see \
         /sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors: a virtual machine has none; leave `governor` out of [testbed]"
    )]
    Governor { governor: String, cause: String },
    /// Two devices of this run need different values of a sysctl of this machine.
    #[error(
        "two devices need different values of {file} at the same time, {one} and {other}, but it applies to the whole \
         machine; measure them one after the other (without `interleave`), or with the same `table-size`"
    )]
    NeededByTwo {
        file: String,
        one: String,
        other: String,
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
    /// A recipe cannot be used.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// An interface must not carry test traffic, or does not.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// Another machine cannot be reached.
    #[error(transparent)]
    Ssh(#[from] SshError),
    /// Another machine cannot be the device.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The authority does not serve.
    #[error(transparent)]
    Authority(#[from] ServerError),
    /// A device does not come up, or does not stay up.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The kernel lab is not there, is not built, or its virtual machine does not run.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A stop was requested before the work was done.
    #[error("interrupted")]
    Interrupted,
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

    /// Replaces an error with one that says what it means here, given its text, unless it is a stop request or names another run.
    pub(crate) fn restated<E: Into<Self>>(self, explain: impl FnOnce(String) -> E) -> Self {
        match self {
            Self::Interrupted | Self::NeededByAnother { .. } => self,
            cause => explain(cause.to_string()).into(),
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
pub(crate) fn warn(what: &str, error: &dyn Display) {
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

/// The words for a command that failed without output.
const NOTHING_PRINTED: &str = "it printed nothing";

/// Returns the error of a command that failed, with the last lines of its output.
pub(super) fn failed(words: &[String], status: &str, printed: &str) -> TestbedError {
    let lines: Vec<&str> = printed
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let mut last = lines[lines.len().saturating_sub(4)..].join("; ");
    if last.is_empty() {
        NOTHING_PRINTED.clone_into(&mut last);
    }
    TestbedError::Failed {
        command: quoted(words),
        status: status.to_owned(),
        output: last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_failed_without_a_word_is_not_told_with_nothing() {
        let told =
            |status: &str, printed: &str| failed(&["ip".to_owned()], status, printed).to_string();
        assert_eq!(
            told("exit status: 1", "\n"),
            "`ip` failed (exit status: 1): it printed nothing"
        );
        assert_eq!(
            told("exit status: 255", "no\n"),
            "`ip` failed (exit status: 255): no"
        );
    }
}
