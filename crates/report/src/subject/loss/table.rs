//! Frame loss rate (RFC 2544 section 26.3) as a table, in addition to the graph that the clause requires.

use crate::digest::{Digest, PointDigest, PointSample};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::{Statistics, percentile_note};
use crate::wording::numbers::title;
use sixbench_method::measures::Quantity;

/// The loss at one rate in one direction.
struct LossRow<'d> {
    point: &'d PointDigest<'d>,
    sample: &'d PointSample,
    /// The input rate, per cent of the highest.
    load_percent: f64,
    loss: Statistics,
}

/// Returns a row for each rate, from the highest down.
pub(super) fn table(digest: &Digest) -> Table {
    let samples = || {
        digest
            .points
            .iter()
            .flat_map(|p| losses(p).map(move |s| (p, s)))
    };
    Table::new(
        "Frame loss rate (RFC 2544 section 26.3)",
        columns(),
        samples().map(|(p, s)| row(digest, p, s)),
    )
    .with_note(format!(
        "Rate: input rate in frames/s per direction, and in per cent of {}.",
        base(digest)
    ))
    .with_note(percentile_note(samples().map(|(_, s)| &s.summary)))
}

fn columns<'d>() -> Vec<Column<'d, LossRow<'d>>> {
    vec![
        Column::text("Test", |row: &LossRow| title(row.point.test)),
        Column::number("Size", |row: &LossRow| row.point.point.frame_size),
        Column::text("Direction", |row: &LossRow| row.sample.direction),
        Column::number("Rate", |row: &LossRow| Cell::Count(row.sample.load.0)),
        Column::number("Rate (%)", |row: &LossRow| {
            Cell::Significant(row.load_percent)
        }),
        Column::number_in("Loss (%)", "Median", |row: &LossRow| {
            row.loss.median.clone()
        }),
        Column::number_in("Loss (%)", "P1", |row: &LossRow| row.loss.p1.clone()),
        Column::number_in("Loss (%)", "P99", |row: &LossRow| row.loss.p99.clone()),
        Column::number_in("Loss (%)", "Min", |row: &LossRow| row.loss.min.clone()),
        Column::number_in("Loss (%)", "Max", |row: &LossRow| row.loss.max.clone()),
        Column::number("n", |row: &LossRow| row.loss.n.clone()),
    ]
}

fn losses<'p>(point: &'p PointDigest) -> impl Iterator<Item = &'p PointSample> {
    let directions = point.directions().into_iter();
    directions.flat_map(|d| {
        point
            .samples
            .iter()
            .rev()
            .filter(move |s| s.quantity == Quantity::FrameLossRate && s.direction == d)
    })
}

fn row<'d>(digest: &Digest, point: &'d PointDigest<'d>, sample: &'d PointSample) -> LossRow<'d> {
    let load_percent =
        100.0 * sample.load.0 as f64 / digest.full_rate(point.point.frame_size).0 as f64;
    LossRow {
        point,
        sample,
        load_percent,
        loss: Statistics::of_sample(sample),
    }
}

/// Returns a description of the rate to which the percentages of input rates relate.
pub(super) fn base(digest: &Digest) -> &'static str {
    match digest.input.plan.link_rate {
        Some(_) => "the theoretical rate of the medium at that frame size",
        None => "the highest rate of the plan, since the rate of the medium is not known",
    }
}
