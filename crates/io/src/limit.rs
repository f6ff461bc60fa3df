//! The resource limits of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Raises the limit on open files and sockets of this process to its hard limit, and returns it. The hard limit itself is not changed.
///
/// # Errors
/// If the kernel refuses it.
pub fn raise_open_files() -> io::Result<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        setrlimit(
            Resource::Nofile,
            Rlimit {
                current: maximum,
                maximum,
            },
        )?;
    }
    Ok(maximum.unwrap_or(u64::MAX))
}

/// Returns the octets that the address space of this process may still grow by, or `None` if it has no limit.
pub fn address_space_left() -> Option<u64> {
    let most = getrlimit(Resource::As).current?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let words = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:"))?;
    let used: u64 = words.split_whitespace().next()?.parse().ok()?;
    // The kernel counts in kB of 1024 octets here.
    Some(most.saturating_sub(used << 10))
}

/// Returns the number of files and sockets that this process has open, including the directory that this function opens to count them.
///
/// # Errors
/// If /proc cannot be read.
pub fn open_files() -> io::Result<u64> {
    Ok(std::fs::read_dir("/proc/self/fd")?.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_above_what_is_open_and_raising_it_twice_changes_nothing() {
        let limit = raise_open_files().expect("limit");
        assert!(open_files().expect("files") < limit);
        assert_eq!(raise_open_files().expect("limit"), limit);
    }
}
