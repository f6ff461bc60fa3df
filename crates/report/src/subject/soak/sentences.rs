//! The sentence on a soak test.

use super::tables;
use crate::digest::PointDigest;
use crate::subject::point_sentence::at_its_load;
use crate::wording::numbers::{grouped, percentage, short, stretch, title};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::Soak;

pub(super) fn sentence(point: &PointDigest) -> Option<String> {
    let soak = tables::settings(point)?;
    if soak.tcp.is_some() {
        return cycled(point, soak);
    }
    at_its_load(point, &soaked(point, soak)?)
}

/// Returns the words on a soak test: `lost 0.01 % of the frames in 4 h; memory of the device grew by 100 kB/h (95 %: 90 to 110)`.
fn soaked(point: &PointDigest, soak: &Soak) -> Option<String> {
    let loss = percentage(point.worst(Quantity::SoakLoss)?.summary.median);
    Some(format!(
        "lost {loss}\u{a0}% of the frames in {}{}",
        stretch(soak.duration_ns / 1_000_000_000),
        grown(point)
    ))
}

/// Returns the sentence on a soak test of new connections: `TAYGA: opened 100 and closed 100 connections/s for 4 h, 0 % failed; at most 12,030 entries
/// in the table, -2 gained after the warm-up; no growth of the memory ...`.
fn cycled(point: &PointDigest, soak: &Soak) -> Option<String> {
    let median = |quantity| Some(point.worst(quantity)?.summary.median);
    let [opened, closed] = [
        median(Quantity::ConnectionsOpened)?,
        median(Quantity::ConnectionsClosed)?,
    ]
    .map(short);
    let failed = percentage(median(Quantity::FailedConnections)?);
    let table = median(Quantity::TableLargest)
        .zip(median(Quantity::TableGrowth))
        .map(|(most, gained)| {
            format!(
                "; at most {} entries in the table, {} gained after the warm-up",
                grouped(most),
                grouped(gained)
            )
        });
    Some(format!(
        "{}: opened {opened} and closed {closed} connections/s for {}, {failed}\u{a0}% failed{}{}.",
        title(point.test),
        stretch(soak.duration_ns / 1_000_000_000),
        table.unwrap_or_default(),
        grown(point)
    ))
}

/// Returns the words on memory: `; memory of the device grew by 100 kB/h (95 %: 90 to 110); no growth of the memory of the kernel is shown`.
fn grown(point: &PointDigest) -> String {
    tables::KINDS
        .iter()
        .filter_map(|kind| Some(format!("; {}", kind.sentence(point)?)))
        .collect()
}
