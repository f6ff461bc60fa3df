//! Runs over time: a page with a line for each device and measure, the changes of its level, and any two runs beside each other.

mod figure;
mod json;
mod page;
mod tested;
mod words;

pub use tested::{HistoryInput, HistoryRun};

use crate::ReportError;
use crate::document::shown;
use tested::TestedHistory;

/// A history, its series taken in and tested once.
pub struct HistoryDocument<'a>(TestedHistory<'a>);

impl<'a> HistoryDocument<'a> {
    /// Takes in the runs, and tests all series for changes.
    pub fn new(input: &'a HistoryInput<'a>) -> Self {
        Self(TestedHistory::new(input))
    }

    /// The page: one file that fetches nothing. A script in it puts any two runs beside each other; all else is there without it.
    ///
    /// # Errors
    /// A template that does not fit its context: a bug of this crate.
    pub fn html(&self) -> Result<String, ReportError> {
        page::html(&self.0).map(shown)
    }

    /// The same as JSON, with the keys of docs/HISTORY.md.
    pub fn json(&self) -> String {
        shown(serde_json::to_string_pretty(&json::value(&self.0)).unwrap_or_default() + "\n")
    }

    /// The headline and a line for each change.
    pub fn summary(&self) -> String {
        let changes: String = words::changes(&self.0).iter().map(|change| format!("  {}\n", change.sentence)).collect();
        format!("{}\n{changes}", words::headline(&self.0)).replace('\u{a0}', " ")
    }
}
