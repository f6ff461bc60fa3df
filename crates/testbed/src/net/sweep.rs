//! What runs that were killed have left: interfaces, sysctls, connections of ssh, namespaces.

use super::namespace::{is_left_behind, name, remove, stale};
use super::{interfaces, sysctls};
use crate::exec::{self, Shell, TestbedError, own_directory};
use std::fs::DirEntry;
use std::os::unix::fs::MetadataExt as _;

/// Removes what [`super::namespace::stale`] finds, with the devices' directories, and what [`stale_directories`] finds; returns the names of all.
pub fn sweep(shell: &Shell) -> Result<Vec<String>, TestbedError> {
    // What is in their namespaces would be destroyed with these, unless it is a NIC.
    interfaces::give_back_stale(shell);
    let found = stale();
    sysctls::sweep(shell);
    exec::sweep();
    for name in &found {
        shell.context().check()?;
        match remove(shell, name) {
            // Another run that begins at the same time sweeps, too, and was faster.
            Err(_) if !stale().contains(name) => {}
            removed => removed?,
        }
        // Most have none.
        let _ = std::fs::remove_dir_all(own_directory(name));
    }
    let directories = stale_directories();
    for directory in &directories {
        let _ = std::fs::remove_dir_all(own_directory(directory));
    }
    Ok([found, directories].concat())
}

/// The end of the names of directories that no namespace of the same name tells of.
const IN_MEMORY: &str = "memif";

/// Returns the name of the directory of a device at links in shared memory, which is in no namespace. `run` tells several devices of one
/// process apart.
pub(crate) fn directory_name(run: &str) -> String {
    name(run, IN_MEMORY)
}

/// Returns the names of such directories, made by this user, whose processes are gone. (The devices end with them.)
pub(crate) fn stale_directories() -> Vec<String> {
    let Ok(own) = std::fs::metadata("/proc/self").map(|own| own.uid()) else { return Vec::new() };
    let entries = std::fs::read_dir(own_directory("")).into_iter().flatten().filter_map(Result::ok);
    // Not followed where it is a link: what another user's link leads to is not ours.
    let is_own = |entry: &DirEntry| entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
    let names = entries.filter(is_own).filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.ends_with(&format!("-{IN_MEMORY}")) && is_left_behind(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_of_processes_that_are_gone_are_left_behind() {
        let gone = format!("sb-{}-{IN_MEMORY}", u32::MAX);
        let all = [directory_name("here"), gone.clone(), format!("{gone}-not-ours")];
        all.iter().for_each(|name| std::fs::create_dir(own_directory(name)).expect("a directory"));
        let stale = stale_directories();
        all.iter().for_each(|name| std::fs::remove_dir(own_directory(name)).expect("removed"));
        let found: Vec<&String> = all.iter().filter(|name| stale.contains(name)).collect();
        assert_eq!(found, [&gone]);
    }
}
