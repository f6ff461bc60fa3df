//! Results directories: written while a run goes on, read, reported, merged, archived, and many of them as histories and as sets to compare.
//!
//! # How a long run is read
//!
//! `runner::results::trial_file` parses `trials.jsonl` on several threads. `runner::results::lean` replays each repetition as soon as it is read (`OrderedReplay`), which
//! also shows what ended it (`LimitSigns`). So for most trials of a search only counts and faults stay in memory. `report::lean` defines what reports
//! read from the other trials; the delay distributions that figures show are read again. The report at the end of a run is made from its file in the same way, so a run keeps no distributions
//! either.

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
pub(crate) mod unfinished;
pub(crate) mod written;
