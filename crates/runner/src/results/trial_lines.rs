//! The lines of `trials.jsonl`: each is a record, and only the last one may be incomplete.

use sixbench_method::record::{FORMAT, TrialRecord};

/// The most octets of a line that is read.
pub(crate) const LONGEST_LINE: u64 = 64 << 20;

/// The reason why a line of `trials.jsonl` is no record.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum RecordError {
    /// The line is not a record at all.
    #[error("line {line} is not a trial")]
    NoTrial { line: usize, source: serde_json::Error },
    /// The line was written by a newer sixbench.
    #[error("line {line} has format {format}; this sixbench reads up to {FORMAT}: use a newer one")]
    Newer { line: usize, format: u32 },
    /// The line has a number out of range.
    #[error("line {line} was changed after it was written: {what}")]
    Outside { line: usize, what: String },
    /// No record is that long, and what reads it would need more memory than there may be.
    #[error("line {line} is longer than {} MiB, as no trial is", LONGEST_LINE >> 20)]
    TooLong { line: usize },
}

/// Parses the record in a line, whose number is used in errors.
pub(crate) fn record(line: &[u8], number: usize) -> Result<TrialRecord, RecordError> {
    let record: TrialRecord = serde_json::from_slice(line).map_err(|source| RecordError::NoTrial { line: number, source })?;
    if record.format > FORMAT {
        return Err(RecordError::Newer { line: number, format: record.format });
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
