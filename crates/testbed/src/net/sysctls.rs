//! Sysctls of this machine that a device or a plan changes, such as the size of the kernel's connection tracking table. All processes share them,
//! so each is written once, several devices at the same time must agree on its value, and the old value is restored after the last of them is gone.
//! A run that is killed leaves a note for the next sweep.

use crate::exec::{Shell, TestbedError, is_alive, warn};
use crate::facts::CPU;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

struct Used {
    before: String,
    value: String,
    users: u32,
}

static USED: Mutex<BTreeMap<String, Used>> = Mutex::new(BTreeMap::new());

/// The sysctls of a device or a plan, restored when this is dropped.
#[derive(Debug)]
pub struct Sysctls {
    files: Vec<String>,
    shell: Shell,
}

impl Sysctls {
    /// Sets the frequency governor of these cores.
    ///
    /// # Errors
    /// A core has no governor, or the kernel does not support this one.
    pub fn govern(cores: &[u32], governor: &str, shell: &Shell) -> Result<Self, TestbedError> {
        let file = |core: &u32| (format!("{CPU}/cpu{core}/cpufreq/scaling_governor"), governor.to_owned());
        Self::write(&cores.iter().map(file).collect::<Vec<_>>(), shell).map_err(|error| {
            error.explained(|error| {
                format!(
                    "cannot set the frequency governor to {governor} ({error}); see {CPU}/cpu0/cpufreq/scaling_available_governors: \
                     a virtual machine has none; leave `governor` out of [testbed]"
                )
            })
        })
    }

    /// Writes each value to its file.
    ///
    /// # Errors
    /// A sysctl cannot be written, or another device of this process needs a different value.
    pub(crate) fn write(wanted: &[(String, String)], shell: &Shell) -> Result<Self, TestbedError> {
        let mut sysctls = Self { files: Vec::new(), shell: shell.clone() };
        for (file, value) in wanted {
            take((file, value), shell, || shell.set(file, value))?;
            sysctls.files.push(file.clone());
        }
        Ok(sysctls)
    }
}

/// Adds a user of a sysctl. The first user writes it with `write`.
fn take(
    (file, value): (&str, &str),
    shell: &Shell,
    write: impl FnOnce() -> Result<(), TestbedError>,
) -> Result<(), TestbedError> {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(other) = used.get_mut(file) {
        if other.value != value {
            return Err(TestbedError::Other(format!(
                "two devices need different values of {file} at the same time, {} and {value}, but it applies to the whole \
                 machine; measure them one after the other (without `interleave`), or with the same `table-size`",
                other.value
            )));
        }
        other.users += 1;
        return Ok(());
    }
    let found = shell.look(&["cat", file])?.trim().to_owned();
    // If another run has changed the sysctl, the current value is not the original one.
    let before = noted_by_others(file).unwrap_or_else(|| found.clone());
    used.insert(file.to_owned(), Used { before, value: value.to_owned(), users: 1 });
    let written = note(&used, shell).and_then(|()| write());
    written.inspect_err(|_| {
        used.remove(file);
        restore_if_changed(shell, file, &found);
    })
}

/// Restores a sysctl after a failed write, because an interrupted command may still have written it.
fn restore_if_changed(shell: &Shell, file: &str, found: &str) {
    if shell.for_undoing().look(&["cat", file]).is_ok_and(|now| now.trim() != found) {
        restore(shell, file, found);
    }
}

/// Records the original values of the sysctls for a later process, in case this one is killed.
fn note(used: &BTreeMap<String, Used>, shell: &Shell) -> Result<(), TestbedError> {
    if shell.is_rehearsal() {
        return Ok(());
    }
    let path = note_of(std::process::id());
    let lines: String = used.iter().map(|(file, used)| format!("{file} {}\n", used.before)).collect();
    let written = if lines.is_empty() { std::fs::remove_file(&path).or(Ok(())) } else { std::fs::write(&path, lines) };
    written.map_err(TestbedError::file("write", &path))
}

/// A directory that only root can write to: with a forged note, another user could make root write to any file.
const NOTES: &str = "/run";

fn note_of(process: u32) -> PathBuf {
    Path::new(NOTES).join(format!("sb-{process}-switches"))
}

impl Drop for Sysctls {
    fn drop(&mut self) {
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        for file in self.files.iter().rev() {
            let Some(sysctl) = used.get_mut(file) else { continue };
            sysctl.users -= 1;
            if sysctl.users == 0 {
                restore(&self.shell, file, &sysctl.before);
                used.remove(file);
            }
        }
        if let Err(error) = note(&used, &self.shell) {
            warn("the note of sysctls to be set back is still there", &error);
        }
    }
}

fn restore(shell: &Shell, file: &str, before: &str) {
    if before.is_empty() {
        return;
    }
    if let Err(error) = shell.for_undoing().set(file, before) {
        warn(&format!("cannot set {file} back to {before}"), &error);
    }
}

/// Restores the sysctls left changed by processes that no longer exist, unless a running one uses them. A sysctl that does not exist here is left
/// to other processes: those in another mount namespace, such as a container, may share `/run` with this one, but not the files below `/sys`.
pub(crate) fn sweep(shell: &Shell) {
    for (note, _) in notes().into_iter().filter(|(_, process)| !is_alive(*process)) {
        let lines = lines_of(&note);
        let is_sysctl = |(file, _): &&(String, String)| file.starts_with("/proc/sys/") || file.starts_with("/sys/");
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            lines.iter().filter(is_sysctl).partition(|(file, _)| Path::new(file).exists());
        here.iter().filter(|(file, _)| noted_by_others(file).is_none()).for_each(|(file, before)| restore(shell, file, before));
        let kept: String = elsewhere.iter().map(|(file, before)| format!("{file} {before}\n")).collect();
        let _ = match (here.is_empty(), kept.is_empty()) {
            (_, true) => std::fs::remove_file(&note),
            (true, false) => Ok(()),
            (false, false) => std::fs::write(&note, kept),
        };
    }
}

/// Returns the value of a sysctl before another process, still running, changed it.
fn noted_by_others(file: &str) -> Option<String> {
    let others = notes().into_iter().filter(|(_, process)| *process != std::process::id() && is_alive(*process));
    let mut lines = others.flat_map(|(note, _)| lines_of(&note));
    lines.find_map(|(noted, before)| (noted == file).then_some(before))
}

fn notes() -> Vec<(PathBuf, u32)> {
    let entries = std::fs::read_dir(NOTES).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()).filter_map(|entry| Some((entry.path(), owner(&entry.path())?))).collect()
}

fn lines_of(note: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(note).unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(file, before)| (file.to_owned(), before.to_owned())).collect()
}

fn owner(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.strip_prefix("sb-")?.strip_suffix("-switches")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process has only one file for its notes.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    fn wanted(file: &Path, value: &str) -> [(String, String); 1] {
        [(file.display().to_string(), value.to_owned())]
    }

    #[test]
    fn a_sysctl_comes_back_when_its_last_user_is_gone_whatever_their_order() {
        let _guard = ONE_AT_A_TIME.lock();
        let file = std::env::temp_dir().join(format!("sixbench-switch-{}", std::process::id()));
        std::fs::write(&file, "1\n").expect("a file");
        let (shell, read) = (Shell::new(), || std::fs::read_to_string(&file).expect("a file").trim().to_owned());
        let first = Sysctls::write(&wanted(&file, "2"), &shell).expect("written");
        let second = Sysctls::write(&wanted(&file, "2"), &shell).expect("shared");
        let error = Sysctls::write(&wanted(&file, "3"), &shell).expect_err("refused").to_string();
        assert!(error.contains("at the same time, 2 and 3") && error.contains("same `table-size`"), "{error}");
        let left = std::fs::read_to_string(note_of(std::process::id())).expect("a note");
        assert!(left.contains(&format!("{} 1\n", file.display())), "{left}");
        drop(first);
        assert_eq!(read(), "2");
        drop(second);
        assert_eq!(read(), "1");
        assert!(!note_of(std::process::id()).exists());
        std::fs::remove_file(&file).expect("removed");
    }

    #[test]
    fn a_sysctl_whose_writing_was_interrupted_is_set_back_where_it_was_written() {
        let _guard = ONE_AT_A_TIME.lock();
        let path = std::env::temp_dir().join(format!("sixbench-cut-switch-{}", std::process::id()));
        let (shell, file) = (Shell::new(), path.display().to_string());
        for left_by_the_command in ["1\n", "2\n"] {
            std::fs::write(&path, "1\n").expect("a file");
            let cut = || {
                std::fs::write(&path, left_by_the_command).expect("written");
                Err(TestbedError::Interrupted)
            };
            assert!(matches!(take((&file, "2"), &shell, cut), Err(TestbedError::Interrupted)));
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), "1\n");
        }
        assert!(USED.lock().unwrap_or_else(PoisonError::into_inner).is_empty());
        std::fs::remove_file(&path).expect("removed");
        std::fs::remove_file(note_of(std::process::id())).expect("a note until the drop of the device's switches");
    }

    #[test]
    fn what_another_run_has_changed_is_not_what_was_there_before() {
        let _guard = ONE_AT_A_TIME.lock();
        // A process that is running and is not this one.
        let other = note_of(1);
        let file = std::env::temp_dir().join(format!("sixbench-shared-switch-{}", std::process::id()));
        std::fs::write(&file, "2\n").expect("a file");
        std::fs::write(&other, format!("{} 1\n", file.display())).expect("a note");
        let sysctls = Sysctls::write(&wanted(&file, "5"), &Shell::new()).expect("written");
        drop(sysctls);
        assert_eq!(std::fs::read_to_string(&file).expect("a file").trim(), "1");
        std::fs::remove_file(&other).expect("removed");
        std::fs::remove_file(&file).expect("removed");
    }

    #[test]
    fn a_sweep_leaves_the_note_of_a_sysctl_that_it_cannot_see_to_those_who_can() {
        let _guard = ONE_AT_A_TIME.lock();
        // No process has this ID.
        let note = note_of(u32::MAX - std::process::id());
        let elsewhere = "/sys/devices/system/cpu/cpu9999/cpufreq/scaling_governor powersave\n";
        let here = format!(
            "/proc/sys/kernel/hostname {}\n",
            std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name").trim()
        );
        let swept = |text: String| {
            std::fs::write(&note, text).expect("a note (needs root)");
            sweep(&Shell::new());
            std::fs::read_to_string(&note).ok()
        };
        assert_eq!(swept(elsewhere.to_owned()).as_deref(), Some(elsewhere));
        assert_eq!(swept(format!("{here}{elsewhere}")).as_deref(), Some(elsewhere), "what was set back is not set back again");
        assert_eq!(swept(here), None);
        let _ = std::fs::remove_file(&note);
    }

    #[test]
    fn a_note_tells_its_process() {
        assert_eq!(owner(&note_of(7)), Some(7));
        assert_eq!(owner(Path::new("/run/sb-7-dut")), None);
    }
}
