//! The utilisation of the DUT's cores during trials.

use crate::record::{CoreWatch, CpuSample, TrialRecord, Watch};
use crate::units::{agreeing, part_of};
use std::collections::BTreeMap;

/// One core of the DUT over several trials, with at least one sample.
pub(super) struct Core {
    pub(super) number: u32,
    samples: Vec<CpuSample>,
}

/// The largest idle time, in per mille, of a sample in which a core counts as full: samples do not begin and end exactly with the load.
const FULL: u16 = 100;

/// Returns the DUT's cores, by number: those of the tester's machine that are assigned to it, or those of a device on a separate machine.
pub(super) fn dut_cores(trials: &[&TrialRecord], device: Option<&str>) -> Vec<Core> {
    cores_of(trials.iter().flat_map(|record| of_dut(record, device)))
}

pub(super) fn cores_of<'a>(watched: impl Iterator<Item = &'a CoreWatch>) -> Vec<Core> {
    let mut samples: BTreeMap<u32, Vec<CpuSample>> = BTreeMap::new();
    for core in watched {
        samples
            .entry(core.core)
            .or_default()
            .extend(inner(&core.samples));
    }
    let cores = samples
        .into_iter()
        .filter(|(_, samples)| !samples.is_empty());
    cores
        .map(|(number, samples)| Core { number, samples })
        .collect()
}

/// Returns the user and system time of all cores of the DUT together in each sample of a trial, in per mille of one core.
pub(super) fn process_time(record: &TrialRecord, device: Option<&str>) -> Vec<u32> {
    let cores: Vec<&[CpuSample]> = of_dut(record, device)
        .map(|core| inner(&core.samples))
        .collect();
    let length = cores.iter().map(|samples| samples.len()).min().unwrap_or(0);
    (0..length)
        .map(|at| {
            cores
                .iter()
                .map(|samples| u32::from(process(&samples[at])))
                .sum()
        })
        .collect()
}

/// Returns whether `some` is at least one, and at least two thirds of `of`.
pub(super) fn is_most(some: usize, of: usize) -> bool {
    some > 0 && 3 * some >= 2 * of
}

/// Returns the cores as in "core 1" or "cores 2, 3".
pub(super) fn list(cores: &[&Core]) -> String {
    numbered(cores.iter().map(|core| core.number))
}

/// Returns the same for numbers.
pub(super) fn numbered(numbers: impl Iterator<Item = u32>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    format!(
        "{} {}",
        agreeing(numbers.len() == 1, "core"),
        numbers.join(", ")
    )
}

pub(super) fn busy_percent(cores: &[&Core]) -> f64 {
    let idle: f64 = cores.iter().map(|core| core.idle_percent()).sum();
    100.0 - idle / cores.len().max(1) as f64
}

fn of_dut<'a>(
    record: &'a TrialRecord,
    device: Option<&str>,
) -> Box<dyn Iterator<Item = &'a CoreWatch> + 'a> {
    let Some(device) = device else {
        return Box::new(
            record
                .watch
                .as_deref()
                .into_iter()
                .flat_map(Watch::dut_cores),
        );
    };
    let of_machine = record
        .watch
        .as_deref()
        .into_iter()
        .flat_map(|watch| &watch.devices)
        .filter(|of| of.device == device);
    Box::new(
        of_machine
            .flat_map(|of| &of.cores)
            .collect::<Vec<_>>()
            .into_iter(),
    )
}

/// Returns the samples without the first and the last one, which the load does not fill; all of them if there are fewer than three.
fn inner(samples: &[CpuSample]) -> &[CpuSample] {
    match samples {
        [_, inner @ .., _] if !inner.is_empty() => inner,
        few => few,
    }
}

fn process(sample: &CpuSample) -> u16 {
    sample.user + sample.system
}

impl Core {
    /// Returns whether the core was full in most of its samples.
    pub(super) fn is_saturated(&self) -> bool {
        is_most(self.full_samples(), self.samples.len())
    }

    /// Returns whether the host took much of the core's time: a twentieth of all of it, or nearly a third of a sample.
    pub(super) fn is_robbed(&self) -> bool {
        self.steal_percent() >= 5.0 || self.steal_peak_percent() >= 30.0
    }

    /// Returns a description such as "core 1: 98 % softirq in 12 of 14 samples".
    pub(super) fn describe(&self) -> String {
        let (process, softirq) = (self.process_percent(), self.softirq_percent());
        let most = if process > softirq {
            "user and system"
        } else {
            "softirq"
        };
        let (full, all) = (self.full_samples(), self.samples.len());
        format!(
            "core {}: {:.0} % {most} in {}",
            self.number,
            process.max(softirq),
            part_of(full, all, "sample")
        )
    }

    /// Returns the user and system time, in per cent of the samples in which the core was full.
    pub(super) fn process_percent(&self) -> f64 {
        mean_percent(self.full(), process)
    }

    /// Returns the softirq time, in per cent of the samples in which the core was full.
    pub(super) fn softirq_percent(&self) -> f64 {
        mean_percent(self.full(), |sample| sample.softirq)
    }

    pub(super) fn idle_percent(&self) -> f64 {
        self.percent(|sample| sample.idle)
    }

    pub(super) fn steal_percent(&self) -> f64 {
        self.percent(|sample| sample.steal)
    }

    /// Returns the time taken by the host in the worst sample, in per cent of it.
    pub(super) fn steal_peak_percent(&self) -> f64 {
        f64::from(
            self.samples
                .iter()
                .map(|sample| sample.steal)
                .max()
                .unwrap_or(0),
        ) / 10.0
    }

    fn percent(&self, of: fn(&CpuSample) -> u16) -> f64 {
        mean_percent(self.samples.iter(), of)
    }

    fn full(&self) -> impl Iterator<Item = &CpuSample> {
        self.samples.iter().filter(|sample| sample.idle <= FULL)
    }

    fn full_samples(&self) -> usize {
        self.full().count()
    }
}

fn mean_percent<'a>(
    samples: impl Iterator<Item = &'a CpuSample>,
    of: fn(&CpuSample) -> u16,
) -> f64 {
    let (sum, count) = samples.fold((0u64, 0u64), |(sum, count), sample| {
        (sum + u64::from(of(sample)), count + 1)
    });
    sum as f64 / count.max(1) as f64 / 10.0
}
