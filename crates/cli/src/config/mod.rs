//! From the text of a plan file to a [`Plan`]: every default filled in, every mistake found at once and shown at its line.

mod defaults;
mod diagnostic;
mod plan_file;
mod reader;
pub(crate) mod units;

pub(crate) use defaults::{apply_profile, standard_search, standard_trial};
pub(crate) use diagnostic::render;
pub(crate) use plan_file::{Backend, Links, Loaded, backend, directions, parse, profile};
pub(crate) use reader::nearest;
