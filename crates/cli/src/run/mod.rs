//! The Manager of the MLRsearch draft: takes a plan through its devices, points, repetitions and trials; every trial is on disk before
//! the next one starts, and the report is written again after every device.

mod dns;
mod expectations;
mod manager;
mod neighbours;
mod origin;
pub(crate) mod owner;
mod ports;
pub(crate) mod reporting;
mod session;
mod state;
pub(crate) mod stop;
pub(crate) mod store;
mod tester;

#[cfg(test)]
mod dns_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod moment_tests;
#[cfg(test)]
mod recipe_tests;
#[cfg(test)]
mod response_tests;
#[cfg(test)]
mod rigged_tests;
#[cfg(test)]
mod stateful_tests;

pub(crate) use manager::{Ended, MOST_CERTIFIED, RunRequest, perform};
pub(crate) use origin::label;
pub(crate) use ports::open as open_port;
pub(crate) use session::{Session, Site, Wanted, add_faults_of_the_machine, check_cores};
