//! Links and devices under test: what must exist around the tester before a trial, and must be gone after it.
//! This crate knows no frames. It never touches an interface it did not create or was not told to use, and whatever it did is undone
//! when its owner goes out of scope: at the end, on an error, on a panic, on Ctrl-C.
#![forbid(unsafe_code)]

mod availability;
pub mod doctor;
mod dut;
mod exec;
pub mod facts;
pub mod lab;
pub mod monitor;
mod net;
pub mod recipe;

pub use availability::{availability, why_missing};
pub use dut::{
    AuthorityMachine, ConnectionTable, Devices, DutOptions, LockAttempt, MachineLock, RealAuthority, RemoteAuthority,
    RemoteMachine, ServedZone, Subscriber, Zone, check_machines, layout_of_machines,
};
pub use exec::{Daemon, Remote, RemoteProgram, Shell, ShellAccess, SshConfig, TestbedError, Transcript, quoted};
pub use net::{
    Cores, Hosts, Interfaces, LOOP_ENDS, LinkSettings, NicKind, NicSetting, Sysctls, Topology, existing, holder_directories,
    interfaces, make_holder_directory, namespace, sweep, topology,
};
pub use recipe::{Library, Recipe};
