//! The idle time of devices at the rate that was found: the mean over the repetitions, as in the figures of Lencse and Nagy.

use super::{Digest, PointDigest};
use sixbench_method::plan::Load;
use sixbench_method::record::{CoreWatch, DeviceWatch, TrialRecord, Watch, by_repetition};
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::{TrialKind, Verdict};

/// The idle time of a device over the trials at the found rate.
pub(crate) struct DeviceIdle {
    pub(crate) device: String,
    pub(crate) interval_ns: u64,
    pub(crate) cores: Vec<CoreIdle>,
}

pub(crate) struct CoreIdle {
    /// The number of the core on the device.
    pub(crate) core: u32,
    /// Idle time in each interval, per cent: the mean of the trials that have this interval.
    pub(crate) percent: Vec<f64>,
}

impl CoreIdle {
    /// Returns the mean idle time, per cent. If there are more than two intervals, it excludes the first and the last, which the load does not fill.
    pub(crate) fn mean_percent(&self) -> f64 {
        let inner = if self.percent.len() > 2 {
            &self.percent[1..self.percent.len() - 1]
        } else {
            &self.percent[..]
        };
        inner.iter().sum::<f64>() / inner.len().max(1) as f64
    }
}

impl<'a> Digest<'a> {
    /// Returns the trials that show how idle devices were at the rate of a point: if the plan has a test that repeats the throughput found by the
    /// point's searches, as Lencse and Nagy did, the trials of that test; else the passing trial at the highest load of each repetition.
    pub(crate) fn trials_at_rate(&self, point: &PointDigest<'a>) -> Vec<&'a TrialRecord> {
        let is_repeated = |other: &&PointDigest| {
            let mut searches = other
                .outcomes
                .iter()
                .filter_map(|outcome| outcome.load.as_ref())
                .flat_map(|load| &load.searches);
            other.test.measure.load() == Some(Load::OfThroughput(1.0))
                && other.size() == point.size()
                && searches.any(|search| search.test == point.test.name)
        };
        let records = self
            .points
            .iter()
            .filter(is_repeated)
            .flat_map(PointDigest::trials_at_known_rate);
        let is_steady = |record: &&TrialRecord| {
            matches!(
                record.result.spec.kind,
                TrialKind::Constant | TrialKind::Queries
            )
        };
        let repeated: Vec<_> = records.filter(is_steady).collect();
        if repeated.is_empty() {
            point.found_trials(point.first_goal())
        } else {
            repeated
        }
    }
}

impl<'a> PointDigest<'a> {
    /// Returns the passing trial at the highest load of each completed repetition.
    pub(crate) fn found_trials(&self, goal: LossRatio) -> Vec<&'a TrialRecord> {
        let repetitions = by_repetition(&self.records);
        let highest = |repetition: u32| {
            let of_it = repetitions.get(&repetition).into_iter().flatten();
            let passed = of_it.filter(|record| record.result.verdict(goal) == Verdict::Passed);
            passed.max_by_key(|record| record.result.spec.rate).copied()
        };
        self.outcomes
            .iter()
            .filter_map(|outcome| highest(outcome.repetition))
            .collect()
    }

    /// Returns the devices in these trials in the order of their chain. A DUT that was not watched separately is named `dut`, with the host's cores.
    pub(crate) fn idle_devices(&self, trials: &[&TrialRecord], dut: &str) -> Vec<DeviceIdle> {
        let watches: Vec<&Watch> = trials
            .iter()
            .filter_map(|record| record.watch.as_deref())
            .collect();
        let Some(first) = watches.first() else {
            return Vec::new();
        };
        let device = |device: String, cores: Vec<&CoreWatch>| DeviceIdle {
            device,
            interval_ns: first.interval_ns,
            cores: idle_cores(&cores),
        };
        let of_host = || watches.iter().flat_map(|watch| watch.dut_cores()).collect();
        let of_device = |of: &DeviceWatch| {
            let watched = watches
                .iter()
                .flat_map(|watch| &watch.devices)
                .filter(|device| device.device == of.device);
            device(
                of.place(),
                watched.flat_map(|device| &device.cores).collect(),
            )
        };
        let found = if first.devices.is_empty() {
            vec![device(dut.to_owned(), of_host())]
        } else {
            first.devices.iter().map(of_device).collect()
        };
        found
            .into_iter()
            .filter(|device| !device.cores.is_empty())
            .collect()
    }
}

fn idle_cores(watched: &[&CoreWatch]) -> Vec<CoreIdle> {
    let numbers: std::collections::BTreeSet<u32> = watched.iter().map(|core| core.core).collect();
    let core_idle = |number: u32| {
        let trials: Vec<&CoreWatch> = watched
            .iter()
            .filter(|core| core.core == number)
            .copied()
            .collect();
        CoreIdle {
            core: number,
            percent: means(&trials),
        }
    };
    numbers
        .into_iter()
        .map(core_idle)
        .filter(|core| core.percent.len() > 1)
        .collect()
}

fn means(trials: &[&CoreWatch]) -> Vec<f64> {
    let longest = trials
        .iter()
        .map(|core| core.samples.len())
        .max()
        .unwrap_or(0);
    let mean = |at: usize| {
        let idle: Vec<f64> = trials
            .iter()
            .filter_map(|core| core.samples.get(at))
            .map(|s| f64::from(s.idle) / 10.0)
            .collect();
        idle.iter().sum::<f64>() / idle.len() as f64
    };
    (0..longest).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::record::{CoreRole, CpuSample};

    #[test]
    fn idle_time_is_the_mean_of_the_trials_that_were_as_long() {
        let core = |idle: &[u16]| {
            let sample = |&idle: &u16| CpuSample {
                idle,
                ..CpuSample::default()
            };
            CoreWatch {
                core: 3,
                role: CoreRole::Dut,
                samples: idle.iter().map(sample).collect(),
            }
        };
        let (long, short) = (core(&[100, 200, 900]), core(&[300, 400]));
        let cores = idle_cores(&[&long, &short]);
        assert_eq!(
            (cores.len(), cores[0].core, &cores[0].percent[..]),
            (1, 3, &[20.0, 30.0, 90.0][..])
        );
    }
}
