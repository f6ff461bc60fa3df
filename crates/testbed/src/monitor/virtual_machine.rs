//! A virtual machine watched from its host: its processes' use of the host's processors and memory.

use super::processor::{resident_octets, ticks};
use crate::exec::family;
use sixbench_method::record::{CoreRole, CoreWatch, CpuSample};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[derive(Debug, Default, PartialEq, Eq)]
struct VmSample {
    /// The processor time of each thread so far, in nanoseconds. Empty if the machine does not run.
    threads: BTreeMap<u32, u64>,
    /// The resident memory in octets. Pages shared by two of its processes count twice.
    memory: u64,
}

fn snapshot(process: u32) -> VmSample {
    let family = family(process);
    VmSample {
        threads: family
            .iter()
            .flat_map(|process| threads(*process))
            .collect(),
        memory: family
            .iter()
            .filter_map(|process| resident_octets(*process))
            .sum(),
    }
}

fn threads(process: u32) -> Vec<(u32, u64)> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|thread| Some((thread, time_of(process, thread)?)))
        .collect()
}

/// Uses the scheduler's own statistics or, if the kernel keeps none, ticks of 10 ms.
fn time_of(process: u32, thread: u32) -> Option<u64> {
    let read =
        |file: &str| std::fs::read_to_string(format!("/proc/{process}/task/{thread}/{file}")).ok();
    read("schedstat")
        .and_then(|text| on_processor_ns(&text))
        .or_else(|| Some(ticks(&read("stat")?)? * 10_000_000))
}

/// Returns the first field of schedstat, the time on a processor in nanoseconds. A kernel that does not count has zeros in all three.
fn on_processor_ns(schedstat: &str) -> Option<u64> {
    let fields: Vec<u64> = schedstat
        .split_whitespace()
        .filter_map(|field| field.parse().ok())
        .collect();
    fields
        .first()
        .copied()
        .filter(|_| fields.iter().any(|field| *field > 0))
}

#[derive(Debug)]
pub(super) struct VmProbe {
    process: u32,
    cores: usize,
    seen: Vec<(Instant, VmSample)>,
}

impl VmProbe {
    pub(super) fn new(process: u32, cores: usize) -> Self {
        Self {
            process,
            cores,
            seen: Vec::new(),
        }
    }

    pub(super) fn look(&mut self) {
        self.seen.push((Instant::now(), snapshot(self.process)));
    }

    /// Stops watching, and returns the cores' shares and the memory. The work of each virtual core cannot be seen from outside, so core 0
    /// represents all of them with the mean of their shares. Returns `None` for a machine that never ran.
    pub(super) fn close(self) -> Option<(Vec<CoreWatch>, Vec<u64>)> {
        let is_known = self
            .seen
            .iter()
            .any(|(_, machine)| !machine.threads.is_empty());
        let samples = self
            .seen
            .windows(2)
            .map(|pair| {
                share(
                    used_ns(&pair[0].1, &pair[1].1),
                    pair[1].0 - pair[0].0,
                    self.cores,
                )
            })
            .collect();
        let cores = vec![CoreWatch {
            core: 0,
            role: CoreRole::Dut,
            samples,
        }];
        is_known.then(|| {
            (
                cores,
                self.seen
                    .iter()
                    .map(|(_, machine)| machine.memory)
                    .collect(),
            )
        })
    }
}

/// Returns the processor time between two snapshots. The small amount used by a thread that ended in between is unknown.
fn used_ns(before: &VmSample, after: &VmSample) -> u64 {
    after
        .threads
        .iter()
        .map(|(thread, ns)| ns.saturating_sub(before.threads.get(thread).copied().unwrap_or(0)))
        .sum()
}

/// A machine's threads may briefly take more than its cores, because its devices are emulated in additional threads.
fn share(used_ns: u64, time: Duration, cores: usize) -> CpuSample {
    let all = (time.as_nanos() as u64).max(1) * cores.max(1) as u64;
    let used = (used_ns * 1000 / all).min(1000) as u16;
    CpuSample {
        system: used,
        idle: 1000 - used,
        ..CpuSample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::{command, kill_group};
    use crate::monitor::{INTERVAL, Monitor, MonitorTargets, WatchSource, WatchedDevice};
    use crate::net::Cores;
    use sixbench_method::record::DeviceWatch;

    fn idle_percent(watch: &DeviceWatch) -> u64 {
        let samples = &watch.cores[0].samples;
        samples
            .iter()
            .map(|sample| u64::from(sample.idle))
            .sum::<u64>()
            / samples.len() as u64
            / 10
    }

    #[test]
    fn a_machine_that_spins_is_busy_and_one_that_sleeps_is_idle() {
        let start = |script: &str| {
            command(&["sh", "-c", script].map(str::to_owned))
                .spawn()
                .expect("sh")
        };
        // The machine is the shell's child, because descendants of the main process count as part of it.
        let mut machines = [
            start("(while :; do :; done) & wait"),
            start("sleep 61 & wait"),
        ];
        let source = |process| WatchSource::VirtualMachine { process, cores: 1 };
        let device = |name: &str, process| WatchedDevice {
            name: name.to_owned(),
            machine: None,
            source: source(process),
        };
        let devices = vec![
            device("clat", machines[0].id()),
            device("plat", machines[1].id()),
        ];
        let cores = Cores {
            tester: vec![],
            dut: vec![0],
        };
        let monitor = Monitor::start(
            &cores,
            MonitorTargets {
                devices,
                ..MonitorTargets::default()
            },
        );
        // Wait until the busy one has had the processor for several intervals, which takes longer on a busy machine.
        let (before, end) = (snapshot(machines[0].id()), Instant::now() + INTERVAL * 600);
        while used_ns(&before, &snapshot(machines[0].id())) < (INTERVAL * 4).as_nanos() as u64
            && Instant::now() < end
        {
            std::thread::yield_now();
        }
        let watch = monitor.stop();
        machines.iter_mut().for_each(kill_group);
        let [clat, plat] = &watch.devices[..] else {
            panic!("two machines, not {}", watch.devices.len())
        };
        assert_eq!(
            (clat.device.as_str(), plat.device.as_str()),
            ("clat", "plat")
        );
        // On a crowded host, even a busy loop does not run all the time.
        assert!(
            idle_percent(clat) < idle_percent(plat) && idle_percent(plat) > 95,
            "{} {}",
            idle_percent(clat),
            idle_percent(plat)
        );
        // The first sample may precede the start of the shell.
        assert!(
            plat.memory.iter().skip(1).all(|octets| *octets > 100_000),
            "{:?}",
            plat.memory
        );
    }

    #[test]
    fn a_machine_that_never_ran_is_left_out_rather_than_called_idle() {
        let mut probe = VmProbe::new(u32::MAX, 1);
        (0..3).for_each(|_| probe.look());
        assert_eq!(probe.close(), None);
    }

    #[test]
    fn the_time_of_all_threads_counts_and_a_thread_that_ended_counts_no_less_than_nothing() {
        let at = |threads: &[(u32, u64)]| VmSample {
            threads: threads.iter().copied().collect(),
            memory: 0,
        };
        assert_eq!(
            used_ns(&at(&[(7, 500), (8, 900)]), &at(&[(7, 800), (9, 40)])),
            340
        );
    }

    #[test]
    fn shares_are_per_mille_of_all_cores_and_never_more() {
        let of = |used_ms: u64, cores| share(used_ms * 1_000_000, INTERVAL, cores);
        assert_eq!(
            of(25, 1),
            CpuSample {
                system: 250,
                idle: 750,
                ..CpuSample::default()
            }
        );
        assert_eq!(
            of(150, 2),
            CpuSample {
                system: 750,
                idle: 250,
                ..CpuSample::default()
            }
        );
        assert_eq!(
            of(130, 1),
            CpuSample {
                system: 1000,
                ..CpuSample::default()
            }
        );
    }

    #[test]
    fn a_kernel_without_scheduler_statistics_counts_ticks() {
        assert_eq!(on_processor_ns("1048576 99 4\n"), Some(1_048_576));
        assert_eq!(on_processor_ns("0 0 0\n"), None);
        assert_eq!(
            ticks("7 (a b) c) S 1 7 7 0 -1 4 1 0 0 0 12 3 0 0 20 0 1 0 9"),
            Some(15)
        );
    }
}
