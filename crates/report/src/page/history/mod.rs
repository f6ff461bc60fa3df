//! Runs over time: a page with the requirements that became wrong or right, a line for each device and measure, the changes of their levels, and a
//! comparison of any two runs.

mod figure;
mod json;
mod page;
mod requirements;
mod tested;
mod words;

pub use tested::{HistoryInput, HistoryRun};

use crate::ReportError;
use crate::format::document::shown;
use tested::TestedHistory;

/// A history whose series have been collected and tested once.
pub struct HistoryDocument<'a>(TestedHistory<'a>);

impl<'a> HistoryDocument<'a> {
    /// Collects the series of the runs, and tests them for changes.
    pub fn new(input: &'a HistoryInput<'a>) -> Self {
        Self(TestedHistory::new(input))
    }

    /// Returns the page, a self-contained file. Its script compares any two runs; everything else works without it.
    ///
    /// # Errors
    /// The template does not match its context: a bug in this crate.
    pub fn html(&self) -> Result<String, ReportError> {
        page::html(&self.0).map(shown)
    }

    /// Returns the history as JSON, with the keys of docs/HISTORY.md.
    pub fn json(&self) -> String {
        shown(serde_json::to_string_pretty(&json::value(&self.0)).unwrap_or_default() + "\n")
    }

    /// Returns the headline, the requirements that changed, and a line for each change of a level.
    pub fn summary(&self) -> String {
        let changes: String = words::changes(&self.0)
            .iter()
            .map(|change| format!("  {}\n", change.sentence))
            .collect();
        let requirements = requirements::lines(&self.0);
        format!("{}\n{requirements}{changes}", words::headline(&self.0)).replace('\u{a0}', " ")
    }
}
