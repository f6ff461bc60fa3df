//! Links and devices under test: what must exist around the tester before a trial, and must be gone after it.
//! This crate knows no frames. It never touches an interface it did not create or was not told to use, and whatever it did is undone
//! when its owner goes out of scope: at the end, on an error, on a panic, on Ctrl-C.
#![forbid(unsafe_code)]

pub mod addresses;
mod authority;
mod connections;
pub mod doctor;
pub mod dut;
pub mod existing;
pub mod facts;
mod filling;
mod hosts;
pub mod monitor;
pub mod namespace;
mod process;
pub mod recipe;
mod running;
pub mod shell;
mod switches;
pub mod topology;

pub use authority::RealAuthority;
pub use connections::ConnectionTable;
pub use dut::Dut;
pub use filling::{Wishes, Zone};
pub use hosts::Hosts;
pub use recipe::{Library, Recipe};
pub use shell::{Shell, TestbedError};
pub use topology::{Cores, Topology};
