//! A device that has a machine of its own, reached over ssh: what is checked before anything is touched there, and what is set up, each
//! thing with what undoes it.

mod check;
mod cores;
mod links;
mod lock;
mod machine;
mod sysctls;
mod tracking;

pub use lock::{LockAttempt, MachineLock};
pub use machine::RemoteMachine;
pub(super) use machine::{prepare, write_sysctls};
