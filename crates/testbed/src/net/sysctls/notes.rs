//! Notes on the sysctls that runs have changed: one file per process, with the original values and the values that it needs. Other runs read them, so
//! that a sysctl is only restored after the last run that needs it, also if some of these were killed.

use crate::exec::{Shell, TestbedError, is_alive};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// A sysctl that this process has set: its original value, the value that is needed, and how many devices need it.
pub(super) struct UsedSysctl {
    pub(super) before: String,
    pub(super) value: String,
    pub(super) users: u32,
}

/// A directory that only root can write to: with a forged note, another user could make root write to any file.
const NOTES: &str = "/run";

/// The first word of a line with the value that a run needs. Lines with an original value begin with the file.
const NEEDED: &str = "needs";

/// The value that another run, still running, needs of a sysctl.
pub(super) struct OthersNeed {
    pub(super) process: u32,
    /// `None` if its note, from an earlier version, does not say.
    pub(super) value: Option<String>,
    /// The value before any run changed it.
    pub(super) before: String,
}

/// Keeps other processes from reading and changing sysctls and notes until the returned file is dropped. Without root there are no notes.
pub(super) fn guard() -> Option<File> {
    let path = Path::new(NOTES).join("sb-sysctls.lock");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .ok()?;
    file.lock().ok().map(|()| file)
}

/// Records the original and the needed values of the sysctls that this process changes.
pub(super) fn write(
    used: &BTreeMap<String, UsedSysctl>,
    shell: &Shell,
) -> Result<(), TestbedError> {
    if shell.is_rehearsal() {
        return Ok(());
    }
    let path = path_of(std::process::id());
    let text: String = used
        .iter()
        .map(|(file, used)| format!("{file} {}\n{NEEDED} {file} {}\n", used.before, used.value))
        .collect();
    let written = if text.is_empty() {
        fs::remove_file(&path).or(Ok(()))
    } else {
        fs::write(&path, text)
    };
    written.map_err(TestbedError::file("write", &path))
}

/// Returns what another running process needs of a sysctl.
pub(super) fn need_of_others(file: &str) -> Option<OthersNeed> {
    let others = all()
        .into_iter()
        .filter(|(_, process)| *process != std::process::id() && is_alive(*process));
    others.into_iter().find_map(|(note, process)| {
        let before = originals(&note)
            .into_iter()
            .find_map(|(noted, before)| (noted == file).then_some(before))?;
        Some(OthersNeed {
            process,
            value: needed(&note, file),
            before,
        })
    })
}

/// Returns the notes of processes that have ended.
pub(super) fn stale() -> Vec<PathBuf> {
    all()
        .into_iter()
        .filter(|(_, process)| !is_alive(*process))
        .map(|(note, _)| note)
        .collect()
}

/// Returns the sysctls of a note, each with its original value.
pub(super) fn originals(note: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(note).unwrap_or_default();
    let pairs = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(file, _)| *file != NEEDED);
    pairs
        .map(|(file, before)| (file.to_owned(), before.to_owned()))
        .collect()
}

fn needed(note: &Path, file: &str) -> Option<String> {
    let text = fs::read_to_string(note).unwrap_or_default();
    let mut pairs = text
        .lines()
        .filter_map(|line| line.strip_prefix(NEEDED)?.trim_start().split_once(' '));
    pairs.find_map(|(noted, value)| (noted == file).then(|| value.to_owned()))
}

fn all() -> Vec<(PathBuf, u32)> {
    let entries = fs::read_dir(NOTES).into_iter().flatten();
    entries
        .filter_map(|entry| entry.ok())
        .filter_map(|entry| Some((entry.path(), owner(&entry.path())?)))
        .collect()
}

pub(super) fn path_of(process: u32) -> PathBuf {
    // The name is that of earlier versions, whose notes must still be found.
    Path::new(NOTES).join(format!("sb-{process}-switches"))
}

fn owner(path: &Path) -> Option<u32> {
    path.file_name()?
        .to_str()?
        .strip_prefix("sb-")?
        .strip_suffix("-switches")?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_tells_its_process() {
        assert_eq!(owner(&path_of(7)), Some(7));
        assert_eq!(owner(Path::new("/run/sb-7-dut")), None);
    }
}
