//! Every quantity with every statistic.

use crate::digest::{Digest, PointDigest, PointSample};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::{Statistics, dispersion, percentile_note};
use crate::wording::numbers::{self, title};
use sixbench_method::measures::{Noun, Quantity};

/// A quantity of a point in one direction.
struct SummaryRow<'d> {
    point: &'d PointDigest<'d>,
    sample: &'d PointSample,
    statistics: Statistics,
}

/// Returns a table of every quantity with every statistic, except the loss rates, which have a separate table of this kind.
pub(super) fn table(digest: &Digest) -> Table {
    let samples = || {
        digest
            .points
            .iter()
            .flat_map(|p| p.samples.iter().map(move |s| (p, s)))
    };
    let samples = || samples().filter(|(_, s)| s.quantity != Quantity::FrameLossRate);
    let rows = samples().map(|(point, sample)| SummaryRow {
        point,
        sample,
        statistics: Statistics::of_sample(sample),
    });
    Table::new("Every quantity with every statistic", summary_columns(), rows)
        .with_note(if digest.points.iter().any(|p| p.test.measure.family().noun() == Noun::Connections) { "Dispersion: (max - min) / median. Load: frames/s per direction, or connections/s for connections." } else { "Dispersion: (max - min) / median. Load: frames/s per direction." })
        .with_note(percentile_note(samples().map(|(_, s)| &s.summary)))
}

fn summary_columns<'d>() -> Vec<Column<'d, SummaryRow<'d>>> {
    vec![
        Column::text("Test", |row: &SummaryRow| title(row.point.test)),
        Column::number("Size", |row: &SummaryRow| row.point.point.frame_size),
        Column::text("Direction", |row: &SummaryRow| row.sample.direction),
        Column::text("Quantity", |row: &SummaryRow| row.sample.quantity.title()),
        Column::text("Unit", |row: &SummaryRow| {
            numbers::unit(row.sample.quantity)
        }),
        Column::number("Load", |row: &SummaryRow| load(row.sample)),
        Column::number("Median", |row: &SummaryRow| row.statistics.median.clone()),
        Column::number("P1", |row: &SummaryRow| row.statistics.p1.clone()),
        Column::number("P99", |row: &SummaryRow| row.statistics.p99.clone()),
        Column::number("Min", |row: &SummaryRow| row.statistics.min.clone()),
        Column::number("Max", |row: &SummaryRow| row.statistics.max.clone()),
        Column::number("Mean", |row: &SummaryRow| {
            Cell::Quantity(row.sample.quantity, row.sample.mean).signed(row.sample.sign())
        }),
        Column::number("Dispersion", |row: &SummaryRow| {
            dispersion(&row.sample.summary)
        }),
        Column::number("n", |row: &SummaryRow| row.statistics.n.clone()),
    ]
}

/// Returns the load of a sample. A table capacity was not measured at a single load.
fn load(sample: &PointSample) -> Cell {
    match sample.quantity {
        Quantity::TableCapacity => Cell::Missing,
        _ => Cell::Count(sample.load.0),
    }
}
