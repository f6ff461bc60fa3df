//! Reads `trials.jsonl` from beginning to end: lines are parsed by several threads and passed on in order, and the file is never in memory as a
//! whole, because it may not fit.

use super::stored::cannot_read;
use crate::error::records::{LONGEST_LINE, RecordError};
use crate::error::store::StoreError;
use sixbench_io::files::Folder;
use sixbench_method::record::TrialRecord;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// The number of octets read at a time.
const BLOCK: u64 = 1 << 21;

/// More threads would wait for the one that receives the records.
const MOST_THREADS: usize = 4;

/// Parses a record from a line, whose number is used in errors.
pub(crate) type ReadLine = fn(&[u8], usize) -> Result<TrialRecord, RecordError>;

/// Complete lines of the file.
struct Lines {
    /// The offset in the file at which they begin.
    begin: u64,
    /// The number of the first line.
    number: usize,
    octets: Vec<u8>,
}

/// Records, each with the offset of its line in the file.
type Records = Result<Vec<(u64, TrialRecord)>, RecordError>;

/// Passes each record of a results directory on, with the offset of its line. Returns true if the last line is incomplete.
///
/// # Errors
/// The file cannot be read, or a line of it other than the last one is not a record.
pub(crate) fn each_record(
    folder: &Folder,
    read: ReadLine,
    mut take: impl FnMut(u64, TrialRecord),
) -> Result<bool, StoreError> {
    let path = folder.path().join("trials.jsonl");
    let no_records = |source| StoreError::NoRecords {
        path: path.clone(),
        source,
    };
    let file = match folder.read("trials.jsonl") {
        // A run that was killed before its first trial has none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(cannot_read(folder, "trials.jsonl"))?,
    };
    thread::scope(|scope| {
        let threads =
            thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS));
        let (to_threads, from_threads): (Vec<_>, Vec<_>) = (0..threads)
            .map(|_| {
                let (to_thread, lines) = sync_channel(1);
                let (records, from_thread) = sync_channel(1);
                scope.spawn(move || read_lines(&lines, read, &records));
                (to_thread, from_thread)
            })
            .unzip();
        let reader = scope.spawn(move || deal(file, &to_threads));
        // Lines were distributed in turn, so the first thread without further records marks the end.
        for records in from_threads
            .iter()
            .cycle()
            .map_while(|from_thread| from_thread.recv().ok())
        {
            let records = records.map_err(no_records)?;
            for (begin, record) in records {
                take(begin, record);
            }
        }
        reader
            .join()
            .expect("a thread that does not panic")
            .map_err(cannot_read(folder, "trials.jsonl"))?
            .map_err(no_records)
    })
}

/// Parses records from lines, until there are no more or the receiver is gone.
fn read_lines(lines: &Receiver<Lines>, read: ReadLine, records: &SyncSender<Records>) {
    let parsed = |Lines {
                      mut begin,
                      number,
                      octets,
                  }: Lines| {
        let each = octets
            .split_inclusive(|octet| *octet == b'\n')
            .zip(number..)
            .map(|(line, number)| {
                let record = read(line, number)?;
                begin += line.len() as u64;
                Ok((begin - line.len() as u64, record))
            });
        each.collect::<Records>()
    };
    let _ = lines
        .iter()
        .try_for_each(|lines| records.send(parsed(lines)));
}

/// Hands the lines of the file to the threads in turn, until its end or until no thread takes them. Returns whether the last line is torn; an error where
/// one is too long.
fn deal(
    mut file: impl Read,
    threads: &[SyncSender<Lines>],
) -> io::Result<Result<bool, RecordError>> {
    let (mut begin, mut number, mut rest) = (0, 1, Vec::new());
    for thread in threads.iter().cycle() {
        let Some(octets) = next_lines(&mut file, &mut rest)? else {
            break;
        };
        let (length, lines) = (
            octets.len() as u64,
            memchr::memchr_iter(b'\n', &octets).count(),
        );
        if thread
            .send(Lines {
                begin,
                number,
                octets,
            })
            .is_err()
        {
            // The thread ends early only after the receiver did, which returns the error that ended it.
            return Ok(Ok(false));
        }
        begin += length;
        number += lines;
    }
    Ok(if rest.len() as u64 > LONGEST_LINE {
        Err(RecordError::TooLong { line: number })
    } else {
        Ok(!rest.is_empty())
    })
}

/// Returns the next whole lines, and leaves the begin of the line behind them in `rest`; `None` where there is no whole line any more, or it is too long.
/// `rest` then has the last line, incomplete or too long.
fn next_lines(file: &mut impl Read, rest: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut octets = std::mem::take(rest);
    while octets.len() as u64 <= LONGEST_LINE
        && file.by_ref().take(BLOCK).read_to_end(&mut octets)? > 0
    {
        if let Some(last) = memchr::memrchr(b'\n', &octets) {
            *rest = octets.split_off(last + 1);
            return Ok(Some(octets));
        }
    }
    *rest = octets;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::trial_lines::record;
    use sixbench_method::plan::Point;
    use sixbench_method::record::FORMAT;
    use sixbench_method::terms::{FrameRate, FrameSize};
    use sixbench_method::trial::{TrialResult, TrialSpec};
    use std::fs;

    /// Returns a line of 700 octets.
    fn line(trial: usize) -> String {
        let record = TrialRecord {
            format: FORMAT,
            point: Point {
                test: "t".repeat(500),
                frame_size: FrameSize(84),
            },
            repetition: 1,
            trial: trial as u32,
            load: None,
            started: String::new(),
            result: TrialResult::new(
                TrialSpec::constant(FrameRate(1000), 1_000_000_000),
                vec![],
                vec![],
            ),
            watch: None,
        };
        serde_json::to_string(&record).expect("JSON") + "\n"
    }

    #[test]
    fn a_file_of_many_blocks_is_read_in_its_order_and_each_line_is_known_by_its_place() {
        let directory = std::env::temp_dir().join(format!("sixbench-lines-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("trials.jsonl");
        let lines: Vec<String> = (0..20_000).map(line).collect();
        let all = lines.concat();
        assert!(all.len() as u64 > 5 * BLOCK);
        let read = |text: &str| {
            fs::write(&path, text).expect("written");
            let mut found = Vec::new();
            let is_torn = each_record(
                &Folder::open(&directory).expect("a directory"),
                record,
                |begin, record| found.push((begin, record.trial)),
            )?;
            Ok::<_, StoreError>((found, is_torn))
        };
        let begins = lines.iter().scan(0, |begin, line| {
            Some(std::mem::replace(begin, *begin + line.len() as u64))
        });
        let expected: Vec<(u64, u32)> = begins.zip(0..).collect();
        assert_eq!(read(&all).expect("records"), (expected.clone(), false));
        assert_eq!(
            read(&all[..all.len() - 1]).expect("records"),
            (expected[..19_999].to_vec(), true)
        );
        assert_eq!(read("").expect("records"), (vec![], false));
        let damaged = [&lines[..14_999], &["{}\n".to_owned()], &lines[15_000..]]
            .concat()
            .concat();
        let StoreError::NoRecords { source, .. } = read(&damaged).expect_err("no record") else {
            panic!("another error")
        };
        assert_eq!(source.to_string(), "line 15000 is not a trial");
        // A file of 3 GB that takes no room on the disk.
        fs::write(&path, &lines[0])
            .and_then(|()| {
                fs::File::options()
                    .append(true)
                    .open(&path)?
                    .set_len(3 << 30)
            })
            .expect("a file");
        let opened = Folder::open(&directory).expect("a directory");
        let error = each_record(&opened, record, |_, _| ()).expect_err("too long");
        let StoreError::NoRecords { source, .. } = error else {
            panic!("another error: {error}")
        };
        assert_eq!(
            source.to_string(),
            "line 2 is longer than 64 MiB, as no trial is"
        );
        fs::remove_dir_all(&directory).expect("removed");
    }
}
