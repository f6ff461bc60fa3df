//! Turns the text of a plan file into a [`Plan`](sixbench_method::plan::Plan): every default is filled in, and all mistakes are reported at once, each
//! at its line. The plans that come with sixbench are here, too. Nothing here opens a file, reads a clock or changes the machine.
#![forbid(unsafe_code)]

mod defaults;
pub mod description;
mod plan_file;
pub mod plans;
mod reader;
pub mod resolved;
pub mod schema;
mod sections;
pub mod traffic_profile;
pub mod wizard;

#[cfg(test)]
mod documented_keys_tests;
#[cfg(test)]
mod fixture_tests;
#[cfg(test)]
mod types_tests;
#[cfg(test)]
mod values_tests;

pub use defaults::{apply_profile, standard_search, standard_trial};
pub use plan_file::{FlowControl, Links, LoadedPlan, links_of, load, parse, recipe_directories};
pub use reader::diagnostic::{Diagnostic, render};
pub use reader::nearest;
pub use reader::place::span_in;
pub use reader::words::{backend, backend_word, directions, profile};
pub use sections::agent::{AgentMachine, end_word};
pub use sections::dns::unread_query_files;
pub use sections::filters::{FilterRefusal, check_filtering};
pub use sections::stateful::MOST_COMBINATIONS;
pub use sections::traffic::payload;
pub use sections::vector_load::{VectorLoadRefusal, check_vector_load};
