//! Runs commands here, in a network namespace, in a virtual machine of the lab, or on another machine over ssh: their files and processes, waits,
//! the transcript, and the record of undo commands for another machine. This module knows nothing about devices and links.

mod access;
mod advised;
mod daemon;
mod directory;
mod error;
mod life;
mod packages;
mod process;
mod quoting;
mod remote_process;
mod shell;
mod ssh;
mod target;
mod transcript;
mod undo;
mod waiting;

pub use access::ShellAccess;
pub(crate) use advised::{ip_link_del, ip_link_set};
pub use daemon::Daemon;
pub(crate) use directory::{guessable, own_directory, unguessable};
pub(crate) use error::warn;
pub use error::{
    DeviceError, InterfaceError, InterfaceFault, LabError, MachineError, RecipeError, ServerError,
    SshError, TestbedError,
};
pub(crate) use life::{LifeLock, is_alive, sweep_locks};
pub(crate) use packages::has_program;
pub(crate) use process::{allowed_cores, core_list, end_by_input, family, kill, processes_named};
pub use process::{command_of, is_root};
pub use quoting::{ProgramCommand, quoted, quoted_path, quoted_word};
pub use shell::Shell;
pub(crate) use ssh::sweep;
pub use ssh::{Remote, RemoteProgram, SshConfig};
pub(crate) use target::ExecTarget;
pub use transcript::Transcript;
pub(crate) use undo::Undo;
pub(crate) use waiting::Wait;

use error::{command_line, failed, given_up};
use packages::{missing, require};
pub(crate) use process::{command, feed, kill_group, search_path, wait};
use remote_process::RemoteProcess;
pub(crate) use remote_process::{ending_line, first_answer};
pub(crate) use ssh::refusal;
use transcript::here_document;
use waiting::WaitContext;
