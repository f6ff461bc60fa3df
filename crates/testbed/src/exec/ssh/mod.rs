//! Another machine, reached over ssh: the same commands, files and processes as in a namespace of this one.
//!
//! One connection is opened and shared by every command (a master of ssh_config's `ControlMaster`), so that a command costs milliseconds.
//! Nothing here asks a question: keys and known hosts are ssh's own business. A configuration that a plan names is read once ([`SshConfig`]).

mod config;
mod connection;
mod destination;
mod directory;
mod program;
pub(crate) mod refusal;
mod remote;

pub use config::SshConfig;
pub(super) use destination::Destination;
pub(crate) use directory::sweep;
pub use program::RemoteProgram;
pub use remote::Remote;

use connection::SshConnection;
