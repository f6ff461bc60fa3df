//! The part of a trial's loss that others cannot have caused: that of slices of time in which nobody disturbed the device.
//!
//! A program that has the device's core for half of a trial makes it lose frames then. If the device loses frames in the other half as well, it is
//! overloaded, and the trial has decided. Losses are counted by tenths of a second, and so is the time for which others held the device's cores.
//!
//! A device that was held up has a full queue afterwards, and one with hardly any capacity to spare needs long to empty it. Until a slice passes without loss,
//! the loss of a slice therefore counts only if it is more than such a device would lose. Only in trials of a single constant rate is it known which
//! frames were due when.

use super::moment::LEAST_US;
use crate::trial::{DirectionResult, LOSS_BIN_NS, TrialKind, TrialOutcome, TrialResult};
use crate::watch::Watch;

/// The smallest share of a slice's frames that counts while the device may still be emptying its queue after it was held up. A device that is
/// overloaded by less is measured again, as if this were not known.
const LEAST_SHARE_AFTERWARDS: f64 = 0.01;

/// The smallest number of undisturbed slices with loss: one alone may have a cause that is not seen, such as a host that took the core for less than a
/// tick of its clock.
const FEWEST_SLICES: usize = 2;

impl Watch {
    /// Returns for each direction of a result how many of the frames that were not received were due while nobody disturbed the device, at least.
    /// `None` where it is not known when others did, or if the loss there is not all along.
    pub fn lost_undisturbed(&self, result: &TrialResult) -> Option<Vec<u64>> {
        let is_constant = matches!(result.spec.kind, TrialKind::Constant)
            && matches!(result.outcome, TrialOutcome::Frames(_));
        if !is_constant || self.held_us.is_empty() {
            return None;
        }
        let before_ns = self.lead_ns?;
        let lost: Vec<u64> = result
            .directions
            .iter()
            .map(|direction| self.lost_undisturbed_of(before_ns, result, direction))
            .collect();
        lost.iter().any(|lost| *lost > 0).then_some(lost)
    }

    fn lost_undisturbed_of(
        &self,
        before_ns: u64,
        result: &TrialResult,
        direction: &DirectionResult,
    ) -> u64 {
        let in_slice = result.rate_of(direction.direction).frames_in(LOSS_BIN_NS);
        let least_afterwards = (LEAST_SHARE_AFTERWARDS * in_slice as f64) as u64 + 1;
        let (mut undisturbed, mut counted, mut is_afterwards) = (0, Vec::new(), false);
        for (slice, lost) in direction.lost_by_bin.iter().copied().enumerate() {
            if self.is_disturbed_in(before_ns + slice as u64 * LOSS_BIN_NS) {
                is_afterwards = true;
                continue;
            }
            undisturbed += 1;
            if lost == 0 {
                is_afterwards = false;
            } else if !is_afterwards || lost >= least_afterwards {
                counted.push(lost);
            }
        }
        if counted.len() < FEWEST_SLICES || 2 * counted.len() < undisturbed {
            return 0;
        }
        // Frames that came back wrong are counted by the same bins, and are nobody's doing but the device's.
        let wrong = direction.not_received() - direction.not_in_time();
        counted.iter().sum::<u64>().saturating_sub(wrong)
    }

    /// Returns whether others held the device's cores in the slice that begins this long after the first sample, right before it, or right after it: a slice
    /// begins in the middle of a sample, and a frame may be lost a little later than it was due.
    fn is_disturbed_in(&self, begins_ns: u64) -> bool {
        let interval_ns = self.interval_ns.max(1);
        let first = (begins_ns / interval_ns).saturating_sub(1) as usize;
        let last = ((begins_ns + LOSS_BIN_NS) / interval_ns) as usize;
        (first..=last).any(|sample| {
            // After the last sample nothing is known.
            self.held_us.get(sample).is_none_or(|us| *us >= LEAST_US) || self.is_taken_in(sample)
        })
    }

    /// Returns whether the host of a virtual machine took time from the device's cores in a sample, or, of a device without processes, whether
    /// others ran there for more than a tick.
    fn is_taken_in(&self, sample: usize) -> bool {
        let is_kernel = self.process_ms == Some(0);
        let of_devices = self.devices.iter().flat_map(|device| &device.cores);
        let is_stolen = self
            .dut_cores()
            .chain(of_devices)
            .filter_map(|core| core.samples.get(sample))
            .any(|of| of.steal > 0);
        let ran = self
            .dut_cores()
            .filter_map(|core| core.samples.get(sample))
            .any(|of| {
                u64::from(of.user + of.system) * self.interval_ns / 1_000_000
                    >= super::moment::LEAST_OF_TICKS_US
            });
        is_stolen || (is_kernel && ran)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{CoreRole, CoreWatch, CpuSample};
    use crate::terms::{Direction, FrameRate};
    use crate::trial::TrialSpec;

    /// Returns a trial of 2 s at 10,000 frames/s that lost so many frames in each slice.
    fn lost(in_slices: impl Fn(usize) -> u64) -> TrialResult {
        let lost_by_bin: Vec<u64> = (0..20).map(in_slices).collect();
        let received = 20_000 - lost_by_bin.iter().sum::<u64>();
        let mut direction = DirectionResult::counted(Direction::Forward, 20_000, received);
        direction.lost_by_bin = lost_by_bin;
        let spec = TrialSpec::constant(FrameRate(10_000), 2_000_000_000);
        TrialResult::new(spec, vec![direction], vec![])
    }

    /// Returns a watch whose first sample began 350 ms before the first frame was due; others held the device's core for 50 ms in these samples.
    fn held_in(samples: std::ops::Range<usize>) -> Watch {
        let mut held_us = vec![150; 25];
        held_us[samples].fill(50_000);
        Watch {
            interval_ns: 100_000_000,
            lead_ns: Some(350_000_000),
            process_ms: Some(1500),
            held_us,
            ..Watch::default()
        }
    }

    #[test]
    fn loss_all_along_is_the_devices_but_for_the_slices_in_which_others_held_it_up() {
        // Slice 7 begins in the middle of sample 10; samples 10 to 14 touch the slices 6 to 12, counting those just before and after.
        let counted = held_in(10..15).lost_undisturbed(&lost(|_| 200));
        assert_eq!(counted, Some(vec![13 * 200]));
    }

    #[test]
    fn loss_only_while_others_held_the_device_is_not_its_own() {
        let result = lost(|slice| if (7..12).contains(&slice) { 500 } else { 0 });
        assert_eq!(held_in(10..15).lost_undisturbed(&result), None);
    }

    #[test]
    fn a_queue_that_is_emptied_slowly_afterwards_is_not_counted_unless_much_is_lost() {
        let watch = held_in(3..6);
        assert_eq!(watch.lost_undisturbed(&lost(|_| 9)), None);
        assert_eq!(
            watch.lost_undisturbed(&lost(|_| 11)),
            Some(vec![16 * 11]),
            "more than a hundredth of a slice's 1,000 frames"
        );
        let recovered = lost(|slice| if slice == 6 { 0 } else { 9 });
        assert_eq!(
            watch.lost_undisturbed(&recovered),
            Some(vec![13 * 9]),
            "after a slice without loss it was overloaded once more"
        );
    }

    #[test]
    fn loss_in_a_few_undisturbed_slices_may_have_another_cause() {
        let watch = held_in(10..15);
        let result = lost(|slice| if [1, 2, 9].contains(&slice) { 500 } else { 0 });
        assert_eq!(watch.lost_undisturbed(&result), None, "2 of 13 slices");
    }

    #[test]
    fn a_slice_of_which_nothing_is_known_is_not_undisturbed() {
        let short = Watch {
            held_us: vec![150; 10],
            ..held_in(0..0)
        };
        assert_eq!(short.lost_undisturbed(&lost(|_| 200)), Some(vec![6 * 200]));
        let unknown = Watch {
            lead_ns: None,
            ..held_in(0..0)
        };
        assert_eq!(unknown.lost_undisturbed(&lost(|_| 200)), None);
        let never_sampled = Watch {
            held_us: vec![],
            ..held_in(0..0)
        };
        assert_eq!(never_sampled.lost_undisturbed(&lost(|_| 200)), None);
    }

    #[test]
    fn time_that_the_host_took_disturbs_and_so_do_others_on_the_cores_of_a_kernel() {
        let sampled = |sample: CpuSample| {
            let mut samples = vec![CpuSample::default(); 25];
            samples[12] = sample;
            let core = CoreWatch {
                core: 1,
                role: CoreRole::Dut,
                samples,
            };
            Watch {
                cores: vec![core],
                process_ms: Some(0),
                ..held_in(0..0)
            }
        };
        let result = lost(|_| 200);
        let steal = CpuSample {
            steal: 100,
            ..CpuSample::default()
        };
        assert_eq!(
            sampled(steal).lost_undisturbed(&result),
            Some(vec![17 * 200])
        );
        let user = CpuSample {
            user: 200,
            ..CpuSample::default()
        };
        assert_eq!(
            sampled(user).lost_undisturbed(&result),
            Some(vec![17 * 200])
        );
        let own = Watch {
            process_ms: Some(1500),
            ..sampled(user)
        };
        assert_eq!(own.lost_undisturbed(&result), Some(vec![20 * 200]));
    }

    #[test]
    fn wrong_frames_are_not_counted_twice() {
        let mut result = lost(|_| 200);
        result.directions[0].mistranslated = 1500;
        assert_eq!(
            held_in(10..15).lost_undisturbed(&result),
            Some(vec![13 * 200 - 1500])
        );
    }
}
