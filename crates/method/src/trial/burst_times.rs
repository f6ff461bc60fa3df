//! How the bursts of a trial left the tester (RFC 2544 section 21).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bursts of one direction of a trial. Times are from the moment at which the first frame of a burst was handed to the port to the one at which the sender
/// found that it was rid of the last, so they are upper bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BurstTimes {
    /// The frames of each burst, but for the last one of a trial, which may have fewer.
    pub frames: u32,
    /// The bursts that were timed: whole ones.
    pub bursts: u64,
    /// The time that they took together, nanoseconds.
    pub total_ns: u64,
    /// The time that the slowest of them took, nanoseconds.
    pub longest_ns: u64,
}

impl BurstTimes {
    /// Returns the bursts of two queues that send a part of each: a burst took at most as long as its parts together.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            frames: self.frames,
            bursts: self.bursts.max(other.bursts),
            total_ns: self.total_ns.saturating_add(other.total_ns),
            longest_ns: self.longest_ns.saturating_add(other.longest_ns),
        }
    }
}
