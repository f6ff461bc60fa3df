//! The frames of each size of a trial with a mix of sizes.

use crate::terms::FrameSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The frames of one size in one direction of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeCounts {
    /// The size: octets of the IPv6 frame with FCS.
    pub frame_size: FrameSize,
    /// Frames of this size that left the tester.
    pub offered: u64,
    /// Those that did not come back right in every field and within the frame timeout.
    pub not_received: u64,
}
