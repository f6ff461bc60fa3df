//! The counts of one direction of a trial.

use super::broadcast_counts::BroadcastCounts;
use super::burst_times::BurstTimes;
use super::delay::{Bucket, Delay, Ipdv};
use super::icmp_error::IcmpErrors;
use super::lengths::LengthDistribution;
use super::ramp::RampCounts;
use super::size_counts::SizeCounts;
use crate::terms::{Direction, LossRatio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

/// Makes the types of a direction from the list of its fields: counts that every trial has, in three groups, and details that only some have.
/// A field among the anomalies is the count of one [`AnomalyKind`], which every format of a report prints.
macro_rules! direction {
    (
        frames { $($(#[$of_frames:meta])* $frames:ident: $frames_type:ty,)* }
        anomalies { $($(#[doc = $doc:literal])* $anomaly:ident: $kind:ident,)* }
        counts { $($(#[$of_count:meta])* $count:ident: $count_type:ty,)* }
        details { $($(#[$of_detail:meta])* $detail:ident: $detail_type:ty,)* }
    ) => {
        /// The counts of one direction. Every offered frame has one class: `received`, `late`, `mistranslated`, `corrupt`, or lost.
        // It has the fields of `DirectionDetails`, too. They are kept apart, since most trials of a long run have none of them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(from = "RecordedDirection", into = "RecordedDirection")]
        pub struct DirectionResult {
            $($(#[$of_frames])* pub $frames: $frames_type,)*
            $($(#[doc = $doc])* #[serde(default)] pub $anomaly: u64,)*
            $($(#[$of_count])* pub $count: $count_type,)*
            /// What only some trials have.
            pub details: OptionalDetails,
        }

        /// What only some trials have of a direction: the places of losses, distributions, examples.
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        pub struct DirectionDetails {
            $($(#[$of_detail])* pub $detail: $detail_type,)*
        }

        /// A direction as records have it: all fields in one object.
        #[derive(Serialize, Deserialize, JsonSchema)]
        struct RecordedDirection {
            $($(#[$of_frames])* $frames: $frames_type,)*
            $($(#[doc = $doc])* #[serde(default)] $anomaly: u64,)*
            $($(#[$of_count])* $count: $count_type,)*
            $($(#[$of_detail])* $detail: $detail_type,)*
        }

        impl From<RecordedDirection> for DirectionResult {
            fn from(
                RecordedDirection { $($frames,)* $($anomaly,)* $($count,)* $($detail,)* }: RecordedDirection,
            ) -> Self {
                Self { $($frames,)* $($anomaly,)* $($count,)* details: DirectionDetails { $($detail,)* }.into() }
            }
        }

        impl From<DirectionResult> for RecordedDirection {
            fn from(DirectionResult { $($frames,)* $($anomaly,)* $($count,)* details }: DirectionResult) -> Self {
                let DirectionDetails { $($detail,)* } = details.0.map_or_else(DirectionDetails::default, |details| *details);
                Self { $($frames,)* $($anomaly,)* $($count,)* $($detail,)* }
            }
        }

        /// A kind of frames that were neither received as they were sent nor simply lost.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum AnomalyKind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl AnomalyKind {
            /// Every kind, in the order of the records.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// Returns the name of its field in the records, which is its name in all formats for machines.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($anomaly),)*
                }
            }

            /// Returns the number of its frames in a direction of a trial.
            pub fn count(self, of: &DirectionResult) -> u64 {
                match self {
                    $(Self::$kind => of.$anomaly,)*
                }
            }

            /// Returns the count of its frames in a direction of a trial, to be set by measurers.
            pub fn count_mut(self, of: &mut DirectionResult) -> &mut u64 {
                match self {
                    $(Self::$kind => &mut of.$anomaly,)*
                }
            }
        }
    };
}

direction! {
    frames {
        /// The direction these frames went.
        direction: Direction,
        /// Frames the schedule held.
        intended: u64,
        /// Frames that left the tester: the offered load of RFC 2285 section 3.5.2, as a count.
        offered: u64,
        /// Distinct frames that came back right in every field and within the frame timeout.
        received: u64,
    }
    anomalies {
        /// Distinct frames that came back right, but after the frame timeout.
        late: Late,
        /// Distinct frames that came back with a wrong header field: not the translation of what was sent.
        mistranslated: Mistranslated,
        /// Distinct frames whose header was right and whose payload was damaged, or whose tag has a time of sending that cannot be.
        corrupt: Corrupt,
        /// Extra copies of frames already counted. They never make up for a lost one.
        duplicate: Duplicate,
        /// Frames that arrived after one with a higher sequence number of the same direction.
        reordered: Reordered,
        /// Received frames with a known defect of the DUT, named in its recipe: complete and in time, so they count as received, but said.
        defective: Defective,
        /// Frames on the receiving port that are not test frames of this trial (RFC 2544 section 10: to be ignored).
        foreign: Foreign,
        /// The number of foreign frames that are ICMP and ICMPv6 messages other than those of neighbour discovery: what a device
        /// says when it refuses to forward.
        icmp: Icmp,
        /// The number of foreign frames that are fragments of datagrams (test frames are never to be fragmented).
        fragments: Fragments,
        /// Frames of the other direction, back at the port they were sent from.
        misdirected: Misdirected,
        /// Offered frames that the link refused because the DUT's receive queue was full (a subset of the lost).
        refused: Refused,
    }
    counts {
        /// Statistics on how well the sender kept its schedule.
        sending: Sending,
        /// Statistics on how well the receiver kept up.
        receiving: Receiving,
        /// One-way delay of the received frames.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay: Option<Delay>,
    }
    details {
        /// Frames not received, by the time they were due to be sent; equal bins over the trial (see [`LOSS_BIN_NS`]).
        /// Empty when nothing was lost.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lost_by_bin: Vec<u64>,
        /// The number of these, at least, that were due in slices of time in which nobody disturbed device or tester. `None` if nobody did at any time,
        /// or where it is not known when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost_undisturbed: Option<u64>,
        /// The due time of the last frame not received, nanoseconds from the first frame's due time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_missing_ns: Option<u64>,
        /// The gaps in the numbering of the frames that arrived, by their lengths: runs of frames, sent one after the other, of which nothing ever arrived.
        /// These are the lengths of the loss periods of RFC 3357 section 6.3. `None` if there is no gap, and in records of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gaps: Option<LengthDistribution>,
        /// The distances from the last frame of a gap to the first frame of the next: the inter-loss-period lengths of RFC 3357 section 6.4. `None` with
        /// fewer than two gaps.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gap_distances: Option<LengthDistribution>,
        /// The reordering extents of the reordered frames (RFC 4737 section 4.2): how many frames earlier the first one arrived that was sent later. A
        /// frame that fills a gap which is too many gaps ago has none. `None` without reordered frames, and in records of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reordering_extents: Option<LengthDistribution>,
        /// By how many numbers the newest frame that had arrived was ahead of each duplicate: 0 for a copy right behind its original. Copies on several
        /// queues of a port have none. `None` without duplicates, and in records of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duplicate_distances: Option<LengthDistribution>,
        /// The frames of the ramp before the trial, where there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ramp: Option<RampCounts>,
        /// The frames of each size, in ascending order, where the trial has a mix of sizes. Empty where all frames are of the same size.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sizes: Vec<SizeCounts>,
        /// The broadcast frames within the trial, where it has some.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broadcasts: Option<BroadcastCounts>,
        /// The bursts in which it left the tester, where the load has some.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bursts: Option<BurstTimes>,
        /// The longest time between two received frames.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silence: Option<Silence>,
        /// One-way delay of the tagged frames among them, where the trial tags some.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tagged: Option<Delay>,
        /// Time by which each delay may be wrong, nanoseconds: the clocks of the two machines of the tester may be apart by so much. `None` where one clock
        /// saw the frame leave and arrive, or no delay was measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clock_bound_ns: Option<u64>,
        /// Inter packet delay variation over pairs of received neighbours.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ipdv: Option<Ipdv>,
        /// The distribution of the delays of the right frames, late ones included: the loss at every timeout follows from it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        delays: Vec<Bucket>,
        /// The frames that came back wrong, `mistranslated` or `corrupt`, by the name of the first field that was. Empty in records of earlier
        /// versions, and of DNS queries.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        wrong_fields: BTreeMap<String, u64>,
        /// The ICMP and ICMPv6 errors that came back to the port from which the frames were sent, by kind and source, the most frequent first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        icmp_errors: Vec<IcmpErrors>,
        /// Errors of further kinds and sources, for which there was no room in the list.
        #[serde(default, skip_serializing_if = "super::is_zero")]
        other_icmp_errors: u64,
        /// The first wrong frames, one line each: "expected ..., got ...".
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        examples: Vec<String>,
    }
}

/// The details of a direction, which take no room where there are none.
#[derive(Clone, Debug, Default)]
pub struct OptionalDetails(Option<Box<DirectionDetails>>);

impl From<DirectionDetails> for OptionalDetails {
    fn from(details: DirectionDetails) -> Self {
        Self((details != DirectionDetails::default()).then(|| Box::new(details)))
    }
}

impl PartialEq for OptionalDetails {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Deref for OptionalDetails {
    type Target = DirectionDetails;

    fn deref(&self) -> &DirectionDetails {
        static NONE: LazyLock<DirectionDetails> = LazyLock::new(DirectionDetails::default);
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl Deref for DirectionResult {
    type Target = DirectionDetails;

    fn deref(&self) -> &DirectionDetails {
        &self.details
    }
}

impl DerefMut for DirectionResult {
    fn deref_mut(&mut self) -> &mut DirectionDetails {
        self.details.0.get_or_insert_default()
    }
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
    /// Returns a direction of which only these counts are known; all others are zero (simulated devices, tests).
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
            delay: None,
            details: OptionalDetails::default(),
        }
    }

    /// Returns the same counts, without a delay of any frame.
    #[must_use]
    pub fn without_delays(self) -> Self {
        let mut counts = Self {
            delay: None,
            ..self
        };
        let delays = Vec::new();
        counts.change_details(|of| DirectionDetails {
            tagged: None,
            clock_bound_ns: None,
            ipdv: None,
            delays,
            ..of
        });
        counts
    }

    /// Replaces the details by what `change` makes of them. Those that have nothing afterwards take no room.
    pub fn change_details(&mut self, change: impl FnOnce(DirectionDetails) -> DirectionDetails) {
        let details = self
            .details
            .0
            .take()
            .map_or_else(DirectionDetails::default, |details| *details);
        self.details = change(details).into();
    }

    /// Returns the frames per second that were offered, between the first and the last; `None` of fewer than two.
    pub fn achieved_rate(&self) -> Option<f64> {
        let gaps = self.offered.checked_sub(1).filter(|gaps| *gaps > 0)?;
        (self.sending.took_ns > 0).then(|| gaps as f64 * 1e9 / self.sending.took_ns as f64)
    }

    /// Returns the number of offered frames that did not come back in time and right in every field.
    pub fn not_received(&self) -> u64 {
        self.offered.saturating_sub(self.received)
    }

    /// Returns the number of frames that did not come back in time, including those that never did: all that were not received except the wrong ones.
    pub fn not_in_time(&self) -> u64 {
        self.lost() + self.late
    }

    /// Returns the number of frames of which nothing was ever seen.
    pub fn lost(&self) -> u64 {
        self.not_received()
            .saturating_sub(self.late + self.mistranslated + self.corrupt)
    }

    /// Returns the frames not received over the frames offered, 0..=1; 1 when nothing was offered.
    pub fn loss_ratio(&self) -> LossRatio {
        if self.offered == 0 {
            return LossRatio(1.0);
        }
        LossRatio(self.not_received() as f64 / self.offered as f64)
    }

    /// Returns the loss ratio that a frame timeout of `timeout_ns` would have given: one trial yields the loss at every timeout. Exact to the width of a bucket
    /// (below 1 %), and never below [`Self::loss_ratio`] without a timeout.
    pub fn loss_ratio_at(&self, timeout_ns: u64) -> LossRatio {
        if self.offered == 0 {
            return LossRatio(1.0);
        }
        let in_time: u64 = self
            .delays
            .iter()
            .filter(|bucket| bucket.up_to_ns <= timeout_ns)
            .map(|bucket| bucket.frames)
            .sum();
        LossRatio(self.offered.saturating_sub(in_time) as f64 / self.offered as f64)
    }

    /// Returns the wrong fields with the frames of each, in words; `None` where none is known.
    pub fn wrong_fields_in_words(&self) -> Option<String> {
        let words: Vec<_> = self
            .wrong_fields
            .iter()
            .map(|(field, frames)| format!("{field} {frames}"))
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}
