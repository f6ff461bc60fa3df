//! Locks on resources that a run uses exclusively: cores and ports of this machine. Two runs sharing one would distort each other's results
//! unnoticed. Each run describes itself in its own file, in a directory that only its user can write to, and holds a lock on that file. The kernel
//! releases the lock when the process ends, however that happens. A file without a lock is removed by the next run.
//!
//! # What a run takes
//!
//! Before it touches anything or creates a directory, a run takes the cores of tester and device and its ports (`locks`), in one step: all of
//! them or none. It describes itself in a file in a directory that only its user can write to, and holds a `flock` on the file. Another run reads these
//! files under a lock of the directory (`guard`). A file that it can lock was left by a killed process and is removed. A file that it cannot lock has a
//! living holder, which the message names. So no order of locks is needed, runs cannot deadlock, and reused process numbers do no harm. A machine over
//! ssh (of a device, of the authority, of the other end of the tester) is locked as a whole, by a session there (`dut::remote::lock`). The session
//! receives the same description, and returns that of the holder if the machine is taken. In that case the locks of this machine are released until the
//! next attempt: nothing is held while waiting. `perform` takes no locks: a program that embeds it calls `locks::lock` first, as the commands do.

pub use crate::error::lock::{LockError, LockHolder};

use crate::ends::cores::cores;
use crate::error::lock::VARIABLE;
use crate::error::{PlanError, RunError};
use crate::run_clock::now;
use crate::stop;
use rustix::fs::OFlags;
use sixbench_plan::Links;
use sixbench_testbed::{
    AuthorityMachine, LockAttempt, MachineLock, Remote, RemoteMachine, Shell, facts,
};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The file that a process locks while it checks the others and adds itself.
const GUARD: &str = "guard";

/// The suffix of the files in which runs describe themselves.
const SUFFIX: &str = ".json";

/// The timeout for another process to release the guard, which it holds while it reads a few small files.
const GUARD_TIMEOUT: Duration = Duration::from_secs(10);

/// The pauses between attempts of a waiting run: on this machine, and on another machine, where each attempt opens a connection.
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_OF_MACHINES: Duration = Duration::from_secs(2);

/// The resources that a run needs exclusively.
pub struct LockRequest<'a> {
    /// The links, which determine the cores and ports in use.
    pub links: &'a Links,
    /// The name of its plan, or its command.
    pub name: &'a str,
    /// Its results directory, if it has one.
    pub directory: Option<&'a Path>,
    /// True if it waits until the resources are free.
    pub waits: bool,
}

/// The locks of a run, released when this is dropped or the process ends.
#[derive(Debug)]
pub struct ResourceLocks {
    /// The locks of this machine and of others: held, and never looked at.
    _files: Vec<LockFile>,
    machines: Vec<MachineLock>,
}

/// The file in which a run describes itself, locked.
#[derive(Debug)]
struct LockFile {
    path: PathBuf,
    file: File,
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Takes the locks on all resources that a run needs exclusively, or none. If it has to wait, `tell` is called once with the holder.
///
/// # Errors
/// Another run has one of the resources, a core may not be used by this process, the directory of the locks cannot be used, or a stop was
/// requested.
pub fn lock(
    request: &LockRequest<'_>,
    stop: &Arc<AtomicBool>,
    mut tell: impl FnMut(String),
) -> Result<ResourceLocks, RunError> {
    let mut holder = holder_of(request)?;
    let directories = LockDirectory::open_all(places_of_locks())?;
    let machines = machines_of(request.links);
    let shell = Shell::new().stopped_by(stop.clone());
    let mut told = String::new();
    loop {
        let locked = add(&directories, &holder).map_err(RunError::from);
        let error = match locked
            .and_then(|locks| with_machines(locks, &machines, &holder, &shell, &mut tell))
        {
            Err(RunError::Lock(error)) if request.waits && error.is_temporary() => error,
            other => return other,
        };
        if told != error.to_string() {
            told = error.to_string();
            tell(format!("waiting: {told}"));
        }
        stop::rest(
            stop,
            if machines.is_empty() {
                PAUSE
            } else {
                PAUSE_OF_MACHINES
            },
        )?;
        // The locks are held from the attempt that succeeds on, not from the first.
        holder.since = now();
    }
}

/// Returns the other machines that a run uses, each once: those of its devices, of the authority, and of one end of the tester.
fn machines_of(links: &Links) -> Vec<&Remote> {
    let devices = links.machines.iter().map(RemoteMachine::remote);
    let authority = links.authority.iter().map(AuthorityMachine::remote);
    let mut machines: Vec<&Remote> = devices.chain(authority).collect();
    // Without a third machine, the other end may be on the device's machine.
    let agent = links.agent.iter().map(|agent| &agent.remote);
    let is_new = |agent: &&Remote| {
        machines
            .iter()
            .all(|machine| machine.destination() != agent.destination())
    };
    let agent: Vec<&Remote> = agent.filter(is_new).collect();
    machines.extend(agent);
    machines
}

/// Adds the locks of other machines. If one is taken, all are released.
fn with_machines(
    mut locks: ResourceLocks,
    machines: &[&Remote],
    holder: &LockHolder,
    shell: &Shell,
    tell: &mut impl FnMut(String),
) -> Result<ResourceLocks, RunError> {
    let text = serde_json::to_string(holder).map_err(io::Error::from)?;
    for machine in machines {
        let name = machine.destination().to_owned();
        match MachineLock::take(machine, &text, shell)? {
            LockAttempt::Taken(lock) => locks.machines.push(lock),
            LockAttempt::Held(by) if by == text => {
                let text = format!(
                    "{name} is a machine that the plan names twice: each needs a machine of its own"
                );
                return Err(PlanError(text).into());
            }
            LockAttempt::Held(by) => {
                return Err(LockError::Machine {
                    machine: name,
                    holder: serde_json::from_str(&by).ok(),
                }
                .into());
            }
            LockAttempt::Unsupported => {
                tell(format!(
                    "warning: {name} has neither flock nor lockf, so no other tester is kept from it"
                ));
            }
        }
    }
    Ok(locks)
}

/// Returns a run's description of itself for others.
fn holder_of(request: &LockRequest<'_>) -> Result<LockHolder, RunError> {
    let used = cores(request.links)?;
    let ports = request.links.own_ports().map(ToString::to_string).collect();
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(LockHolder {
        name: request.name.to_owned(),
        user: user(),
        host: facts::host_name(),
        process: std::process::id(),
        directory: request.directory.map(absolute),
        since: now(),
        cores: used.tester.into_iter().chain(used.dut).collect(),
        ports,
        network: fs::metadata("/proc/self/ns/net").map_or(0, |namespace| namespace.ino()),
    })
}

/// Returns the directories of locks: that of the variable, else root's, else those of this user.
fn places_of_locks() -> Vec<PathBuf> {
    let user = rustix::process::geteuid();
    let named = |variable| {
        std::env::var_os(variable)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    match named(VARIABLE) {
        Some(path) => vec![path],
        None if user.is_root() => vec!["/run/sixbench".into()],
        None => {
            let of_user = [
                Some(PathBuf::from(format!("/run/user/{}", user.as_raw()))),
                named("XDG_RUNTIME_DIR"),
            ];
            let private = of_user
                .into_iter()
                .flatten()
                .find(|path| is_private(path))
                .map(|path| path.join("sixbench"));
            // The private one is there only while the user is logged in: jobs without a session meet the others in /tmp, whatever their TMPDIR is.
            private
                .into_iter()
                .chain([format!("/tmp/sixbench-{}", user.as_raw()).into()])
                .collect()
        }
    }
}

/// Returns whether a directory is private to this user.
fn is_private(path: &Path) -> bool {
    let is_own =
        |found: &fs::Metadata| found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|found| is_own(&found) && found.mode() & 0o777 == 0o700)
}

/// Adds a holder in all directories, unless another one has something that it needs.
fn add(directories: &[LockDirectory], holder: &LockHolder) -> Result<ResourceLocks, LockError> {
    let files = directories
        .iter()
        .map(|directory| directory.add(holder))
        .collect::<Result<_, _>>()?;
    Ok(ResourceLocks {
        _files: files,
        machines: Vec::new(),
    })
}

struct LockDirectory(PathBuf);

impl LockDirectory {
    /// Opens those of the directories that can be used: another user may have been first in /tmp, and one of our own is enough.
    ///
    /// # Errors
    /// None of them can be used.
    fn open_all(places: Vec<PathBuf>) -> Result<Vec<Self>, LockError> {
        let opened: Vec<_> = places.into_iter().map(Self::open).collect();
        if opened.iter().any(Result::is_ok) {
            Ok(opened.into_iter().flatten().collect())
        } else {
            opened.into_iter().collect()
        }
    }

    /// Makes the directory where there is none, and refuses one that others can write to.
    fn open(path: PathBuf) -> Result<Self, LockError> {
        let refused = |why: String| LockError::Directory {
            path: path.clone(),
            why,
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(|error| refused(error.to_string()))?;
        // This does not follow a symbolic link.
        let found = fs::symlink_metadata(&path).map_err(|error| refused(error.to_string()))?;
        if !found.is_dir() {
            return Err(refused("it is no directory".to_owned()));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(refused(format!(
                "it belongs to another user (number {})",
                found.uid()
            )));
        }
        if found.mode() & 0o022 != 0 {
            return Err(refused("other users can write to it".to_owned()));
        }
        Ok(Self(path))
    }

    /// Adds a holder, unless another one has something that it needs.
    fn add(&self, holder: &LockHolder) -> Result<LockFile, LockError> {
        let _guard = self.guard()?;
        if let Some(holder) = self.tester_of_this_machine() {
            return Err(LockError::IsDevice { holder });
        }
        for other in self.holders()? {
            if let Some(what) = holder.shared_with(&other) {
                return Err(LockError::Held {
                    what,
                    holder: Box::new(other),
                });
            }
        }
        self.write(holder).map_err(|error| self.refused(&error))
    }

    /// Returns the lock under which only one process at a time checks the others and adds itself.
    fn guard(&self) -> Result<File, LockError> {
        let guard = options()
            .write(true)
            .create(true)
            .open(self.0.join(GUARD))
            .map_err(|error| self.refused(&error))?;
        let begun = Instant::now();
        loop {
            match guard.try_lock() {
                Ok(()) => return Ok(guard),
                Err(TryLockError::WouldBlock) if begun.elapsed() < GUARD_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(self.refused(&error.into())),
            }
        }
    }

    /// Returns the current holders, and removes the files of processes that no longer exist.
    fn holders(&self) -> Result<Vec<LockHolder>, LockError> {
        let entries = fs::read_dir(&self.0).map_err(|error| self.refused(&error))?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let own = paths.filter(|path| path.to_string_lossy().ends_with(SUFFIX));
        Ok(own.filter_map(|path| holder_in(&path)).collect())
    }

    /// Returns the self-description of a tester on another machine that uses this machine as its device, or `None` if there is no such tester.
    fn tester_of_this_machine(&self) -> Option<Option<Box<LockHolder>>> {
        let lock = options().open(self.0.join("machine")).ok()?;
        let is_held = matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
        let told = || fs::read_to_string(self.0.join("machine.holder")).ok();
        is_held.then(|| told().and_then(|text| serde_json::from_str(&text).ok()))
    }

    fn write(&self, holder: &LockHolder) -> io::Result<LockFile> {
        // A process may have several locks, and containers that share the directory count their processes alike.
        let names = (0..).map(|count: u32| format!("{}-{count}{SUFFIX}", holder.process));
        let mut paths = names.map(|name| self.0.join(name));
        let path = paths.find(|path| !path.exists()).expect("names do not end");
        let file = options().write(true).create_new(true).open(&path)?;
        // From here on the file goes with its owner, also where it cannot be written.
        let lock = LockFile { path, file };
        lock.file.try_lock()?;
        (&lock.file).write_all(serde_json::to_string(holder)?.as_bytes())?;
        Ok(lock)
    }

    fn refused(&self, error: &io::Error) -> LockError {
        LockError::Directory {
            path: self.0.clone(),
            why: error.to_string(),
        }
    }
}

/// Returns options to open a file for reading without following a symbolic link.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32);
    options
}

/// Returns the holder described by a file, or removes the file if that process no longer exists.
fn holder_in(path: &Path) -> Option<LockHolder> {
    let mut file = options().open(path).ok()?;
    if file.try_lock_shared().is_ok() {
        let _ = fs::remove_file(path);
        return None;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Returns the name of this user, or of the user who called sudo. If it is unknown, returns the user ID.
fn user() -> String {
    let named = ["SUDO_USER", "LOGNAME", "USER"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    named.unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// A directory for one test, removed when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("sixbench-locks-{name}-{}", std::process::id())))
        }

        fn open(&self) -> LockDirectory {
            LockDirectory::open(self.0.clone()).expect("a directory of our own")
        }

        fn files(&self) -> usize {
            fs::read_dir(&self.0)
                .expect("a directory")
                .filter(|entry| entry.as_ref().is_ok_and(|file| file.file_name() != GUARD))
                .count()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn holder<const N: usize>(cores: [u32; N], ports: &[&str]) -> LockHolder {
        LockHolder {
            name: "nightly".to_owned(),
            user: "ada".to_owned(),
            process: 4711,
            directory: Some("/results/night".into()),
            since: "2026-03-01T02:00:00Z".to_owned(),
            cores: cores.into(),
            ports: ports.iter().map(|port| (*port).to_owned()).collect(),
            network: 7,
            ..LockHolder::default()
        }
    }

    #[test]
    fn a_run_that_needs_a_core_of_another_is_refused_with_its_name_until_that_has_ended() {
        let scratch = Scratch::new("cores");
        let directory = scratch.open();
        let first = directory.add(&holder([0, 1, 2], &[])).expect("nobody else");
        let other = directory.add(&holder([3], &[])).expect("another core");
        let error = directory
            .add(&holder([1, 2, 4], &[]))
            .expect_err("two cores are in use")
            .to_string();
        let holder_in_words =
            "`nightly` of ada (process 4711, results in /results/night) since 2026-03-01T02:00:00Z";
        assert_eq!(error, format!("cores 1, 2 are used by {holder_in_words}"));
        assert_eq!(scratch.files(), 2, "one that is refused leaves nothing");
        drop(first);
        let again = directory
            .add(&holder([1, 2, 4], &[]))
            .expect("they are free");
        drop((other, again));
        assert_eq!(scratch.files(), 0);
    }

    #[test]
    fn interfaces_are_the_same_within_a_network_namespace_and_addresses_everywhere() {
        let scratch = Scratch::new("ports");
        let directory = scratch.open();
        let _first = directory
            .add(&holder([0], &["e0", "memif:/run/a"]))
            .expect("nobody else");
        let told = |holder: LockHolder| {
            directory
                .add(&holder)
                .map(drop)
                .map_err(|error| error.to_string())
        };
        assert!(
            told(holder([1], &["e0", "e1"]))
                .is_err_and(|error| error.starts_with("port e0 is used by"))
        );
        assert!(
            told(LockHolder {
                network: 8,
                ..holder([1], &["e0", "e1"])
            })
            .is_ok()
        );
        let elsewhere = LockHolder {
            network: 8,
            ..holder([0, 1], &["memif:/run/a"])
        };
        assert!(
            told(elsewhere)
                .is_err_and(|error| error.starts_with("core 0 and port memif:/run/a are used by"))
        );
    }

    #[test]
    fn the_file_of_a_process_that_is_gone_holds_nothing_and_is_removed() {
        let scratch = Scratch::new("gone");
        let directory = scratch.open();
        fs::write(
            scratch.0.join("1-0.json"),
            serde_json::to_string(&holder([0], &[])).expect("JSON"),
        )
        .expect("a file");
        let _lock = directory
            .add(&holder([0], &[]))
            .expect("its process is gone");
        assert_eq!(scratch.files(), 1);
    }

    #[test]
    fn a_directory_that_others_can_write_to_and_a_link_are_refused() {
        let scratch = Scratch::new("foreign");
        drop(scratch.open());
        fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o777)).expect("permissions");
        let refused = |path: &Path| {
            LockDirectory::open(path.to_owned())
                .map(drop)
                .expect_err("refused")
                .to_string()
        };
        assert!(
            refused(&scratch.0)
                .contains("other users can write to it; set SIXBENCH_LOCKS to a directory that only this user can write to"),
            "{}",
            refused(&scratch.0)
        );
        fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o700)).expect("permissions");
        let (link, target) = (scratch.0.join("link"), scratch.0.join("target"));
        symlink(&scratch.0, &link).expect("a link");
        assert!(
            refused(&link).contains("no directory"),
            "{}",
            refused(&link)
        );
        symlink(&target, scratch.0.join(GUARD)).expect("a link");
        assert!(scratch.open().add(&holder([0], &[])).is_err() && !target.exists());
    }

    #[test]
    fn a_directory_that_another_user_has_made_first_stops_nobody_who_has_one_of_his_own() {
        let (foreign, own) = (Scratch::new("first"), Scratch::new("second"));
        drop((foreign.open(), own.open()));
        fs::set_permissions(&foreign.0, fs::Permissions::from_mode(0o777)).expect("permissions");
        let open = || LockDirectory::open_all(vec![own.0.clone(), foreign.0.clone()]);
        let held = add(&open().expect("one is enough"), &holder([0], &[])).expect("nobody else");
        assert_eq!((own.files(), foreign.files()), (1, 0));
        drop(held);
        // Who finds only one of two meets those who find both.
        fs::set_permissions(&foreign.0, fs::Permissions::from_mode(0o700)).expect("permissions");
        let both = open().expect("directories of our own");
        let held = add(&both, &holder([0], &[])).expect("nobody else");
        assert_eq!((own.files(), foreign.files()), (1, 1));
        assert!(
            add(&[foreign.open()], &holder([0], &[])).is_err()
                && add(&[own.open()], &holder([0], &[])).is_err()
        );
        drop(held);
        let alone = add(&[foreign.open()], &holder([0], &[])).expect("it has ended");
        assert!(add(&both, &holder([0], &[])).is_err());
        assert_eq!(
            (own.files(), foreign.files()),
            (0, 1),
            "one that is refused leaves nothing"
        );
        drop(alone);
        fs::set_permissions(&own.0, fs::Permissions::from_mode(0o770)).expect("permissions");
        fs::set_permissions(&foreign.0, fs::Permissions::from_mode(0o770)).expect("permissions");
        let error = open().map(drop).expect_err("none is private").to_string();
        assert!(error.contains(&own.0.display().to_string()), "{error}");
        assert!(
            !is_private(&own.0)
                && !is_private(Path::new("/proc/self/cwd"))
                && !is_private(&own.0.join("none"))
        );
        fs::set_permissions(&own.0, fs::Permissions::from_mode(0o700)).expect("permissions");
        assert!(is_private(&own.0));
    }

    #[test]
    fn a_machine_that_is_the_device_of_another_tester_is_not_used_until_that_has_ended() {
        let scratch = Scratch::new("device");
        let directory = scratch.open();
        let tester = LockHolder {
            host: "lab2".to_owned(),
            ..holder([0], &[])
        };
        fs::write(
            scratch.0.join("machine.holder"),
            serde_json::to_string(&tester).expect("JSON"),
        )
        .expect("a file");
        let lock = File::create(scratch.0.join("machine")).expect("a file");
        lock.lock().expect("as the session of that tester does");
        let error = directory
            .add(&holder([9], &[]))
            .expect_err("the machine is used")
            .to_string();
        assert!(
            error.starts_with("this machine is the device of `nightly` of ada")
                && error.ends_with("Z, on lab2"),
            "{error}"
        );
        drop(lock);
        directory.add(&holder([9], &[])).expect("it has ended");
    }
}
