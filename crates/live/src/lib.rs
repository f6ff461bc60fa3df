//! A page that shows a run while it goes: what runs now, the search as it narrows, both directions, the tester, and the results so far in the form
//! of the report. It never disturbs the run: events come by a bounded queue that is never waited for, and all else is done by one thread that the
//! kernel runs only where a core is idle.
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

/// The run that a page shows, as it is when the page is first there.
pub struct LiveRun {
    /// The plan of the run, resolved.
    pub plan: Plan,
    /// The trials that were made before.
    pub records: Vec<TrialRecord>,
    /// The results directory: facts and report are read there.
    pub directory: Folder,
    /// The secret part of the page's address, of letters and digits.
    pub token: String,
    /// The cores that the page's thread may use; empty for all.
    pub cores: Vec<u32>,
}
