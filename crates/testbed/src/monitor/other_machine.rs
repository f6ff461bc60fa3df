//! A device on another machine, watched over ssh through its kernel's counters for processors and memory.
//!
//! It is queried at each sample, but never before it has answered the previous query. A device under load may answer late. One share then covers
//! all intervals since the previous answer, so that the mean over the trial remains correct.

use super::processor::{self, over};
use super::remote_sampler::Sampler;
use crate::exec::Remote;
use sixbench_method::record::{CoreRole, CoreWatch};
use std::time::{Duration, Instant};

/// The timeout for the first answer, before the trial, and for the last one, after it, when the load is gone.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct RemoteSample {
    at: Instant,
    processors: processor::CoreTicks,
    /// The memory in use in octets, or `None` if the kernel does not report the available memory (before Linux 3.14).
    memory: Option<u64>,
}

#[derive(Debug)]
pub(super) struct RemoteProbe {
    sampler: Sampler,
    seen: Vec<RemoteSample>,
    is_asked: bool,
}

impl RemoteProbe {
    /// Waits for the first answer, so that no session starts on the device while frames are sent. Returns `None` if there is no connection or no
    /// /proc/stat.
    pub(super) fn open(remote: &Remote) -> Option<Self> {
        let mut sampler = Sampler::start(remote).ok()?;
        sampler.ask();
        let (at, text) = sampler.answer(TIMEOUT)?;
        let seen = vec![parse(at, &text)?];
        Some(Self {
            sampler,
            seen,
            is_asked: false,
        })
    }

    pub(super) fn look(&mut self) {
        if let Some((at, text)) = self.sampler.answer(Duration::ZERO) {
            self.seen.extend(parse(at, &text));
            self.is_asked = false;
        }
        if !self.is_asked {
            self.sampler.ask();
            self.is_asked = true;
        }
    }

    /// Returns the cores' shares between the `moments` and the memory at each of them. Returns `None` if the last answer does not arrive: the
    /// connection is lost, and part of a trial must not pass for all of it.
    pub(super) fn close(mut self, moments: &[Instant]) -> Option<(Vec<CoreWatch>, Vec<u64>)> {
        if self.is_asked {
            let (at, text) = self.sampler.answer(TIMEOUT)?;
            self.seen.push(parse(at, &text)?);
        }
        Some((cores(&self.seen, moments), memory(&self.seen, moments)))
    }
}

fn parse(at: Instant, text: &str) -> Option<RemoteSample> {
    let processors = processor::parse(text);
    (!processors.is_empty()).then(|| RemoteSample {
        at,
        processors,
        memory: memory_in_use(text),
    })
}

/// Returns the memory in use in octets, from the lines `MemTotal: 4028440 kB` and `MemAvailable: ...` of /proc/meminfo.
fn memory_in_use(text: &str) -> Option<u64> {
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(kib("MemTotal:")?.saturating_sub(kib("MemAvailable:")?) * 1024)
}

/// Returns the shares of processor time in each interval between two moments, computed from the two answers around its middle.
fn cores(seen: &[RemoteSample], moments: &[Instant]) -> Vec<CoreWatch> {
    let Some(first) = seen.first() else {
        return Vec::new();
    };
    let pairs: Vec<_> = moments
        .windows(2)
        .filter_map(|interval| {
            let next = since(seen, interval[0] + (interval[1] - interval[0]) / 2);
            Some((
                &seen[next.checked_sub(1)?].processors,
                &seen.get(next)?.processors,
            ))
        })
        .collect();
    over(&first.processors, &pairs, |_| CoreRole::Dut)
}

/// Returns the memory in octets at each moment, taken from the first answer after it.
fn memory(seen: &[RemoteSample], moments: &[Instant]) -> Vec<u64> {
    moments
        .iter()
        .filter_map(|moment| {
            seen.get(since(seen, *moment))
                .map(|snapshot| snapshot.memory)
        })
        .collect::<Option<Vec<u64>>>()
        .unwrap_or_default()
}

fn since(seen: &[RemoteSample], moment: Instant) -> usize {
    seen.partition_point(|snapshot| snapshot.at < moment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::record::CpuSample;

    const MEMORY: &str =
        "MemTotal:        4000 kB\nMemFree:          100 kB\nMemAvailable:    1000 kB\n";

    /// Returns the answer of a machine whose core 1 is offline, with this many ticks of work and idleness so far.
    fn answered(at: Instant, busy: u64, idle: u64) -> RemoteSample {
        let core = |number: u32| format!("cpu{number} 0 0 {busy} {idle} 0 0 0 0 0 0\n");
        let text = format!("cpu  7 7 7 7 7 7 7 7 0 0\n{}{}{MEMORY}", core(0), core(2));
        parse(at, &text).expect("an answer")
    }

    fn after(begin: Instant, milliseconds: &[u64]) -> Vec<Instant> {
        milliseconds
            .iter()
            .map(|after| begin + Duration::from_millis(*after))
            .collect()
    }

    #[test]
    fn cores_have_the_devices_own_numbers_and_those_offline_are_absent() {
        let at = after(Instant::now(), &[0, 3, 103, 203]);
        let seen: Vec<_> = at
            .iter()
            .zip([0, 0, 3, 13])
            .map(|(at, busy)| answered(*at, busy, 20 - busy))
            .collect();
        let cores = cores(&seen, &after(at[0], &[1, 101, 201]));
        assert_eq!(
            cores
                .iter()
                .map(|core| (core.core, core.role))
                .collect::<Vec<_>>(),
            [(0, CoreRole::Dut), (2, CoreRole::Dut)]
        );
        assert_eq!(cores[1].samples.len(), 2);
    }

    #[test]
    fn a_late_answer_stands_for_all_intervals_it_covers_and_later_ones_for_their_own() {
        let at = after(Instant::now(), &[0, 2, 412, 503]);
        let seen = [(0, 0), (0, 1), (30, 11), (30, 20)];
        let seen: Vec<_> = at
            .iter()
            .zip(seen)
            .map(|(at, (busy, idle))| answered(*at, busy, idle))
            .collect();
        let cores = cores(&seen, &after(at[0], &[1, 101, 201, 301, 401, 501]));
        let system: Vec<u16> = cores[0]
            .samples
            .iter()
            .map(|sample: &CpuSample| sample.system)
            .collect();
        assert_eq!(system, [750, 750, 750, 750, 0]);
    }

    #[test]
    fn after_the_last_answer_nothing_is_known() {
        let at = after(Instant::now(), &[0, 100]);
        let seen = [answered(at[0], 0, 0), answered(at[1], 1, 9)];
        let moments = after(at[0], &[0, 90, 180, 270]);
        assert_eq!(cores(&seen, &moments)[0].samples.len(), 1);
        assert_eq!(memory(&seen, &moments), [3000 * 1024; 2]);
    }

    #[test]
    fn memory_in_use_is_what_is_not_available_and_unknown_where_the_kernel_does_not_say() {
        assert_eq!(memory_in_use(MEMORY), Some(3000 * 1024));
        assert_eq!(memory_in_use("MemTotal: 4000 kB\nMemFree: 100 kB\n"), None);
        assert!(
            parse(Instant::now(), MEMORY).is_none(),
            "of a machine without /proc/stat"
        );
    }
}
