//! Delays of one direction of a trial, in nanoseconds: summaries and distribution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One-way delay: from "handed to the port" to "seen by the receiver" (RFC 1242 section 3.8), nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// The moments of every frame, not of buckets; `None` in records from before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moments: Option<Moments>,
    /// The errors of these delays; `None` in records from before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<DelayBounds>,
}

/// The most by which each delay of a [`Delay`] may be above the true one, nanoseconds. The tester knows of each frame a time at which it had not
/// arrived and one at which it had, and takes the later one: no delay is below the true one, apart from the difference of the clocks at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DelayBounds {
    /// Of the smallest, if up to 1 % of the frames are left out of account: those that arrived while the tester was away for longer.
    pub min_ns: u64,
    /// Of the median: its rank moves by no more than the same 1 %.
    pub median_ns: u64,
    /// Of the 99.9th percentile: its rank moves by no more than half of the frames above it.
    pub p999_ns: u64,
    /// Of the largest.
    pub max_ns: u64,
    /// Of the average.
    pub mean_ns: u64,
}

/// The share of a delay by which the tester may have made it too long, if the delay is to be a number.
const EXACT_SHARE: f64 = 0.1;

/// Returns whether a delay, or an average of delays, is only an upper bound: the tester may have made it too long by this much, in the same unit, which is
/// more than a tenth of it.
pub fn is_upper_bound(delay: f64, too_long_by: f64) -> bool {
    too_long_by > EXACT_SHARE * delay.abs()
}

/// The sum and the spread of delays, from which the average and the standard deviation follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moments {
    /// The sum of all delays, nanoseconds.
    pub sum_ns: u64,
    /// Standard deviation, picoseconds: in whole nanoseconds that of a steady device would be rounded away.
    pub deviation_ps: u64,
}

impl Moments {
    /// Returns the moments of `count` delays, from their sum and the sum of their squares, nanoseconds. `None` for none.
    pub fn of_sums(count: u64, sum_ns: u128, squares: u128) -> Option<Self> {
        let count = (count > 0).then_some(u128::from(count))?;
        // n * sum of squares - square of the sum is n^2 times the variance, and exact.
        let scaled = count
            .checked_mul(squares)?
            .checked_sub(sum_ns.checked_mul(sum_ns)?)?;
        let deviation_ps = ((scaled as f64).sqrt() / count as f64 * 1e3).round() as u64;
        Some(Self {
            sum_ns: u64::try_from(sum_ns).ok()?,
            deviation_ps,
        })
    }
}

impl Delay {
    /// Returns the average, nanoseconds.
    pub fn mean_ns(&self) -> Option<f64> {
        Some(self.moments?.sum_ns as f64 / self.count.max(1) as f64)
    }

    /// Returns the standard deviation of all frames (of the population), nanoseconds.
    pub fn deviation_ns(&self) -> Option<f64> {
        Some(self.moments?.deviation_ps as f64 / 1e3)
    }

    /// Returns the packet delay variation, `D99.9 - Dmin` (RFC 8219 section 7.3.1), nanoseconds.
    pub fn pdv_ns(&self) -> u64 {
        self.p999_ns.saturating_sub(self.min_ns)
    }
}

/// Inter packet delay variation, `D(i) - D(i-1)` (RFC 8219 section 7.3.2), nanoseconds, over the frames received with their predecessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ipdv {
    /// Pairs measured.
    pub pairs: u64,
    /// Smallest: a frame caught up with the one before.
    pub min_ns: i64,
    /// Median.
    pub median_ns: i64,
    /// Largest: a frame fell behind the one before.
    pub max_ns: i64,
    /// The errors of these differences; `None` in records from before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<IpdvBounds>,
}

/// The most by which each difference of an [`Ipdv`] may be above or below the true one, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IpdvBounds {
    /// Of the smallest.
    pub min_ns: u64,
    /// Of the median, if its rank may move by 2 %.
    pub median_ns: u64,
    /// Of the largest.
    pub max_ns: u64,
}

/// Frames with about the same delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn average_and_standard_deviation_are_those_of_the_sums() {
        let of = |values: &[u64]| {
            let sum = values.iter().map(|v| u128::from(*v)).sum();
            let squares = values.iter().map(|v| u128::from(*v) * u128::from(*v)).sum();
            Moments::of_sums(values.len() as u64, sum, squares)
        };
        assert_eq!(
            of(&[2, 4, 4, 4, 5, 5, 7, 9]),
            Some(Moments {
                sum_ns: 40,
                deviation_ps: 2_000
            })
        );
        assert_eq!(of(&[]), None);
        // A steady device far away: the squares differ in their last digits only.
        assert_eq!(
            of(&[1_000_000_001, 1_000_000_003]),
            Some(Moments {
                sum_ns: 2_000_000_004,
                deviation_ps: 1_000
            })
        );
    }

    #[test]
    fn a_delay_of_before_there_were_averages_is_still_read() {
        let before = "count = 1\nmin_ns = 2\nmedian_ns = 2\np999_ns = 2\nmax_ns = 2";
        let delay: Delay = toml::from_str(before).expect("a delay");
        assert_eq!(
            (delay.mean_ns(), delay.deviation_ns(), delay.bounds),
            (None, None, None)
        );
    }
}
