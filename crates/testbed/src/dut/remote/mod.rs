//! Devices on machines of their own and the authority behind them, reached over ssh. Everything is checked before anything is touched there, and
//! each step of the setup is recorded with its undo command.

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
