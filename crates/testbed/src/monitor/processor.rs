//! Reads how each core spends its time, from /proc/stat.

use crate::exec::processes_named;
use crate::net::Cores;
use sixbench_method::record::{CoreRole, CoreWatch, CpuSample};
use std::path::Path;

/// The kernel's counters of every core, in ticks.
pub(super) type CoreTicks = Vec<Ticks>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticks {
    core: u32,
    user: u64,
    system: u64,
    softirq: u64,
    idle: u64,
    steal: u64,
}

pub(super) fn snapshot() -> CoreTicks {
    std::fs::read_to_string("/proc/stat")
        .map(|text| parse(&text))
        .unwrap_or_default()
}

/// Parses the lines `cpuN user nice system idle iowait irq softirq steal ...` of /proc/stat.
pub(super) fn parse(text: &str) -> CoreTicks {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Ticks> {
    // The line `cpu ` with a blank is the sum of all cores.
    let numbered = line
        .strip_prefix("cpu")
        .filter(|rest| !rest.starts_with(' '))?;
    let mut words = numbered.split_whitespace();
    let core = words.next()?.parse().ok()?;
    let fields: Vec<u64> = words.filter_map(|w| w.parse().ok()).collect();
    let [
        user,
        nice,
        system,
        idle,
        waiting,
        interrupt,
        softirq,
        steal,
        ..,
    ] = fields[..]
    else {
        return None;
    };
    Some(Ticks {
        core,
        user: user + nice,
        system,
        softirq: interrupt + softirq,
        // A core that waits for a disk could run anything else meanwhile.
        idle: idle + waiting,
        steal,
    })
}

pub(super) fn watched(snapshots: &[CoreTicks], cores: &Cores) -> Vec<CoreWatch> {
    let pairs: Vec<_> = snapshots
        .windows(2)
        .map(|pair| (&pair[0], &pair[1]))
        .collect();
    snapshots
        .first()
        .map(|first| over(first, &pairs, |core| role(core, cores)))
        .unwrap_or_default()
}

/// Returns the shares between each pair of snapshots, for the cores in `first`.
pub(super) fn over(
    first: &[Ticks],
    pairs: &[(&CoreTicks, &CoreTicks)],
    role: impl Fn(u32) -> CoreRole,
) -> Vec<CoreWatch> {
    let of =
        |core: u32, snapshot: &CoreTicks| snapshot.iter().find(|ticks| ticks.core == core).copied();
    let watch = |ticks: &Ticks| CoreWatch {
        core: ticks.core,
        role: role(ticks.core),
        samples: pairs
            .iter()
            .filter_map(|(before, after)| Some((of(ticks.core, before)?, of(ticks.core, after)?)))
            // A sample right after a late one may see no tick. It repeats the one before, because positions give the samples' times.
            .scan(None, |last, (before, after)| {
                *last = share(&before, &after).or(*last);
                Some(*last)
            })
            .flatten()
            .collect(),
    };
    first.iter().map(watch).collect()
}

/// Returns the processor time that a process and its threads have used, in milliseconds.
pub(super) fn time_of(process: u32) -> Option<u64> {
    Some(ticks(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)? * 10)
}

pub(super) fn resident_octets(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Returns the unreclaimable kernel memory in octets, or 0 if it is not reported.
pub(super) fn kernel_octets() -> u64 {
    unreclaimable(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default())
}

/// Sums the unreclaimable part of the slab allocator (connections, sessions), vmalloc (hash tables) and per-CPU memory from /proc/meminfo.
fn unreclaimable(meminfo: &str) -> u64 {
    ["SUnreclaim:", "VmallocUsed:", "Percpu:"]
        .into_iter()
        .filter_map(|name| meminfo_octets(meminfo, name))
        .sum()
}

/// Returns the octets of an entry of /proc/meminfo.
pub(super) fn meminfo_octets(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Returns the scheduler's statistics summed over all threads of these processes, or zeroes if the kernel does not keep them.
pub(super) fn scheduled_of(processes: &[u32]) -> SchedulerTimes {
    let counted = processes
        .iter()
        .flat_map(|process| {
            std::fs::read_dir(format!("/proc/{process}/task"))
                .into_iter()
                .flatten()
                .flatten()
        })
        .filter_map(|thread| scheduled(&thread.path()));
    counted.fold(SchedulerTimes::default(), |sum, one| SchedulerTimes {
        ran_ns: sum.ran_ns + one.ran_ns,
        waited_ns: sum.waited_ns + one.waited_ns,
    })
}

/// Returns the kernel threads that process frames on these cores when interrupts cannot keep up.
pub(super) fn softirq_threads(cores: &[u32]) -> Vec<u32> {
    let names: Vec<String> = cores
        .iter()
        .map(|core| format!("ksoftirqd/{core}"))
        .collect();
    processes_named(|name| names.iter().any(|wanted| wanted == name)).collect()
}

/// The scheduler's statistics about a thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SchedulerTimes {
    /// The time for which it ran.
    pub(super) ran_ns: u64,
    /// The time for which it was ready to run but waited for a core.
    pub(super) waited_ns: u64,
}

impl SchedulerTimes {
    /// Returns what was added since `before`; nothing where a thread has ended in between.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            ran_ns: self.ran_ns.saturating_sub(before.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
        }
    }
}

/// Returns the scheduler's statistics about the thread with this directory, or `None` if it has ended or the kernel keeps none.
pub(super) fn scheduled(thread: &Path) -> Option<SchedulerTimes> {
    parse_schedstat(&std::fs::read_to_string(thread.join("schedstat")).ok()?)
}

/// Parses a schedstat file: run time, wait time, and time slices.
fn parse_schedstat(text: &str) -> Option<SchedulerTimes> {
    let mut numbers = text.split_whitespace().map(str::parse);
    Some(SchedulerTimes {
        ran_ns: numbers.next()?.ok()?,
        waited_ns: numbers.next()?.ok()?,
    })
}

/// Returns the fields of a stat file starting with the third: the second, a name in parentheses, may contain blanks.
pub(super) fn fields_from_third(stat: &str) -> Option<Vec<&str>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace().collect())
}

/// Returns the user and system time, fields 14 and 15 of a stat file, in ticks of 10 ms.
pub(super) fn ticks(stat: &str) -> Option<u64> {
    let fields = fields_from_third(stat)?;
    let at = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(at(14)? + at(15)?)
}

fn role(core: u32, cores: &Cores) -> CoreRole {
    match (cores.dut.contains(&core), cores.tester.contains(&core)) {
        (true, _) => CoreRole::Dut,
        (false, true) => CoreRole::Tester,
        (false, false) => CoreRole::Other,
    }
}

/// Returns the shares of the time between two snapshots in per mille, or `None` if no tick has passed.
fn share(before: &Ticks, after: &Ticks) -> Option<CpuSample> {
    // Saturating, because the kernel's counters occasionally go backwards.
    let spent = [
        after.user.saturating_sub(before.user),
        after.system.saturating_sub(before.system),
        after.softirq.saturating_sub(before.softirq),
        after.idle.saturating_sub(before.idle),
        after.steal.saturating_sub(before.steal),
    ];
    let all: u64 = spent.iter().sum();
    let per_mille = |ticks: u64| (ticks * 1000).checked_div(all).map(|share| share as u16);
    Some(CpuSample {
        user: per_mille(spent[0])?,
        system: per_mille(spent[1])?,
        softirq: per_mille(spent[2])?,
        idle: per_mille(spent[3])?,
        steal: per_mille(spent[4])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 20 100 0 0 5 0 0 0\ncpu1 0 0 0 100 0 0 0 0 0 0\nintr 5\n";
    const AFTER: &str = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 12 0 22 104 0 1 6 0 0 0\ncpu1 0 0 0 100 0 0 9 1 0 0\nintr 9\n";

    #[test]
    fn shares_are_of_the_time_between_two_snapshots() {
        let cores = Cores {
            tester: vec![0],
            dut: vec![1],
        };
        let watched = watched(&[parse(BEFORE), parse(AFTER)], &cores);
        assert_eq!(watched[0].role, CoreRole::Tester);
        assert_eq!(
            watched[0].samples,
            [CpuSample {
                user: 200,
                system: 200,
                softirq: 200,
                idle: 400,
                steal: 0
            }]
        );
        assert_eq!(watched[1].role, CoreRole::Dut);
        assert_eq!(
            watched[1].samples,
            [CpuSample {
                user: 0,
                system: 0,
                softirq: 900,
                idle: 0,
                steal: 100
            }]
        );
    }

    #[test]
    fn a_sample_without_a_tick_keeps_its_place() {
        let cores = Cores {
            tester: vec![0],
            dut: vec![1],
        };
        let watched = watched(&[parse(BEFORE), parse(AFTER), parse(AFTER)], &cores);
        assert!(
            watched
                .iter()
                .all(|core| core.samples.len() == 2 && core.samples[0] == core.samples[1]),
            "{watched:?}"
        );
    }

    #[test]
    fn a_counter_that_steps_back_counts_as_standing_still() {
        let cores = Cores {
            tester: vec![0],
            dut: vec![1],
        };
        let watched = watched(&[parse(AFTER), parse(BEFORE)], &cores);
        assert!(watched.iter().all(|core| core.samples.is_empty()));
    }

    #[test]
    fn the_wait_for_a_core_is_the_second_number_of_schedstat() {
        assert_eq!(
            parse_schedstat("1234567 31000000 42\n"),
            Some(SchedulerTimes {
                ran_ns: 1_234_567,
                waited_ns: 31_000_000
            })
        );
        assert_eq!(parse_schedstat(""), None);
        assert_eq!(scheduled_of(&[u32::MAX]), SchedulerTimes::default());
    }

    #[test]
    fn every_core_of_this_machine_has_a_kernel_thread_that_hands_frames_on() {
        let of_first = softirq_threads(&[0]);
        assert_eq!(of_first.len(), 1);
        assert!(scheduled_of(&of_first).ran_ns > 0);
        assert_eq!(softirq_threads(&[u32::MAX]), [0; 0]);
    }

    #[test]
    fn the_kernels_own_memory_is_what_it_cannot_reclaim() {
        let text = "MemTotal: 99 kB\nSlab:  900 kB\nSReclaimable: 500 kB\nSUnreclaim:  400 kB\nVmallocUsed: 30 kB\nPercpu:  2 kB\n";
        assert_eq!(unreclaimable(text), 432 * 1024);
        assert_eq!(unreclaimable(""), 0);
    }

    #[test]
    fn this_process_has_used_some_time_and_a_missing_one_none() {
        let spin = std::time::Instant::now();
        while spin.elapsed() < std::time::Duration::from_millis(100) {}
        assert!(time_of(std::process::id()).expect("our own") >= 10);
        assert_eq!(time_of(u32::MAX), None);
    }
}
