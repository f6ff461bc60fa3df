//! The memory of a device before, during and after malformed frames. A leak goes on for as long as frames come; what a table or a cache takes, it takes
//! once.

use serde::Serialize;

/// The smallest tolerance, in octets: a process may grow by so much because of what it does for the first time.
const TOLERANCE: u64 = 1 << 20;
/// A device may grow by one part in this many of the memory that it had before.
const TOLERATED_PART: u64 = 10;

/// The owner of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryOwner {
    /// The device's processes: their resident pages.
    Processes,
    /// The virtual machine of the device alone: what is in use of its memory.
    Guest,
    /// The kernel of this machine, which the device is a part of, with all that other programs do.
    ThisKernel,
}

impl MemoryOwner {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Processes => "memory of its process",
            Self::Guest => "memory of its machine",
            Self::ThisKernel => "kernel memory here",
        }
    }
}

/// A reading of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    /// The owner.
    pub owner: MemoryOwner,
    /// The octets in use.
    pub octets: u64,
}

/// The judgement of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryVerdict {
    /// It is what it was, within the tolerance.
    Unchanged,
    /// It grew in the first half of the frames, and no more in the second: not a leak, as far as these frames show.
    Settled,
    /// It grew by more than the tolerance in the second half of the frames as well.
    Growing,
    /// Others use the same memory, so that nothing is judged.
    Shared,
}

/// The memory in the course of the frames, in octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryCourse {
    /// The owner.
    pub owner: MemoryOwner,
    /// Before the first frame.
    pub before: u64,
    /// After half of the frames.
    pub half: u64,
    /// After the last frame.
    pub after: u64,
    /// The growth that is not told apart from none.
    pub tolerance: u64,
    /// The judgement.
    pub verdict: MemoryVerdict,
}

impl MemoryCourse {
    /// Returns the course of three readings, in their order.
    pub fn new(readings: [DeviceMemory; 3]) -> Self {
        let [before, half, after] = readings.map(|reading| reading.octets);
        let owner = readings[0].owner;
        let tolerance = TOLERANCE.max(before / TOLERATED_PART);
        let verdict = if owner == MemoryOwner::ThisKernel {
            MemoryVerdict::Shared
        } else if after.saturating_sub(before) <= tolerance {
            MemoryVerdict::Unchanged
        } else if after.saturating_sub(half) <= tolerance {
            MemoryVerdict::Settled
        } else {
            MemoryVerdict::Growing
        };
        Self {
            owner,
            before,
            half,
            after,
            tolerance,
            verdict,
        }
    }
}
