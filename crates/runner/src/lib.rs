//! The Manager of RFC 9971: it takes a plan through its devices, points, repetitions and trials. Every trial is on disk before the next
//! one starts, and the report is updated after every device. This is the interface for programs that embed sixbench: nothing here prints, reads
//! arguments or exits the process.
#![forbid(unsafe_code)]

pub mod agent;
pub mod code;
mod ends;
mod error;
#[doc(hidden)]
pub mod fuzzing;
pub mod held;
pub mod locks;
pub mod profile;
mod request;
mod results;
mod run;
mod run_clock;
pub mod selftest;
pub mod stop;
mod version;

pub use ends::cores::{check_named_here, spare_cores};
pub use error::merge::MergeError;
pub use error::ports::OpenError;
pub use error::robustness::RobustnessError;
pub use error::selection::SelectionError;
pub use error::writer::WritingProcess;
pub use error::{HeldError, NotEnoughMemory, RunError, TrialError, Untrusted, with_causes};
pub use request::{RunRequest, SessionRequest, Site};
pub use results::dimensioning::dimensioned;
pub use results::merge::merge;
pub use results::own_files::OwnFile;
pub use results::{
    archive, campaign, collection, follow, history, owner, reporting, schema, sets, store,
};
pub use run::conformance;
pub use run::feasible::{
    check, check_settings, check_traffic, find_link_rate, leave_out_missing,
    leave_out_missing_elsewhere,
};
pub use run::manager::{EndedRun, perform};
pub use run::memory::{check_trial, check_trials_of};
pub use run::origin::label;
pub use run::quiet::wait_until_quiet;
pub use run::rehearsal::rehearsed;
pub use run::search_alone::{SearchFound, search_alone};
pub use run::server::{WatchedTester, is_local, links_of_server};
pub use run::session::Session;
pub use run::with::perform_with;
pub use version::{VERSION, version_with_features};
