//! The lines of `trials.jsonl`: each is a record, and only the last one may be incomplete.

use crate::error::records::RecordError;
use sixbench_method::record::{FORMAT, TrialRecord};

/// Parses the record in a line, whose number is used in errors.
pub(crate) fn record(line: &[u8], number: usize) -> Result<TrialRecord, RecordError> {
    let record: TrialRecord =
        serde_json::from_slice(line).map_err(|source| RecordError::NoTrial {
            line: number,
            source,
        })?;
    if record.format > FORMAT {
        return Err(RecordError::Newer {
            line: number,
            format: record.format,
        });
    }
    match record.first_outside() {
        Some(what) => Err(RecordError::Outside { line: number, what }),
        None => Ok(record),
    }
}

/// Returns the records in a file's lines, which follow `before` others, and true if the last line is incomplete. Only the last line may be
/// incomplete, and only if its end is missing.
pub(crate) fn records(text: &str, before: usize) -> Result<(Vec<TrialRecord>, bool), RecordError> {
    let mut records = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if !line.ends_with('\n') {
            return Ok((records, true));
        }
        records.push(record(line.as_bytes(), before + index + 1)?);
    }
    Ok((records, false))
}
