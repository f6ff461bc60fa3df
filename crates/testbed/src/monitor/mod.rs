//! Samples the DUT during a trial, out of band (RFC 5180 section 4) and at 10 Hz: processors, memory, drops and connections, also of devices that
//! are virtual or other machines.

mod conntrack;
mod device;
mod drops;
mod kernel_log;
mod loss_counters;
mod memory_use;
mod neighbours;
mod nft;
mod occupant;
mod other_machine;
mod others;
mod processor;
mod remote_sampler;
mod sampling;
mod targets;
mod virtual_machine;

pub use kernel_log::KernelLog;
pub use loss_counters::LossCounters;
pub use memory_use::MemoryUse;
pub(crate) use occupant::busiest_core;
pub use occupant::{Occupant, occupant};
pub use sampling::{INTERVAL, Monitor, interval_for};
pub use targets::{MonitorTargets, NetnsHolder, WatchSource, WatchedDevice};
