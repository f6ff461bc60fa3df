//! The process that writes to a results directory, as identified by the kernel from its lock on the records.

use sixbench_testbed::command_of;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A process that writes to a results directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritingProcess {
    /// The process ID.
    pub process: u32,
    /// The process's command. Empty if this user cannot see it.
    pub command: String,
}

impl WritingProcess {
    /// Returns the process that holds the lock on a file, or `None` if there is none or the kernel does not report it (for a process in another
    /// container, or a file system with two different device numbers).
    pub(crate) fn find(file: &Path) -> Option<Self> {
        let found = fs::metadata(file).ok()?;
        let (major, minor) = (
            rustix::fs::major(found.dev()),
            rustix::fs::minor(found.dev()),
        );
        let place = format!("{major:02x}:{minor:02x}:{}", found.ino());
        let process = holder_in(&fs::read_to_string("/proc/locks").ok()?, &place)?;
        Some(Self {
            process,
            command: command_of(process),
        })
    }
}

/// Returns the process with an exclusive lock on a file, from the kernel's list of locks. There, an arrow marks a lock that a process is waiting
/// for.
fn holder_in(locks: &str, place: &str) -> Option<u32> {
    let words = locks
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.into_iter().find_map(|words| match words[..] {
        [_, "FLOCK", _, "WRITE", process, of, ..] if of == place => {
            process.parse().ok().filter(|process| *process > 0)
        }
        _ => None,
    })
}

/// Returns the name of the writer as the subject of a sentence.
pub(crate) fn writer_words(writer: Option<&WritingProcess>) -> String {
    match writer {
        Some(WritingProcess { process, command }) if command.is_empty() => {
            format!("process {process}")
        }
        Some(WritingProcess { process, command }) => format!("process {process} ({command})"),
        None => "another sixbench".to_owned(),
    }
}

/// Returns advice on how to end the process.
pub(crate) fn how_to_stop(writer: Option<&WritingProcess>) -> String {
    let stop = writer.map_or_else(
        || "stop it with Ctrl-C".to_owned(),
        |writer| format!("stop it: kill -INT {}", writer.process),
    );
    format!("{stop} (its results so far are kept)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_holder_of_a_lock_is_found_and_nobody_where_there_is_none() {
        let path = std::env::temp_dir().join(format!("sixbench-writer-{}", std::process::id()));
        let file = File::create(&path).expect("a file");
        assert_eq!(WritingProcess::find(&path), None);
        file.lock().expect("a lock");
        let writer = WritingProcess::find(&path).expect("this process");
        fs::remove_file(&path).expect("removed");
        assert_eq!(writer.process, std::process::id());
        let words = writer_words(Some(&writer));
        assert!(
            words.starts_with(&format!("process {} (", std::process::id()))
                && words.contains("runner"),
            "{words}"
        );
    }

    #[test]
    fn only_a_lock_for_writing_that_is_held_counts() {
        let locks = "1: FLOCK  ADVISORY  READ 11 fe:01:77 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 12 fe:01:77 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 13 fe:01:77 0 EOF\n3: FLOCK  ADVISORY  WRITE 14 fe:01:77 0 EOF\n";
        assert_eq!(
            (holder_in(locks, "fe:01:77"), holder_in(locks, "fe:01:78")),
            (Some(14), None)
        );
    }
}
