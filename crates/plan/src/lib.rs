//! Turns the text of a plan file into a [`Plan`](sixbench_method::plan::Plan): every default is filled in, and all mistakes are reported at once, each
//! at its line. The plans that come with sixbench are here, too. Nothing here opens a file, reads a clock or changes the machine.
#![forbid(unsafe_code)]

mod agent_section;
mod authority_section;
mod cores_section;
mod defaults;
pub mod description;
mod diagnostic;
mod dns_section;
mod expect_section;
mod machines_section;
mod measure_section;
mod place;
mod plan_file;
pub mod plans;
mod ranges;
mod reader;
pub mod resolved;
mod stateful_section;
mod test_section;
pub mod traffic_profile;
mod traffic_section;
pub mod wizard;
mod words;

#[cfg(test)]
mod fixture_tests;
#[cfg(test)]
mod types_tests;

pub use agent_section::{AgentMachine, end_word};
pub use defaults::{apply_profile, standard_search, standard_trial};
pub use diagnostic::{Diagnostic, render};
pub use place::span_in;
pub use plan_file::{Links, Loaded, links_of, load, parse, recipe_directories};
pub use ranges::SHORTEST_TRIAL_NS;
pub use reader::nearest;
pub use stateful_section::MOST_COMBINATIONS;
pub use traffic_section::payload;
pub use words::{backend, backend_word, directions, profile};
