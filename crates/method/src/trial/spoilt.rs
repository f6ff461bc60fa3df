//! Delays that the tester itself may have spoilt: how many, by how much, and whether a result derived from them is still valid.
//!
//! There is one rule for every result that is not a verdict on loss: a fault of the tester invalidates a result if the fault can explain more than a
//! small share of it. The results of one trial that are of the same delays are valid together or not at all, by the rule of the most sensitive of
//! them, so that all have the same number of repetitions. Losses and delays are valid each on their own: a stall of 1.5 ms cannot move the loss of a
//! device that loses 20,000 frames, but does move the largest delay of any device.

use super::{Fault, TrialResult, Verdict};
use crate::terms::{Direction, LossRatio};

/// The frames of a direction, or of a whole trial, whose delays the tester may have affected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpoiltFrames {
    /// The largest possible number of spoilt frames.
    pub frames: u64,
    /// The largest possible effect on a single frame, in nanoseconds.
    pub worst_ns: u64,
    /// The largest possible effect on all of them together, in nanoseconds.
    pub sum_ns: u128,
}

impl SpoiltFrames {
    fn new(frames: u64, by_ns: u64) -> Self {
        Self {
            frames,
            worst_ns: by_ns,
            sum_ns: u128::from(frames) * u128::from(by_ns),
        }
    }

    /// Returns the larger of both: a core that sends and receives records one stall twice.
    fn or(self, other: Self) -> Self {
        Self {
            frames: self.frames.max(other.frames),
            worst_ns: self.worst_ns.max(other.worst_ns),
            sum_ns: self.sum_ns.max(other.sum_ns),
        }
    }

    /// Returns both combined.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            frames: self.frames.saturating_add(other.frames),
            worst_ns: self.worst_ns.max(other.worst_ns),
            sum_ns: self.sum_ns.saturating_add(other.sum_ns),
        }
    }

    /// Returns whether at most `share` of `frames` are spoilt, in which case the rank of a quantile moves by no more than that.
    pub fn is_within(&self, share: f64, frames: u64) -> bool {
        self.frames as f64 <= share * frames as f64
    }
}

impl TrialResult {
    /// Returns the delays of a direction that the tester may have spoilt: frames received late, and frames sent in a burst to catch up, whose load is
    /// not the intended one. Time taken from the DUT counts if it may explain most of the missing frames: a device that others always kept from its
    /// core loses a little more than that time explains.
    pub fn spoilt(&self, of: Direction) -> SpoiltFrames {
        let counted = self.directions.iter().find(|d| d.direction == of);
        let may_be_most = counted
            .is_some_and(|d| d.not_received() > 0 && self.excusable(of) >= d.not_received() / 2);
        self.faults
            .iter()
            .fold(SpoiltFrames::default(), |spoilt, fault| {
                match fault.itself() {
                    Fault::SenderStalled {
                        direction,
                        frames,
                        worst_lateness_ns: by_ns,
                    }
                    | Fault::ReceiverStalled {
                        direction,
                        frames,
                        worst_gap_ns: by_ns,
                    } if *direction == of => spoilt.or(SpoiltFrames::new(*frames, *by_ns)),
                    // Clocks that differ for some frames differ for all of them.
                    Fault::ArrivedBeforeSent { direction, .. } if *direction == of => {
                        spoilt.or(SpoiltFrames::new(u64::MAX, u64::MAX))
                    }
                    Fault::NeighbourWentStale { .. } => {
                        spoilt.or(SpoiltFrames::new(u64::MAX, u64::MAX))
                    }
                    Fault::CpuStolen { milliseconds } | Fault::CpuTaken { milliseconds }
                        if may_be_most =>
                    {
                        let by_ns = milliseconds * 1_000_000;
                        spoilt.and(SpoiltFrames::new(self.rate_of(of).frames_in(by_ns), by_ns))
                    }
                    _ => spoilt,
                }
            })
    }

    /// Returns whether the trial was performed as asked: the intended load was offered.
    pub fn is_as_asked(&self) -> bool {
        !self.faults.iter().any(Fault::always_invalidates)
    }

    /// Returns the verdict for a measurement of single delays: loss is part of its result, not a failure, but not a single delay may be spoilt.
    pub fn delay_verdict(&self) -> Verdict {
        let is_clean = |d: &super::DirectionResult| {
            self.spoilt(d.direction).frames == 0
                && self.direction_verdict(d, LossRatio::ZERO) != Verdict::Invalid
        };
        if self.is_as_asked() && self.directions.iter().all(is_clean) {
            Verdict::Passed
        } else {
            Verdict::Invalid
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::FrameRate;
    use crate::trial::{DirectionResult, TrialSpec};

    fn result(received: u64, faults: Vec<Fault>) -> TrialResult {
        TrialResult::new(
            TrialSpec::constant(FrameRate(1000), 1_000_000_000),
            vec![DirectionResult::counted(Direction::Forward, 1000, received)],
            faults,
        )
    }

    fn away(frames: u64) -> Fault {
        Fault::ReceiverStalled {
            direction: Direction::Forward,
            worst_gap_ns: 2_000_000,
            frames,
        }
    }

    #[test]
    fn a_receiver_that_looked_late_spoils_delays_although_nothing_is_missing() {
        let trial = result(1000, vec![away(2)]);
        assert_eq!(trial.verdict(LossRatio::ZERO), Verdict::Passed);
        let spoilt = trial.spoilt(Direction::Forward);
        assert_eq!(
            spoilt,
            SpoiltFrames {
                frames: 2,
                worst_ns: 2_000_000,
                sum_ns: 4_000_000
            }
        );
        assert!(spoilt.is_within(0.002, 1000) && !spoilt.is_within(0.001, 1000));
        assert_eq!(trial.spoilt(Direction::Reverse), SpoiltFrames::default());
        assert_eq!(trial.delay_verdict(), Verdict::Invalid);
    }

    #[test]
    fn one_stall_that_sender_and_receiver_both_note_spoils_its_frames_once() {
        let sender = Fault::SenderStalled {
            direction: Direction::Forward,
            worst_lateness_ns: 1_900_000,
            frames: 3,
        };
        let spoilt = result(1000, vec![away(2), sender]).spoilt(Direction::Forward);
        assert_eq!((spoilt.frames, spoilt.worst_ns), (3, 2_000_000));
    }

    #[test]
    fn a_lossy_device_still_has_delays() {
        assert_eq!(result(600, vec![]).delay_verdict(), Verdict::Passed);
    }

    #[test]
    fn a_forgotten_hardware_address_spoils_every_delay() {
        let stale = Fault::NeighbourWentStale {
            direction: Direction::Forward,
            address: "2001:2::1".into(),
        };
        assert!(
            !result(1000, vec![stale])
                .spoilt(Direction::Reverse)
                .is_within(1.0, u64::MAX / 2)
        );
    }

    #[test]
    fn time_taken_from_the_device_spoils_delays_where_frames_are_missing_for_it() {
        let taken = || vec![Fault::CpuTaken { milliseconds: 100 }];
        assert_eq!(result(1000, taken()).spoilt(Direction::Forward).frames, 0);
        assert_eq!(result(950, taken()).spoilt(Direction::Forward).frames, 100);
        assert_eq!(
            result(500, taken()).spoilt(Direction::Forward).frames,
            0,
            "the device is overloaded anyway"
        );
        let all_the_time = vec![Fault::CpuTaken { milliseconds: 950 }];
        assert_eq!(
            result(1, all_the_time).spoilt(Direction::Forward).frames,
            950,
            "the one frame that came says nothing"
        );
    }
}
