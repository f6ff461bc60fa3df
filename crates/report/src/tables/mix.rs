//! Tables of series over the share of translated traffic.

use crate::digest::{Digest, PointDigest, PrintedSummary};
use crate::layout::table::Table;
use crate::series::{TestSeries, series};
use crate::wording::numbers::{grouped, three_digits};
use sixbench_analysis::mix;
use sixbench_method::plan::{Measure, SeriesBy};
use sixbench_method::terms::FrameSize;

/// Returns the sign before the value of a model, which increases with both ends, so its true value may be higher if that of either may be.
fn sign_of_model(steps: &[(f64, &PointDigest)]) -> &'static str {
    let is_open = steps.iter().any(|(at, point)| (*at == 0.0 || *at == 100.0) && point.limits().is_median_open);
    if is_open { "≥\u{a0}" } else { "" }
}

/// Returns the throughput with all frames and with no frames translated, if both were measured.
pub(crate) fn ends(steps: &[(f64, &PointDigest)]) -> Option<(f64, f64)> {
    let median = |point: &PointDigest| point.headline().map(|s| s.median).filter(|&rate| rate > 0.0);
    let at = |background: f64| median(steps.iter().find(|(at, _)| *at == background)?.1);
    Some((at(0.0)?, at(100.0)?))
}

/// Returns the throughput over the share of translated frames, compared with the models.
pub(crate) fn mixed(digest: &Digest) -> Vec<Table> {
    let all = series(digest, SeriesBy::Background);
    all.iter()
        .filter(|steps| steps.measure().is_some_and(Measure::is_throughput))
        .map(|steps| mixed_table(digest, steps))
        .filter(|table| !table.rows.is_empty())
        .collect()
}

fn mixed_table(digest: &Digest, steps: &TestSeries) -> Table {
    let columns = ["#Size", "#Translated (%)", "#Median", "#P1", "#P99", "#n", "#Model|separate cores", "#Model|one core"];
    let rows = steps.sizes().into_iter().flat_map(|size| mixed_rows(digest, steps, size));
    Table::new(format!("Mixed traffic: {}", steps.name), columns).with_rows(rows).with_note(
        "Throughput in frames/s per direction, for translated and native frames together (RFC 8219 section 5.3). Models, from \
             the measured ends Tt (all translated) and Tn (none): min(Tt/a, Tn/(1-a)) on separate cores, 1/(a/Tt + (1-a)/Tn) \
             on one core or with many flows. Without both ends there is no model.",
    )
}

fn mixed_rows(digest: &Digest, steps: &TestSeries, size: FrameSize) -> Vec<Vec<String>> {
    let points = steps.with_rate(digest, size);
    let (ends, sign) = (ends(&points), sign_of_model(&points));
    let shown = |rate: f64| format!("{sign}{}", grouped(rate.round()));
    let row = |&(background, point): &(f64, &PointDigest)| {
        let share = 1.0 - background / 100.0;
        let model = |of: fn(f64, f64, f64) -> f64| ends.map_or("–".to_owned(), |(tt, tn)| shown(of(share, tt, tn)));
        let mut row = vec![size.to_string(), three_digits(100.0 - background)];
        row.extend(cells(point).into_iter().flatten());
        row.extend([model(mix::separate_cores), model(mix::one_core)]);
        row
    };
    points.iter().rev().map(row).collect()
}

fn cells(point: &PointDigest) -> Option<[String; 4]> {
    let summary = point.headline()?;
    let PrintedSummary { median, p1, p99, .. } = point.limits().printed(summary);
    Some([median, p1, p99, summary.n.to_string()])
}
