//! What a test measures, with the settings each measurement has of its own.

use crate::terms::FrameRate;
use serde::{Deserialize, Serialize};

/// What a test measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// RFC 2544 section 26.1, RFC 8219 section 7.1: the highest rate without loss.
    Throughput,
    /// RFC 2544 section 26.3, RFC 8219 section 7.4: the loss at each of several rates.
    FrameLossRate(LossScan),
    /// RFC 8219 section 7.2: typical and worst-case latency of tagged frames.
    Latency(Latency),
    /// RFC 8219 section 7.3.1: packet delay variation of all frames.
    Pdv(AtRate),
    /// RFC 8219 section 7.3.2: inter packet delay variation.
    Ipdv(AtRate),
    /// RFC 9004: the longest burst at the minimum gap that is forwarded without loss.
    BackToBack(BackToBack),
    /// RFC 2544 section 26.5, RFC 8219 section 7.6: how long losses go on after an overload.
    Recovery(Recovery),
    /// RFC 6201, RFC 8219 section 7.7: how long the DUT forwards nothing around a reset.
    Reset(Reset),
}

impl Measure {
    /// The word for it in plans and results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::FrameLossRate(_) => "frame-loss-rate",
            Self::Latency(_) => "latency",
            Self::Pdv(_) => "pdv",
            Self::Ipdv(_) => "ipdv",
            Self::BackToBack(_) => "back-to-back",
            Self::Recovery(_) => "recovery",
            Self::Reset(_) => "reset",
        }
    }

    /// Whether delays decide, so that a tester that looked late spoils the result even without loss.
    pub fn is_of_delay(&self) -> bool {
        matches!(self, Self::Latency(_) | Self::Pdv(_) | Self::Ipdv(_))
    }
}

/// The load a measurement is made at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// This share of the throughput, which the first repetition determines. 1: RFC 8219's.
    OfThroughput(f64),
    /// Frames per second per direction.
    Rate(FrameRate),
}

/// One stream at one load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AtRate {
    /// At which load.
    pub load: Load,
    /// Time of sending, nanoseconds.
    pub duration_ns: u64,
}

/// RFC 8219 section 7.2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Latency {
    /// At which load.
    pub load: Load,
    /// Time of sending, nanoseconds; at least 120 s by the RFC.
    pub duration_ns: u64,
    /// No frame is tagged before this time, nanoseconds; 60 s by the RFC.
    pub tag_after_ns: u64,
    /// Frames to be tagged, evenly spread over the rest; at least 500 by the RFC. With fewer than 1000 the worst-case latency is the maximum.
    pub tagged: u64,
}

/// RFC 2544 section 26.3: from the highest rate down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LossScan {
    /// The rates, frames per second per direction, in the order of the trials. None: the maximum of each frame size, nine tenths of it,
    /// and so on down to one tenth; the medium's maximum where the plan knows the medium, else that of its search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<FrameRate>,
    /// Whether two successive trials without loss end the scan, as the RFC has it; otherwise every rate is tried.
    pub until_lossless: bool,
}

impl LossScan {
    /// From the highest rate of each frame size down in tenths of it, until two successive trials lose nothing: as the RFC has it.
    pub const RFC_2544: Self = Self { rates: Vec::new(), until_lossless: true };

    /// The rates at a frame size whose highest rate is `maximum`.
    pub fn rates_from(&self, maximum: FrameRate) -> Vec<FrameRate> {
        if self.rates.is_empty() {
            return (1..=10).rev().map(|tenth| FrameRate((maximum.0 * tenth / 10).max(1))).collect();
        }
        self.rates.clone()
    }
}

/// RFC 9004.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BackToBack {
    /// The rate within the burst, frames per second per direction: the medium's maximum by the RFC.
    pub rate: FrameRate,
    /// The longest burst, nanoseconds; up to 30 s must be possible.
    pub longest_ns: u64,
    /// The search ends when it knows the burst to so many frames.
    pub step_frames: u64,
}

/// RFC 2544 section 26.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recovery {
    /// The overload as a share of the throughput: 1.1 by the RFC.
    pub overload: f64,
    /// Time of overload, nanoseconds; at least 60 s by the RFC.
    pub duration_ns: u64,
    /// Time at half of that rate, nanoseconds: losses are looked for in it.
    pub after_ns: u64,
}

/// RFC 6201.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reset {
    /// At which load.
    pub load: Load,
    /// Time before the reset, nanoseconds; at least 15 s by RFC 6201 section 4.
    pub before_ns: u64,
    /// Time after the reset, nanoseconds: the DUT must be back within it.
    pub after_ns: u64,
}
