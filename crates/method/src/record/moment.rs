//! Loss at a single moment, and other processes on the DUT's cores at that same moment: evidence that a sum over the trial hides. A program that uses
//! the DUT's only core for 30 ms of a trial of 4 s takes less than a hundredth of it, but affects all frames during that time.
//!
//! Trials of DNS queries and of TCP connections are excluded, because half of the evidence is missing. The due time of each query is known only
//! relative to the first one, and sampling begins before that by a time that is not recorded, in which a server is probed and names are resolved. Of
//! connections that failed, only their number is recorded. Loss of queries at one moment is therefore never excused, but it still makes a rate a
//! lower bound ([`crate::disturbance`]), for which the samples of the whole trial suffice. Loss of connections does not even do that.

use crate::trial::{DirectionResult, LOSS_BIN_NS, TrialOutcome, TrialResult};
use crate::watch::Watch;

/// The largest number of bins that counts as one moment; loss in more of them means that the DUT is overloaded.
const MOST_BINS: usize = 3;

/// The number of samples before the loss in which its cause may have begun: the DUT's queue fills before it loses frames.
const SAMPLES_BEFORE: usize = 1;

/// The number of samples from the beginning of a bin that may contain the cause: a bin begins in the middle of a sample, and the DUT's queue may lose
/// its frames a little later.
const SAMPLES_AFTER: usize = 3;

/// The shortest time in microseconds that counts as evidence; the kernel's own housekeeping takes less.
pub(super) const LEAST_US: u64 = 3_000;

/// The same for times counted in ticks of 10 ms: a single tick may be due to any process.
pub(super) const LEAST_OF_TICKS_US: u64 = 20_000;

impl Watch {
    /// Returns the milliseconds for which others held up the DUT while it lost frames, beyond their usual share of the trial; `None` if the loss did
    /// not occur at a single moment, or nothing stands out there.
    pub fn taken_where_lost_ms(&self, result: &TrialResult) -> Option<u64> {
        if !matches!(result.outcome, TrialOutcome::Frames(_)) {
            // The sample of a bin of queries is unknown, and connections have no bins: see the module.
            return None;
        }
        let others = self.others_us();
        let usual = median(&others)?;
        let before_ns = self.lead_ns.unwrap_or_else(|| {
            result
                .phase_one_result()
                .map_or(0, |connections| connections.delay_ns)
        });
        let before = (before_ns / self.interval_ns.max(1)) as usize;
        let lossy = result.directions.iter().filter_map(lossy_bins);
        let in_samples = |bins: Vec<usize>| -> u64 {
            let mut samples: Vec<usize> = bins
                .iter()
                .flat_map(|bin| self.samples_of(before, *bin))
                .collect();
            samples.sort_unstable();
            samples.dedup();
            samples
                .iter()
                .filter_map(|sample| others.get(*sample))
                .map(|us| us.saturating_sub(usual))
                .sum()
        };
        let least = if self.waited_us.is_empty() {
            LEAST_OF_TICKS_US
        } else {
            LEAST_US
        };
        let most = lossy.map(in_samples).max().filter(|us| *us >= least)?;
        Some(most.div_ceil(1000))
    }

    /// Returns the samples that may contain the cause of a bin's losses.
    fn samples_of(&self, before: usize, bin: usize) -> std::ops::Range<usize> {
        let first = before + (bin as u64 * LOSS_BIN_NS / self.interval_ns.max(1)) as usize;
        first.saturating_sub(SAMPLES_BEFORE)..first + SAMPLES_AFTER
    }

    /// Returns the time for which others held up the DUT in each interval, in microseconds: the time that its processes waited for a core or, if the
    /// DUT is the kernel, the time of processes on its cores.
    fn others_us(&self) -> Vec<u64> {
        if !self.waited_us.is_empty() {
            return self.waited_us.clone();
        }
        // Only where the DUT has no processes is it the kernel, and are all processes on its cores those of others.
        if self.process_ms != Some(0) {
            return Vec::new();
        }
        let cores: Vec<_> = self.dut_cores().collect();
        let length = cores
            .iter()
            .map(|core| core.samples.len())
            .min()
            .unwrap_or(0);
        let busy = |index: usize| -> u64 {
            cores
                .iter()
                .map(|core| {
                    u64::from(core.samples[index].user) + u64::from(core.samples[index].system)
                })
                .sum()
        };
        (0..length)
            .map(|index| busy(index) * self.interval_ns / 1_000_000)
            .collect()
    }
}

/// Returns the bins in which a direction lost frames, if they are few enough to count as one moment.
fn lossy_bins(direction: &DirectionResult) -> Option<Vec<usize>> {
    let bins: Vec<usize> = direction
        .lost_by_bin
        .iter()
        .enumerate()
        .filter(|(_, lost)| **lost > 0)
        .map(|(bin, _)| bin)
        .collect();
    (1..=MOST_BINS).contains(&bins.len()).then_some(bins)
}

fn median(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::{CoreRole, CoreWatch, CpuSample};
    use super::*;
    use crate::terms::{Direction, FrameRate, LossRatio};
    use crate::trial::{Fault, TrialSpec, Verdict};

    /// Returns a trial of 2 s at 5,000 frames/s that lost frames in these bins.
    fn lost(bins: &[(usize, u64)]) -> TrialResult {
        let mut lost_by_bin = vec![0; 20];
        for (bin, lost) in bins {
            lost_by_bin[*bin] = *lost;
        }
        let received = 10_000 - lost_by_bin.iter().sum::<u64>();
        let mut direction = DirectionResult::counted(Direction::Forward, 10_000, received);
        direction.lost_by_bin = lost_by_bin;
        let spec = TrialSpec::constant(FrameRate(5_000), 2_000_000_000);
        TrialResult::new(spec, vec![direction], vec![])
    }

    fn watch(waited_us: Vec<u64>) -> Watch {
        Watch {
            interval_ns: 100_000_000,
            process_ms: Some(900),
            waited_us,
            ..Watch::default()
        }
    }

    /// Returns twenty-two samples of a forwarder that always waits a little, and for this long in the tenth sample.
    fn waits(us: u64) -> Vec<u64> {
        let mut waited = vec![150; 22];
        waited[9] = us;
        waited
    }

    #[test]
    fn a_forwarder_that_waited_for_its_core_in_the_moment_of_the_loss_is_excused() {
        let (result, watch) = (lost(&[(8, 90), (9, 60)]), watch(waits(31_000)));
        let milliseconds = watch.taken_where_lost_ms(&result).expect("evidence");
        assert_eq!(milliseconds, 31);
        let judged = TrialResult {
            faults: vec![Fault::CpuTaken { milliseconds }],
            ..result
        };
        assert_eq!(
            judged.verdict(LossRatio::ZERO),
            Verdict::Invalid,
            "31 ms are 155 frames, and 150 are missing"
        );
    }

    #[test]
    fn a_wait_that_filled_the_queue_before_it_lost_frames_is_found() {
        assert_eq!(
            watch(waits(160_000)).taken_where_lost_ms(&lost(&[(10, 28), (11, 6)])),
            Some(160)
        );
        assert_eq!(
            watch(waits(160_000)).taken_where_lost_ms(&lost(&[(11, 28), (12, 6)])),
            None
        );
    }

    #[test]
    fn where_the_first_frame_was_due_long_after_the_first_sample_the_moments_are_those_of_the_frames()
     {
        let late = |lead_ns| Watch {
            lead_ns,
            ..watch(waits(31_000))
        };
        let result = lost(&[(4, 90), (5, 60)]);
        assert_eq!(late(None).taken_where_lost_ms(&result), None);
        assert_eq!(
            late(Some(430_000_000)).taken_where_lost_ms(&result),
            Some(31)
        );
        assert_eq!(
            late(Some(430_000_000)).taken_where_lost_ms(&lost(&[(8, 90)])),
            None,
            "another moment"
        );
    }

    #[test]
    fn a_wait_at_another_moment_excuses_nothing() {
        assert_eq!(
            watch(waits(31_000)).taken_where_lost_ms(&lost(&[(15, 150)])),
            None
        );
    }

    #[test]
    fn one_that_waits_as_long_all_the_time_is_overloaded() {
        assert_eq!(
            watch(vec![31_000; 22]).taken_where_lost_ms(&lost(&[(8, 90)])),
            None
        );
        let everywhere: Vec<_> = (0..20).map(|bin| (bin, 10)).collect();
        assert_eq!(
            watch(waits(31_000)).taken_where_lost_ms(&lost(&everywhere)),
            None,
            "no moment"
        );
    }

    #[test]
    fn short_waits_are_what_any_kernel_takes() {
        assert_eq!(
            watch(waits(2_900)).taken_where_lost_ms(&lost(&[(8, 90)])),
            None
        );
        assert_eq!(
            watch(vec![]).taken_where_lost_ms(&lost(&[(8, 90)])),
            None,
            "nobody looked"
        );
    }

    #[test]
    fn of_a_kernel_that_forwards_the_time_of_processes_on_its_core_counts() {
        let mut samples = vec![
            CpuSample {
                softirq: 300,
                idle: 700,
                ..CpuSample::default()
            };
            22
        ];
        (samples[9].user, samples[9].idle) = (200, 500);
        let cores = vec![CoreWatch {
            core: 1,
            role: CoreRole::Dut,
            samples,
        }];
        let watch = Watch {
            cores,
            process_ms: Some(0),
            ..watch(vec![])
        };
        assert_eq!(watch.taken_where_lost_ms(&lost(&[(8, 90)])), Some(20));
        assert_eq!(watch.taken_where_lost_ms(&lost(&[(1, 90)])), None);
        let mut one_tick = watch.clone();
        one_tick.cores[0].samples[9].user = 100;
        assert_eq!(
            one_tick.taken_where_lost_ms(&lost(&[(8, 90)])),
            None,
            "a single tick may be anybody's"
        );
    }
}
