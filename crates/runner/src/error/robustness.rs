//! Why no malformed frames can be sent to a device.

use sixbench_conformance::robustness::UnreadableFrames;
use std::io;
use std::path::PathBuf;

/// The reason why no malformed frames can be sent to a device.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum RobustnessError {
    /// The device is not one that this machine can lose.
    #[error(
        "malformed frames are for devices in namespaces and in the kernel lab alone, which a crash costs nothing and from which no frame gets out; {0}"
    )]
    Elsewhere(Elsewhere),
    /// The device has no vectors of frames.
    #[error(
        "there is no frame from which malformed ones for {recipe} could be made: its vectors are queries, or none of those that are selected applies to it"
    )]
    NoFrames { recipe: String },
    /// A file has frames for another kind of device.
    #[error("{} has frames for another kind of device than {recipe}: they were sent on {side}", file.display())]
    OtherDevice {
        file: PathBuf,
        recipe: String,
        side: String,
    },
    /// The file with the frames to send cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    NotRead { file: PathBuf, error: io::Error },
    /// The file has no frames.
    #[error("{}: {error}", file.display())]
    Unreadable {
        file: PathBuf,
        error: UnreadableFrames,
    },
}

/// The place of a device that is not sent malformed frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Elsewhere {
    /// On interfaces or other ports of this machine.
    #[error("this one is cabled to ports of this machine")]
    OnPorts,
    /// On a machine over ssh.
    #[error("this one is on a machine of its own, over ssh")]
    OverSsh,
    /// In shared memory.
    #[error("this one serves shared memory, in which nothing bounds what a crash takes along")]
    InMemory,
    /// Set up by hand.
    #[error("this one is set up by hand")]
    ByHand,
}
