//! What the system allows this process.

use crate::sys::check;
use std::io;

/// Lets this process open as many files and sockets as its hard limit allows; returns how many that are. The hard limit itself stays as the
/// administrator has set it.
pub fn raise_open_files() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one rlimit, which `limit` is.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    if limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the kernel only reads `limit`.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) })?;
    }
    Ok(limit.rlim_cur)
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
