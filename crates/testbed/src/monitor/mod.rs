//! The DUT during a trial, sampled out of band (RFC 5180 section 4) at 10 Hz: processors, memory, drops, connections.

mod conntrack;
mod drops;
mod processor;

use crate::process::family;
use crate::topology::Cores;
use sixbench_method::record::Watch;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between samples.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// Whom to watch beside the processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The process that is the DUT, if it is one; what it has started is watched with it.
    pub process: Option<u32>,
    /// A process in the DUT's network namespace, by which its counters can be read.
    pub anchor: Option<u32>,
}

/// A running monitor.
#[derive(Debug)]
pub struct Monitor {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Snapshot>>,
    cores: Cores,
    /// Whether the DUT runs on this machine, where we can look.
    sees_dut: bool,
}

/// Everything at one moment.
#[derive(Debug)]
struct Snapshot {
    processors: processor::Snapshot,
    drops: drops::Snapshot,
    /// Octets; 0 where there is no process.
    memory: u64,
    /// Processor time of the DUT's process so far, milliseconds.
    process_ms: u64,
    conntrack: conntrack::Snapshot,
}

impl Snapshot {
    fn now(watched: Watched) -> Self {
        // Some servers are several processes: to take the others for strangers on the DUT's cores would invalidate its trials.
        let processes = watched.process.map(family).unwrap_or_default();
        Self {
            processors: processor::snapshot(),
            drops: watched.anchor.map(drops::snapshot).unwrap_or_default(),
            memory: processes.iter().filter_map(|process| resident_octets(*process)).sum(),
            process_ms: processes.iter().filter_map(|process| processor::time_of(*process)).sum(),
            conntrack: watched.anchor.map(conntrack::snapshot).unwrap_or_default(),
        }
    }
}

/// Resident memory of a process.
fn resident_octets(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

impl Monitor {
    /// Starts sampling in a thread of its own.
    pub fn start(cores: &Cores, watched: Watched) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut snapshots = vec![Snapshot::now(watched)];
            while matches!(stopped.recv_timeout(INTERVAL), Err(RecvTimeoutError::Timeout)) {
                snapshots.push(Snapshot::now(watched));
            }
            snapshots
        });
        Self { stop, thread, cores: cores.clone(), sees_dut: watched.anchor.is_some() }
    }

    /// Stops; returns what was seen.
    pub fn stop(self) -> Watch {
        drop(self.stop);
        let (mut processors, mut drops, mut memory, mut conntrack) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let snapshots = self.thread.join().unwrap_or_default();
        // A process that was started anew in the middle begins again at zero.
        let used = snapshots.windows(2).map(|pair| pair[1].process_ms.saturating_sub(pair[0].process_ms)).sum();
        for snapshot in snapshots {
            processors.push(snapshot.processors);
            drops.push(snapshot.drops);
            memory.push(snapshot.memory);
            conntrack.push(snapshot.conntrack);
        }
        if memory.iter().all(|octets| *octets == 0) {
            memory.clear();
        }
        Watch {
            interval_ns: INTERVAL.as_nanos() as u64,
            cores: processor::watched(&processors, &self.cores),
            memory,
            process_ms: self.sees_dut.then_some(used),
            drops: drops::watched(&drops).into_iter().chain(conntrack::watched(&conntrack)).collect(),
            connections: conntrack::entries(&conntrack),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_monitor_sees_this_machine_and_this_process() {
        let ours = Some(std::process::id());
        let monitor = Monitor::start(&Cores { tester: vec![], dut: vec![0] }, Watched { process: ours, anchor: ours });
        std::thread::sleep(INTERVAL * 4);
        let watch = monitor.stop();
        assert!(!watch.cores.is_empty());
        assert!(!watch.cores[0].samples.is_empty());
        assert!(watch.memory.iter().all(|octets| *octets > 100_000), "{:?}", watch.memory);
    }
}
