//! The load a measurement is made at.

use super::Keys;
use crate::terms::FrameRate;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::units::{self, ValueError, expected};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The load a measurement is made at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// This share of the throughput, which is searched for once for all measurements of the same device, size and traffic. 1: RFC 8219's.
    OfThroughput(f64),
    /// Frames per second per direction.
    Rate(FrameRate),
}

impl Bounded for Load {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("of-throughput", NumberBound::SHARE),
            ("rate", FrameRate::OF_MEDIUM),
        ],
        ..TableBounds::NONE
    };
}

impl Load {
    /// Returns the load that the key `rate` of a test asks for: the throughput, where it is missing.
    pub(super) fn read(keys: &impl Keys) -> Self {
        keys.value("rate", load).unwrap_or(Self::OfThroughput(1.0))
    }

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

/// The reason why a text is no load.
#[derive(Debug, Error)]
enum LoadError {
    /// The text ends as a share of the throughput does, and is none.
    #[error(transparent)]
    Share(#[from] ValueError),
    /// The text is neither a rate nor a share.
    #[error("{0}; or `90% of throughput`")]
    Rate(ValueError),
    /// Nothing would be sent.
    #[error("a load must be greater than zero")]
    Zero,
}

/// Reads a load: `throughput`, `90% of throughput`, `50k`.
fn load(text: &str) -> Result<Load, LoadError> {
    let share = match text.trim().strip_suffix("throughput") {
        None => return units::rate(text).map(Load::Rate).map_err(LoadError::Rate),
        Some("") => 1.0,
        Some(share) => {
            let share = share.trim().strip_suffix("of");
            let share = share.ok_or_else(|| expected("`90% of throughput`", text))?;
            units::factor(share.trim())?
        }
    };
    if share > 0.0 {
        Ok(Load::OfThroughput(share))
    } else {
        Err(LoadError::Zero)
    }
}
