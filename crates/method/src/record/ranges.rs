//! The ranges of the numbers in a record, which may come from anybody.

use super::{CpuSample, TrialRecord};
use std::ops::RangeInclusive;

/// Five days: the longest time of a trial, nanoseconds.
const LONGEST_NS: u64 = 5 * 86_400 * 1_000_000_000;

/// The highest load: that of the fastest medium, a thousand times over.
const HIGHEST_RATE: u64 = 20_000_000_000_000;

/// As many repetitions as a plan may ask for.
const REPETITIONS: RangeInclusive<u32> = 1..=1000;

impl TrialRecord {
    /// Returns the first number that no trial has, in words; `None` if all are possible.
    pub fn first_outside(&self) -> Option<String> {
        let (spec, busiest) = (&self.result.spec, self.samples().flat_map(shares).max().unwrap_or(0));
        let outside = [
            ("repetition", u64::from(self.repetition), REPETITIONS.contains(&self.repetition)),
            ("rate", spec.rate.0, spec.rate.0 <= HIGHEST_RATE),
            ("duration_ns", spec.duration_ns, spec.duration_ns <= LONGEST_NS),
            ("per mille of a core's time", u64::from(busiest), busiest <= 1000),
        ];
        outside
            .into_iter()
            .find(|(.., is_possible)| !is_possible)
            .map(|(what, value, _)| format!("{value} is no {what} of a trial"))
    }

    fn samples(&self) -> impl Iterator<Item = &CpuSample> {
        let cores = self.watch.iter().flat_map(|watch| watch.cores.iter().chain(watch.devices.iter().flat_map(|of| &of.cores)));
        cores.flat_map(|core| &core.samples)
    }
}

fn shares(sample: &CpuSample) -> [u16; 5] {
    [sample.user, sample.system, sample.softirq, sample.idle, sample.steal]
}
