//! Numbers in the format of the table.

use crate::repeat::Repetition;
use crate::terms::FrameSize;
pub(crate) use crate::terms::SECOND_NS;
pub(crate) use crate::text::show_percent as percent;
pub(crate) use crate::units::counted as count;

/// The sizes of RFC 5180 section 5.1.1; RFC 8219 section 5.1.1 replaces 64 by 84.
pub(crate) const ETHERNET: [FrameSize; 7] = [
    FrameSize(84),
    FrameSize(128),
    FrameSize(256),
    FrameSize(512),
    FrameSize(1024),
    FrameSize(1280),
    FrameSize(1518),
];

/// Returns seconds as in `60 s`.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / SECOND_NS as f64)
}

/// Returns a number of repetitions as in `20 repetitions`, or the range of an adaptive number.
pub(crate) fn repetitions(repetitions: Repetition) -> String {
    match repetitions {
        Repetition::Fixed(n) => count(u64::from(n), "repetition"),
        Repetition::Adaptive {
            least,
            most,
            within,
        } => {
            format!(
                "{least} to {most} repetitions, until the median is known within {}",
                percent(within)
            )
        }
    }
}

/// Returns a list as in `84, 128`.
pub(crate) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items
        .into_iter()
        .map(|item| item.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

pub(crate) fn missing_sizes(sizes: &[FrameSize], wanted: &[FrameSize]) -> Vec<FrameSize> {
    wanted
        .iter()
        .copied()
        .filter(|size| !sizes.contains(size))
        .collect()
}
