//! The kernel lab: virtual routers with their own Linux, for devices that need kernel modules that this machine lacks. Each is a User-Mode Linux
//! process whose root is this machine's file system, mounted read-only, so no image is needed.
//!
//! Whatever is not available as a package is built once and cached under a name derived from all of its inputs.
//!
//! # How it works
//!
//! `lab`, for devices that need kernel modules. A virtual machine is a process (User-Mode Linux) in the DUT's namespace: its root is this
//! machine's file system, its interfaces are AF_PACKET sockets on the ends of the links. So there is no image, and little has to be built: `lab::build`
//! compiles Jool's modules against the source of exactly the kernel in the package, and a library that is preloaded (`shim.c`: without it the kernel
//! would not start on processors with AMX, and would lose frames). Steps are done and recorded in a directory next to the lab's own. Only a complete lab
//! gets its name, which is made from all its inputs (`lab::inputs`).
//!
//! VPP is built in the same way but is not part of a lab. `lab::build` has the steps of both, each with its own inputs (`BuildWork<C>`), and a complete
//! VPP is stored next to the labs (`lab::vpp`). A recipe that needs it contains `built = ["vpp"]`; `lab::check_for` checks for it before anything is
//! touched.
//!
//! `lab::guest` writes the scripts that boot a machine and run commands in it. A command is a file, its number is typed on the console, and its
//! output comes back in files of the one folder to which the machine may write. For a `Shell` this is an `ExecTarget` like any other; because both sides
//! are plain scripts, the transcript can do the same by hand. The machine has its own namespace of process numbers, so ending its first process ends
//! all. It ends with our process, also after kill -9.

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
