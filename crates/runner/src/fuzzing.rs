//! Internals of this crate for the fuzz targets in `fuzz/`. They are not part of the crate's interface and may change at any time.

pub use crate::agent::fuzzing::read_agent_messages;

use crate::error::records::RecordError;
use crate::results::store::line;
use crate::results::trial_lines::records;
use sixbench_method::record::TrialRecord;

/// Parses the text of a `trials.jsonl`. Returns the records, and whether the last line is incomplete.
///
/// # Errors
/// A line is not a record.
pub fn read_trials(text: &str) -> Result<(Vec<TrialRecord>, bool), RecordError> {
    records(text, 0)
}

/// Returns the line for a record.
///
/// # Panics
/// The record cannot be serialised.
pub fn trial_line(record: &TrialRecord) -> String {
    line(record).expect("a record can be written")
}
