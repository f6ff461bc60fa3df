//! A run: the Manager takes a plan through its devices, repetitions, points and trials. A session has one device, its testbed and its tester.

pub(crate) mod built;
pub mod conformance;
pub(crate) mod dns;
pub(crate) mod feasible;
pub(crate) mod manager;
pub(crate) mod memory;
pub(crate) mod origin;
pub(crate) mod quiet;
mod receive_queues;
pub(crate) mod rehearsal;
pub(crate) mod search_alone;
pub(crate) mod server;
pub(crate) mod session;
mod state;
pub(crate) mod tester;
mod time_limit;
pub(crate) mod with;

#[cfg(test)]
mod dns_tests;
#[cfg(test)]
mod follow_tests;
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
