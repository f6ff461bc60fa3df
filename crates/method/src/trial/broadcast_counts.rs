//! The broadcast frames within a trial (RFC 2544 section 11.1), which no other number contains.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The broadcast frames of one direction of a trial. A router forwards none of them, so they are neither offered nor lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BroadcastCounts {
    /// Frames to the hardware broadcast address that left the tester, each in place of a test frame.
    pub sent: u64,
    /// Broadcast frames of the trial, of either direction, that arrived at the port where this direction is received: a bridge floods them.
    pub forwarded: u64,
}
