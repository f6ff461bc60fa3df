//! The replayed records of a stored run, without the parts that reports do not read, so that a million of them fit into memory.

use super::stored::{TRIALS, cannot_read};
use super::trial_file::each_record;
use super::trial_lines::record;
use crate::error::records::{LONGEST_LINE, RecordError};
use crate::error::store::StoreError;
use sixbench_io::files::Folder;
use sixbench_method::plan::Plan;
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::replay::{OrderedReplay, Replay, replay};
use sixbench_report::lean::{self, TrialsAtLimits};
use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

/// The records of a results directory without what reports do not read, and what is needed to restore some of it.
pub(crate) struct LeanRecords {
    /// The offset of each record's line in the file. Empty if nothing was left out.
    begins: Vec<u64>,
    pub(crate) records: Vec<TrialRecord>,
    /// The evaluation of the trials.
    pub(crate) replayed: Replay,
}

impl LeanRecords {
    /// Reads the records of a run of this plan.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it other than the last one is not a record.
    pub(crate) fn load(folder: &Folder, plan: &Plan, facts: &Facts) -> Result<Self, StoreError> {
        if lean::is_of_one_host(facts) {
            let mut kept = KeptRecords::new(plan);
            each_record(folder, lean_record, |begin, record| {
                kept.push(begin, record);
            })?;
            if let Some(lean) = kept.end() {
                return Ok(lean);
            }
        }
        let mut records = Vec::new();
        each_record(folder, record, |_, record| records.push(record))?;
        let replayed = replay(plan, &records);
        Ok(Self {
            begins: Vec::new(),
            records,
            replayed,
        })
    }

    /// Restores the delay distributions of those trials whose distributions appear in a report's figures.
    ///
    /// # Errors
    /// The file cannot be read any more, or has changed meanwhile.
    pub(crate) fn give_back_delays(
        &mut self,
        folder: &Folder,
        plan: &Plan,
    ) -> Result<(), StoreError> {
        if self.begins.is_empty() {
            return Ok(());
        }
        let cannot_read = cannot_read(folder, TRIALS);
        let mut file = BufReader::new(folder.read(TRIALS).map_err(&cannot_read)?);
        let mut read = |place: usize| {
            let mut line = Vec::new();
            file.seek(SeekFrom::Start(self.begins[place]))?;
            file.by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?;
            serde_json::from_slice::<TrialRecord>(&line).map_err(io::Error::from)
        };
        for place in lean::delay_trials(plan, &self.records, &self.replayed.finished) {
            let whole = read(place).map_err(&cannot_read)?.result.directions;
            let directions = self.records[place].result.directions.iter_mut();
            directions.zip(whole).for_each(|(direction, mut whole)| {
                direction.delays = std::mem::take(&mut whole.delays);
            });
        }
        Ok(())
    }
}

/// Parses a record without the parts that no report reads.
fn lean_record(line: &[u8], number: usize) -> Result<TrialRecord, RecordError> {
    // An error refers to the column in the original line.
    let mut record =
        record(&without_distributions(line), number).or_else(|_| record(line, number))?;
    lean::drop_unread(&mut record);
    Ok(record)
}

/// Returns a line with its delay distributions replaced by empty lists. They are by far its largest part.
fn without_distributions(line: &[u8]) -> Cow<'_, [u8]> {
    // Inside a string, each quotation mark would be preceded by a backslash.
    const BEGIN: &[u8] = b"\"delays\":";
    let (mut kept, mut rest) = (Vec::new(), line);
    while let Some((list, length)) = memchr::memmem::find(rest, BEGIN).and_then(|at| {
        let list = at + BEGIN.len();
        let length = memchr::memmem::find(&rest[list..], b"]]")? + 2;
        is_distribution(&rest[list..list + length]).then_some((list, length))
    }) {
        kept.extend_from_slice(&rest[..list]);
        kept.extend_from_slice(b"[]");
        rest = &rest[list + length..];
    }
    if kept.is_empty() {
        return Cow::Borrowed(line);
    }
    kept.extend_from_slice(rest);
    Cow::Owned(kept)
}

/// Returns true if this is a list of pairs of numbers, such as `[[1303,1],[1495,2]]`.
fn is_distribution(octets: &[u8]) -> bool {
    let is_of_pairs = |octet: &u8| octet.is_ascii_digit() | matches!(octet, b',' | b'[' | b']');
    let count = |octet| memchr::memchr_iter(octet, octets).count();
    // Without an early exit, the compiler can compare many octets at once.
    let are_of_pairs = octets
        .iter()
        .fold(true, |all, octet| all & is_of_pairs(octet));
    let lists = count(b'[');
    are_of_pairs
        && octets.starts_with(b"[[")
        && count(b']') == lists
        && count(b',') + 3 == 2 * lists
}

/// The records that have been read.
struct KeptRecords<'p> {
    plan: &'p Plan,
    begins: Vec<u64>,
    records: Vec<TrialRecord>,
    /// The index of the first trial of the repetition being read.
    repetition: usize,
    replay: OrderedReplay<'p>,
    at_limits: TrialsAtLimits,
    /// False if the trials of a repetition are not contiguous, or follow those of a later repetition of its point.
    are_in_order: bool,
}

impl<'p> KeptRecords<'p> {
    fn new(plan: &'p Plan) -> Self {
        let (replay, at_limits) = (OrderedReplay::new(plan), TrialsAtLimits::default());
        Self {
            plan,
            begins: Vec::new(),
            records: Vec::new(),
            repetition: 0,
            replay,
            at_limits,
            are_in_order: true,
        }
    }

    fn push(&mut self, begin: u64, record: TrialRecord) {
        let is_of_another = |last: &TrialRecord| {
            (&last.point, last.repetition) != (&record.point, record.repetition)
        };
        if self.records.last().is_some_and(is_of_another) {
            self.end_repetition();
        }
        self.begins.push(begin);
        self.records.push(record);
    }

    fn end_repetition(&mut self) {
        self.are_in_order &= self.replay.add(&self.records[self.repetition..]);
        self.at_limits
            .add(self.plan, &mut self.records, self.repetition);
        self.repetition = self.records.len();
    }

    /// Returns the records, or `None` if they are not in the required order.
    fn end(mut self) -> Option<LeanRecords> {
        self.end_repetition();
        let Self {
            begins,
            records,
            replay,
            are_in_order,
            ..
        } = self;
        are_in_order.then(|| LeanRecords {
            begins,
            records,
            replayed: replay.end(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_left_out_and_nothing_else_is() {
        let of = |line: &str| {
            String::from_utf8(without_distributions(line.as_bytes()).into_owned()).expect("text")
        };
        assert_eq!(
            of(r#"{"delays":[[1,2]],"x":[{"delays":[[1,2],[30,4]]},5]}"#),
            r#"{"delays":[],"x":[{"delays":[]},5]}"#
        );
        for whole in [
            r#"{"delays":[]}"#,
            r#"{"delays":[[1,2],[3]]}"#,
            r#"{"delays":[[1,2],[3,"4"]]}"#,
            r#"{"delays":[[1,2],[3,4]"#,
            r#"{"x":"\"delays\":[[1,2]]"}"#,
            r#"{"delay":[[1,2]]}"#,
        ] {
            assert_eq!(of(whole), whole);
        }
    }
}
