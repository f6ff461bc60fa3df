//! Results directories: written while a run goes on, read, reported, merged, archived, and many of them as histories and as sets to compare.

pub mod archive;
pub mod campaign;
pub mod collection;
pub(crate) mod differences;
pub(crate) mod dimensioning;
pub mod follow;
pub mod history;
mod lean;
pub(crate) mod merge;
mod merged_store;
mod new_directory;
mod order;
pub(crate) mod own_files;
pub mod owner;
pub mod reporting;
pub mod schema;
pub mod sets;
pub mod store;
pub(crate) mod stored;
mod trial_file;
pub(crate) mod trial_lines;
mod written;
