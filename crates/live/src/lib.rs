//! A page that shows a run in progress: the current trial, the search as it narrows, both directions, the tester, and the results so far in the form of
//! the report. It never disturbs the run: events come through a bounded queue that the run never waits for, and everything else is done by one thread
//! that the kernel runs only on an idle core.
#![forbid(unsafe_code)]

mod access;
mod connections;
mod feed;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod metrics;
mod page;
mod server;
#[cfg(test)]
mod server_tests;
mod shown;
mod state;

pub use feed::LiveFeed;
pub use server::{DEFAULT_ADDRESS, LiveError, LivePage};

use sixbench_io::files::Folder;
use sixbench_method::plan::Plan;
use sixbench_method::record::TrialRecord;

/// The run that a page shows, in its state when the page opens.
pub struct LiveRun {
    /// The plan of the run, resolved.
    pub plan: Plan,
    /// The trials made so far.
    pub records: Vec<TrialRecord>,
    /// The results directory: facts and report are read there.
    pub directory: Folder,
    /// The secret part of the page's address, of letters and digits.
    pub token: String,
    /// The cores that the page's thread may use; empty for all.
    pub cores: Vec<u32>,
}
