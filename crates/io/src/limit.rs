//! The resource limits of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Raises the limit on open files and sockets of this process to its hard limit, and returns it. The hard limit itself is not changed.
pub fn raise_open_files() -> io::Result<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    }
    Ok(maximum.unwrap_or(u64::MAX))
}

/// Returns the number of files and sockets that this process has open.
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
