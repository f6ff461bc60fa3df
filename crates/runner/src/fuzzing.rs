//! The inside of this crate for the targets of `fuzz/`. It is no part of the crate's interface, and may change at any time.

pub use crate::agent::fuzzing::read_agent_messages;

use crate::store::line;
use crate::trial_lines::{RecordError, records};
use sixbench_method::record::TrialRecord;

/// Reads the text of a `trials.jsonl`; returns the records, and whether the last line is torn.
///
/// # Errors
/// A line that is no record.
pub fn read_trials(text: &str) -> Result<(Vec<TrialRecord>, bool), RecordError> {
    records(text, 0)
}

/// Returns the line of a record.
///
/// # Panics
/// It cannot be written.
pub fn trial_line(record: &TrialRecord) -> String {
    line(record).expect("a record can be written")
}
