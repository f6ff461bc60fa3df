//! The field's quantities, each with a type and a unit.

pub mod bounds;

use bounds::{Bounded, NumberBound, TableBounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A second in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Frames per second, **per direction** (RFC 2544 section 14: bidirectional traffic has the same rate each way).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct FrameRate(pub u64);

impl FrameRate {
    /// The rates that a plan file may state, frames per second.
    pub const BOUND: NumberBound = NumberBound::new(1.0, 1e9);
    /// The rates that can result from the fastest medium at the smallest frame size, frames per second.
    pub const OF_MEDIUM: NumberBound = NumberBound::new(1.0, 2e10);

    /// Returns the number of frames a schedule of this rate holds in `duration_ns` nanoseconds, per direction.
    pub fn frames_in(self, duration_ns: u64) -> u64 {
        (u128::from(self.0) * u128::from(duration_ns) / 1_000_000_000).min(u128::from(u64::MAX))
            as u64
    }

    /// Returns the highest rate a medium carries: RFC 5180 section 5.2, `line rate / (8 * (size + 20))`.
    ///
    /// `line_rate` in bit/s, `frame_octets` with FCS.
    pub fn theoretical_maximum(line_rate: u64, frame_octets: u16) -> Self {
        Self(line_rate / (8 * (u64::from(frame_octets) + 20)))
    }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} frames/s", self.0)
    }
}

/// The Internet protocol that a frame carries.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum IpVersion {
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
}

/// A nominal frame size: octets of the **IPv6** Ethernet frame, FCS included.
///
/// RFC 8219 section 5.1.1 replaces 64 by 84 where IPv6 becomes IPv4; by the convention of the papers the IPv4 frame of
/// the same name is 20 octets shorter, so one name is the same payload on both sides of a translator.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct FrameSize(pub u16);

impl FrameSize {
    /// The sizes that a plan may have.
    pub const BOUND: NumberBound = NumberBound::new(Self::MINIMUM.0 as f64, Self::MAXIMUM.0 as f64);
    /// The smallest size whose frames have room for the tag after the UDP header.
    pub const MINIMUM: Self = Self(84);
    /// The largest size of RFC 8219 section 5.1.1.
    pub const MAXIMUM: Self = Self(9216);

    /// Returns the octets of the frame with FCS when it carries `version`; none where a file has a size that no plan may have.
    pub fn with_fcs(self, version: IpVersion) -> u16 {
        match version {
            IpVersion::Ipv6 => self.0,
            IpVersion::Ipv4 => self.0.saturating_sub(20),
        }
    }

    /// Returns the octets handed to the port (the FCS is the port's).
    pub fn without_fcs(self, version: IpVersion) -> u16 {
        self.with_fcs(version).saturating_sub(4)
    }
}

impl fmt::Display for FrameSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The direction of traffic: forward leaves the tester on the left and comes back on the right.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Left to right.
    Forward,
    /// Right to left.
    Reverse,
}

impl Direction {
    /// Returns the other one.
    pub fn opposite(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        })
    }
}

/// The directions that a test loads. RFC 8219 section 5.3: bidirectional SHOULD, unidirectional MAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Directions {
    /// Left to right only.
    Forward,
    /// Right to left only.
    Reverse,
    /// Both at once, the same rate each way.
    Both,
}

impl Directions {
    /// Returns the single directions this stands for.
    pub fn each(self) -> &'static [Direction] {
        match self {
            Self::Forward => &[Direction::Forward],
            Self::Reverse => &[Direction::Reverse],
            Self::Both => &[Direction::Forward, Direction::Reverse],
        }
    }
}

/// Lost frames over offered frames, 0..=1. Reports print it as a percentage (frame loss rate, RFC 1242 section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LossRatio(pub f64);

impl LossRatio {
    /// No loss at all: the goal of RFC 2544 section 26.1.
    pub const ZERO: Self = Self(0.0);
}

impl fmt::Display for LossRatio {
    /// Six figures that count, so that neither 33 of 1000 looks like 3.3000000000000003 % nor one in a milliard like none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        let rounded: f64 = format!("{percent:.5e}").parse().unwrap_or(percent);
        write!(f, "{rounded} %")
    }
}

/// Foreground (translated) frames among all: `foreground` of every `of` frames, evenly interleaved (RFC 8219 section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Foreground frames in each group.
    pub foreground: u32,
    /// Frames in each group, at least 1.
    pub of: u32,
}

impl Bounded for Share {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("foreground", NumberBound::new(0.0, 10_000.0)),
            ("of", NumberBound::new(1.0, 10_000.0)),
        ],
        ordered: &[("foreground", "of")],
        ..TableBounds::NONE
    };
}

impl Share {
    /// Foreground only.
    pub const ALL: Self = Self {
        foreground: 1,
        of: 1,
    };

    /// Returns whether frame `sequence` is foreground: Bresenham's rule, so that the two kinds never bunch.
    #[inline]
    pub fn is_foreground(self, sequence: u64) -> bool {
        let (m, n) = (u64::from(self.foreground), u64::from(self.of));
        let place = sequence % n;
        (place + 1) * m / n != place * m / n
    }

    /// Returns the number of frame `sequence` among those of its kind, from 0: what ports and addresses count by, so that a range is used up
    /// whatever the share.
    #[inline]
    pub fn index(self, sequence: u64) -> u64 {
        let (m, n) = (u64::from(self.foreground), u64::from(self.of));
        if m == n {
            return sequence;
        }
        let foreground = sequence / n * m + sequence % n * m / n;
        if self.is_foreground(sequence) {
            foreground
        } else {
            sequence - foreground
        }
    }

    /// Returns the percentage of frames that are background.
    pub fn background_percent(self) -> f64 {
        100.0 * f64::from(self.of - self.foreground) / f64::from(self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eighty_four_octets_of_ipv6_are_sixty_four_of_ipv4() {
        assert_eq!(FrameSize(84).with_fcs(IpVersion::Ipv4), 64);
        assert_eq!(FrameSize(84).without_fcs(IpVersion::Ipv6), 80);
    }

    #[test]
    fn gigabit_ethernet_carries_1_488_095_frames_of_64_octets() {
        assert_eq!(
            FrameRate::theoretical_maximum(1_000_000_000, 64),
            FrameRate(1_488_095)
        );
    }

    #[test]
    fn a_loss_is_shown_with_six_figures_that_count() {
        assert_eq!(LossRatio(0.033).to_string(), "3.3 %");
        assert_eq!(LossRatio(269_758.0 / 300_000.0).to_string(), "89.9193 %");
        assert_eq!(LossRatio(1e-9).to_string(), "0.0000001 %");
        assert_eq!(LossRatio::ZERO.to_string(), "0 %");
    }

    #[test]
    fn nine_of_ten_are_foreground_and_evenly_spread() {
        let share = Share {
            foreground: 9,
            of: 10,
        };
        let kinds: Vec<bool> = (0..30).map(|i| share.is_foreground(i)).collect();
        assert_eq!(kinds.iter().filter(|k| !**k).count(), 3);
        let gaps: Vec<usize> = kinds
            .iter()
            .enumerate()
            .filter(|(_, k)| !**k)
            .map(|(i, _)| i)
            .collect();
        assert_eq!(gaps[1] - gaps[0], 10);
        let half = Share {
            foreground: 1,
            of: 2,
        };
        assert!((0..10).all(|i| half.is_foreground(i) != half.is_foreground(i + 1)));
    }

    #[test]
    fn every_kind_counts_its_own_frames_without_a_gap() {
        for share in [
            Share::ALL,
            Share {
                foreground: 9,
                of: 10,
            },
            Share {
                foreground: 2,
                of: 7,
            },
            Share {
                foreground: 0,
                of: 1,
            },
        ] {
            let mut next = [0, 0];
            for sequence in 0..1000 {
                let kind = &mut next[usize::from(share.is_foreground(sequence))];
                assert_eq!(share.index(sequence), *kind, "{share:?} {sequence}");
                *kind += 1;
            }
        }
    }

    #[test]
    fn a_schedule_holds_rate_times_duration_frames() {
        assert_eq!(FrameRate(3).frames_in(1_000_000_000), 3);
        assert_eq!(FrameRate(14_880_952).frames_in(60_000_000_000), 892_857_120);
    }
}
