//! Reasons for refusing a line of `trials.jsonl`.

use sixbench_method::record::FORMAT;

/// The most octets of a line that is read.
pub(crate) const LONGEST_LINE: u64 = 64 << 20;

/// The reason why a line of `trials.jsonl` is not a record.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum RecordError {
    /// The line is not a record at all.
    #[error("line {line} is not a trial")]
    NoTrial {
        line: usize,
        source: serde_json::Error,
    },
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
