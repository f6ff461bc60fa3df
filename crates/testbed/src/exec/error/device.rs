//! Errors about a device under test that runs.

use std::path::PathBuf;

/// The reason why a device does not come up, does not stay up, or does not do what its recipe says.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum DeviceError {
    /// The recipe is for another operating system than this machine's.
    #[error(
        "{recipe} is a recipe for {system}: it needs a machine of its own ([testbed] host = \"ssh:NAME\")"
    )]
    NeedsMachine {
        recipe: String,
        system: &'static str,
    },
    /// The value of a placeholder could be read as more than a value: `wrong` says how, and `advice` what helps, if anything is known.
    #[error(
        "the value of {{{placeholder}}}, which is put into commands and files: {wrong}{advice}"
    )]
    Placeholder {
        placeholder: String,
        wrong: String,
        advice: &'static str,
    },
    /// The device's process is not ready in time.
    #[error("{title} is not ready after {seconds} s: {cause}")]
    NotReady {
        title: String,
        seconds: u64,
        cause: String,
    },
    /// The device does not serve the socket of a link in shared memory in time; `last` are the last lines it wrote.
    #[error("{title} does not serve {} after {seconds} s: {last}", socket.display())]
    NotServing {
        title: String,
        socket: PathBuf,
        seconds: u64,
        last: String,
    },
    /// The device's process has ended; `last` are the last lines it wrote.
    #[error("{title} ended by itself ({status}): {last}")]
    Ended {
        title: String,
        status: String,
        last: String,
    },
    /// The connection table is not empty before a trial; `after` says what was done to empty it.
    #[error(
        "the device {title} still has {left} entries {after}; no other host may use it, and its recipe's [state] must name a \
         command that empties its table"
    )]
    NotEmptied {
        title: String,
        left: u64,
        after: String,
    },
    /// A command that counts connections does not print a number.
    #[error("`{command}` should print a number, but printed: {printed}")]
    NoNumber { command: String, printed: String },
}
