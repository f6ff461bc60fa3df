//! One trial: what is asked of a measurer, what it counted, and what that means.
//! A `TrialResult` never holds a ratio: counts are stored, ratios are derived.
//!
//! # Which faults invalidate a result
//!
//! A stall excuses no more missing frames than it made late. Sending longer than 1.00001 of nominal always invalidates (10 us longer, below a
//! second). Every other result is invalid if a fault explains more than a small share of it (`trial::spoilt`, `measures::procedure::reading`): a tenth
//! of a loss or of a standard deviation, a fiftieth of a mean or a rate, half of the frames above a 99.9th percentile, and nothing at all for any other
//! extreme. Quantities of the same delays are valid together or not at all, by the strictest of these rules, so that all have the same repetitions; losses
//! remain valid beside them. Delays are upper bounds if others held the device's processors for so long (`disturbance::makes_upper_bound`), or if the tester
//! may have added more than a tenth; where it was more than a hundredth of the time, the trial is made again as long as there is patience. Invalid
//! trials are repeated. A load at which they stay invalid counts as beyond the tester, and the result is reported as "at least". If a measurement of
//! values stays invalid, it has no result.

mod anomaly_kind;
mod broadcast_counts;
mod burst_times;
mod connections;
mod delay;
mod direction;
pub mod dns;
mod fault;
mod icmp_error;
mod lengths;
mod outcome;
mod ramp;
mod requirement_load;
mod requirements;
mod response;
mod settings;
mod size_counts;
mod spec;
mod spoilt;
pub mod tcp;

pub use anomaly_kind::ShareBase;
pub use broadcast_counts::BroadcastCounts;
pub use burst_times::BurstTimes;
pub use connections::{Connections, Mapping};
pub use delay::{Bucket, Delay, DelayBounds, Ipdv, IpdvBounds, Moments, is_upper_bound};
pub use direction::{
    AnomalyKind, DirectionDetails, DirectionResult, LOSS_BIN_NS, OptionalDetails, Receiving,
    Sending, Silence,
};
pub use fault::Fault;
pub use icmp_error::IcmpErrors;
pub use lengths::{LENGTH_CLASSES, LengthClass, LengthDistribution};
pub use outcome::TrialOutcome;
pub use ramp::RampCounts;
pub use requirements::{
    FieldDifference, JudgedFrame, JudgedStep, JudgedVector, KnownViolations, LoadedDirection,
    LoadedFinding, RequirementLevel, RequirementLoad, RequirementResults, VectorResult,
};
pub use response::Exchange;
pub use settings::TrialSettings;
pub use size_counts::SizeCounts;
pub use spec::{PhaseOne, Schedule, Segment, Tagging, TrialKind, TrialSpec};
pub use spoilt::SpoiltFrames;

use crate::terms::{Direction, FrameRate, LossRatio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest share of a loss that may be explained by what was done to the device if the loss is to count against the
/// device.
pub(crate) const EXCUSABLE_SHARE: f64 = 0.1;

/// Whatever can perform a trial: the frame engine, a DNS client, a simulated device.
pub trait Measurer {
    /// The reason why no trial could be performed at all. Loss is a result, not an error.
    type Error;

    /// Performs one trial, from the first frame to the end of the wait for residual frames.
    ///
    /// # Errors
    /// If no trial could be performed at all.
    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, Self::Error>;
}

/// The counts of a measurer in one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "outcome::RecordedResult", into = "outcome::RecordedResult")]
pub struct TrialResult {
    /// The specification of the trial.
    pub spec: TrialSpec,
    /// One entry for each direction that was loaded.
    pub directions: Vec<DirectionResult>,
    /// The counts beside those of the directions, by what was sent.
    pub outcome: TrialOutcome,
    /// The ways in which the tester itself fell short. Empty in a clean trial.
    pub faults: Vec<Fault>,
}

/// The verdict of a trial on a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The loss was within the goal.
    Passed,
    /// More was lost than the goal allows, by the DUT.
    Lost,
    /// The tester fell short; the trial says nothing about the DUT.
    Invalid,
}

impl TrialResult {
    /// Returns the verdict for a goal of at most `goal` loss in every direction.
    ///
    /// A sender that took too long always invalidates: the intended load was not offered. The other faults matter only
    /// where frames are missing, and only as far as they can explain it: a stall explains no more losses than the frames
    /// that left late, so the trial of an overloaded DUT stays lost in spite of a short stall of the tester. A frame that came back
    /// wrong is explained by none of them, because no stall alters a frame.
    pub fn verdict(&self, goal: LossRatio) -> Verdict {
        if self.faults.iter().any(Fault::always_invalidates) {
            return Verdict::Invalid;
        }
        let verdicts = self
            .directions
            .iter()
            .map(|d| self.direction_verdict(d, goal));
        verdicts.fold(Verdict::Passed, |worst, v| match (worst, v) {
            (Verdict::Lost, _) | (_, Verdict::Lost) => Verdict::Lost,
            (Verdict::Invalid, _) | (_, Verdict::Invalid) => Verdict::Invalid,
            _ => Verdict::Passed,
        })
    }

    fn direction_verdict(&self, result: &DirectionResult, goal: LossRatio) -> Verdict {
        let allowed = |missing: u64| missing as f64 <= goal.0 * result.offered as f64;
        let missing = result.not_received();
        if allowed(missing) {
            return Verdict::Passed;
        }
        if allowed(missing.saturating_sub(self.excusable(result.direction))) {
            return Verdict::Invalid;
        }
        Verdict::Lost
    }

    /// Returns whether the DUT caused what is missing in each direction, but for `share` of it at most: the tester's own
    /// faults cannot explain more. Where the loss itself is the result, that result is good to this share.
    pub fn is_loss_of_the_dut(&self, share: f64) -> bool {
        self.directions
            .iter()
            .all(|d| self.is_loss_of_the_dut_in(d, share))
    }

    /// Returns the same as `is_loss_of_the_dut`, for one direction.
    pub(crate) fn is_loss_of_the_dut_in(&self, d: &DirectionResult, share: f64) -> bool {
        d.not_received() == 0
            || self.excusable(d.direction) as f64 <= share * d.not_received() as f64
    }

    /// Returns the rate of a direction: where connections are validated, the Responder's is another.
    pub(crate) fn rate_of(&self, of: Direction) -> FrameRate {
        let opens = self.directions.first().map(|first| first.direction);
        match self.spec.kind {
            TrialKind::Establish { validation, .. } if opens != Some(of) => validation,
            _ => self.spec.rate,
        }
    }

    /// Returns the most missing frames of `of` that the tester's own faults can explain: of those that did not come in time, never of those that
    /// came back wrong, nor of those that were due while nobody disturbed the trial.
    pub(crate) fn excusable(&self, of: Direction) -> u64 {
        let not_in_time = self
            .directions
            .iter()
            .filter(|d| d.direction == of)
            .map(|d| {
                d.not_in_time()
                    .saturating_sub(d.lost_undisturbed.unwrap_or(0))
            })
            .sum();
        self.explicable(of).min(not_in_time)
    }

    /// Returns the result as it would have been if every frame had come but those that were lost while nobody disturbed the trial; `None` where that is
    /// not known.
    pub(crate) fn with_undisturbed_loss_alone(&self) -> Option<Self> {
        let directions = self
            .directions
            .iter()
            .map(|direction| {
                let received = direction
                    .offered
                    .saturating_sub(direction.lost_undisturbed?);
                Some(DirectionResult::counted(
                    direction.direction,
                    direction.offered,
                    received,
                ))
            })
            .collect::<Option<_>>()?;
        Some(Self {
            directions,
            faults: Vec::new(),
            ..self.clone()
        })
    }

    /// Returns whether the loss in slices of time in which nobody disturbed the trial is more than `goal` allows. Then it was lost, whatever happened in
    /// the other slices.
    pub fn is_loss_decided(&self, goal: LossRatio) -> bool {
        self.directions.iter().any(|direction| {
            let lost = direction.lost_undisturbed.unwrap_or(0);
            lost as f64 > goal.0 * direction.offered as f64
        })
    }

    /// Sets how many frames of each direction were lost while nobody disturbed the trial: of the device that is `lost`, by direction, and the tester's
    /// own faults, whose moments are not known, may have cost as many of them as they can explain.
    pub fn set_lost_undisturbed(&mut self, lost: Vec<u64>) {
        let by_tester: Vec<u64> = self
            .directions
            .iter()
            .map(|direction| self.explicable_by_tester(direction.direction))
            .collect();
        for ((direction, lost), by_tester) in self.directions.iter_mut().zip(lost).zip(by_tester) {
            direction.lost_undisturbed = Some(lost.saturating_sub(by_tester));
        }
    }

    /// Returns the number of frames of `of` that the tester's own faults, and others on the device's processors, may have cost or delayed, however many are
    /// missing.
    fn explicable(&self, of: Direction) -> u64 {
        let by_others = self
            .faults
            .iter()
            .filter_map(Fault::taken_ms)
            .map(|milliseconds| self.rate_of(of).frames_in(milliseconds * 1_000_000))
            .fold(0, u64::saturating_add);
        let all = self.explicable_by_tester(of).saturating_add(by_others);
        match self.dns() {
            // No stall of the tester makes an answer wrong; and where one loop sends and receives, both ways note the same one.
            Some(dns) => all
                .saturating_sub(self.stalled_twice(of))
                .min(dns.answers.too_late()),
            None => all,
        }
    }

    /// Returns the number of frames of `of` that the tester's own faults, and those of the links, may have cost or delayed.
    fn explicable_by_tester(&self, of: Direction) -> u64 {
        let excuse = |fault: &Fault| match fault.itself() {
            Fault::SenderStalled {
                direction, frames, ..
            }
            | Fault::ReceiverStalled {
                direction, frames, ..
            }
            | Fault::ReceiveRingOverrun { direction, frames }
            | Fault::DroppedByPort {
                direction, frames, ..
            }
            | Fault::LostOnLink {
                direction, frames, ..
            } if *direction == of => *frames,
            Fault::NeighbourWentStale { direction, .. } if *direction == of => u64::MAX,
            _ => 0,
        };
        let all = self.faults.iter().map(excuse).fold(0, u64::saturating_add);
        all.saturating_sub(self.counted_twice_by_cards(of))
    }

    /// Returns the number of frames that a card may have counted both as dropped and as damaged.
    fn counted_twice_by_cards(&self, of: Direction) -> u64 {
        let at_card = |fault: &Fault| match fault.itself() {
            Fault::LostOnLink {
                direction,
                interface,
                frames,
                ..
            } if *direction == of => Some((interface.clone(), *frames)),
            _ => None,
        };
        let damaged = self.faults.iter().filter_map(at_card);
        damaged
            .map(|(card, damaged)| damaged.min(self.dropped_at(&card, of)))
            .sum()
    }

    fn dropped_at(&self, card: &str, of: Direction) -> u64 {
        let dropped = |fault: &Fault| match fault.itself() {
            Fault::DroppedByPort {
                direction,
                interface,
                frames,
                ..
            } if *direction == of && interface == card => *frames,
            _ => 0,
        };
        self.faults.iter().map(dropped).sum()
    }

    /// Returns the number of frames that the faults of the sender and of the receiver of a direction both count.
    fn stalled_twice(&self, of: Direction) -> u64 {
        let most = |noted: fn(&Fault) -> Option<(Direction, u64)>| {
            self.faults
                .iter()
                .filter_map(noted)
                .filter(|(direction, _)| *direction == of)
                .map(|(_, frames)| frames)
                .max()
        };
        let sender = most(|fault| match fault.itself() {
            Fault::SenderStalled {
                direction, frames, ..
            } => Some((*direction, *frames)),
            _ => None,
        });
        let receiver = most(|fault| match fault.itself() {
            Fault::ReceiverStalled {
                direction, frames, ..
            } => Some((*direction, *frames)),
            _ => None,
        });
        sender.unwrap_or(0).min(receiver.unwrap_or(0))
    }

    /// Returns whether others disturbed the trial and it was made again.
    pub fn was_made_again(&self) -> bool {
        self.faults
            .iter()
            .any(|fault| matches!(fault, Fault::MadeAgain { .. }))
    }

    /// Returns whether it was made again only because all of its loss occurred at one moment.
    pub(crate) fn was_excused_as_accident(&self) -> bool {
        self.faults
            .contains(&Fault::MadeAgain { as_accident: true })
    }

    /// Returns whether it would be invalid on a machine of its own, too: for another reason than that the tester was late.
    pub(crate) fn has_fault_of_its_own(&self) -> bool {
        self.faults.iter().any(|fault| {
            fault.always_invalidates()
                && fault.lateness_ns().is_none()
                && !self.may_be_of_others(fault)
        })
    }

    /// Returns whether others may have caused more of an incomplete phase 1 than may be overlooked: they had the DUT's processors.
    fn may_be_of_others(&self, fault: &Fault) -> bool {
        let Fault::PhaseOneIncomplete { lost, rate, .. } = fault.itself() else {
            return false;
        };
        let taken_ms = self
            .faults
            .iter()
            .filter_map(Fault::taken_ms)
            .fold(0, u64::saturating_add);
        FrameRate(*rate).frames_in(taken_ms.saturating_mul(1_000_000)) as f64
            > EXCUSABLE_SHARE * *lost as f64
    }

    /// Returns whether the tester was late for no other reason than that others had its core: for at least half as long as it was late, since a
    /// thread that was away has to catch up.
    pub(crate) fn was_late_for_others(&self) -> bool {
        let late_ns = self
            .faults
            .iter()
            .filter_map(Fault::lateness_ns)
            .max()
            .unwrap_or(0);
        let kept_off = self.faults.iter().find_map(|fault| match fault.itself() {
            Fault::TesterKeptOff { microseconds } => Some(microseconds * 1000),
            _ => None,
        });
        kept_off.is_some_and(|kept_off_ns| late_ns > 0 && 2 * kept_off_ns >= late_ns)
    }

    /// Returns whether the tester was plainly not able to offer this load: frames were left over, sending took more than a
    /// hundredth longer than nominal, or the load is above what its self-test certifies. A stall passes; this does not, so
    /// fewer repetitions are needed to establish it.
    pub fn is_beyond_tester(&self) -> bool {
        let is_short = self.directions.iter().any(|d| d.offered < d.intended);
        let is_slow = |fault: &Fault| matches!(fault.itself(), Fault::SentTooSlowly { nominal_ns, took_ns, .. } if *took_ns > nominal_ns + nominal_ns / 100);
        is_short
            || self
                .faults
                .iter()
                .any(|fault| is_slow(fault) || fault.is_certain())
    }

    /// Returns the largest loss ratio of the directions: what a goal is held against.
    pub fn loss_ratio(&self) -> LossRatio {
        let worst = self
            .directions
            .iter()
            .map(|d| d.loss_ratio().0)
            .fold(0.0, f64::max);
        LossRatio(worst)
    }

    /// Returns the number of frames not received, all directions. The sum saturates, because an untrusted record may have more than a number holds.
    pub fn not_received(&self) -> u64 {
        self.directions
            .iter()
            .map(DirectionResult::not_received)
            .fold(0, u64::saturating_add)
    }
}

/// Returns whether a count is zero: records leave such a count out.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(offered: u64, received: u64, faults: Vec<Fault>) -> TrialResult {
        TrialResult::new(
            TrialSpec::constant(FrameRate(1000), 1_000_000_000),
            vec![DirectionResult::counted(
                Direction::Forward,
                offered,
                received,
            )],
            faults,
        )
    }

    fn stall(frames: u64) -> Fault {
        Fault::SenderStalled {
            direction: Direction::Forward,
            worst_lateness_ns: 5_000_000,
            frames,
        }
    }

    #[test]
    fn one_missing_frame_fails_the_goal_of_rfc_2544() {
        assert_eq!(
            result(1000, 999, vec![]).verdict(LossRatio::ZERO),
            Verdict::Lost
        );
        assert_eq!(
            result(1000, 999, vec![]).verdict(LossRatio(0.001)),
            Verdict::Passed
        );
    }

    #[test]
    fn a_duplicate_does_not_make_up_for_a_lost_frame() {
        let mut trial = result(1000, 999, vec![]);
        trial.directions[0].duplicate = 1;
        assert_eq!(trial.verdict(LossRatio::ZERO), Verdict::Lost);
    }

    #[test]
    fn a_stall_without_loss_passes_and_with_a_little_loss_is_invalid() {
        assert_eq!(
            result(1000, 1000, vec![stall(50)]).verdict(LossRatio::ZERO),
            Verdict::Passed
        );
        assert_eq!(
            result(1000, 960, vec![stall(50)]).verdict(LossRatio::ZERO),
            Verdict::Invalid
        );
    }

    /// A trial of 1000 queries, of which so many were not answered and so many wrongly.
    fn asked(unanswered: u64, wrong_address: u64, faults: Vec<Fault>) -> TrialResult {
        let right = 1000 - unanswered - wrong_address;
        let answers = dns::Answers {
            sent: 1000,
            right,
            unanswered,
            wrong_address,
            ..dns::Answers::default()
        };
        let dns = dns::DnsResult {
            answers,
            ..dns::DnsResult::default()
        };
        TrialResult {
            outcome: TrialOutcome::Queries(Some(Box::new(dns))),
            ..result(1000, right, faults)
        }
    }

    #[test]
    fn one_stall_of_a_dns_client_excuses_its_queries_once_although_both_ways_note_it() {
        let away = Fault::ReceiverStalled {
            direction: Direction::Forward,
            worst_gap_ns: 5_000_000,
            frames: 40,
        };
        let both = || vec![stall(50), away.clone()];
        assert_eq!(
            asked(50, 0, both()).verdict(LossRatio::ZERO),
            Verdict::Invalid
        );
        assert_eq!(asked(51, 0, both()).verdict(LossRatio::ZERO), Verdict::Lost);
    }

    #[test]
    fn no_stall_of_the_tester_excuses_a_wrong_answer() {
        assert_eq!(
            asked(0, 1, vec![stall(50)]).verdict(LossRatio::ZERO),
            Verdict::Lost
        );
        assert_eq!(
            asked(10, 1, vec![stall(50)]).verdict(LossRatio::ZERO),
            Verdict::Lost
        );
        assert_eq!(
            asked(10, 0, vec![stall(50)]).verdict(LossRatio::ZERO),
            Verdict::Invalid
        );
    }

    #[test]
    fn no_stall_of_the_tester_excuses_a_wrong_frame() {
        let faults = || {
            let away = Fault::ReceiverStalled {
                direction: Direction::Forward,
                worst_gap_ns: 1_000_000,
                frames: 40,
            };
            [
                stall(50),
                away,
                Fault::CpuStolen { milliseconds: 7 },
                Fault::CpuTaken { milliseconds: 200 },
            ]
        };
        for fault in faults() {
            let mut trial = result(1000, 997, vec![fault]);
            assert_eq!(
                trial.verdict(LossRatio::ZERO),
                Verdict::Invalid,
                "three missing frames may be the tester's"
            );
            trial.directions[0].mistranslated = 3;
            assert_eq!(trial.verdict(LossRatio::ZERO), Verdict::Lost);
            (
                trial.directions[0].mistranslated,
                trial.directions[0].corrupt,
            ) = (0, 1);
            assert_eq!(
                trial.verdict(LossRatio::ZERO),
                Verdict::Lost,
                "two are missing, one is damaged"
            );
            assert!(
                trial.is_loss_of_the_dut(2.0 / 3.0) && !trial.is_loss_of_the_dut(0.5),
                "two of three are excusable"
            );
        }
    }

    #[test]
    fn a_stall_may_have_made_a_frame_late() {
        let mut trial = result(1000, 960, vec![stall(50)]);
        trial.directions[0].late = 40;
        assert_eq!(trial.verdict(LossRatio::ZERO), Verdict::Invalid);
    }

    #[test]
    fn a_stall_does_not_excuse_more_than_the_frames_it_delayed() {
        assert_eq!(
            result(1000, 500, vec![stall(50)]).verdict(LossRatio::ZERO),
            Verdict::Lost
        );
    }

    #[test]
    fn time_stolen_from_the_dut_excuses_the_frames_due_in_it() {
        let stolen = |milliseconds| vec![Fault::CpuStolen { milliseconds }];
        assert_eq!(
            result(1000, 990, stolen(10)).verdict(LossRatio::ZERO),
            Verdict::Invalid
        );
        assert_eq!(
            result(1000, 989, stolen(10)).verdict(LossRatio::ZERO),
            Verdict::Lost
        );
    }

    #[test]
    fn sending_too_slowly_is_invalid_even_without_loss() {
        let slow = Fault::SentTooSlowly {
            direction: Direction::Forward,
            nominal_ns: 1,
            took_ns: 2,
        };
        assert_eq!(
            result(1000, 1000, vec![slow]).verdict(LossRatio::ZERO),
            Verdict::Invalid
        );
    }
}
