//! The kernel lab: virtual routers with a Linux of their own, for devices that need kernel modules this machine has not got. Each is a
//! process (User-Mode Linux) whose root is this machine's own file system, read-only; so there is no image.
//!
//! What cannot be had as a package is built once and kept in a cache, under a name made of everything that went into it.

mod build;
mod cache;
mod device;
mod guest;
mod inputs;
mod machine;
mod vpp;

pub use build::{BuildOrder, BuildProgress, build, build_vpp};
pub use cache::{CachedLab, KernelLab, Manifest, cache, clean, list};
pub use device::check_for;
pub use guest::{GuestLink, MachineSpec};
pub(crate) use machine::VIRTUAL_CORES;
pub use machine::VirtualMachine;
pub use vpp::BuiltVpp;
