//! Errors of the tester's second machine.

use crate::version::VERSION;
use sixbench_method::units::ValueError;
use sixbench_testbed::{ProgramCommand, TestbedError};

/// The reason why the tester's second machine cannot be used.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum AgentError {
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
    /// The machine cannot be reached.
    #[error(transparent)]
    Unreachable(TestbedError),
    /// The program is not installed there.
    #[error(
        "{machine} has no program {program}: copy this one there ({copy}), or name it by `agent-program`"
    )]
    NotInstalled {
        machine: String,
        program: String,
        copy: ProgramCommand,
    },
    /// The program there is a different version.
    #[error(
        "{machine} runs sixbench {theirs}, but this is sixbench {VERSION}, and both must be the same: copy this one there \
         ({copy})"
    )]
    OtherVersion {
        machine: String,
        theirs: String,
        copy: ProgramCommand,
    },
    /// The program does not identify itself as an agent.
    #[error("{machine}: `{program} agent` did not begin: {said}")]
    NoAgent {
        machine: String,
        program: String,
        said: String,
    },
    /// The agent refuses a request.
    #[error("{machine}: {what}")]
    Refused { machine: String, what: String },
    /// A test measures delays, but the accuracy of both machines' clocks is unknown.
    #[error(
        "test {test}: delays are not measured: the clocks of two machines have no stated bound ({why}); have chrony keep both clocks (by PTP: `refclock \
         PHC`), or leave the test out"
    )]
    Clocks { test: String, why: String },
    /// The connection to the agent is lost.
    #[error(
        "lost contact with the agent on {machine}: {why}; it returns its interface when it notices, otherwise the next run does"
    )]
    Lost { machine: String, why: String },
    /// This program is the agent, and the controlling machine has gone silent.
    #[error(
        "no sign of life from the controlling machine for {seconds} s; the interface has been returned"
    )]
    ControllerSilent { seconds: f64 },
    /// This program is the agent, and what the controlling machine sends is not understood.
    #[error(
        "unexpected message from the controlling machine: {end}; the interface has been returned"
    )]
    ControllerUnclear { end: String },
    /// This program is the agent, and a word in a request is not understood.
    #[error(transparent)]
    Value(ValueError),
    /// This program is the agent, and a request came before another that must precede it.
    #[error("request out of sequence")]
    OutOfSequence,
    /// The agent sent an unexpected message.
    #[error(
        "unexpected answer from {machine}; was sixbench replaced there by another version in the meantime?"
    )]
    OutOfTurn { machine: String },
}

impl From<TestbedError> for AgentError {
    fn from(error: TestbedError) -> Self {
        match error {
            TestbedError::Interrupted => Self::Interrupted,
            error => Self::Unreachable(error),
        }
    }
}
