//! A stored run as reports need it: without what they do not read of its trials, so that a million of them fit into memory.

use super::store::{self, StoreError, Stored};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Plan;
use sixbench_method::record::TrialRecord;
use sixbench_report::lean;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;

/// A stored run, and what is needed to give trials back what was left out of them.
pub(crate) struct LeanRun {
    /// Where the line of each record begins; empty of a run of which nothing was left out.
    begins: Vec<u64>,
    /// The run.
    pub(crate) stored: Stored,
}

/// Reads a results directory.
///
/// # Errors
/// As of [`store::load`].
pub(crate) fn load(directory: &Path) -> Result<LeanRun, StoreError> {
    let mut stored = store::load_without_records(directory)?;
    let is_lean = lean::is_of_one_host(&stored.facts);
    let mut kept = Kept { plan: &stored.plan, records: Vec::new(), repetition: 0 };
    let mut begins = Vec::new();
    stored.is_torn = store::each_record(directory, |begin, record| {
        if is_lean {
            begins.push(begin);
            kept.push_lean(record);
        } else {
            kept.records.push(record);
        }
    })?;
    if is_lean {
        kept.end_repetition();
    }
    stored.records = kept.records;
    Ok(LeanRun { begins, stored })
}

/// The records that were read.
struct Kept<'p> {
    plan: &'p Plan,
    records: Vec<TrialRecord>,
    /// The place of the first trial of the repetition that is being read.
    repetition: usize,
}

impl Kept<'_> {
    fn push_lean(&mut self, mut record: TrialRecord) {
        lean::drop_unread(&mut record);
        let is_of_another = |last: &TrialRecord| (&last.point, last.repetition) != (&record.point, record.repetition);
        if self.records.last().is_some_and(is_of_another) {
            self.end_repetition();
        }
        self.records.push(record);
    }

    fn end_repetition(&mut self) {
        lean::drop_unread_of_search(self.plan, &mut self.records[self.repetition..]);
        self.repetition = self.records.len();
    }
}

impl LeanRun {
    /// Gives those trials their distributions of delays back which the figures of a report with these outcomes show.
    ///
    /// # Errors
    /// The file cannot be read any more, or has changed meanwhile.
    pub(crate) fn give_back_delays(&mut self, directory: &Path, outcomes: &[Outcome]) -> Result<(), StoreError> {
        if self.begins.is_empty() {
            return Ok(());
        }
        let path = directory.join("trials.jsonl");
        let cannot_read = |source| StoreError::NotRead { path: path.clone(), source };
        let mut file = BufReader::new(File::open(&path).map_err(cannot_read)?);
        let mut read = |place: usize| {
            let mut line = Vec::new();
            file.seek(SeekFrom::Start(self.begins[place]))?;
            file.read_until(b'\n', &mut line)?;
            serde_json::from_slice::<TrialRecord>(&line).map_err(io::Error::from)
        };
        for place in lean::delay_trials(&self.stored.plan, &self.stored.records, outcomes) {
            let whole = read(place).map_err(cannot_read)?.result.directions;
            let directions = self.stored.records[place].result.directions.iter_mut();
            directions.zip(whole).for_each(|(direction, whole)| direction.delays = whole.delays);
        }
        Ok(())
    }
}
