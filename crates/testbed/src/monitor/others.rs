//! The run time of other programs as counted by the scheduler. The kernel's tick accounting can miss it while frames are being handled: a tick then
//! counts as softirq, and the time of the program that occupies the core as idle.

use super::processor::{fields_from_third, scheduled};
use std::collections::BTreeMap;
use std::path::Path;

/// The flag of a kernel thread in a stat file. On a device's core, the work of such threads is mostly the device's.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Numbers of fields in a stat file (proc(5)).
const FLAGS: usize = 9;
const LAST_CORE: usize = 39;

/// A thread of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    process: u32,
    /// The core on which it ran last.
    core: u32,
    /// The total run time so far, in nanoseconds.
    ran_ns: u64,
}

/// The threads of all programs, by thread ID.
#[derive(Clone, Debug, Default)]
pub(super) struct RunTimes(BTreeMap<u32, Thread>);

impl RunTimes {
    pub(super) fn now() -> Self {
        let threads = numbers(Path::new("/proc")).into_iter().flat_map(|process| {
            let tasks = Path::new("/proc").join(process.to_string()).join("task");
            numbers(&tasks).into_iter().filter_map(move |thread| {
                Some((thread, read(process, &tasks.join(thread.to_string()))?))
            })
        });
        Self(threads.collect())
    }

    /// Returns the time in nanoseconds for which each process not in `own` ran on these cores since `before`. A thread that was on another core at
    /// either end does not count, because it is unknown when it moved.
    pub(super) fn since(&self, before: &Self, own: &[u32], cores: &[u32]) -> BTreeMap<u32, u64> {
        let mut ran = BTreeMap::new();
        for (number, now) in self
            .0
            .iter()
            .filter(|(_, now)| !own.contains(&now.process) && cores.contains(&now.core))
        {
            let earlier = before
                .0
                .get(number)
                .filter(|earlier| earlier.process == now.process);
            if earlier.is_none_or(|earlier| cores.contains(&earlier.core)) {
                *ran.entry(now.process).or_default() += now
                    .ran_ns
                    .saturating_sub(earlier.map_or(0, |earlier| earlier.ran_ns));
            }
        }
        ran
    }
}

/// Returns the entries of a directory that are numbers.
fn numbers(directory: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Returns a thread's state, or `None` for a kernel thread and for one that has ended.
fn read(process: u32, directory: &Path) -> Option<Thread> {
    let stat = std::fs::read_to_string(directory.join("stat")).ok()?;
    let fields = fields_from_third(&stat)?;
    let is_kernels = fields.get(FLAGS - 3)?.parse::<u64>().ok()? & KERNEL_THREAD != 0;
    let core = fields.get(LAST_CORE - 3)?.parse().ok()?;
    let ran_ns = scheduled(directory)?.ran_ns;
    (!is_kernels).then_some(Thread {
        process,
        core,
        ran_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_ran_on_these_cores_is_counted_and_nothing_else() {
        let times = |threads: &[(u32, u32, u32, u64)]| {
            let thread = |&(number, process, core, ran_ns): &(u32, u32, u32, u64)| {
                (
                    number,
                    Thread {
                        process,
                        core,
                        ran_ns,
                    },
                )
            };
            RunTimes(threads.iter().map(thread).collect())
        };
        let before = times(&[
            (1, 1, 1, 100),
            (2, 2, 1, 100),
            (3, 2, 0, 100),
            (4, 4, 0, 100),
        ]);
        // One thread of the device, two of another process, one that came from another core, one that stayed there, and a new one.
        let after = times(&[
            (1, 1, 1, 900),
            (2, 2, 1, 150),
            (3, 2, 1, 700),
            (4, 4, 0, 800),
            (5, 5, 1, 30),
        ]);
        assert_eq!(after.since(&before, &[1], &[1]), [(2, 50), (5, 30)].into());
    }

    #[test]
    fn this_thread_has_run_and_the_kernels_have_no_entry() {
        let own = RunTimes::now()
            .0
            .get(&std::process::id())
            .copied()
            .expect("our own");
        assert!(own.process == std::process::id() && own.ran_ns > 0);
        // Thread 2 is the parent of all other kernel threads.
        assert!(!RunTimes::now().0.contains_key(&2));
    }
}
