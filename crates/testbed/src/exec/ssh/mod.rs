//! Another machine, reached over ssh: the same commands, files and processes as in a namespace of this one.
//!
//! All commands share one connection (a master in the sense of ssh_config's `ControlMaster`), so that each takes only milliseconds. Nothing here
//! prompts the user: keys and known hosts are left to ssh.

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
