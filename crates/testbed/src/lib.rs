//! Links and devices under test: what must exist around the tester before a trial, and must be gone after it.
//! This crate knows no frames. It never touches an interface it did not create or was not told to use, and whatever it did is undone
//! when its owner goes out of scope: at the end, on an error, on a panic, on Ctrl-C.
#![forbid(unsafe_code)]

mod authority;
mod connections;
mod daemon;
mod devices;
pub mod doctor;
pub mod dut;
pub mod existing;
pub mod facts;
mod filling;
mod hosts;
pub mod interfaces;
pub mod lab;
pub mod monitor;
pub mod namespace;
mod process;
pub mod recipe;
mod remote;
mod running;
pub mod shell;
mod station;
mod subscriber;
mod switches;
pub mod topology;
mod waiting;

pub use authority::RealAuthority;
pub use connections::ConnectionTable;
pub use daemon::Daemon;
pub use devices::Devices;
pub use dut::Dut;
pub use filling::{Wishes, Zone};
pub use hosts::Hosts;
pub use interfaces::Interfaces;
pub use recipe::{Library, Recipe};
pub use remote::{Machine, Remote};
pub use shell::{Shell, TestbedError};
pub use subscriber::Subscriber;
pub use topology::{Cores, Topology};
