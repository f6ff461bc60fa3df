//! Links and devices under test: everything that must exist around the tester before a trial and be gone after it. This crate does not handle
//! frames. It never touches an interface that it did not create or was not told to use, and undoes everything when the owner goes out of scope: at
//! the end, on an error, on a panic, on Ctrl-C.
//!
//! # Folders
//!
//! They are a stack: each imports only those below it, and no two files import each other (`.ci/check-house` counts).
//!
//! | folder | what lives there | what it imports |
//! |---|---|---|
//! | `doctor` | whether this machine is fit for measurements: it builds a small testbed with a device, by the code of a run, and removes it | all below |
//! | `dut` | devices brought up by their recipes, alone or in a row, here or on another machine; resets, connections, DNS servers | all below |
//! | `monitor` | samples of what is watched: processes, namespaces, cores, virtual machines, other machines | `net`, `exec` |
//! | `lab` | virtual machines with their own kernel, and how their kernel modules are built | `net`, `recipe`, `exec` |
//! | `net` | namespaces, links, cores, sysctls (restored after the last run that needs them, by its notes: `sysctls::notes`), this machine's interfaces and their settings, the tester's ends as hosts; what sweeps up after killed runs | `recipe`, `facts`, `exec` |
//! | `recipe` | devices as data, what recipes take from others (`base`), and what is wrong with a recipe | `exec` (its error) |
//! | `facts` | what the report says about a machine, by one script here and over ssh (`machine.sh`) | `exec` |
//! | `exec` | how a command runs somewhere: `Shell`, waits, processes and the proof that they are alive (`LifeLock`), the transcript, words quoted for a shell (`ProgramCommand`), ssh and what undoes things at its other end | nothing |
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
    AuthorityMachine, ConnectionTable, Devices, DutOptions, LockAttempt, MachineLock,
    RealAuthority, RemoteAuthority, RemoteMachine, ServedZone, Subscriber, Zone, check_machines,
    layout_of_machines,
};
pub use exec::{
    Daemon, DeviceError, InterfaceError, InterfaceFault, LabError, MachineError, ProgramCommand,
    RecipeError, Remote, RemoteProgram, ServerError, Shell, ShellAccess, SshConfig, SshError,
    TestbedError, Transcript, command_of, quoted, quoted_path, quoted_word,
};
pub use net::{
    Cores, Hosts, Interfaces, LOOP_ENDS, LinkSettings, NicKind, NicSetting, PlacedInterrupts,
    Sysctls, Topology, existing, holder_directories, interfaces, make_holder_directory, namespace,
    sweep, topology,
};
pub use recipe::{Library, Recipe};
