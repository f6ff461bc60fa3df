//! Devices on machines of their own and the authority behind them, reached over ssh. Everything is checked before anything is touched there, and
//! each step of the setup is recorded with its undo command.
//!
//! # Undoing on another machine
//!
//! Commands run at an `ExecTarget`: here, in a namespace, or on a `remote` machine over ssh, in one connection that all commands share. No code above
//! knows the difference, except for what outlives the run. A namespace is removed, but another machine must be left in its original state. A shell there
//! (`exec::undo`) receives one line after each change, with the command that undoes it. It runs these from the last line to the first when its standard
//! input ends: when the device is dropped, but also when this process is killed or the connection breaks. A daemon there (`exec::remote_process`) is
//! held by a shell in the same way. `dut::remote::check` refuses interfaces that are in use for something else, before anything is changed.

mod authority;
mod authority_machine;
mod check;
mod cores;
mod hash;
mod links;
mod lock;
mod machine;
mod row;
mod sysctls;
mod tracking;

pub use authority::{RemoteAuthority, ServedZone};
pub use authority_machine::AuthorityMachine;
pub use lock::{LockAttempt, MachineLock};
pub use machine::RemoteMachine;
pub(super) use machine::write_sysctls;
pub(super) use row::prepare;
pub use row::{check_machines, layout_of_machines};
