//! Back-to-back frames: table 1 of RFC 9004 section 7.

use crate::digest::{Digest, PointDigest, PointSample};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::AT_LEAST;
use crate::wording::numbers::title;
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{BackToBack, Measure};
use sixbench_method::throughput::shared;

/// The identifier of the chapter in links.
pub(super) const ID: &str = "back-to-back";

/// The bursts of a point.
struct BurstRow<'d> {
    point: &'d PointDigest<'d>,
    settings: &'d BackToBack,
    sample: &'d PointSample,
    /// The implied buffer time, seconds.
    implied: f64,
    /// The maximum rate, frames per second.
    maximum: f64,
    throughput: Option<f64>,
}

/// Returns a row for each test and frame size. Both directions burst at once, and a loss in either ends the burst of both, so they share a row.
pub(super) fn table(digest: &Digest) -> Table {
    let rows = digest.points.iter().filter_map(|p| row(digest, p));
    let maximum = match digest.input.plan.link_rate {
        Some(_) => "Maximum rate: the theoretical one of the medium.",
        None => {
            "Maximum rate: the rate within the burst, since the rate of the medium is not known."
        }
    };
    let is_open = digest
        .points
        .iter()
        .filter_map(|p| burst(p))
        .any(|s| s.at_least > 0);
    Table::new("Back-to-back frames (RFC 9004 section 7)", columns(), rows)
        .with_note(
            "Implied: average burst over the maximum rate. Corrected: implied - implied * throughput / maximum rate (section 6.4). \
         Throughput: median of the searches with the same device, traffic, directions and size; if the run has none, the time \
         cannot be corrected. Rates: frames/s per direction.",
        )
        .with_note(maximum)
        .with_note_if(is_open, AT_LEAST)
}

fn columns<'d>() -> Vec<Column<'d, BurstRow<'d>>> {
    vec![
        Column::text("Test", |row: &BurstRow| title(row.point.test)),
        Column::number("Size", |row: &BurstRow| row.point.point.frame_size),
        Column::number_in("Burst (frames)", "Average", |row: &BurstRow| {
            Cell::Rate(row.sample.mean).signed(row.sample.sign())
        }),
        Column::number_in("Burst (frames)", "Min", |row: &BurstRow| {
            Cell::Rate(row.sample.summary.min)
        }),
        Column::number_in("Burst (frames)", "Max", |row: &BurstRow| {
            Cell::Rate(row.sample.summary.max)
        }),
        Column::number_in("Burst (frames)", "StdDev", |row: &BurstRow| {
            row.sample.deviation.map(Cell::Significant)
        }),
        Column::number("N", |row: &BurstRow| {
            Cell::Number(row.sample.summary.n as u64)
        }),
        Column::number_in("Buffer time (s)", "Implied", |row: &BurstRow| {
            seconds(row.implied)
        }),
        Column::number_in("Buffer time (s)", "Corrected", BurstRow::corrected),
        Column::number("Rate in the burst", |row: &BurstRow| {
            Cell::Count(row.sample.load.0)
        }),
        Column::number("Throughput", |row: &BurstRow| {
            row.throughput.map_or("not measured".into(), Cell::Rate)
        }),
        Column::number("Step (frames)", |row: &BurstRow| {
            Cell::Count(row.settings.step_frames.max(1))
        }),
        Column::number("Longest (frames)", |row: &BurstRow| {
            Cell::Count(row.sample.load.frames_in(row.settings.longest_ns).max(1))
        }),
    ]
}

fn burst<'p>(point: &'p PointDigest) -> Option<&'p PointSample> {
    point.worst(Quantity::BackToBackFrames)
}

fn row<'d>(digest: &Digest, point: &'d PointDigest<'d>) -> Option<BurstRow<'d>> {
    let Measure::BackToBack(settings) = &point.test.measure else {
        return None;
    };
    let sample = burst(point)?;
    let maximum = point
        .test
        .theoretical(digest.input.plan, point.point.frame_size)
        .unwrap_or(sample.load)
        .0 as f64;
    let throughput = shared(digest.input.plan, &point.point, digest.input.outcomes)
        .map(|source| source.throughput.0 as f64);
    Some(BurstRow {
        point,
        settings,
        sample,
        implied: sample.mean / maximum,
        maximum,
        throughput,
    })
}

impl BurstRow<'_> {
    fn corrected(&self) -> String {
        let corrected = |rate| seconds(corrected(self.implied, rate, self.maximum));
        self.throughput
            .map_or("not corrected".to_owned(), corrected)
    }
}

/// Returns the corrected buffer time (RFC 9004 section 6.4): what the DUT forwarded meanwhile needed no buffer.
fn corrected(implied: f64, throughput: f64, maximum: f64) -> f64 {
    implied - implied * throughput / maximum
}

fn seconds(value: f64) -> String {
    format!("{value:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_of_26_000_frames_corrected_for_what_was_forwarded() {
        let implied = 26_000.0 / 14_880_952.0;
        assert_eq!(seconds(implied), "0.001747");
        assert_eq!(
            seconds(corrected(implied, 14_540_000.0, 14_880_952.0)),
            "0.000040"
        );
    }

    #[test]
    fn a_dut_at_the_rate_of_the_medium_needs_no_buffer() {
        assert_eq!(corrected(0.002, 1000.0, 1000.0), 0.0);
    }
}
