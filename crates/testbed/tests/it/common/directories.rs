//! Finds sixbench's directories for temporary files, `sb-PROCESS.NUMBER-ROLE`. The number cannot be guessed, so tests find them by the other parts.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of sixbench.
struct OwnDirectory {
    path: PathBuf,
    process: u32,
    /// The role, such as `dut` or `ssh-0`.
    role: String,
}

impl OwnDirectory {
    fn at(path: PathBuf) -> Option<Self> {
        let (owner, role) = path
            .file_name()?
            .to_str()?
            .strip_prefix("sb-")?
            .split_once('-')?;
        let (process, number) = owner.split_once('.')?;
        let (process, _number) = (process.parse().ok()?, number.parse::<u64>().ok()?);
        Some(Self {
            role: role.to_owned(),
            path,
            process,
        })
    }
}

/// Returns all of them, both here and where machines reached over ssh have theirs.
fn all() -> Vec<OwnDirectory> {
    let folders = BTreeSet::from([std::env::temp_dir(), PathBuf::from("/tmp")]);
    let entries = folders
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a directory"))
        .filter_map(Result::ok);
    entries
        .filter_map(|entry| OwnDirectory::at(entry.path()))
        .collect()
}

/// Returns those of a process whose role satisfies `is_role`.
pub(crate) fn of_process(process: u32, is_role: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let own = all()
        .into_iter()
        .filter(|directory| directory.process == process && is_role(&directory.role));
    own.map(|directory| directory.path).collect()
}

/// Returns the directory that belongs to a name such as `sb-7-dut`, or `None` if there is none.
pub(crate) fn of_name(name: &str) -> Option<PathBuf> {
    let (process, role) = name.strip_prefix("sb-")?.split_once('-')?;
    of_process(process.parse().ok()?, |of| of == role).pop()
}

/// Returns those for a role whose processes have ended.
pub(crate) fn left_behind(role: &str) -> Vec<PathBuf> {
    let has_ended = |process: u32| !Path::new(&format!("/proc/{process}")).exists();
    let left = all()
        .into_iter()
        .filter(|directory| directory.role == role && has_ended(directory.process));
    left.map(|directory| directory.path).collect()
}
