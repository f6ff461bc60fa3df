//! Samples everything that is watched at the same times.

use super::device::Watcher;
use super::others::RunTimes;
use super::{MonitorTargets, conntrack, drops, processor};
use crate::exec::family;
use crate::net::Cores;
use sixbench_method::record::Watch;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time between samples.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// The maximum number of samples in a trial: one that takes hours does not need ten per second.
const MOST_SAMPLES: u32 = 6000;

/// Returns the time between samples for a trial that sends for `duration`: [`INTERVAL`], or a multiple of it for a long trial.
pub fn interval_for(duration: Duration) -> Duration {
    let times = (duration / MOST_SAMPLES)
        .as_nanos()
        .div_ceil(INTERVAL.as_nanos()) as u32;
    INTERVAL * times.max(1)
}

/// A running monitor.
#[derive(Debug)]
pub struct Monitor {
    stop: Sender<()>,
    thread: JoinHandle<(Vec<MonitorSample>, Vec<Watcher>)>,
    cores: Cores,
    watched: MonitorTargets,
    interval: Duration,
    /// The run time of every program at the start, if the DUT consists of processes that other programs could keep from their cores.
    began: Option<RunTimes>,
}

#[derive(Debug)]
struct MonitorSample {
    at: Instant,
    processors: processor::CoreTicks,
    drops: drops::DropCounters,
    /// In octets; 0 if there are no processes.
    memory: u64,
    /// In octets; 0 if the kernel does not report it.
    kernel_memory: u64,
    /// The processor time of the DUT's processes so far, in milliseconds.
    process_ms: u64,
    /// The scheduler's statistics about the DUT's processes so far.
    own: processor::SchedulerTimes,
    /// The scheduler's statistics about each kernel thread that delivers frames to the DUT, or is the DUT where it has no processes, so far.
    softirqs: Vec<processor::SchedulerTimes>,
    conntrack: conntrack::ConntrackCounters,
}

impl MonitorSample {
    fn now(watched: &MonitorTargets, softirqs: &[u32]) -> Self {
        // Some servers consist of several processes. If the others counted as foreign processes on the DUT's cores, their trials would be invalid.
        let processes: Vec<u32> = watched
            .processes
            .iter()
            .flat_map(|process| family(*process))
            .collect();
        Self {
            at: Instant::now(),
            processors: processor::snapshot(),
            drops: drops::snapshot(&watched.holders),
            memory: processes
                .iter()
                .filter_map(|process| processor::resident_octets(*process))
                .sum(),
            kernel_memory: if watched.is_here() {
                processor::kernel_octets()
            } else {
                0
            },
            process_ms: processes
                .iter()
                .filter_map(|process| processor::time_of(*process))
                .sum(),
            own: processor::scheduled_of(&processes),
            softirqs: softirqs
                .iter()
                .map(|thread| processor::scheduled_of(&[*thread]))
                .collect(),
            conntrack: watched.tracked.map(conntrack::snapshot).unwrap_or_default(),
        }
    }
}

impl Monitor {
    /// Like [`Monitor::start_every`], with the usual interval.
    pub fn start(cores: &Cores, watched: MonitorTargets) -> Self {
        Self::start_every(INTERVAL, cores, watched)
    }

    /// Starts to sample in a separate thread, after waiting for devices on other machines to answer. One that does not answer is not watched.
    pub fn start_every(interval: Duration, cores: &Cores, watched: MonitorTargets) -> Self {
        let (stop, stopped) = mpsc::channel();
        let mut watchers: Vec<Watcher> =
            watched.devices.iter().filter_map(Watcher::begin).collect();
        let whom = watched.clone();
        let softirqs = if whom.is_here() {
            processor::softirq_threads(&cores.dut)
        } else {
            Vec::new()
        };
        let thread = std::thread::spawn(move || {
            let mut snapshots = Vec::new();
            // Each sample is due at a multiple of the interval, because sampling itself takes time, on a busy machine a lot. If that time were
            // added to every interval, the samples would lag behind the trial and be compared with losses at other times.
            let mut due = Instant::now();
            loop {
                snapshots.push(MonitorSample::now(&whom, &softirqs));
                watchers.iter_mut().for_each(Watcher::look);
                due += interval;
                let wait = due.saturating_duration_since(Instant::now());
                if !matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
                    return (snapshots, watchers);
                }
            }
        });
        let began = (!watched.processes.is_empty()).then(RunTimes::now);
        Self {
            stop,
            thread,
            cores: cores.clone(),
            watched,
            interval,
            began,
        }
    }

    /// Stops the monitor and returns its samples.
    pub fn stop(self) -> Watch {
        self.stop_after(None)
    }

    /// Like [`Monitor::stop`]. `began` is the time at which the first frame of the trial was due, if known.
    pub fn stop_after(self, began: Option<Instant>) -> Watch {
        // The thread, which waits on the channel, ends when this closes it.
        drop(self.stop);
        let (snapshots, watchers) = self.thread.join().unwrap_or_default();
        let others_ms = self
            .began
            .as_ref()
            .map(|began| others_ms(began, &self.watched, &self.cores));
        // The processor time of a process that was restarted during the trial starts at zero.
        let used = snapshots
            .windows(2)
            .map(|pair| pair[1].process_ms.saturating_sub(pair[0].process_ms))
            .sum();
        let waited_us = waited_us(&snapshots, self.interval);
        let held_us = held_us(&snapshots, self.interval, self.cores.dut.len());
        let first = snapshots.first().map(|snapshot| snapshot.at);
        let lead = began
            .zip(first)
            .map(|(began, first)| began.saturating_duration_since(first));
        let memory = if_any(snapshots.iter().map(|snapshot| snapshot.memory));
        let kernel_memory = if_any(snapshots.iter().map(|snapshot| snapshot.kernel_memory));
        let (mut processors, mut drops) = (Vec::new(), Vec::new());
        let (mut conntrack, mut moments) = (Vec::new(), Vec::new());
        for snapshot in snapshots {
            processors.push(snapshot.processors);
            drops.push(snapshot.drops);
            conntrack.push(snapshot.conntrack);
            moments.push(snapshot.at);
        }
        Watch {
            interval_ns: self.interval.as_nanos() as u64,
            lead_ns: lead.map(|lead| lead.as_nanos() as u64),
            cores: processor::watched(&processors, &self.cores),
            devices: watchers
                .into_iter()
                .filter_map(|watcher| watcher.end(&moments))
                .collect(),
            memory,
            kernel_memory,
            // A device that runs elsewhere has neither a namespace nor a process here, so it is unknown what ran on its cores.
            process_ms: self.watched.is_here().then_some(used),
            polling: self.watched.polling,
            drops: drops::watched(&drops)
                .into_iter()
                .chain(conntrack::watched(&conntrack))
                .collect(),
            losses: Vec::new(),
            connections: conntrack::entries(&conntrack),
            waited_us,
            held_us,
            others_ms,
            round_trips_ns: Vec::new(),
        }
    }
}

/// Returns the milliseconds of other programs on the device's cores since `began`: neither the device's own processes nor this one.
fn others_ms(began: &RunTimes, watched: &MonitorTargets, cores: &Cores) -> u64 {
    let own: Vec<u32> = watched
        .processes
        .iter()
        .flat_map(|process| family(*process))
        .chain([std::process::id()])
        .collect();
    RunTimes::now()
        .since(began, &own, &cores.dut)
        .values()
        .sum::<u64>()
        / 1_000_000
}

/// Returns the samples of memory; none if nothing was ever seen, which is then unknown rather than zero.
fn if_any(octets: impl Iterator<Item = u64>) -> Vec<u64> {
    let octets: Vec<u64> = octets.collect();
    if octets.iter().any(|octets| *octets > 0) {
        octets
    } else {
        Vec::new()
    }
}

/// Returns the time in microseconds for which the DUT's processes waited for a core in each interval, or nothing if the kernel does not report it.
fn waited_us(snapshots: &[MonitorSample], interval: Duration) -> Vec<u64> {
    if snapshots.iter().all(|snapshot| snapshot.own.waited_ns == 0) {
        return Vec::new();
    }
    between_snapshots(snapshots, interval, waited_ns)
}

/// Returns the time in microseconds for which others held the DUT's cores in each interval while it was ready to use them, or nothing if the kernel
/// reports neither of them.
fn held_us(snapshots: &[MonitorSample], interval: Duration, cores: usize) -> Vec<u64> {
    let has_ran = |of: &processor::SchedulerTimes| of.ran_ns > 0;
    if !snapshots
        .iter()
        .any(|snapshot| has_ran(&snapshot.own) || snapshot.softirqs.iter().any(has_ran))
    {
        return Vec::new();
    }
    between_snapshots(snapshots, interval, |before, after| {
        held_ns(before, after, cores)
    })
}

/// Returns what `counted_ns` says of each pair of successive snapshots, in microseconds and by interval.
fn between_snapshots(
    snapshots: &[MonitorSample],
    interval: Duration,
    counted_ns: impl Fn(&MonitorSample, &MonitorSample) -> u64,
) -> Vec<u64> {
    let moments: Vec<Instant> = snapshots.iter().map(|snapshot| snapshot.at).collect();
    let counted: Vec<u64> = snapshots
        .windows(2)
        .map(|pair| counted_ns(&pair[0], &pair[1]) / 1000)
        .collect();
    by_interval(&moments, &counted, interval)
}

/// Returns the time in nanoseconds for which the DUT waited for a core between two samples.
///
/// A process that receives no frames sleeps and waits for nothing. Whatever takes its core then keeps the kernel's thread from delivering frames,
/// so that thread's wait counts, except for the DUT's own processes.
fn waited_ns(before: &MonitorSample, after: &MonitorSample) -> u64 {
    let own = after.own.since(&before.own);
    own.waited_ns
        .max(softirqs_waited_ns(before, after).saturating_sub(own.ran_ns))
}

/// Returns the time in nanoseconds for which the kernel's thread that waited longest for a core did so between two samples.
fn softirqs_waited_ns(before: &MonitorSample, after: &MonitorSample) -> u64 {
    softirqs_since(before, after)
        .map(|thread| thread.waited_ns)
        .max()
        .unwrap_or(0)
}

fn softirqs_since(
    before: &MonitorSample,
    after: &MonitorSample,
) -> impl Iterator<Item = processor::SchedulerTimes> {
    let threads = after.softirqs.iter().zip(&before.softirqs);
    threads.map(|(after, before)| after.since(before))
}

/// Returns the longest time in nanoseconds for which others can have held the DUT's cores between two samples while it was ready to use them.
///
/// A DUT at its limit waits for its own: its processes for the kernel's thread that hands them their frames, and for each other. So the time for which it
/// waited counts only as far as neither its processes nor that thread ran on its cores.
fn held_ns(before: &MonitorSample, after: &MonitorSample, cores: usize) -> u64 {
    let own = after.own.since(&before.own);
    let softirqs_ran_ns: u64 = softirqs_since(before, after)
        .map(|thread| thread.ran_ns)
        .sum();
    let length_ns = after.at.duration_since(before.at).as_nanos() as u64 * cores as u64;
    let without_it_ns = length_ns.saturating_sub(own.ran_ns + softirqs_ran_ns);
    own.waited_ns
        .max(softirqs_waited_ns(before, after))
        .min(without_it_ns)
}

/// Distributes the counts between successive moments over the intervals. If a snapshot is late, because the DUT's core and the monitor were held up
/// by the same cause, its count also covers the following intervals.
fn by_interval(moments: &[Instant], counted: &[u64], interval: Duration) -> Vec<u64> {
    let (Some(begin), Some(end), Some(last)) = (
        moments.first(),
        moments.last(),
        counted.len().checked_sub(1),
    ) else {
        return Vec::new();
    };
    let interval = interval.as_nanos() as u64;
    let since = |moment: &Instant| moment.duration_since(*begin).as_nanos() as u64;
    // A monitor that was without a core for a long time has fewer snapshots than there were intervals.
    let last = last.max((since(end).div_ceil(interval) as usize).saturating_sub(1));
    let mut spread = vec![0; last + 1];
    for (pair, total) in moments.windows(2).zip(counted) {
        let (from, to) = (since(&pair[0]), since(&pair[1]));
        let length = u128::from(to - from).max(1);
        let until = |edge: u64| {
            (u128::from(*total) * u128::from(edge.clamp(from, to) - from) / length) as u64
        };
        for index in from / interval..=to / interval {
            // Counts after the last interval are assigned to it.
            spread[(index as usize).min(last)] +=
                until((index + 1) * interval) - until(index * interval);
        }
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{NetnsHolder, WatchSource, WatchedDevice};

    fn moments(milliseconds: &[u64]) -> Vec<Instant> {
        let begin = Instant::now();
        milliseconds
            .iter()
            .map(|ms| begin + Duration::from_millis(*ms))
            .collect()
    }

    #[test]
    fn what_a_late_snapshot_counted_is_spread_over_the_intervals_it_covers() {
        let late = moments(&[0, 100, 360, 361, 400, 500]);
        assert_eq!(
            by_interval(&late, &[7, 260, 0, 0, 9], INTERVAL),
            [7, 100, 100, 60, 9]
        );
        assert_eq!(
            by_interval(&moments(&[0, 100, 200]), &[5, 6], INTERVAL),
            [5, 6],
            "in time"
        );
        assert_eq!(
            by_interval(&moments(&[0, 101, 199]), &[0, 98], INTERVAL),
            [0, 98]
        );
        assert_eq!(by_interval(&[], &[], INTERVAL), [0; 0]);
    }

    #[test]
    fn a_monitor_that_was_away_for_long_leaves_what_it_counted_in_its_own_moments() {
        let away = moments(&[0, 100, 790]);
        assert_eq!(
            by_interval(&away, &[5, 690], INTERVAL),
            [5, 100, 100, 100, 100, 100, 100, 90]
        );
    }

    #[test]
    fn a_device_that_is_handed_no_frame_waits_as_long_as_the_kernels_thread_but_for_its_own_time() {
        let sample = |ran_ns, waited_ns, softirqs_waited_ns: &[u64]| MonitorSample {
            own: processor::SchedulerTimes { ran_ns, waited_ns },
            softirqs: softirqs_waited_ns
                .iter()
                .map(|waited_ns| processor::SchedulerTimes {
                    ran_ns: 0,
                    waited_ns: *waited_ns,
                })
                .collect(),
            ..MonitorSample::now(&MonitorTargets::default(), &[])
        };
        let before = sample(1_000, 500, &[70, 100]);
        assert_eq!(
            waited_ns(&before, &sample(1_200, 560, &[70, 100])),
            60,
            "its own wait"
        );
        assert_eq!(
            waited_ns(&before, &sample(1_200, 560, &[90, 9_100])),
            8_800,
            "the thread of one core"
        );
        assert_eq!(
            waited_ns(&before, &sample(9_900, 560, &[90, 9_100])),
            100,
            "it had the core itself for the rest"
        );
    }

    #[test]
    fn a_device_at_its_limit_is_held_up_by_others_only_while_neither_it_nor_its_kernel_runs() {
        const MS: u64 = 1_000_000;
        let scheduled = |ran_ms, waited_ms| processor::SchedulerTimes {
            ran_ns: ran_ms * MS,
            waited_ns: waited_ms * MS,
        };
        let held_ms = |own: [u64; 2], softirq: [u64; 2], cores| {
            let began = Instant::now();
            let sample = |at, own, softirq| MonitorSample {
                at,
                own,
                softirqs: vec![softirq],
                ..MonitorSample::now(&MonitorTargets::default(), &[])
            };
            let before = sample(began, scheduled(0, 0), scheduled(0, 0));
            let after = sample(
                began + INTERVAL,
                scheduled(own[0], own[1]),
                scheduled(softirq[0], softirq[1]),
            );
            held_ns(&before, &after, cores) / MS
        };
        assert_eq!(
            held_ms([60, 40], [39, 55], 1),
            1,
            "both wait for each other, and share the core"
        );
        assert_eq!(
            held_ms([30, 70], [20, 10], 1),
            50,
            "another program has half of the time"
        );
        assert_eq!(
            held_ms([30, 2], [0, 0], 1),
            2,
            "it sleeps for most of the time"
        );
        assert_eq!(
            held_ms([0, 0], [40, 55], 1),
            55,
            "a device that is the kernel has no processes"
        );
        assert_eq!(held_ms([90, 30], [10, 0], 2), 30, "one of two cores");
    }

    #[test]
    fn long_trials_are_sampled_less_often_so_that_their_records_stay_small() {
        let seconds =
            [1, 600, 601, 3600, 4 * 3600].map(|s| interval_for(Duration::from_secs(s)).as_millis());
        assert_eq!(seconds, [100, 100, 200, 600, 2400]);
    }

    /// Returns what a monitor sees in a time that is doubled until that is enough: on a busy machine, it may not get to sample.
    fn seen(cores: &Cores, watched: &MonitorTargets, is_enough: impl Fn(&Watch) -> bool) -> Watch {
        let watch = |doublings: u32| {
            let monitor = Monitor::start(cores, watched.clone());
            std::thread::sleep(INTERVAL * (1 << doublings));
            monitor.stop()
        };
        (1..10)
            .map(watch)
            .find(is_enough)
            .expect("enough within two minutes")
    }

    #[test]
    fn a_running_monitor_sees_this_machine_and_this_process() {
        let process = std::process::id();
        let holders = vec![NetnsHolder {
            device: None,
            process,
        }];
        let watched = MonitorTargets {
            processes: vec![process],
            holders,
            ..MonitorTargets::default()
        };
        let has_a_sample = |watch: &Watch| watch.cores.iter().any(|core| !core.samples.is_empty());
        let watch = seen(
            &Cores {
                tester: vec![],
                dut: vec![0],
            },
            &watched,
            has_a_sample,
        );
        assert!(
            watch.memory.iter().all(|octets| *octets > 100_000),
            "{:?}",
            watch.memory
        );
        assert_eq!(watch.kernel_memory.len(), watch.memory.len());
        assert!(
            watch.kernel_memory.iter().all(|octets| *octets > 1_000_000),
            "{:?}",
            watch.kernel_memory
        );
    }

    #[test]
    fn a_device_that_has_cores_of_this_machine_is_watched_by_them_alone() {
        let device = |name: &str, core| WatchedDevice {
            name: name.to_owned(),
            machine: None,
            source: WatchSource::HostCores(vec![core]),
        };
        let devices = vec![device("first", 0), device("second", 1)];
        let cores = Cores {
            tester: vec![],
            dut: vec![0, 1],
        };
        let watch = seen(
            &cores,
            &MonitorTargets {
                devices,
                ..MonitorTargets::default()
            },
            |watch| watch.cores[0].samples.len() > 1,
        );
        let seen: Vec<_> = watch
            .devices
            .iter()
            .map(|d| (d.device.as_str(), d.cores[0].core, d.cores.len()))
            .collect();
        assert_eq!(
            seen,
            [("first", 0, 1), ("second", 1, 1)],
            "this machine has two cores at least"
        );
        let whole = watch.cores[0].samples.len();
        assert!(
            watch
                .devices
                .iter()
                .all(|d| d.cores[0].samples.len() == whole),
            "as many samples as the host's own cores"
        );
    }
}
