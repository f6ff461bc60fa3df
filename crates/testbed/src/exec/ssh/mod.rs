//! Another machine, reached over ssh: the same commands, files and processes as in a namespace of this one.
//!
//! One connection is opened and shared by every command (a master of ssh_config's `ControlMaster`), so that a command costs milliseconds.
//! Nothing here asks a question: keys and known hosts are ssh's own business.

mod connection;
mod destination;
mod program;
pub(crate) mod refusal;
mod remote;

pub(crate) use connection::sweep;
pub use program::RemoteProgram;
pub use remote::Remote;

use connection::SshConnection;
use destination::Destination;
