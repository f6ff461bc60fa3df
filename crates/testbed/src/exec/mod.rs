//! How a command runs somewhere: here, in a network namespace, in a virtual machine of the lab, or on another machine over ssh. Its files and
//! processes, waits, the transcript, and what undoes it elsewhere. Nothing here knows what a device or a link is.

mod daemon;
mod process;
mod remote_process;
pub mod shell;
mod ssh;
mod target;
mod undo;
mod waiting;

pub use daemon::Daemon;
pub(crate) use process::{allowed_cores, command, core_list, ended, family, feed, is_alive, kill, kill_group, wait};
pub(crate) use remote_process::Away;
pub use shell::{Shell, TestbedError};
pub(crate) use shell::{complain, has_program, missing, quoted, require};
pub use ssh::Remote;
pub(crate) use ssh::sweep;
pub(crate) use target::{Station, command_line, failed, given_up};
pub(crate) use undo::Undo;
pub(crate) use waiting::{Wait, WaitContext};
