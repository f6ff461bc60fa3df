//! The counts of one direction of a trial.

use super::delay::{Bucket, Delay, Ipdv};
use crate::terms::{Direction, LossRatio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The counts of one direction. Every offered frame has one class: `received`, `late`, `mistranslated`, `corrupt`, or lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionResult {
    /// The direction these frames went.
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
    /// Distinct frames whose header was right and whose payload was damaged, or whose tag has a time of sending that cannot be.
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
    /// The number of foreign frames that are ICMP and ICMPv6 messages other than those of neighbour discovery: what a device
    /// says when it refuses to forward.
    #[serde(default)]
    pub icmp: u64,
    /// The number of foreign frames that are fragments of datagrams (test frames are never to be fragmented).
    #[serde(default)]
    pub fragments: u64,
    /// Frames of the other direction, back at the port they were sent from.
    #[serde(default)]
    pub misdirected: u64,
    /// Offered frames that the link refused because the DUT's receive queue was full (a subset of the lost).
    #[serde(default)]
    pub refused: u64,
    /// Statistics on how well the sender kept its schedule.
    pub sending: Sending,
    /// Statistics on how well the receiver kept up.
    pub receiving: Receiving,
    /// Frames not received, by the time they were due to be sent; equal bins over the trial (see [`LOSS_BIN_NS`]).
    /// Empty when nothing was lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_by_bin: Vec<u64>,
    /// The due time of the last frame not received, nanoseconds from the first frame's due time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_missing_ns: Option<u64>,
    /// The longest time without a received frame between two of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Silence>,
    /// One-way delay of the received frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    /// One-way delay of the tagged frames among them, where the trial tags some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tagged: Option<Delay>,
    /// Time by which each delay may be wrong, nanoseconds: the clocks of the two machines of the tester may be apart by so much. `None` where one clock
    /// saw the frame leave and arrive, or no delay was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_ns: Option<u64>,
    /// Inter packet delay variation over pairs of received neighbours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipdv: Option<Ipdv>,
    /// The distribution of the delays of the right frames, late ones included: the loss at every timeout follows from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Bucket>,
    /// The frames that came back wrong, `mistranslated` or `corrupt`, by the name of the first field that was. Empty in records of earlier
    /// versions, and of DNS queries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wrong_fields: BTreeMap<String, u64>,
    /// The first wrong frames, one line each: "expected ..., got ...".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// Width of a bin of [`DirectionResult::lost_by_bin`]: 100 ms.
pub const LOSS_BIN_NS: u64 = 100_000_000;

/// Statistics on how well a sender kept its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Statistics on how well a receiver kept up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receiving {
    /// The longest time between two looks at the port while frames were due, nanoseconds.
    pub worst_gap_ns: u64,
    /// Frames the tester's own receive ring had no room for.
    pub overruns: u64,
}

/// A time in which nothing was received: the timestamp method of RFC 6201 section 1.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Silence {
    /// The last arrival before it, nanoseconds from the first frame's due time.
    pub from_ns: u64,
    /// The first arrival after it, likewise.
    pub to_ns: u64,
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
            icmp: 0,
            fragments: 0,
            misdirected: 0,
            refused: 0,
            sending: Sending::default(),
            receiving: Receiving::default(),
            lost_by_bin: Vec::new(),
            last_missing_ns: None,
            silence: None,
            delay: None,
            tagged: None,
            clock_bound_ns: None,
            ipdv: None,
            delays: Vec::new(),
            wrong_fields: BTreeMap::new(),
            examples: Vec::new(),
        }
    }

    /// Returns the same counts, without a delay of any frame.
    #[must_use]
    pub fn without_delays(self) -> Self {
        Self { delay: None, tagged: None, ipdv: None, delays: Vec::new(), clock_bound_ns: None, ..self }
    }

    /// Frames per second that were offered, between the first and the last; `None` of fewer than two.
    pub fn achieved_rate(&self) -> Option<f64> {
        let gaps = self.offered.checked_sub(1).filter(|gaps| *gaps > 0)?;
        (self.sending.took_ns > 0).then(|| gaps as f64 * 1e9 / self.sending.took_ns as f64)
    }

    /// Frames offered and not received in time and in good order of fields.
    pub fn not_received(&self) -> u64 {
        self.offered.saturating_sub(self.received)
    }

    /// Frames that did not come back in time, those that never did included: all that were not received but for the wrong ones.
    pub fn not_in_time(&self) -> u64 {
        self.lost() + self.late
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

    /// The loss ratio had the frame timeout been `timeout_ns`: one trial yields the loss at every timeout. Exact to the width of a bucket
    /// (below 1 %), and never below [`Self::loss_ratio`] without a timeout.
    pub fn loss_ratio_at(&self, timeout_ns: u64) -> LossRatio {
        if self.offered == 0 {
            return LossRatio(1.0);
        }
        let in_time: u64 = self.delays.iter().filter(|bucket| bucket.up_to_ns <= timeout_ns).map(|bucket| bucket.frames).sum();
        LossRatio(self.offered.saturating_sub(in_time) as f64 / self.offered as f64)
    }

    /// Returns the wrong fields with the frames of each, in words; `None` where none is known.
    pub fn wrong_fields_in_words(&self) -> Option<String> {
        let words: Vec<_> = self.wrong_fields.iter().map(|(field, frames)| format!("{field} {frames}")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}
