//! Optional records of all queries as CSV, which a separate thread writes during the trial instead of collecting them.

use super::file::FileQueries;
use super::flight::QueryAnswer;
use super::judge::AnswerClass;
use crate::driver::joined;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// The first line of a file of records.
pub const HEADING: &str = "query,name,due_ns,sent_ns,delay_ns,verdict";
/// The number of records passed on together.
const CHUNK: usize = 4096;
/// The number of chunks that may wait to be written before the tester blocks.
const CHUNKS: usize = 256;
/// The octets of the records that may wait to be written.
pub(super) const WAITING_OCTETS: u64 = (CHUNKS * CHUNK * size_of::<Record>()) as u64;

/// A finished query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its number in the trial.
    pub(crate) sequence: u64,
    /// The address of its name.
    pub(crate) address: u32,
    /// The times at which it was due and sent, from the start of the trial.
    pub(crate) due_ns: u64,
    pub(crate) sent_ns: u64,
    pub(crate) answer: Option<QueryAnswer>,
}

/// Writes the records to a file.
pub(crate) struct RecordWriter {
    chunks: Option<SyncSender<Vec<Record>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl RecordWriter {
    /// Writes to a new file, which gets its heading.
    pub(crate) fn begin(file: File, queries: Option<Arc<FileQueries>>) -> io::Result<Self> {
        let mut file = BufWriter::new(file);
        writeln!(file, "{HEADING}")?;
        let (chunks, inbox) = sync_channel(CHUNKS);
        let writer = std::thread::spawn(move || write_all(file, &inbox, queries.as_deref()));
        Ok(Self {
            chunks: Some(chunks),
            writer: Some(writer),
        })
    }

    /// Returns a recorder for one client thread.
    pub(crate) fn hand(&self) -> Option<Recorder> {
        let chunks = self.chunks.clone()?;
        Some(Recorder {
            chunks,
            chunk: Vec::with_capacity(CHUNK),
        })
    }

    /// Waits until everything is written. All recorders must have been dropped.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.chunks = None;
        self.writer
            .take()
            .map_or(Ok(()), |writer| joined(writer.join()))
    }
}

/// The recorder of one thread.
pub(crate) struct Recorder {
    chunks: SyncSender<Vec<Record>>,
    chunk: Vec<Record>,
}

impl Recorder {
    /// Adds a record. It blocks only if the disk is a million records behind, which the trial's lateness then shows.
    #[inline]
    pub(crate) fn take(&mut self, record: Record) {
        self.chunk.push(record);
        if self.chunk.len() == CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let full = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        // The writer has ended with an error, which `finish` returns.
        let _ = self.chunks.send(full);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.flush();
    }
}

fn write_all(
    mut file: BufWriter<File>,
    inbox: &Receiver<Vec<Record>>,
    queries: Option<&FileQueries>,
) -> io::Result<()> {
    for record in inbox.iter().flatten() {
        let Record {
            sequence,
            address,
            due_ns,
            sent_ns,
            ..
        } = record;
        match queries {
            None => write!(file, "{sequence},{}", Ipv4Addr::from(address))?,
            Some(queries) => write!(file, "{sequence},{}", quoted(&queries.text(sequence)))?,
        }
        write!(file, ",{due_ns},{sent_ns},")?;
        match record.answer {
            Some(QueryAnswer {
                delay_ns,
                class,
                is_late,
            }) => writeln!(file, "{delay_ns},{}", verdict(class, is_late))?,
            None => writeln!(file, ",unanswered")?,
        }
    }
    file.flush()
}

/// Returns a text as a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains(['"', ',']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn verdict(class: AnswerClass, is_late: bool) -> &'static str {
    match class {
        AnswerClass::Right if is_late => "late",
        AnswerClass::Right => "right",
        AnswerClass::WrongAddress => "wrong-address",
        AnswerClass::WrongTtl => "wrong-ttl",
        AnswerClass::WrongForm => "wrong-form",
        AnswerClass::Empty => "empty",
        AnswerClass::Truncated => "truncated",
        AnswerClass::Servfail => "servfail",
        AnswerClass::Nxdomain => "nxdomain",
        AnswerClass::Refused => "refused",
        AnswerClass::OtherRcode => "other-rcode",
        AnswerClass::Malformed => "malformed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_query_in_the_order_they_came() {
        let directory =
            std::env::temp_dir().join(format!("sixbench-records-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("queries.csv");
        let records =
            RecordWriter::begin(File::create(&path).expect("a file"), None).expect("a heading");
        let mut recorder = records.hand().expect("an end");
        let record = |sequence, answer| Record {
            sequence,
            address: 0x0a00_0001,
            due_ns: 5,
            sent_ns: 7,
            answer,
        };
        let right = QueryAnswer {
            delay_ns: 30,
            class: AnswerClass::Right,
            is_late: false,
        };
        recorder.take(record(0, Some(right)));
        recorder.take(record(
            1,
            Some(QueryAnswer {
                delay_ns: 40,
                is_late: true,
                ..right
            }),
        ));
        recorder.take(record(
            2,
            Some(QueryAnswer {
                delay_ns: 40,
                class: AnswerClass::Empty,
                ..right
            }),
        ));
        recorder.take(record(3, None));
        drop(recorder);
        records.finish().expect("written");
        let text = std::fs::read_to_string(&path).expect("text");
        let expected = "query,name,due_ns,sent_ns,delay_ns,verdict\n0,10.0.0.1,5,7,30,right\n1,10.0.0.1,5,7,40,late\n\
                        2,10.0.0.1,5,7,40,empty\n3,10.0.0.1,5,7,,unanswered\n";
        assert_eq!(text, expected);
        std::fs::remove_dir_all(&directory).expect("removed");
    }
}
