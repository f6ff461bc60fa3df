//! Links and devices under test: everything that must exist around the tester before a trial and be gone after it. This crate does not handle
//! frames. It never touches an interface that it did not create or was not told to use, and undoes everything when the owner goes out of scope: at
//! the end, on an error, on a panic, on Ctrl-C.
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

pub use availability::{Availability, why_missing};
pub use dut::{
    AuthorityMachine, ConnectionTable, Devices, DutOptions, LockAttempt, MachineLock, RealAuthority, RemoteAuthority,
    RemoteMachine, ServedZone, Subscriber, Zone, check_machines, layout_of_machines,
};
pub use exec::{
    Daemon, ProgramCommand, Remote, RemoteProgram, Shell, ShellAccess, SshConfig, TestbedError, Transcript, command_of, quoted,
    quoted_path, quoted_word,
};
pub use net::{
    Cores, Hosts, Interfaces, LOOP_ENDS, LinkSettings, NicKind, NicSetting, Sysctls, Topology, existing, holder_directories,
    interfaces, make_holder_directory, namespace, sweep, topology,
};
pub use recipe::{Library, Recipe};
