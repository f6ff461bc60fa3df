//! Our own network namespaces: created here, and removed with everything in them. Their names, `sb-<pid>-<role>`, show which process owns them.

use crate::exec::{LifeLock, Shell, TestbedError, is_alive, kill, warn};
use std::path::Path;
use std::time::{Duration, Instant};

/// A namespace that is removed with the processes in it when this is dropped.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    shell: Shell,
    /// Released after the namespace has been removed.
    _alive: Option<LifeLock>,
}

/// Returns the name of this process's namespace for a role. `run` distinguishes several testbeds of one process.
pub fn name(run: &str, role: &str) -> String {
    match run {
        "" => format!("sb-{}-{role}", std::process::id()),
        run => format!("sb-{}-{run}-{role}", std::process::id()),
    }
}

impl Namespace {
    /// Creates a namespace and brings its loopback interface up.
    ///
    /// # Errors
    /// Without root, or if there is a namespace of that name.
    pub fn new(shell: &Shell, name: &str) -> Result<Self, TestbedError> {
        let namespace =
            Self::made_by(&["ip", "netns", "add", name], shell, name).map_err(with_needed_root)?;
        namespace.shell().line("ip link set lo up")?;
        Ok(namespace)
    }

    /// Creates the namespace. An interrupted command may have created it, too; one that existed before is not ours to remove.
    fn made_by(words: &[&str], shell: &Shell, name: &str) -> Result<Self, TestbedError> {
        let was_there = exists(name);
        let alive = (!shell.is_rehearsal()).then(LifeLock::take);
        let made = || Self {
            name: name.to_owned(),
            shell: shell.clone(),
            _alive: alive.clone(),
        };
        let outcome = shell.run(words).map(|_| made());
        outcome.inspect_err(|_| {
            if !was_there && exists(name) {
                drop(made());
            }
        })
    }

    /// Returns its name, as under /run/netns.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a shell inside the namespace.
    pub fn shell(&self) -> Shell {
        self.shell.within(&self.name)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let removed = remove(&self.shell, &self.name);
        // Somebody else may have removed it meanwhile: then nothing is left to do.
        if let Err(error) = removed.or_else(|error| {
            if exists(&self.name) {
                Err(error)
            } else {
                Ok(())
            }
        }) {
            warn(&format!("namespace {} is still there", self.name), &error);
        }
    }
}

/// Adds to an error in making a namespace what kind of root it takes. Root of a user namespace may not mount what `ip netns add` mounts.
fn with_needed_root(error: TestbedError) -> TestbedError {
    let text = error.to_string();
    let is_refused = text.contains("--make-shared") || text.contains("Operation not permitted");
    if is_refused {
        error.restated(|cause| TestbedError::NoNamespace { cause })
    } else {
        error
    }
}

fn exists(name: &str) -> bool {
    Path::new("/run/netns").join(name).exists()
}

pub(super) fn remove(shell: &Shell, name: &str) -> Result<(), TestbedError> {
    let shell = &shell.for_undoing();
    // For users who replay the transcript: a namespace exists as long as a process is in it. One may end by itself just then.
    shell
        .transcript()
        .line(&format!("ip netns pids {name} | xargs -r kill || true"));
    for signal in ["TERM", "KILL"] {
        let pids = pids(shell, name);
        if pids.is_empty() {
            break;
        }
        kill(signal, &pids);
        let end = Instant::now() + Duration::from_millis(500);
        while !self::pids(shell, name).is_empty() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    shell.run(&["ip", "netns", "del", name]).map(drop)
}

fn pids(shell: &Shell, name: &str) -> Vec<String> {
    let printed = shell
        .look(&["ip", "netns", "pids", name])
        .unwrap_or_default();
    printed.split_whitespace().map(str::to_owned).collect()
}

/// Returns the namespaces of sixbench processes that were killed before they could undo their testbed.
pub fn stale() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/run/netns") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| is_left_behind(name)).collect()
}

/// Returns true if the process that gave this name has ended.
pub(super) fn is_left_behind(name: &str) -> bool {
    owner(name).is_some_and(|process| !is_alive(process))
}

fn owner(name: &str) -> Option<u32> {
    name.strip_prefix("sb-")?
        .split(['-', '.'])
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_refused_mount_names_the_kind_of_root_that_is_needed() {
        let failed = |said: &str| TestbedError::Failed {
            command: "ip netns add sb-1-dut".to_owned(),
            status: "exit status: 1".to_owned(),
            output: said.to_owned(),
        };
        let mount = "mount --make-shared /run/netns failed: Operation not permitted";
        let told = with_needed_root(failed(mount)).to_string();
        assert!(
            told.contains("(sudo)")
                && told.contains("a privileged container")
                && told.ends_with(mount),
            "{told}"
        );
        let other = with_needed_root(failed("File exists"));
        assert!(matches!(other, TestbedError::Failed { .. }), "{other}");
    }

    #[test]
    fn a_namespace_whose_making_was_interrupted_is_removed() {
        let stop = Arc::new(AtomicBool::new(false));
        let (shell, name) = (Shell::new().stopped_by(stop.clone()), name("cut", "dut"));
        let script = format!("ip netns add {name}; sleep 60");
        std::thread::scope(|scope| {
            let making =
                scope.spawn(|| Namespace::made_by(&["sh", "-c", &script], &shell, &name).map(drop));
            while !exists(&name) && !making.is_finished() {
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
            assert!(
                matches!(
                    making.join().expect("no panic"),
                    Err(TestbedError::Interrupted)
                ),
                "these tests need root"
            );
        });
        assert!(!exists(&name));
    }

    #[test]
    fn a_namespace_that_was_there_before_is_left_alone() {
        let (shell, name) = (Shell::new(), name("there", "dut"));
        let _namespace =
            Namespace::new(&shell, &name).expect("a namespace (these tests need root)");
        let error = Namespace::new(&shell, &name)
            .expect_err("refused")
            .to_string();
        assert!(error.contains("File exists"), "{error}");
        assert!(exists(&name));
    }

    #[test]
    fn a_name_tells_its_process() {
        assert_eq!(owner(&name("", "dut")), Some(std::process::id()));
        assert_eq!(owner(&name("t1", "dut")), Some(std::process::id()));
        assert_eq!(owner("sb-mine"), None);
        assert_eq!(owner("dut"), None);
    }
}
