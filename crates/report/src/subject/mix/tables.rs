//! Tables of series over the share of translated traffic.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::series::{TestSeries, series};
use crate::subject::statistics::Statistics;
use sixbench_analysis::mix;
use sixbench_method::plan::SeriesBy;
use sixbench_method::terms::FrameSize;

/// Returns the sign before the value of a model, which increases with both ends, so its true value may be higher if that of either may be.
fn sign_of_model(steps: &[(f64, &PointDigest)]) -> &'static str {
    let is_open = steps
        .iter()
        .any(|(at, point)| (*at == 0.0 || *at == 100.0) && point.limits().is_median_open);
    if is_open { "≥\u{a0}" } else { "" }
}

/// Returns the throughput with all frames and with no frames translated, if both were measured.
pub(super) fn ends(steps: &[(f64, &PointDigest)]) -> Option<(f64, f64)> {
    let median = |point: &PointDigest| {
        point
            .headline()
            .map(|s| s.median)
            .filter(|&rate| rate > 0.0)
    };
    let at = |background: f64| median(steps.iter().find(|(at, _)| *at == background)?.1);
    Some((at(0.0)?, at(100.0)?))
}

/// Returns the throughput over the share of translated frames, compared with the models.
pub(super) fn mixed(digest: &Digest) -> Vec<Table> {
    let all = series(digest, SeriesBy::Background);
    all.iter()
        .filter(|steps| steps.is_of_throughput())
        .map(|steps| mixed_table(digest, steps))
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// A share of translated frames at one frame size.
struct MixRow {
    size: FrameSize,
    /// Per cent of the frames.
    translated: f64,
    rate: Statistics,
    separate_cores: Cell,
    one_core: Cell,
}

fn mixed_table(digest: &Digest, steps: &TestSeries) -> Table {
    let rows = steps
        .sizes()
        .into_iter()
        .flat_map(|size| mixed_rows(digest, steps, size));
    Table::new(format!("Mixed traffic: {}", steps.name), columns(), rows).with_note(
        "Throughput in frames/s per direction, for translated and native frames together (RFC 8219 section 5.3). Models, from \
             the measured ends Tt (all translated) and Tn (none): min(Tt/a, Tn/(1-a)) on separate cores, 1/(a/Tt + (1-a)/Tn) \
             on one core or with many flows. Without both ends there is no model.",
    )
}

fn columns() -> Vec<Column<'static, MixRow>> {
    vec![
        Column::number("Size", |row: &MixRow| row.size),
        Column::number("Translated (%)", |row: &MixRow| {
            Cell::Significant(row.translated)
        }),
        Column::number("Median", |row: &MixRow| row.rate.median.clone()),
        Column::number("P1", |row: &MixRow| row.rate.p1.clone()),
        Column::number("P99", |row: &MixRow| row.rate.p99.clone()),
        Column::number("n", |row: &MixRow| row.rate.n.clone()),
        Column::number_in("Model", "separate cores", |row: &MixRow| {
            row.separate_cores.clone()
        }),
        Column::number_in("Model", "one core", |row: &MixRow| row.one_core.clone()),
    ]
}

fn mixed_rows(digest: &Digest, steps: &TestSeries, size: FrameSize) -> Vec<MixRow> {
    let points = steps.with_rate(digest, size);
    let (ends, sign) = (ends(&points), sign_of_model(&points));
    let row = |&(background, point): &(f64, &PointDigest)| {
        let share = 1.0 - background / 100.0;
        let model = |of: fn(f64, f64, f64) -> f64| {
            ends.map(|(tt, tn)| Cell::Rate(of(share, tt, tn)).signed(sign))
                .into()
        };
        MixRow {
            size,
            translated: 100.0 - background,
            rate: statistics(point),
            separate_cores: model(mix::separate_cores),
            one_core: model(mix::one_core),
        }
    };
    points.iter().rev().map(row).collect()
}

fn statistics(point: &PointDigest) -> Statistics {
    let found = point
        .headline()
        .map(|summary| Statistics::new(point.limits().printed(summary), summary.n));
    found.unwrap_or_else(Statistics::missing)
}
