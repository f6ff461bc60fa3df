//! The Manager of the MLRsearch draft: it takes a plan through its devices, points, repetitions and trials. Every trial is on disk before the next
//! one starts, and the report is updated after every device. This is the interface for programs that embed sixbench: nothing here prints, reads
//! arguments or exits the process.
#![forbid(unsafe_code)]

pub mod agent;
pub mod archive;
mod built;
pub mod campaign;
mod capture;
pub mod code;
pub mod collection;
mod cores;
mod differences;
mod dimensioning;
mod dns;
mod ends;
mod error;
mod feasible;
pub mod follow;
#[doc(hidden)]
pub mod fuzzing;
pub mod held;
pub mod history;
mod lateness;
mod lean;
pub mod locks;
mod manager;
mod memory;
mod merge;
mod merged_store;
mod neighbours;
mod new_directory;
mod order;
mod origin;
mod own_files;
pub mod owner;
mod ports;
pub mod profile;
mod quiet;
mod rehearsal;
pub mod reporting;
mod request;
mod run_clock;
pub mod schema;
mod search_alone;
pub mod selftest;
mod server;
mod session;
pub mod sets;
mod state;
pub mod stop;
pub mod store;
mod store_error;
mod stored;
mod tester;
mod trial_file;
mod trial_lines;
mod version;
mod with;
mod writer;
mod written;

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

pub use cores::{check_named_here, spare_cores};
pub use dimensioning::dimensioned;
pub use error::{HeldError, NotEnoughMemory, RunError, TrialError, Untrusted, in_words};
pub use feasible::{check, check_traffic, find_link_rate, leave_out_missing, leave_out_missing_elsewhere};
pub use manager::{Ended, perform};
pub use memory::check_trial;
pub use merge::{MergeError, merge};
pub use origin::label;
pub use own_files::OwnFile;
pub use ports::OpenError;
pub use quiet::wait_until_quiet;
pub use rehearsal::rehearsed;
pub use request::{RunRequest, SessionRequest, Site};
pub use search_alone::{SearchFound, search_alone};
pub use server::{WatchedTester, is_local, links_of_server};
pub use session::Session;
pub use version::{VERSION, version_with_features};
pub use with::perform_with;
pub use writer::WritingProcess;
