//! The valid ranges of the numbers in a record, which may come from an untrusted source.

use super::{CpuSample, TrialRecord, Watch};
use crate::trial::{AnomalyKind, DirectionResult};
use std::ops::RangeInclusive;

/// The longest duration of a trial in nanoseconds: five days.
const LONGEST_NS: u64 = 5 * 86_400 * 1_000_000_000;

/// The highest load: a thousand times that of the fastest medium.
const HIGHEST_RATE: u64 = 20_000_000_000_000;

/// The highest count of frames, octets or microseconds in a trial: five days at the line rate of 100 Gbit/s have fewer frames. Sums over trials do
/// not overflow.
const MOST: u64 = 1 << 46;

/// The numbers of repetitions that a plan may ask for.
const REPETITIONS: RangeInclusive<u32> = 1..=1000;

impl TrialRecord {
    /// Returns a description of the first number that is impossible for a trial, or `None` if all are possible.
    pub fn first_outside(&self) -> Option<String> {
        let (spec, busiest) = (
            &self.result.spec,
            self.samples().flat_map(shares).max().unwrap_or(0),
        );
        let most = self
            .result
            .directions
            .iter()
            .map(largest_count)
            .chain(self.watch.as_deref().map(largest_watched));
        let most = most.max().unwrap_or(0);
        let outside = [
            (
                "repetition",
                u64::from(self.repetition),
                REPETITIONS.contains(&self.repetition),
            ),
            ("rate", spec.rate.0, spec.rate.0 <= HIGHEST_RATE),
            (
                "duration_ns",
                spec.duration_ns,
                spec.duration_ns <= LONGEST_NS,
            ),
            ("count", most, most <= MOST),
            (
                "per mille of a core's time",
                u64::from(busiest),
                busiest <= 1000,
            ),
        ];
        outside
            .into_iter()
            .find(|(.., is_possible)| !is_possible)
            .map(|(what, value, _)| format!("{value} is no {what} of a trial"))
    }

    fn samples(&self) -> impl Iterator<Item = &CpuSample> {
        let cores = self.watch.iter().flat_map(|watch| {
            watch
                .cores
                .iter()
                .chain(watch.devices.iter().flat_map(|of| &of.cores))
        });
        cores.flat_map(|core| &core.samples)
    }
}

/// Returns the largest count of frames of a direction.
fn largest_count(of: &DirectionResult) -> u64 {
    let counts = [of.intended, of.offered, of.received, of.sending.late_frames];
    let anomalies = AnomalyKind::ALL.iter().map(|kind| kind.count(of));
    let lists = of
        .lost_by_bin
        .iter()
        .copied()
        .chain(of.wrong_fields.values().copied());
    let errors = of
        .icmp_errors
        .iter()
        .flat_map(|of| [of.messages, of.quoting, of.background, of.wrong_checksum]);
    let sizes = of.sizes.iter().flat_map(|of| [of.offered, of.not_received]);
    let broadcasts = of.broadcasts.iter().flat_map(|of| [of.sent, of.forwarded]);
    let bursts = of.bursts.iter().map(|of| of.bursts);
    let lists = lists
        .chain(broadcasts)
        .chain(bursts)
        .chain(errors)
        .chain([of.other_icmp_errors])
        .chain(sizes);
    let delays = of.delays.iter().map(|bucket| bucket.frames);
    counts
        .into_iter()
        .chain(anomalies)
        .chain([of.receiving.overruns])
        .chain(lists)
        .chain(delays)
        .max()
        .unwrap_or(0)
}

/// Returns the largest of the observed numbers other than shares of processor time.
fn largest_watched(of: &Watch) -> u64 {
    let losses = of.losses.iter().map(|counter| &counter.frames);
    let drops = of
        .drops
        .iter()
        .flat_map(|drops| &drops.samples)
        .chain(losses);
    let memory = of
        .memory
        .iter()
        .chain(&of.kernel_memory)
        .chain(of.devices.iter().flat_map(|device| &device.memory));
    let numbers = drops
        .chain(memory)
        .chain(&of.connections)
        .chain(&of.waited_us)
        .chain(&of.held_us)
        .chain(&of.process_ms)
        .chain(&of.others_ms);
    numbers.copied().max().unwrap_or(0)
}

fn shares(sample: &CpuSample) -> [u16; 5] {
    [
        sample.user,
        sample.system,
        sample.softirq,
        sample.idle,
        sample.steal,
    ]
}
