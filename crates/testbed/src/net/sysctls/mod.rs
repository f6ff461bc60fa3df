//! Sysctls of this machine that a device or a plan changes, such as the size of the kernel's connection tracking table, and other settings that are files:
//! the governor of a core, the cores of an interrupt. All processes share them,
//! so each is written once, several devices at the same time must agree on its value, and the old value is restored after the last of them is gone,
//! whether they belong to this run or to others. A run that is killed leaves a note for the next sweep.

mod irqs;
mod notes;
mod softirqs;

pub(super) use irqs::cores_of;
pub(super) use softirqs::priority_of;

use crate::exec::{LifeLock, Shell, TestbedError, command_of, warn};
use crate::facts::CPU;
use irqs::Irq;
use notes::{OthersNeed, UsedSysctl};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The pause between two attempts while another run needs a different value.
const PAUSE: Duration = Duration::from_millis(250);

static USED: Mutex<BTreeMap<String, UsedSysctl>> = Mutex::new(BTreeMap::new());

/// The sysctls of a device or a plan, restored when this is dropped.
#[derive(Debug)]
pub struct Sysctls {
    files: Vec<String>,
    shell: Shell,
    /// Shows that this process will restore what its note says.
    _alive: Option<LifeLock>,
}

impl Sysctls {
    /// Sets the frequency governor of these cores.
    ///
    /// # Errors
    /// A core has no governor, or the kernel does not support this one.
    pub fn govern(cores: &[u32], governor: &str, shell: &Shell) -> Result<Self, TestbedError> {
        let file = |core: &u32| {
            (
                format!("{CPU}/cpu{core}/cpufreq/scaling_governor"),
                governor.to_owned(),
            )
        };
        Self::write(&cores.iter().map(file).collect::<Vec<_>>(), shell).map_err(|error| {
            error.restated(|cause| TestbedError::Governor {
                governor: governor.to_owned(),
                cause,
            })
        })
    }

    /// Writes each value to its file.
    ///
    /// # Errors
    /// A sysctl cannot be written, or another device of this process or another run needs a different value. If the shell waits for other runs, this
    /// waits until that run has ended.
    pub(crate) fn write(wanted: &[(String, String)], shell: &Shell) -> Result<Self, TestbedError> {
        let mut wait = shell.wait(Duration::MAX, PAUSE);
        loop {
            match Self::write_now(wanted, shell) {
                Err(error @ TestbedError::NeededByAnother { .. })
                    if shell.context().waits_for_other_runs() =>
                {
                    wait.rest(|| format!("another run: {error}"))?;
                }
                written => return written,
            }
        }
    }

    fn write_now(wanted: &[(String, String)], shell: &Shell) -> Result<Self, TestbedError> {
        let alive = (!shell.is_rehearsal()).then(LifeLock::take);
        let mut sysctls = Self {
            files: Vec::new(),
            shell: shell.clone(),
            _alive: alive,
        };
        for (file, value) in wanted {
            take(file, value, shell, || set(shell, file, value))?;
            sysctls.files.push(file.clone());
        }
        Ok(sysctls)
    }
}

/// A setting that is noted and restored, by its name in notes.
enum NotedSetting<'n> {
    File(&'n str),
    /// The cores of an interrupt.
    Irq(Irq),
    /// The priority of the kernel's thread for softirqs on this core.
    Priority(u32),
}

impl<'n> NotedSetting<'n> {
    fn of_name(name: &'n str) -> Self {
        if let Some(core) = softirqs::core_of(name) {
            return Self::Priority(core);
        }
        Irq::of_name(name).map_or(Self::File(name), Self::Irq)
    }

    /// Returns whether a note may name it.
    fn is_ours(&self) -> bool {
        match self {
            // An interrupt by its number alone, from an earlier version, may be another device's by now.
            Self::File(file) => ["/proc/sys/", "/sys/"]
                .iter()
                .any(|directory| file.starts_with(directory)),
            Self::Irq(irq) => irq.is_ours(),
            Self::Priority(_) => true,
        }
    }

    /// Returns whether this process can tell what became of it.
    fn is_here(&self) -> bool {
        match self {
            Self::File(file) => Path::new(file).exists(),
            Self::Irq(_) => Irq::are_devices_here(),
            Self::Priority(_) => true,
        }
    }
}

/// Returns the current value of a setting.
fn current(shell: &Shell, name: &str) -> Result<String, TestbedError> {
    let file = match NotedSetting::of_name(name) {
        NotedSetting::File(file) => file.to_owned(),
        NotedSetting::Irq(irq) => irq.file(),
        NotedSetting::Priority(core) => return softirqs::nice(core).map(|nice| nice.to_string()),
    };
    Ok(shell.look(&["cat", &file])?.trim().to_owned())
}

fn set(shell: &Shell, name: &str, value: &str) -> Result<(), TestbedError> {
    match NotedSetting::of_name(name) {
        NotedSetting::File(file) => shell.set(file, value),
        NotedSetting::Irq(irq) => shell.set(&irq.file(), value),
        NotedSetting::Priority(core) => softirqs::renice(shell, core, value),
    }
}

/// Adds a user of a sysctl. The first user writes it with `write`.
fn take(
    file: &str,
    value: &str,
    shell: &Shell,
    write: impl FnOnce() -> Result<(), TestbedError>,
) -> Result<(), TestbedError> {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(other) = used.get_mut(file) {
        if other.value != value {
            return Err(TestbedError::NeededByTwo {
                file: file.to_owned(),
                one: other.value.clone(),
                other: value.to_owned(),
            });
        }
        other.users += 1;
        return Ok(());
    }
    let _guard = (!shell.is_rehearsal()).then(notes::guard);
    let found = current(shell, file)?;
    // If another run has changed the sysctl, the current value is not the original one. Of the commands of a rehearsal, its need says nothing.
    let need = (!shell.is_rehearsal()).then(|| notes::need_of_others(file));
    let before = before_any_run(file, value, &found, need.flatten())?;
    used.insert(
        file.to_owned(),
        UsedSysctl {
            before,
            value: value.to_owned(),
            users: 1,
        },
    );
    let written = notes::write(&used, shell).and_then(|()| write());
    written.inspect_err(|_| {
        used.remove(file);
        restore_if_changed(shell, file, &found);
    })
}

/// Returns the value of a sysctl before any run changed it, given the current value and what another run needs of it.
///
/// # Errors
/// Another run needs a different value.
fn before_any_run(
    file: &str,
    value: &str,
    found: &str,
    need: Option<OthersNeed>,
) -> Result<String, TestbedError> {
    let Some(need) = need else {
        return Ok(found.to_owned());
    };
    let needed = need.value.unwrap_or_else(|| found.to_owned());
    if needed != value {
        return Err(TestbedError::NeededByAnother {
            file: file.to_owned(),
            value: value.to_owned(),
            needed,
            process: need.process,
            command: command_of(need.process),
        });
    }
    Ok(need.before)
}

/// Restores a sysctl after a failed write, because an interrupted command may still have written it.
fn restore_if_changed(shell: &Shell, file: &str, found: &str) {
    if current(&shell.for_undoing(), file).is_ok_and(|now| now != found) {
        restore(shell, file, found);
    }
}

impl Drop for Sysctls {
    fn drop(&mut self) {
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        let _guard = (!self.shell.is_rehearsal()).then(notes::guard);
        for file in self.files.iter().rev() {
            let Some(sysctl) = used.get_mut(file) else {
                continue;
            };
            sysctl.users -= 1;
            if sysctl.users == 0 {
                // Another run that needs it restores it, because its note has the same original value.
                if self.shell.is_rehearsal() || notes::need_of_others(file).is_none() {
                    restore(&self.shell, file, &sysctl.before);
                }
                used.remove(file);
            }
        }
        if let Err(error) = notes::write(&used, &self.shell) {
            warn("the note of sysctls to be set back is still there", &error);
        }
    }
}

/// Restores a setting. The interrupts of a card may have been replaced meanwhile: one that is gone has nothing to restore, and its number may be that of
/// another device.
fn restore(shell: &Shell, file: &str, before: &str) {
    let is_gone =
        matches!(NotedSetting::of_name(file), NotedSetting::Irq(irq) if !irq.is_of_its_device());
    if before.is_empty() || is_gone {
        return;
    }
    if let Err(error) = set(&shell.for_undoing(), file, before) {
        warn(&format!("cannot set {file} back to {before}"), &error);
    }
}

/// Restores the sysctls left changed by processes that no longer exist, unless a running one uses them. Interrupts that are gone are forgotten. A sysctl that
/// does not exist here is left to other processes: those in another mount namespace, such as a container, may share `/run` with this one, but not the files below `/sys`.
pub(crate) fn sweep(shell: &Shell) {
    let _guard = notes::guard();
    for note in notes::stale() {
        let lines = notes::originals(&note);
        let (here, elsewhere): (Vec<_>, Vec<_>) = lines
            .iter()
            .filter(|(name, _)| NotedSetting::of_name(name).is_ours())
            .partition(|(name, _)| NotedSetting::of_name(name).is_here());
        here.iter()
            .filter(|(file, _)| notes::need_of_others(file).is_none())
            .for_each(|(file, before)| restore(shell, file, before));
        let kept: String = elsewhere
            .iter()
            .map(|(file, before)| format!("{file} {before}\n"))
            .collect();
        let _ = match (here.is_empty(), kept.is_empty()) {
            (_, true) => std::fs::remove_file(&note),
            (true, false) => Ok(()),
            (false, false) => std::fs::write(&note, kept),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::notes::path_of as note_of;
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};

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
        let (shell, read) = (Shell::new(), || {
            std::fs::read_to_string(&file)
                .expect("a file")
                .trim()
                .to_owned()
        });
        let first = Sysctls::write(&wanted(&file, "2"), &shell).expect("written");
        let second = Sysctls::write(&wanted(&file, "2"), &shell).expect("shared");
        let error = Sysctls::write(&wanted(&file, "3"), &shell)
            .expect_err("refused")
            .to_string();
        assert!(
            error.contains("at the same time, 2 and 3") && error.contains("same `table-size`"),
            "{error}"
        );
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
            assert!(matches!(
                take(&file, "2", &shell, cut),
                Err(TestbedError::Interrupted)
            ));
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), "1\n");
        }
        assert!(
            USED.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_empty()
        );
        std::fs::remove_file(&path).expect("removed");
        std::fs::remove_file(note_of(std::process::id()))
            .expect("a note until the drop of the device's switches");
    }

    #[test]
    fn what_another_run_has_changed_is_not_what_was_there_before() {
        let _guard = ONE_AT_A_TIME.lock();
        // A process that is running and is not this one.
        let other = note_of(1);
        let file =
            std::env::temp_dir().join(format!("sixbench-shared-switch-{}", std::process::id()));
        std::fs::write(&file, "2\n").expect("a file");
        std::fs::write(&other, format!("{} 1\n", file.display())).expect("a note");
        // A note of an earlier version does not say which value its process needs: it is the current one.
        let refused = Sysctls::write(&wanted(&file, "5"), &Shell::new()).map(drop);
        assert!(
            matches!(
                refused,
                Err(TestbedError::NeededByAnother { process: 1, .. })
            ),
            "{refused:?}"
        );
        let sysctls = Sysctls::write(&wanted(&file, "2"), &Shell::new()).expect("written");
        std::fs::remove_file(&other).expect("removed");
        drop(sysctls);
        assert_eq!(std::fs::read_to_string(&file).expect("a file").trim(), "1");
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
            std::fs::read_to_string("/proc/sys/kernel/hostname")
                .expect("a name")
                .trim()
        );
        let swept = |text: String| {
            std::fs::write(&note, text).expect("a note (needs root)");
            sweep(&Shell::new());
            std::fs::read_to_string(&note).ok()
        };
        assert_eq!(swept(elsewhere.to_owned()).as_deref(), Some(elsewhere));
        assert_eq!(
            swept(format!("{here}{elsewhere}")).as_deref(),
            Some(elsewhere),
            "what was set back is not set back again"
        );
        assert_eq!(swept(here), None);
        let _ = std::fs::remove_file(&note);
    }

    #[test]
    fn an_interrupt_that_is_gone_is_forgotten_and_the_next_device_with_its_number_is_left_alone() {
        let _guard = ONE_AT_A_TIME.lock();
        let device = std::env::temp_dir().join(format!("sixbench-card-{}", std::process::id()));
        let (irqs, shell) = (device.join("msi_irqs"), Shell::rehearsal());
        std::fs::create_dir_all(&irqs).expect("a directory");
        let name = cores_of(25, &device.display().to_string());
        restore(&shell, &name, "0-3");
        assert_eq!(shell.transcript().text(), "", "25 is another device's");
        std::fs::write(irqs.join("25"), "msix\n").expect("a file");
        restore(&shell, &name, "0-3");
        let told = shell.transcript().text();
        std::fs::remove_dir_all(&device).expect("removed");
        assert!(
            told.contains("echo 0-3 > /proc/irq/25/smp_affinity_list"),
            "{told}"
        );
        let note = note_of(u32::MAX - 1 - std::process::id());
        let gone = cores_of(25, "/sys/devices/sixbench-gone");
        let of_earlier_version = "/proc/irq/25/smp_affinity_list 0-3\n";
        std::fs::write(&note, format!("{gone} 0-3\n{of_earlier_version}")).expect("a note");
        let shell = Shell::rehearsal();
        sweep(&shell);
        assert!(!note.exists());
        assert_eq!(shell.transcript().text(), "");
    }

    /// The variables that make [`a_process_of_its_own_holds_a_sysctl`] hold one.
    const HELD: [&str; 2] = ["SIXBENCH_TEST_SYSCTL", "SIXBENCH_TEST_VALUE"];

    /// The part of another run in the tests below: this program again, for this test alone. Without the variables it does nothing.
    #[test]
    fn a_process_of_its_own_holds_a_sysctl() {
        let [Ok(file), Ok(value)] = HELD.map(std::env::var) else {
            return;
        };
        let held = Sysctls::write(&wanted(Path::new(&file), &value), &Shell::new());
        println!(
            "{}",
            held.as_ref()
                .map_or_else(ToString::to_string, |_| "held".to_owned())
        );
        // Ends when the other process closes the pipe.
        let _ = std::io::stdin().lines().count();
    }

    struct OtherRun(Child, BufReader<std::process::ChildStdout>);

    impl OtherRun {
        fn start(file: &Path, value: &str) -> Self {
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            command.args([
                "--exact",
                "net::sysctls::tests::a_process_of_its_own_holds_a_sysctl",
                "--nocapture",
            ]);
            command
                .env(HELD[0], file)
                .env(HELD[1], value)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped());
            let mut child = command.spawn().expect("this program");
            let output = BufReader::new(child.stdout.take().expect("piped"));
            let mut run = Self(child, output);
            run.wait_for("held");
            run
        }

        fn wait_for(&mut self, word: &str) {
            let mut line = String::new();
            while !line.contains(word) {
                line.clear();
                assert_ne!(
                    self.1.read_line(&mut line).expect("its output"),
                    0,
                    "it ended before it said {word}"
                );
            }
        }

        fn end(mut self) {
            drop(self.0.stdin.take());
            self.0.wait().expect("its end");
        }

        fn kill(mut self) {
            self.0.kill().and_then(|()| self.0.wait()).expect("killed");
        }
    }

    /// A stand-in for a sysctl, with the value 1.
    fn stand_in(name: &str) -> (PathBuf, impl Fn() -> String) {
        let file = std::env::temp_dir().join(format!("sixbench-{name}-{}", std::process::id()));
        std::fs::write(&file, "1\n").expect("a file");
        let read = file.clone();
        (file, move || {
            std::fs::read_to_string(&read)
                .expect("a file")
                .trim()
                .to_owned()
        })
    }

    #[test]
    fn a_sysctl_of_several_runs_comes_back_after_the_last_of_them_and_another_value_is_refused() {
        let _guard = ONE_AT_A_TIME.lock();
        let (file, read) = stand_in("two-runs");
        let other = OtherRun::start(&file, "2");
        let own = Sysctls::write(&wanted(&file, "2"), &Shell::new()).expect("the same value");
        other.end();
        assert_eq!(read(), "2", "this run still needs it");
        let other = OtherRun::start(&file, "2");
        drop(own);
        assert_eq!(read(), "2", "the other run still needs it");
        let error = Sysctls::write(&wanted(&file, "3"), &Shell::new()).expect_err("refused");
        let needed = matches!(&error, TestbedError::NeededByAnother { needed, process, .. }
            if needed == "2" && *process == other.0.id());
        assert!(
            needed
                && error
                    .to_string()
                    .contains("a_process_of_its_own_holds_a_sysctl"),
            "{error}"
        );
        assert_eq!(read(), "2");
        other.end();
        assert_eq!(read(), "1");
        std::fs::remove_file(&file).expect("removed");
    }

    #[test]
    fn a_sysctl_of_a_killed_run_stays_for_the_run_that_goes_on_and_comes_back_with_that() {
        let _guard = ONE_AT_A_TIME.lock();
        let (file, read) = stand_in("killed-run");
        let first = OtherRun::start(&file, "2");
        let second = OtherRun::start(&file, "2");
        let note = note_of(first.0.id());
        first.kill();
        assert!(note.exists());
        sweep(&Shell::new());
        assert_eq!(
            (read().as_str(), note.exists()),
            ("2", false),
            "the second run still needs it"
        );
        second.end();
        assert_eq!(read(), "1");
        std::fs::remove_file(&file).expect("removed");
    }

    #[test]
    fn a_run_that_may_wait_waits_until_the_other_has_ended() {
        let _guard = ONE_AT_A_TIME.lock();
        let (file, read) = stand_in("waiting-run");
        let other = OtherRun::start(&file, "2");
        let shell = Shell::new().waiting_for_other_runs(true);
        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Sysctls::write(&wanted(&file, "3"), &shell));
            std::thread::sleep(PAUSE);
            assert!(!waiting.is_finished());
            assert_eq!(read(), "2");
            other.end();
            waiting.join().expect("no panic").expect("written")
        });
        assert_eq!(read(), "3");
        drop(waiting);
        assert_eq!(read(), "1");
        std::fs::remove_file(&file).expect("removed");
    }

    #[test]
    fn a_sysctl_of_this_machine_is_shared_by_two_runs() {
        let _guard = ONE_AT_A_TIME.lock();
        // Harmless: how many messages the kernel prints before it leaves some out.
        let file = Path::new("/proc/sys/kernel/printk_ratelimit_burst");
        let read = || {
            std::fs::read_to_string(file)
                .expect("a sysctl")
                .trim()
                .to_owned()
        };
        let before = read();
        let value = format!("{}", before.parse::<u32>().expect("a number") + 1);
        let other = OtherRun::start(file, &value);
        let own = Sysctls::write(&wanted(file, &value), &Shell::new()).expect("the same value");
        other.end();
        assert_eq!(read(), value);
        drop(own);
        assert_eq!(read(), before);
    }
}
