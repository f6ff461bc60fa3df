//! What a row of a comparison compares.

use crate::measure::Quantity;
use crate::plan::Measure;
use crate::terms::{Direction, FrameRate, LossRatio};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a row compares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The highest rate at which no more than this is lost; with 0 the throughput of RFC 2544 section 26.1.
    Rate(LossRatio),
    /// The same of connections: the highest rate at which no more than this share of them is not established (RFC 9693).
    ConnectionRate(LossRatio),
    /// A quantity of one direction; with its load where values of several loads stand side by side.
    Value(Quantity, Direction, Option<FrameRate>),
}

impl Subject {
    /// What was searched is told by the measure: outcomes hold a rate, whatever it is of.
    pub fn of(self, measure: &Measure) -> Self {
        match (self, measure) {
            (Self::Rate(goal), Measure::EstablishmentRate) => Self::ConnectionRate(goal),
            _ => self,
        }
    }

    /// Whether a higher value is the better one.
    pub fn is_higher_better(&self) -> bool {
        match self {
            Self::Rate(_) | Self::ConnectionRate(_) => true,
            Self::Value(quantity, ..) => quantity.is_higher_better(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(LossRatio::ZERO) => f.write_str("Throughput"),
            Self::Rate(goal) => write!(f, "Rate at {goal} loss or less"),
            Self::ConnectionRate(LossRatio::ZERO) => f.write_str("Connection establishment rate"),
            Self::ConnectionRate(goal) => write!(f, "Connection establishment rate at {goal} loss or less"),
            Self::Value(quantity, direction, None) => write!(f, "{}, {direction}", quantity.title()),
            Self::Value(quantity, direction, Some(load)) => write!(f, "{}, {direction}, at {load}", quantity.title()),
        }
    }
}
