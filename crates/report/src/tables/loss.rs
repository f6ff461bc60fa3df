//! Frame loss rate (RFC 2544 section 26.3) as a table, in addition to the graph that the clause requires.

use super::{SPREAD, percentile_note};
use crate::digest::{Digest, PointDigest, PointSample, PrintedSummary};
use crate::layout::table::Table;
use crate::wording::numbers::{grouped, three_digits, title};
use sixbench_method::measures::Quantity;

/// Returns a row for each rate, from the highest down.
pub(crate) fn table(digest: &Digest) -> Table {
    let groups = SPREAD.iter().chain(&["Min", "Max"]).map(|name| format!("#Loss (%)|{name}"));
    let head = ["Test", "#Size", "Direction", "#Rate", "#Rate (%)"].map(str::to_owned);
    let columns = head.into_iter().chain(groups).chain(["#n".to_owned()]);
    let samples = || digest.points.iter().flat_map(|p| losses(p).map(move |s| (p, s)));
    Table::new("Frame loss rate (RFC 2544 section 26.3)", columns)
        .with_rows(samples().map(|(p, s)| row(digest, p, s)))
        .with_note(format!("Rate: input rate in frames/s per direction, and in per cent of {}.", base(digest)))
        .with_note(percentile_note(samples().map(|(_, s)| &s.summary)))
}

fn losses<'p>(point: &'p PointDigest) -> impl Iterator<Item = &'p PointSample> {
    let directions = point.directions().into_iter();
    directions
        .flat_map(|d| point.samples.iter().rev().filter(move |s| s.quantity == Quantity::FrameLossRate && s.direction == d))
}

fn row(digest: &Digest, point: &PointDigest, sample: &PointSample) -> Vec<String> {
    let share = 100.0 * sample.load.0 as f64 / digest.full_rate(point.point.frame_size).0 as f64;
    let head = [title(point.test), point.point.frame_size.to_string(), sample.direction.to_string()];
    let rates = [grouped(sample.load.0 as f64), three_digits(share)];
    let PrintedSummary { min, p1, median, p99, max } = sample.printed();
    let cells = head.into_iter().chain(rates).chain([median, p1, p99, min, max]);
    cells.chain([sample.summary.n.to_string()]).collect()
}

/// Returns a description of the rate to which the percentages of input rates relate.
pub(crate) fn base(digest: &Digest) -> &'static str {
    match digest.input.plan.link_rate {
        Some(_) => "the theoretical rate of the medium at that frame size",
        None => "the highest rate of the plan, since the rate of the medium is not known",
    }
}
