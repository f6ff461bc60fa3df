//! The ramp before a trial: test frames that no result of the trial counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The frames of one direction of the ramp before a trial. They are like those of the trial, and each is verified like them, but nothing else counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RampCounts {
    /// The time over which the load rose to that of the trial, nanoseconds.
    pub duration_ns: u64,
    /// Time from the end of the ramp, by its schedule, to the first frame of the trial, nanoseconds.
    pub pause_ns: u64,
    /// Frames that left the tester.
    pub offered: u64,
    /// Distinct frames that came back right and in time.
    pub received: u64,
    /// Distinct frames that came back right, but after the frame timeout.
    pub late: u64,
    /// Distinct frames that came back with a wrong header field.
    pub mistranslated: u64,
    /// Distinct frames that came back with a damaged payload.
    pub corrupt: u64,
    /// Extra copies.
    pub duplicate: u64,
    /// Frames that arrived after one that was sent later.
    pub reordered: u64,
}

impl RampCounts {
    /// Returns the number of frames of which nothing came back before the trial began.
    pub fn lost(&self) -> u64 {
        self.offered
            .saturating_sub(self.received + self.late + self.mistranslated + self.corrupt)
    }

    /// Returns the number of frames that came back wrong.
    pub fn wrong(&self) -> u64 {
        self.mistranslated + self.corrupt
    }
}
