//! Proof that a process which owns namespaces, directories or notes is alive. Each holds a lock on a file with its process ID; the kernel releases
//! the lock when the process ends, however that happens. `/proc` alone would count a zombie, and another process that got the same ID later.

use super::process::is_running;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The directory of root's locks. Those of other users are in the directory for temporary files.
const ROOTS: &str = "/run";

const SUFFIX: &str = "-alive";

/// The lock of this process, held as long as anything of it exists that a later process would have to remove.
#[derive(Clone, Debug)]
pub(crate) struct LifeLock {
    _file: Option<Arc<LockedFile>>,
}

#[derive(Debug)]
struct LockedFile {
    path: PathBuf,
    _file: File,
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

static OWN: Mutex<Weak<LockedFile>> = Mutex::new(Weak::new());

impl LifeLock {
    /// Takes the lock of this process, or shares it. Where the file cannot be made, the state of the process in `/proc` is the only proof.
    pub(crate) fn take() -> Self {
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = own.upgrade() {
            return Self { _file: Some(file) };
        }
        let file = lock(&file_of(&place_of_own(), std::process::id())).map(Arc::new);
        *own = file.as_ref().map_or_else(Weak::new, Arc::downgrade);
        Self { _file: file }
    }
}

/// Creates a file that is locked before it has this name, so that no process finds it without its lock. It replaces the file of an earlier process with
/// this ID.
fn lock(path: &Path) -> Option<LockedFile> {
    let new = path.with_file_name(format!("sb-{}.new{SUFFIX}", std::process::id()));
    let _ = fs::remove_file(&new);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .ok()?;
    file.lock().ok()?;
    fs::rename(&new, path).ok()?;
    Some(LockedFile {
        path: path.to_owned(),
        _file: file,
    })
}

/// Returns true if the process with this ID that left something behind is still running.
pub(crate) fn is_alive(process: u32) -> bool {
    is_alive_by(&places(), process)
}

fn is_alive_by(places: &[PathBuf], process: u32) -> bool {
    let held = places
        .iter()
        .find_map(|place| is_held(&file_of(place, process)));
    // A process of an earlier version has no lock.
    held.unwrap_or_else(|| is_running(process))
}

/// Returns true if a process holds the lock on a file of this user; `None` if there is no such file.
fn is_held(path: &Path) -> Option<bool> {
    let found = fs::symlink_metadata(path).ok()?;
    // Anybody may create such a file in a world-writable directory and hold its lock, so that of another user proves nothing.
    if !found.is_file() || Some(found.uid()) != own_user() {
        return None;
    }
    Some(matches!(
        File::open(path).ok()?.try_lock_shared(),
        Err(TryLockError::WouldBlock)
    ))
}

/// Removes the files of this user's processes that have ended.
pub(crate) fn sweep_locks() {
    let entries = places()
        .into_iter()
        .filter_map(|place| fs::read_dir(place).ok())
        .flatten()
        .filter_map(Result::ok);
    for path in entries
        .map(|entry| entry.path())
        .filter(|path| owner(path).is_some() && is_held(path) == Some(false))
    {
        let _ = fs::remove_file(path);
    }
}

fn places() -> [PathBuf; 2] {
    [PathBuf::from(ROOTS), std::env::temp_dir()]
}

fn place_of_own() -> PathBuf {
    let [root, temporary] = places();
    if own_user() == Some(0) {
        root
    } else {
        temporary
    }
}

fn own_user() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|own| own.uid())
}

fn file_of(place: &Path, process: u32) -> PathBuf {
    place.join(format!("sb-{process}{SUFFIX}"))
}

fn owner(path: &Path) -> Option<u32> {
    path.file_name()?
        .to_str()?
        .strip_prefix("sb-")?
        .strip_suffix(SUFFIX)?
        .split('.')
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    #[expect(
        clippy::used_underscore_binding,
        reason = "the field is held, not read, outside of tests"
    )]
    fn a_lock_lasts_as_long_as_its_last_holder() {
        let first = LifeLock::take();
        let second = LifeLock::take();
        let path = second
            ._file
            .as_ref()
            .expect("a file (these tests need root)")
            .path
            .clone();
        drop(first);
        assert_eq!(is_held(&path), Some(true));
        assert!(is_alive(std::process::id()));
    }

    #[test]
    fn a_running_process_whose_id_is_that_of_one_that_ended_does_not_count() {
        let place = std::env::temp_dir().join(format!("sixbench-life-{}", std::process::id()));
        fs::create_dir_all(&place).expect("a directory");
        let (places, own) = ([place.clone()], std::process::id());
        assert!(
            is_alive_by(&places, own),
            "without a file, its state counts"
        );
        // The kernel released the lock of the process that made the file.
        fs::write(file_of(&place, own), "").expect("a file");
        assert!(!is_alive_by(&places, own));
        let held = lock(&file_of(&place, own)).expect("replaced");
        assert!(is_alive_by(&places, own));
        drop(held);
        assert!(!file_of(&place, own).exists());
        fs::remove_dir(&place).expect("removed");
    }

    #[test]
    fn a_zombie_is_dead() {
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .expect("sleep");
        assert!(is_alive(child.id()));
        child.kill().expect("killed");
        let is_zombie = || {
            fs::read_to_string(format!("/proc/{}/stat", child.id()))
                .is_ok_and(|stat| stat.contains(") Z"))
        };
        while !is_zombie() {
            std::thread::yield_now();
        }
        assert!(!is_alive(child.id()) && Path::new(&format!("/proc/{}", child.id())).exists());
        child.wait().expect("waited for");
    }

    #[test]
    fn a_file_tells_its_process() {
        assert_eq!(owner(&file_of(Path::new("/run"), 7)), Some(7));
        assert_eq!(owner(Path::new("/run/sb-7-switches")), None);
    }
}
