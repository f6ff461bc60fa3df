//! Numbers as the table writes them.

use crate::plan::Test;
use crate::repeat::Repetition;
use crate::terms::FrameSize;

/// One second, in nanoseconds.
pub(super) const SECOND: u64 = 1_000_000_000;

/// `60 s`.
pub(super) fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / SECOND as f64)
}

/// `110 %` of 1.1, and not 110.00000000000001.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e5).round() / 1e3)
}

/// `1 tag`, `500 tags`.
pub(super) fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// `20 repetitions`; of an adaptive number the range.
pub(super) fn repetitions(test: &Test) -> String {
    match test.repetitions {
        Repetition::Fixed(n) => count(u64::from(n), "repetition"),
        Repetition::Adaptive { least, most, within } => {
            format!("{least} to {most} repetitions, until the median is known within {}", percent(within))
        }
    }
}

/// `84, 128`.
pub(super) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns the sizes of `wanted` that the test leaves out.
pub(super) fn missing_sizes(test: &Test, wanted: &[FrameSize]) -> Vec<FrameSize> {
    wanted.iter().copied().filter(|size| !test.frame_sizes.contains(size)).collect()
}
