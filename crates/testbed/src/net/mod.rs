//! The surroundings of a device on this machine: namespaces, links, interfaces, addresses, cores, sysctls. Nothing here starts a device.

pub mod existing;
mod hosts;
pub mod interfaces;
pub(crate) mod interrupts;
mod lent_addresses;
pub(crate) mod link;
pub mod namespace;
pub(crate) mod nic;
pub(crate) mod occupied;
mod sweep;
mod sysctls;
pub mod topology;

pub(crate) use hosts::LOOP_PREFIX;
pub use hosts::{Hosts, LOOP_ENDS};
pub use interfaces::Interfaces;
pub use interrupts::PlacedInterrupts;
pub use nic::{NicKind, NicSetting};
pub(crate) use sweep::{directory_name, stale_directories};
pub use sweep::{holder_directories, make_holder_directory, sweep};
pub use sysctls::Sysctls;
pub use topology::{Cores, LinkSettings, Topology};
