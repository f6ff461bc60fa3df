//! Delays of one direction of a trial, in nanoseconds: summaries and distribution.

use serde::{Deserialize, Serialize};

/// One-way delay: from "handed to the port" to "seen by the receiver" (RFC 1242 section 3.8), nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// Frames measured.
    pub count: u64,
    /// Smallest.
    pub min_ns: u64,
    /// Median.
    pub median_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

impl Delay {
    /// Packet delay variation, `D99.9 - Dmin` (RFC 8219 section 7.3.1), nanoseconds.
    pub fn pdv_ns(&self) -> u64 {
        self.p999_ns.saturating_sub(self.min_ns)
    }
}

/// Inter packet delay variation, `D(i) - D(i-1)` (RFC 8219 section 7.3.2), nanoseconds, over the frames received with their predecessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ipdv {
    /// Pairs measured.
    pub pairs: u64,
    /// Smallest: a frame caught up with the one before.
    pub min_ns: i64,
    /// Median.
    pub median_ns: i64,
    /// Largest: a frame fell behind the one before.
    pub max_ns: i64,
}

/// Frames with about the same delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct Bucket {
    /// The largest delay in the bucket, nanoseconds; it begins above the next smaller bucket possible, less than 1 % below.
    pub up_to_ns: u64,
    /// Frames in it.
    pub frames: u64,
}

impl From<(u64, u64)> for Bucket {
    fn from((up_to_ns, frames): (u64, u64)) -> Self {
        Self { up_to_ns, frames }
    }
}

impl From<Bucket> for (u64, u64) {
    fn from(bucket: Bucket) -> Self {
        (bucket.up_to_ns, bucket.frames)
    }
}
