//! What the system allows this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Lets this process open as many files and sockets as its hard limit allows; returns how many that are. The hard limit itself stays as the
/// administrator has set it.
pub fn raise_open_files() -> io::Result<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    }
    Ok(maximum.unwrap_or(u64::MAX))
}

/// Files and sockets this process has open.
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
