//! The priority of the kernel's threads for softirqs, `ksoftirqd/CORE`. It is no file, but is noted and restored as if it were one of this name.

use crate::exec::{Shell, TestbedError, processes_named};
use std::fs;
use std::io;
use std::path::PathBuf;

const NAME: &str = "ksoftirqd/";
/// The place of the nice value among the fields of `/proc/PID/stat` that follow the name of the process.
const NICE_FIELD: usize = 16;

/// Returns the name under which the priority of a core's thread is noted.
pub(in crate::net) fn priority_of(core: u32) -> String {
    format!("{NAME}{core}")
}

/// Returns the core of a name of [`priority_of`]; `None` of any other.
pub(super) fn core_of(name: &str) -> Option<u32> {
    name.strip_prefix(NAME)?.parse().ok()
}

/// Returns the process of a core's thread.
fn process(core: u32) -> Result<u32, TestbedError> {
    let name = priority_of(core);
    let found = processes_named(|comm| comm == name).next();
    found.ok_or_else(|| {
        let missing = io::Error::new(io::ErrorKind::NotFound, format!("there is no {name}"));
        TestbedError::file("find the thread in", &PathBuf::from("/proc"))(missing)
    })
}

/// Returns the nice value of a core's thread.
pub(super) fn nice(core: u32) -> Result<i32, TestbedError> {
    let path = PathBuf::from(format!("/proc/{}/stat", process(core)?));
    let stat = fs::read_to_string(&path).map_err(TestbedError::file("read", &path))?;
    parse_nice(&stat).ok_or_else(|| {
        let unread = io::Error::new(io::ErrorKind::InvalidData, "it has no nice value");
        TestbedError::file("read", &path)(unread)
    })
}

/// Parses `PID (NAME) STATE ...`; the name may contain spaces.
fn parse_nice(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(NICE_FIELD)?.parse().ok()
}

/// Sets the nice value of a core's thread.
pub(super) fn renice(shell: &Shell, core: u32, nice: &str) -> Result<(), TestbedError> {
    let process = if shell.is_rehearsal() {
        format!("$(pgrep -x {})", priority_of(core))
    } else {
        process(core)?.to_string()
    };
    shell
        .line(&format!("renice -n {nice} -p {process}"))
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nice_value_is_read_behind_a_name_with_spaces() {
        let stat = "15 (a b) c) S 2 0 0 0 -1 69238848 0 0 0 0 0 7 0 0 0 -20 1 0 12 0";
        assert_eq!(parse_nice(stat), Some(-20));
        assert_eq!(parse_nice("15 (x) S 2"), None);
        assert_eq!(
            (
                core_of("ksoftirqd/3"),
                core_of("/proc/irq/3/smp_affinity_list")
            ),
            (Some(3), None)
        );
    }

    #[test]
    fn the_thread_of_the_first_core_is_found_wherever_threads_of_the_kernel_are_seen() {
        let are_seen = fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n");
        if !are_seen {
            let told = nice(0).expect_err("no thread of the kernel").to_string();
            assert!(told.contains("there is no ksoftirqd/0"), "{told}");
            return;
        }
        let path = format!("/proc/{}/stat", process(0).expect("the thread"));
        let stat = fs::read_to_string(path).expect("its state");
        // The field before the nice value is the priority, which begins at 0 for the nice value -20 (proc_pid_stat(5)).
        let mut fields = stat.rsplit_once(") ").expect("a name").1.split(' ');
        let priority: i32 = fields
            .nth(NICE_FIELD - 1)
            .and_then(|field| field.parse().ok())
            .expect("a number");
        assert_eq!(nice(0).expect("a value"), priority - 20);
        assert!(process(u32::MAX).is_err(), "no machine has so many cores");
    }
}
