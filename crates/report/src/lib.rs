//! Turns records into tables, plots and pages: records in, text out. Nothing here reads the network, the plan file, the machine it runs on or a clock.
#![forbid(unsafe_code)]

mod conformance;
mod digest;
mod findings;
mod format;
pub mod glossary;
pub mod layout;
pub mod lean;
mod page;
mod plot;
mod span;
mod subject;
mod wording;

pub use format::document::{Document, ReportFile};
pub use format::html::STYLE;
pub use format::json::{FORMAT, schema as results_schema};
pub use format::latex::PaperStyle;
pub use format::latex::table_file::{FOLDER as PAPER_TABLES, MARK as PAPER_TABLE_MARK};
pub use format::paper::{FOLDER as PAPER_FIGURES, MARK as PAPER_FIGURE_MARK};
pub use page::{comparison, dimension, history};
pub use wording::{event_words, expectations, trial_words};

use sixbench_method::budget::Budget;
pub use sixbench_method::plan::ExportFormat;

use sixbench_method::measures::Outcome;
use sixbench_method::plan::Plan;
use sixbench_method::record::{Facts, TrialRecord};

/// The inputs of a report.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The plan of the run, resolved.
    pub plan: &'a Plan,
    /// Every settled trial, in the order of the run.
    pub records: &'a [TrialRecord],
    /// The outcomes of the completed repetitions.
    pub outcomes: &'a [Outcome],
    /// The facts of the run.
    pub facts: &'a Facts,
    /// The commands that the testbed ran, as in `commands.sh`.
    pub commands: &'a str,
    /// The time at which the report was made, as it is printed.
    pub generated: &'a str,
    /// True if the run was cut short.
    pub interrupted: bool,
    /// The cost of the same plan with the profile `rfc`, if it is known.
    pub rfc_budget: Option<Budget>,
}

/// The reason why no report could be made.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum ReportError {
    /// The page's template does not match its context: a bug in this crate.
    #[error("cannot fill in the template of report.html: {0}")]
    Template(#[from] minijinja::Error),
    /// The records were written by a newer sixbench.
    #[error(
        "cannot read trials of record format {found}: this sixbench knows formats up to {known}; report with a newer one"
    )]
    Format { found: u32, known: u32 },
}
