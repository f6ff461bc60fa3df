//! The load a measurement is made at.

use crate::terms::FrameRate;
use serde::{Deserialize, Serialize};

/// The load a measurement is made at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// This share of the throughput, which is searched for once for all measurements of the same device, size and traffic. 1: RFC 8219's.
    OfThroughput(f64),
    /// Frames per second per direction.
    Rate(FrameRate),
}

impl Load {
    /// Returns whether the throughput must be known first.
    pub fn is_of_throughput(self) -> bool {
        matches!(self, Self::OfThroughput(_))
    }

    /// Returns the highest rate this may be where `most` is the highest a search tries.
    pub(crate) fn highest(self, most: FrameRate) -> FrameRate {
        match self {
            Self::Rate(rate) => rate,
            Self::OfThroughput(share) => scaled(most, share.max(1.0)),
        }
    }
}

/// Returns `share` times `rate`, in whole frames per second.
pub(crate) fn scaled(rate: FrameRate, share: f64) -> FrameRate {
    FrameRate((rate.0 as f64 * share) as u64)
}
