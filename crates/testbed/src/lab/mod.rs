//! The kernel lab: virtual routers with their own Linux, for devices that need kernel modules that this machine lacks. Each is a User-Mode Linux
//! process whose root is this machine's file system, mounted read-only, so no image is needed.
//!
//! Whatever is not available as a package is built once and cached under a name derived from all of its inputs.

mod build;
mod cache;
mod device;
mod guest;
mod inputs;
mod machine;
mod vpp;

pub use build::{BuildOrder, BuildProgress, build, build_vpp};
pub use cache::{CachedLab, KernelLab, Manifest, cache, clean, list};
pub(crate) use device::lacking;
pub use device::{LabPart, check_for};
pub use guest::{GuestLink, MachineSpec};
pub(crate) use machine::VIRTUAL_CORES;
pub use machine::VirtualMachine;
pub use vpp::BuiltVpp;
