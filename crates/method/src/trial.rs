//! One trial: what is asked of a measurer, what it counted, and what that means.
//! A `TrialResult` never holds a ratio: counts are stored, ratios are derived.

use crate::terms::{Direction, FrameRate, LossRatio};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whatever can perform a trial: the frame engine, a DNS client, a simulated device.
pub trait Measurer {
    /// Why no trial could be performed at all. Loss is a result, not an error.
    type Error;

    /// Performs one trial, from the first frame to the end of the wait for residual frames.
    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, Self::Error>;
}

/// What a search asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialSpec {
    /// The intended load of RFC 2285 section 3.5.1: frames per second, per direction.
    pub rate: FrameRate,
    /// Nominal time of sending, nanoseconds.
    pub duration_ns: u64,
}

impl TrialSpec {
    /// Frames the schedule holds, per direction.
    pub fn frames(&self) -> u64 {
        self.rate.frames_in(self.duration_ns)
    }
}

/// What a measurer counted in one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// What was asked.
    pub spec: TrialSpec,
    /// One entry for each direction that was loaded.
    pub directions: Vec<DirectionResult>,
    /// In what the tester itself fell short. Empty in a clean trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

/// The counts of one direction. Every offered frame has one fate: `received`, `late`, `mistranslated`, `corrupt`, or lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionResult {
    /// Which way these frames went.
    pub direction: Direction,
    /// Frames the schedule held.
    pub intended: u64,
    /// Frames that left the tester: the offered load of RFC 2285 section 3.5.2, as a count.
    pub offered: u64,
    /// Distinct frames that came back right in every field and within the frame timeout.
    pub received: u64,
    /// Distinct frames that came back right, but after the frame timeout.
    #[serde(default)]
    pub late: u64,
    /// Distinct frames that came back with a wrong header field: not the translation of what was sent.
    #[serde(default)]
    pub mistranslated: u64,
    /// Distinct frames whose header was right and whose payload was damaged.
    #[serde(default)]
    pub corrupt: u64,
    /// Extra copies of frames already counted. They never make up for a lost one.
    #[serde(default)]
    pub duplicate: u64,
    /// Frames that arrived after one with a higher sequence number of the same direction.
    #[serde(default)]
    pub reordered: u64,
    /// Received frames with a known defect of the DUT, named in its recipe: complete and in time, so they count as received, but said.
    #[serde(default)]
    pub defective: u64,
    /// Frames on the receiving port that are no test frames of this trial (RFC 2544 section 10: to be ignored).
    #[serde(default)]
    pub foreign: u64,
    /// Frames of the other direction, back at the port they were sent from.
    #[serde(default)]
    pub misdirected: u64,
    /// Offered frames that the link refused because the DUT's receive queue was full (a subset of the lost).
    #[serde(default)]
    pub refused: u64,
    /// How the sender kept its schedule.
    pub sending: Sending,
    /// How the receiver kept up.
    pub receiving: Receiving,
    /// Frames not received, by the time they were due to be sent; equal bins over the trial (see [`LOSS_BIN_NS`]).
    /// Empty when nothing was lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_by_bin: Vec<u64>,
    /// One-way delay of the received frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    /// The first wrong frames, one line each: "expected ..., got ...".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// Width of a bin of [`DirectionResult::lost_by_bin`]: 100 ms.
pub const LOSS_BIN_NS: u64 = 100_000_000;

/// How a sender kept its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sending {
    /// From the first to the last frame by the schedule, nanoseconds.
    pub nominal_ns: u64,
    /// From the first to the last frame as it happened, nanoseconds.
    pub took_ns: u64,
    /// The worst delay of a frame behind its own due time, nanoseconds.
    pub worst_lateness_ns: u64,
    /// Frames sent later than the stall bound behind their due time.
    pub late_frames: u64,
}

/// How a receiver kept up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receiving {
    /// The longest time between two looks at the port while frames were due, nanoseconds.
    pub worst_gap_ns: u64,
    /// Frames the tester's own receive ring had no room for.
    pub overruns: u64,
}

/// One-way delay of received frames, nanoseconds. "Handed to the port" to "seen by the receiver" (RFC 1242 section 3.8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// Frames measured.
    pub count: u64,
    /// Smallest.
    pub min_ns: u64,
    /// Median.
    pub median_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

impl DirectionResult {
    /// A direction of which only these counts are known: the rest is zero (simulated devices, tests).
    pub fn counted(direction: Direction, offered: u64, received: u64) -> Self {
        Self {
            direction,
            intended: offered,
            offered,
            received,
            late: 0,
            mistranslated: 0,
            corrupt: 0,
            duplicate: 0,
            reordered: 0,
            defective: 0,
            foreign: 0,
            misdirected: 0,
            refused: 0,
            sending: Sending::default(),
            receiving: Receiving::default(),
            lost_by_bin: Vec::new(),
            delay: None,
            examples: Vec::new(),
        }
    }

    /// Frames offered and not received in time and in good order of fields.
    pub fn not_received(&self) -> u64 {
        self.offered.saturating_sub(self.received)
    }

    /// Frames of which nothing was ever seen.
    pub fn lost(&self) -> u64 {
        self.not_received().saturating_sub(self.late + self.mistranslated + self.corrupt)
    }

    /// Frames not received over frames offered, 0..=1; 1 when nothing was offered.
    pub fn loss_ratio(&self) -> LossRatio {
        if self.offered == 0 {
            return LossRatio(1.0);
        }
        LossRatio(self.not_received() as f64 / self.offered as f64)
    }
}

/// A way in which the tester, not the DUT, fell short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "kebab-case")]
pub enum Fault {
    /// Sending took longer than 1.00001 of its nominal time: the offered load was not the intended load.
    SentTooSlowly {
        /// The direction concerned.
        direction: Direction,
        /// By the schedule, nanoseconds.
        nominal_ns: u64,
        /// As it happened, nanoseconds.
        took_ns: u64,
    },
    /// The sender was away and then caught up by a burst.
    SenderStalled {
        /// The direction concerned.
        direction: Direction,
        /// Worst lateness of a frame, nanoseconds.
        worst_lateness_ns: u64,
        /// Frames that left in catching up: at most so many losses can be the tester's doing.
        frames: u64,
    },
    /// The receiver did not look at its port for too long.
    ReceiverStalled {
        /// The direction concerned.
        direction: Direction,
        /// The longest gap, nanoseconds.
        worst_gap_ns: u64,
        /// Frames due in the gaps above the bound: at most so many losses can be the tester's doing.
        frames: u64,
    },
    /// The receive ring was full: these frames reached the tester and were not counted.
    ReceiveRingOverrun {
        /// The direction concerned.
        direction: Direction,
        /// Frames without room.
        frames: u64,
    },
    /// The DUT had lost the tester's hardware address and asked for it anew during the trial.
    NeighbourWentStale {
        /// The direction whose frames had to wait for the answer.
        direction: Direction,
        /// The address asked for.
        address: String,
    },
    /// The host of this virtual machine took processor time away from the DUT, as the kernel counts it (steal).
    CpuStolen {
        /// Milliseconds taken on the DUT's worst core: what was due meanwhile may be missing without the DUT's doing.
        milliseconds: u64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |ns: u64| ns as f64 / 1e6;
        match self {
            Self::SentTooSlowly { direction, nominal_ns, took_ns } => {
                write!(f, "{direction}: sending took {:.3} ms instead of {:.3} ms", ms(*took_ns), ms(*nominal_ns))
            }
            Self::SenderStalled { direction, worst_lateness_ns, frames } => {
                write!(f, "{direction}: the sender was away for {:.2} ms; {frames} frames left late", ms(*worst_lateness_ns))
            }
            Self::ReceiverStalled { direction, worst_gap_ns, frames } => write!(
                f,
                "{direction}: the receiver was away for {:.2} ms, in which {frames} frames were due",
                ms(*worst_gap_ns)
            ),
            Self::ReceiveRingOverrun { direction, frames } => {
                write!(f, "{direction}: the tester's receive ring was full; {frames} frames not counted")
            }
            Self::NeighbourWentStale { direction, address } => {
                write!(f, "{direction}: the DUT asked for the hardware address of {address} during the trial")
            }
            Self::CpuStolen { milliseconds } => {
                write!(f, "the host of this virtual machine took {milliseconds} ms from the DUT's core")
            }
        }
    }
}

/// What a trial says about a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The verdict for a goal of at most `goal` loss in every direction.
    ///
    /// A sender that took too long always invalidates: the intended load was not offered. The other faults matter only
    /// where frames are missing, and only as far as they can explain it: a stall excuses no more losses than the frames
    /// that left late, so a plainly overloaded DUT is not acquitted by a hiccup of the tester.
    pub fn verdict(&self, goal: LossRatio) -> Verdict {
        if self.faults.iter().any(|f| matches!(f, Fault::SentTooSlowly { .. })) {
            return Verdict::Invalid;
        }
        let verdicts = self.directions.iter().map(|d| self.direction_verdict(d, goal));
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

    /// The most missing frames of `of` that the tester's own faults can explain.
    fn excusable(&self, of: Direction) -> u64 {
        let excuse = |fault: &Fault| match fault {
            Fault::SenderStalled { direction, frames, .. }
            | Fault::ReceiverStalled { direction, frames, .. }
            | Fault::ReceiveRingOverrun { direction, frames }
                if *direction == of =>
            {
                *frames
            }
            Fault::CpuStolen { milliseconds } => self.spec.rate.frames_in(milliseconds * 1_000_000),
            Fault::NeighbourWentStale { direction, .. } if *direction == of => u64::MAX,
            _ => 0,
        };
        self.faults.iter().map(excuse).fold(0, u64::saturating_add)
    }

    /// Whether the tester was plainly not able to offer this load: frames were left over, or sending took more than a hundredth longer
    /// than nominal. A stall passes; this does not, so it takes fewer repetitions to believe it.
    pub fn is_beyond_tester(&self) -> bool {
        let is_short = self.directions.iter().any(|d| d.offered < d.intended);
        let is_slow = |fault: &Fault| matches!(fault, Fault::SentTooSlowly { nominal_ns, took_ns, .. } if *took_ns > nominal_ns + nominal_ns / 100);
        is_short || self.faults.iter().any(is_slow)
    }

    /// The largest loss ratio of the directions: what a goal is held against.
    pub fn loss_ratio(&self) -> LossRatio {
        let worst = self.directions.iter().map(|d| d.loss_ratio().0).fold(0.0, f64::max);
        LossRatio(worst)
    }

    /// Frames not received, all directions.
    pub fn not_received(&self) -> u64 {
        self.directions.iter().map(DirectionResult::not_received).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(offered: u64, received: u64, faults: Vec<Fault>) -> TrialResult {
        TrialResult {
            spec: TrialSpec { rate: FrameRate(1000), duration_ns: 1_000_000_000 },
            directions: vec![DirectionResult::counted(Direction::Forward, offered, received)],
            faults,
        }
    }

    fn stall(frames: u64) -> Fault {
        Fault::SenderStalled { direction: Direction::Forward, worst_lateness_ns: 5_000_000, frames }
    }

    #[test]
    fn one_missing_frame_fails_the_goal_of_rfc_2544() {
        assert_eq!(result(1000, 999, vec![]).verdict(LossRatio::ZERO), Verdict::Lost);
        assert_eq!(result(1000, 999, vec![]).verdict(LossRatio(0.001)), Verdict::Passed);
    }

    #[test]
    fn a_duplicate_does_not_make_up_for_a_lost_frame() {
        let mut trial = result(1000, 999, vec![]);
        trial.directions[0].duplicate = 1;
        assert_eq!(trial.verdict(LossRatio::ZERO), Verdict::Lost);
    }

    #[test]
    fn a_stall_without_loss_passes_and_with_a_little_loss_is_invalid() {
        assert_eq!(result(1000, 1000, vec![stall(50)]).verdict(LossRatio::ZERO), Verdict::Passed);
        assert_eq!(result(1000, 960, vec![stall(50)]).verdict(LossRatio::ZERO), Verdict::Invalid);
    }

    #[test]
    fn a_stall_does_not_excuse_more_than_the_frames_it_delayed() {
        assert_eq!(result(1000, 500, vec![stall(50)]).verdict(LossRatio::ZERO), Verdict::Lost);
    }

    #[test]
    fn time_stolen_from_the_dut_excuses_the_frames_due_in_it() {
        let stolen = |milliseconds| vec![Fault::CpuStolen { milliseconds }];
        assert_eq!(result(1000, 990, stolen(10)).verdict(LossRatio::ZERO), Verdict::Invalid);
        assert_eq!(result(1000, 989, stolen(10)).verdict(LossRatio::ZERO), Verdict::Lost);
    }

    #[test]
    fn sending_too_slowly_is_invalid_even_without_loss() {
        let slow = Fault::SentTooSlowly { direction: Direction::Forward, nominal_ns: 1, took_ns: 2 };
        assert_eq!(result(1000, 1000, vec![slow]).verdict(LossRatio::ZERO), Verdict::Invalid);
    }
}
