//! Cleans up after killed runs: interfaces, sysctls, ssh connections, namespaces and directories.

use super::namespace::{is_left_behind, name, remove, stale};
use super::{interfaces, sysctls};
use crate::exec::{self, Shell, TestbedError, guessable, own_directory, sweep_locks};
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Removes the namespaces of [`super::namespace::stale`] with their devices' directories, the directories of [`stale_directories`], and those that DPDK
/// keeps of processes that have ended. Gives interfaces back before, and restores settings. Returns all names.
///
/// # Errors
/// If a namespace cannot be removed, or the user wants to stop.
pub fn sweep(shell: &Shell) -> Result<Vec<String>, TestbedError> {
    // Any interface left in a namespace is destroyed with it, except for a physical NIC.
    interfaces::give_back_stale(shell);
    let found = stale();
    sysctls::sweep(shell);
    exec::sweep(own_directories().iter().map(|name| temporary(name)));
    for name in &found {
        shell.context().check()?;
        match remove(shell, name) {
            // Another run that starts at the same time also sweeps, and was faster.
            Err(_) if !stale().contains(name) => {}
            removed => removed?,
        }
        // Most namespaces have no directory.
        let own = own_directories()
            .into_iter()
            .filter(|directory| guessable(directory) == *name);
        own.for_each(|directory| drop(std::fs::remove_dir_all(temporary(&directory))));
    }
    let directories = stale_directories();
    for directory in &directories {
        let _ = std::fs::remove_dir_all(temporary(directory));
    }
    let of_dpdk = stale_dpdk_directories(Path::new(DPDK));
    for directory in &of_dpdk {
        let _ = std::fs::remove_dir_all(Path::new(DPDK).join(directory));
    }
    // The last step: until then, these files show that their processes have ended.
    sweep_locks();
    Ok([found, directories, of_dpdk].concat())
}

/// The directory in which DPDK, run by root, keeps a directory for each process, named by its prefix.
const DPDK: &str = "/run/dpdk";

/// Returns the names of DPDK's directories of our processes that have ended: `sb-PID`.
fn stale_dpdk_directories(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            let process = name.strip_prefix("sb-").and_then(|rest| rest.parse().ok());
            process.is_some_and(|process| !exec::is_alive(process))
        })
        .collect()
}

/// The suffix of the names of directories without a namespace of the same name.
const IN_MEMORY: &str = "memif";

/// Returns the name of the directory of a device with shared-memory links, which is in no namespace. `run` distinguishes several devices of one
/// process.
pub(crate) fn directory_name(run: &str) -> String {
    name(run, IN_MEMORY)
}

/// The suffix of the name of the directory of a process that holds a testbed for users to inspect.
const HOLDER: &str = "holder";

/// Creates the directory of this process, which holds a testbed. Only this user can read it.
///
/// # Errors
/// The directory cannot be created, or already exists.
pub fn make_holder_directory() -> Result<PathBuf, TestbedError> {
    let path = own_directory(&name("", HOLDER));
    DirBuilder::new()
        .mode(0o700)
        .create(&path)
        .map_err(TestbedError::file("make", &path))?;
    Ok(path)
}

/// Returns the directories of this user's processes that hold a testbed, or held one when they were killed.
pub fn holder_directories() -> Vec<PathBuf> {
    directories(HOLDER)
        .iter()
        .map(|name| temporary(name))
        .collect()
}

/// Returns the names of this user's directories of devices and of holders whose processes have ended. (The devices end with them.) The namespace of
/// a device may be gone already.
pub(crate) fn stale_directories() -> Vec<String> {
    own_directories()
        .into_iter()
        .filter(|name| is_of_a_role(name) && is_left_behind(name))
        .collect()
}

/// Returns true if a directory is that of a device or a holder: `sb-7.1-dut`, `sb-7.1-t1-dut2`, `sb-7.1-memif`.
fn is_of_a_role(name: &str) -> bool {
    let role = name.rsplit('-').next().unwrap_or_default();
    let device = role
        .strip_prefix("dut")
        .is_some_and(|number| number.bytes().all(|octet| octet.is_ascii_digit()));
    device || [IN_MEMORY, HOLDER].contains(&role)
}

/// Returns the names of this user's directories for a role.
fn directories(role: &str) -> Vec<String> {
    own_directories()
        .into_iter()
        .filter(|name| name.ends_with(&format!("-{role}")))
        .collect()
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(name)
}

/// Returns the names of all directories of this user with our prefix.
fn own_directories() -> Vec<String> {
    let Ok(own) = std::fs::metadata("/proc/self").map(|own| own.uid()) else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    // Symbolic links are not followed, because the target of another user's link is not ours.
    let names = entries
        .filter(|entry| {
            entry
                .metadata()
                .is_ok_and(|found| found.is_dir() && found.uid() == own)
        })
        .filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with("sb-")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dpdk_keeps_of_processes_that_are_gone_is_left_behind() {
        let root = std::env::temp_dir().join(format!("sixbench-dpdk-{}", std::process::id()));
        let gone = format!("sb-{}", u32::MAX);
        for name in [&gone, &format!("sb-{}", std::process::id()), "rte", "sb-x"] {
            std::fs::create_dir_all(root.join(name)).expect("a directory");
        }
        let found = stale_dpdk_directories(&root);
        std::fs::remove_dir_all(&root).expect("removed");
        assert_eq!(found, [gone]);
    }

    #[test]
    fn only_directories_of_processes_that_are_gone_are_left_behind() {
        let gone =
            [IN_MEMORY, HOLDER, "dut", "t1-dut2"].map(|role| format!("sb-{}-{role}", u32::MAX));
        let others = [directory_name("here"), format!("{}-not-ours", gone[0])];
        let all: Vec<String> = others.iter().chain(&gone).cloned().collect();
        for name in &all {
            std::fs::create_dir(own_directory(name)).expect("a directory");
        }
        let stale = stale_directories();
        for name in &all {
            std::fs::remove_dir(own_directory(name)).expect("removed");
        }
        let found: Vec<&String> = all
            .iter()
            .filter(|name| stale.iter().any(|left| guessable(left) == **name))
            .collect();
        assert_eq!(found, gone.iter().collect::<Vec<_>>());
        assert!(
            stale.iter().all(|left| !gone.contains(left)),
            "nobody can guess {stale:?}"
        );
    }
}
