//! The records of a stored run as reports need them: replayed, and without what they do not read of its trials, so that a million of them fit into memory.

use super::store_error::StoreError;
use super::stored::{TRIALS, cannot_read};
use super::trial_file::each_record;
use super::trial_lines::{LONGEST_LINE, RecordError, record};
use sixbench_io::files::Folder;
use sixbench_method::plan::Plan;
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::replay::{OrderedReplay, Replay, replay};
use sixbench_report::lean::{self, TrialsAtLimits};
use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

/// The records of a results directory without what reports do not read, and what is needed to give some of it back.
pub(crate) struct LeanRecords {
    /// Where the line of each record begins; empty where nothing was left out.
    begins: Vec<u64>,
    pub(crate) records: Vec<TrialRecord>,
    /// What the trials come to.
    pub(crate) replayed: Replay,
}

impl LeanRecords {
    /// Reads the records of a run of this plan.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it other than the last one is no record.
    pub(crate) fn load(folder: &Folder, plan: &Plan, facts: &Facts) -> Result<Self, StoreError> {
        if lean::is_of_one_host(facts) {
            let mut kept = Kept::of(plan);
            each_record(folder, lean_record, |begin, record| kept.push(begin, record))?;
            if let Some(lean) = kept.end() {
                return Ok(lean);
            }
        }
        let mut records = Vec::new();
        each_record(folder, record, |_, record| records.push(record))?;
        let replayed = replay(plan, &records);
        Ok(Self { begins: Vec::new(), records, replayed })
    }

    /// Gives those trials their distributions of delays back which the figures of a report show.
    ///
    /// # Errors
    /// The file cannot be read any more, or has changed meanwhile.
    pub(crate) fn give_back_delays(&mut self, folder: &Folder, plan: &Plan) -> Result<(), StoreError> {
        if self.begins.is_empty() {
            return Ok(());
        }
        let cannot_read = cannot_read(folder, TRIALS);
        let mut file = BufReader::new(folder.read(TRIALS).map_err(&cannot_read)?);
        let mut read = |place: usize| {
            let mut line = Vec::new();
            file.seek(SeekFrom::Start(self.begins[place]))?;
            file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
            serde_json::from_slice::<TrialRecord>(&line).map_err(io::Error::from)
        };
        for place in lean::delay_trials(plan, &self.records, &self.replayed.finished) {
            let whole = read(place).map_err(&cannot_read)?.result.directions;
            let directions = self.records[place].result.directions.iter_mut();
            directions.zip(whole).for_each(|(direction, mut whole)| direction.delays = std::mem::take(&mut whole.delays));
        }
        Ok(())
    }
}

/// Reads a record without what no report reads of it.
fn lean_record(line: &[u8], number: usize) -> Result<TrialRecord, RecordError> {
    // An error names its column in the line as it is.
    let mut record = record(&without_distributions(line), number).or_else(|_| record(line, number))?;
    lean::drop_unread(&mut record);
    Ok(record)
}

/// Returns a line with empty lists for its distributions of delays, which are the largest part of it by far.
fn without_distributions(line: &[u8]) -> Cow<'_, [u8]> {
    // In a text there would be a backslash before each quotation mark.
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

/// Returns whether this is a list of pairs of numbers, as `[[1303,1],[1495,2]]`.
fn is_distribution(octets: &[u8]) -> bool {
    let is_of_pairs = |octet: &u8| octet.is_ascii_digit() | matches!(octet, b',' | b'[' | b']');
    let count = |octet| memchr::memchr_iter(octet, octets).count();
    // Without a way out in the middle, the compiler compares many octets at once.
    let are_of_pairs = octets.iter().fold(true, |all, octet| all & is_of_pairs(octet));
    let lists = count(b'[');
    are_of_pairs && octets.starts_with(b"[[") && count(b']') == lists && count(b',') + 3 == 2 * lists
}

/// The records that were read.
struct Kept<'p> {
    plan: &'p Plan,
    begins: Vec<u64>,
    records: Vec<TrialRecord>,
    /// The place of the first trial of the repetition that is being read.
    repetition: usize,
    replay: OrderedReplay<'p>,
    at_limits: TrialsAtLimits,
    /// False where a repetition stands in several places, or behind a later one of its point.
    are_in_order: bool,
}

impl<'p> Kept<'p> {
    fn of(plan: &'p Plan) -> Self {
        let (replay, at_limits) = (OrderedReplay::new(plan), TrialsAtLimits::default());
        Self { plan, begins: Vec::new(), records: Vec::new(), repetition: 0, replay, at_limits, are_in_order: true }
    }

    fn push(&mut self, begin: u64, record: TrialRecord) {
        let is_of_another = |last: &TrialRecord| (&last.point, last.repetition) != (&record.point, record.repetition);
        if self.records.last().is_some_and(is_of_another) {
            self.end_repetition();
        }
        self.begins.push(begin);
        self.records.push(record);
    }

    fn end_repetition(&mut self) {
        self.are_in_order &= self.replay.add(&self.records[self.repetition..]);
        self.at_limits.add(self.plan, &mut self.records, self.repetition);
        self.repetition = self.records.len();
    }

    /// Returns the records; `None` where they are not in the order that this needs.
    fn end(mut self) -> Option<LeanRecords> {
        self.end_repetition();
        let Self { begins, records, replay, are_in_order, .. } = self;
        are_in_order.then(|| LeanRecords { begins, records, replayed: replay.end() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_left_out_and_nothing_else_is() {
        let of = |line: &str| String::from_utf8(without_distributions(line.as_bytes()).into_owned()).expect("text");
        assert_eq!(of(r#"{"delays":[[1,2]],"x":[{"delays":[[1,2],[30,4]]},5]}"#), r#"{"delays":[],"x":[{"delays":[]},5]}"#);
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
