//! From the text of a plan file to a [`Plan`]: every default filled in, every mistake found at once and shown at its line.

mod defaults;
mod diagnostic;
mod dns_section;
mod expect_section;
mod measure_section;
mod plan_file;
mod reader;
pub(crate) mod resolved;
mod stateful_section;
mod test_section;
mod traffic_section;
pub(crate) mod units;
mod words;

#[cfg(test)]
mod types_tests;

pub(crate) use defaults::{apply_profile, standard_search, standard_trial};
pub(crate) use diagnostic::{Diagnostic, render};
#[cfg(test)]
pub(crate) use plan_file::parse;
pub(crate) use plan_file::{Backend, Links, Loaded, SHORTEST_TRIAL_NS, links_of, load, recipe_directories};
pub(crate) use reader::nearest;
pub(crate) use stateful_section::{MOST_COMBINATIONS, connections};
pub(crate) use traffic_section::payload;
pub(crate) use words::{backend, directions, profile};
