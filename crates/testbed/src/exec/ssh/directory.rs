//! The directories of this process for what an ssh of it uses: the socket that its commands share, or the copy of a configuration.

use crate::exec::{TestbedError, guessable, is_alive, own_directory};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The name of the copy of a configuration in its directory.
pub(super) const COPY: &str = "config";

/// Ours alone, and new: who can write to the socket is root over there, and who can write to the copy is root here.
pub(super) fn make_directory() -> Result<PathBuf, TestbedError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = own_directory(&format!("sb-{}-ssh-{count}", std::process::id()));
    let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
    made.map_err(TestbedError::file("make", &path))?;
    Ok(path)
}

/// Removes those among the `directories` of this user that processes which are gone have left, with the copy of a configuration in them.
pub(crate) fn sweep(directories: impl Iterator<Item = PathBuf>) {
    let is_stale = |path: &PathBuf| owner(path).is_some_and(|process| !is_alive(process));
    for directory in directories.filter(is_stale) {
        let _ = std::fs::remove_file(directory.join(COPY));
        // Nothing with something else in it.
        let _ = std::fs::remove_dir(directory);
    }
}

fn owner(path: &Path) -> Option<u32> {
    let name = guessable(path.file_name()?.to_str()?);
    let (process, count) = name.strip_prefix("sb-")?.split_once("-ssh-")?;
    count.parse::<u32>().ok()?;
    process.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_ours_alone_and_tells_its_process() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = make_directory().expect("a directory");
        assert_eq!(owner(&directory), Some(std::process::id()));
        assert_eq!(
            std::fs::metadata(&directory)
                .expect("made")
                .permissions()
                .mode()
                & 0o777,
            0o700
        );
        sweep([directory.clone()].into_iter());
        assert!(directory.exists(), "its process lives");
        // No process has this number.
        let left =
            std::env::temp_dir().join(format!("sb-{}.{}-ssh-0", u32::MAX, std::process::id()));
        std::fs::create_dir(&left).expect("a directory");
        std::fs::write(left.join(COPY), "Host dut\n").expect("a file");
        sweep([left.clone()].into_iter());
        assert!(!left.exists());
        std::fs::remove_dir(&directory).expect("removed");
        assert_eq!(owner(Path::new("/tmp/sb-7-ssh-x")), None);
    }
}
