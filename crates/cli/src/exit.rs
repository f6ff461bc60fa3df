//! Exit codes: a single list, also printed by `sixbench --help`.

use crate::hints;
use sixbench_analysis::gate::Gate;
use sixbench_engine::MeasureError;
use sixbench_engine::dns::DnsError;
use sixbench_method::isolation::Forbidden;
use sixbench_runner::SelectionError;
use sixbench_runner::profile::PlanError;
use sixbench_runner::store::StoreError;
use sixbench_runner::{HeldError, RobustnessError, RunError, TrialError};
use sixbench_testbed::TestbedError;
use std::io::ErrorKind;

/// The exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The command did what it was asked to do.
    Done = 0,
    /// A bug, or a failure that has no code of its own.
    Failure = 1,
    /// The command line or the plan is wrong.
    Usage = 2,
    /// The testbed could not be built, or broke.
    Testbed = 3,
    /// The tester is not fit: trials stayed invalid.
    TesterUnfit = 4,
    /// An expectation of the plan was missed, or B is worse than A.
    Missed = 5,
    /// The measurements cannot show whether there is a difference.
    Inconclusive = 6,
    /// Something that had to be judged has no result.
    Missing = 7,
    /// The run was interrupted; its results are kept.
    // 128 and the number of SIGINT, as shells report it.
    Interrupted = 130,
}

/// The list, for the help text. [`Exit::with_meaning`] splits it: entries end with "; ", none has that inside, and the last one ends before ". ".
pub(crate) const TABLE: &str = "Exit codes: 0 done; 1 failure or bug; 2 usage or plan error; 3 testbed could not be built, or a part of it failed; 4 \
tester not fit, or disturbed by other work (invalid trials); 5 an expectation of the plan missed, B worse than A, or a device that violates a MUST or crashes; 6 \
comparison inconclusive (too few or dependent repetitions, a drift or change of the machine, or results cut off by the tester, the plan or other work); \
7 a result that is needed is missing; 130 interrupted, results kept. If several of 4 to 7 apply, it is the first of 5, 7, 4, 6 \
that applies.";

impl Exit {
    /// Returns the exit code with a reason, for the end of a command: `exit 5: B is worse than A in 1 of 4 rows`.
    pub(crate) fn because(self, reason: impl std::fmt::Display) -> String {
        format!("exit {}: {reason}", self as u8)
    }

    /// Returns the exit code with its meaning from [`TABLE`], for when there is no more specific reason.
    pub(crate) fn with_meaning(self) -> String {
        // Taken from the table, so that the help and the end of a command cannot say different things.
        let code = (self as u8).to_string();
        let of_this = |entry: &&str| {
            entry.trim_start_matches("Exit codes: ").split(' ').next() == Some(code.as_str())
        };
        let entry = TABLE
            .trim_end_matches('.')
            .split("; ")
            .find(of_this)
            .unwrap_or_default();
        let meaning = entry
            .trim_start_matches("Exit codes: ")
            .trim_start_matches(code.as_str())
            .trim_start();
        self.because(meaning.split(". ").next().unwrap_or(meaning))
    }
}

/// [`Gate`] defines the order of the verdicts; this assigns the exit codes.
impl From<Gate> for Exit {
    fn from(verdict: Gate) -> Self {
        match verdict {
            Gate::Passed => Self::Done,
            Gate::Inconclusive => Self::Inconclusive,
            Gate::TesterUnfit => Self::TesterUnfit,
            Gate::Missing => Self::Missing,
            Gate::Worse => Self::Missed,
        }
    }
}

/// An error with its exit code.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
}

impl Failed {
    /// Wraps `error`.
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: error.into(),
        }
    }

    /// Returns an error of the command line or the plan.
    pub(crate) fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(Exit::Usage, anyhow::anyhow!("{message}"))
    }
}

/// Errors of a run, with the commands and options that help to resolve them.
impl From<RunError> for Failed {
    fn from(error: RunError) -> Self {
        Self::new(of_run(&error), anyhow::anyhow!(advised(&error)))
    }
}

/// Returns the message for an error of a run, with the commands and options that help to resolve it.
pub(crate) fn advised(error: &RunError) -> String {
    sixbench_runner::with_causes(error) + &advice(error)
}

macro_rules! of_a_run {
    ($($error:ty),*) => {
        $(impl From<$error> for Failed {
            fn from(error: $error) -> Self {
                RunError::from(error).into()
            }
        })*
    };
}

of_a_run!(
    SelectionError,
    RobustnessError,
    HeldError,
    StoreError,
    PlanError,
    Forbidden,
    TestbedError,
    MeasureError,
    DnsError
);

/// Returns the exit code of a run that ended with `error`.
pub(crate) fn of_run(error: &RunError) -> Exit {
    match error.root() {
        RunError::Interrupted => Exit::Interrupted,
        RunError::Plan(_)
        | RunError::UnknownRecipe(_)
        | RunError::NoVectors { .. }
        | RunError::Robustness(_)
        | RunError::Load(_)
        | RunError::Filters(_)
        | RunError::Translation { .. }
        | RunError::SetUpByHand(_)
        | RunError::NeedsMachine { .. }
        | RunError::NeedsInterfaces
        | RunError::Memory(_)
        | RunError::MemoryLimit { .. }
        | RunError::Forbidden(_)
        | RunError::ForbiddenInRecipe(_)
        | RunError::Mismatch(_)
        | RunError::Selection(_)
        | RunError::Merge(_)
        | RunError::Untrusted(_)
        | RunError::Held(_)
        | RunError::ForeignCore { .. }
        | RunError::Capture { .. } => Exit::Usage,
        RunError::Store(error) => of_store(error),
        RunError::FewCores { .. }
        | RunError::OneCore { .. }
        | RunError::NotInstalled { .. }
        | RunError::NeedsRoot
        | RunError::Lock(_)
        | RunError::Port(_)
        | RunError::Namespace(_)
        | RunError::NoAnswer { .. }
        | RunError::NoAuthority { .. }
        | RunError::Testbed(_)
        | RunError::Agent(_) => Exit::Testbed,
        RunError::Trial(error) => of_trial(error),
        RunError::Report(_)
        | RunError::Frame(_)
        | RunError::System(_)
        | RunError::OfTest { .. } => Exit::Failure,
    }
}

fn of_trial(error: &TrialError) -> Exit {
    match error {
        TrialError::Frames(MeasureError::NoControlFrame)
        | TrialError::Dns(DnsError::NoControlAnswer { .. }) => Exit::Missing,
        _ => Exit::Testbed,
    }
}

fn of_store(error: &StoreError) -> Exit {
    match error {
        StoreError::HoldsResults(_)
        | StoreError::NotEmpty { .. }
        | StoreError::NoWorkingDirectory(_)
        | StoreError::NotUtf8(_)
        | StoreError::Exists(_)
        | StoreError::Foreign(_)
        | StoreError::PageIsData(_)
        | StoreError::NotCreated { .. }
        | StoreError::InUse { .. }
        | StoreError::NoRun { .. }
        | StoreError::PlanGone { .. }
        | StoreError::PlanChanged(_)
        | StoreError::NoTrial(_)
        | StoreError::NoDirectory { .. }
        | StoreError::NotRead { .. }
        | StoreError::NoPlan { .. }
        | StoreError::NoRecords { .. }
        | StoreError::NoneBelow { .. }
        | StoreError::Mismatch { .. } => Exit::Usage,
        StoreError::NotWritten { .. }
        | StoreError::Removed(_)
        | StoreError::Moved { .. }
        | StoreError::NotResolved(_)
        | StoreError::Recipe { .. }
        | StoreError::Json(_) => Exit::Failure,
    }
}

/// Returns the commands or options that help to resolve an error, to be appended to its message; empty if there are none.
pub(crate) fn advice(error: &RunError) -> String {
    match error.root() {
        RunError::UnknownRecipe(name) if name.contains('@') => " (sixbench list duts)".to_owned(),
        RunError::SetUpByHand(_) => " ([testbed] left and right, or --interfaces LEFT,RIGHT)".to_owned(),
        RunError::Held(HeldError::NotUp(plan)) => format!("; {}", hints::testbed_up(plan.as_ref())),
        RunError::Held(HeldError::HolderKilled { plan, .. }) => {
            format!("; remove what it left: {}", hints::testbed_down(plan.as_ref()))
        }
        RunError::Held(HeldError::IsUp { plan, .. }) => format!("; {}", hints::testbed_down(plan.as_ref())),
        RunError::Untrusted(_) => "\nread them, then say --trust-recipes".to_owned(),
        RunError::NeedsRoot => " (see sixbench doctor)".to_owned(),
        RunError::Lock(error) if error.is_temporary() => "; --wait waits until it has ended".to_owned(),
        RunError::Testbed(error) if matches!(**error, TestbedError::NeededByAnother { .. }) => "; --wait waits until it has ended".to_owned(),
        RunError::Trial(error) if matches!(**error, TrialError::Frames(MeasureError::NothingArrived { .. })) => {
            " (sixbench trial --pcap DIR saves the frames of both ports)".to_owned()
        }
        RunError::Forbidden(_) | RunError::ForbiddenInRecipe(_) => "; use --force if the environment is isolated".to_owned(),
        RunError::Store(StoreError::HoldsResults(directory)) => {
            format!("; choose another directory, or continue the run: {}", hints::resume(directory))
        }
        RunError::Store(StoreError::Moved { to: Some(directory), .. } | StoreError::NoTrial(directory)) => {
            format!("; continue with: {}", hints::resume(directory))
        }
        RunError::Store(StoreError::NotCreated { .. } | StoreError::NotEmpty { .. } | StoreError::Exists(_)) => {
            "; choose another with -o".to_owned()
        }
        RunError::Store(StoreError::NoDirectory { error, .. } | StoreError::NotRead { error, .. })
            if error.kind() == ErrorKind::PermissionDenied =>
        {
            "; this user may not read it: call sixbench as its owner, or copy it with cp -r as that user".to_owned()
        }
        RunError::Store(
            StoreError::NoDirectory { .. }
            | StoreError::NotRead { .. }
            | StoreError::NoRun { .. }
            | StoreError::NoneBelow { .. },
        ) => "; runs are in results/ unless -o named another place".to_owned(),
        _ => String::new(),
    }
}

impl From<anyhow::Error> for Failed {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Exit::Failure, error)
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self::new(Exit::Failure, error)
    }
}

/// Returns an error with its causes, each only once: some messages already include their cause.
pub(crate) fn with_causes(error: &anyhow::Error) -> String {
    sixbench_runner::with_causes(error.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn the_list_has_every_code_in_words() {
        let told = [
            (Exit::Done, "exit 0: done"),
            (Exit::Failure, "exit 1: failure or bug"),
            (Exit::Usage, "exit 2: usage or plan error"),
            (
                Exit::Testbed,
                "exit 3: testbed could not be built, or a part of it failed",
            ),
            (
                Exit::TesterUnfit,
                "exit 4: tester not fit, or disturbed by other work (invalid trials)",
            ),
            (
                Exit::Missed,
                "exit 5: an expectation of the plan missed, B worse than A, or a device that violates a MUST or crashes",
            ),
            (Exit::Missing, "exit 7: a result that is needed is missing"),
            (Exit::Interrupted, "exit 130: interrupted, results kept"),
        ];
        for (exit, words) in told {
            assert_eq!(exit.with_meaning(), words);
        }
        assert!(
            Exit::Inconclusive
                .with_meaning()
                .starts_with("exit 6: comparison inconclusive (")
        );
    }

    #[test]
    fn the_list_tells_the_order_of_the_verdicts() {
        let mut all = [
            Gate::Passed,
            Gate::Inconclusive,
            Gate::TesterUnfit,
            Gate::Missing,
            Gate::Worse,
        ];
        all.sort_by(|a, b| b.cmp(a));
        assert_eq!(
            all.map(|verdict| Exit::from(verdict) as u8),
            [5, 7, 4, 6, 0]
        );
        assert!(TABLE.contains("the first of 5, 7, 4, 6 that applies"));
    }

    #[test]
    fn a_request_to_stop_is_told_apart_from_a_failure() {
        let stops: [Failed; 3] = [
            TestbedError::Interrupted.into(),
            MeasureError::Interrupted.into(),
            DnsError::Interrupted.into(),
        ];
        assert!(
            stops.iter().all(|failed| failed.exit == Exit::Interrupted
                && failed.error.to_string() == "interrupted")
        );
        assert_eq!(Failed::from(TestbedError::CopiedHere).exit, Exit::Testbed);
    }

    #[test]
    fn a_cause_is_told_once() {
        let twice = anyhow::anyhow!("disk full").context("cannot write: disk full");
        assert_eq!(with_causes(&twice), "cannot write: disk full");
        let error = Err::<(), _>(anyhow::anyhow!("disk full"))
            .context("cannot write")
            .unwrap_err();
        assert_eq!(with_causes(&error), "cannot write: disk full");
    }
}
