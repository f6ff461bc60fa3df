//! The search for the capacity of the connection tracking table: every trial by its number of connections and its rate.

use crate::digest::{Digest, PointDigest};
use crate::plot::figure::{Figure, VALUES};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, LegendEntry};
use crate::wording::numbers::{short_bound, whole};
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;

pub(super) fn figure(digest: &Digest) -> Figure {
    let searched = digest
        .capacity_points()
        .map(|(point, _)| point)
        .filter(|p| p.records.len() > 1);
    let line = LegendEntry::new(
        "▬",
        style::color(2),
        "establishment rate of the numbers held",
    );
    Figure {
        id: "capacity".into(),
        title: "Capacity, step by step".into(),
        caption: "Each number of connections is a column of trials that search for its establishment rate. The number doubles \
                  until that rate breaks down; then the gap between the last number held and the first one not held is halved. \
                  Dashed: the capacity found."
            .to_owned(),
        keys: style::verdict_keys(digest).into_iter().chain([line]).collect(),
        panels: searched.map(|p| panel(digest, p)).collect(),
        data: VALUES,
        ..Figure::default()
    }
}

fn panel(digest: &Digest, point: &PointDigest) -> Panel {
    let mut plots = vec![style::line(held(point), style::color(2), 1.5)];
    plots.extend(marks(digest, point));
    let numbers = || {
        point
            .records
            .iter()
            .filter_map(|r| place(r))
            .map(|(x, _)| x)
    };
    let highest = point
        .records
        .iter()
        .filter_map(|r| place(r))
        .map(|(_, y)| y)
        .fold(1.0, f64::max);
    let ends = style::around(
        numbers().fold(f64::MAX, f64::min),
        numbers().fold(1.0, f64::max),
    );
    let layout = style::panel(
        &plots,
        &style::point_title(point),
        "connections",
        "rate (connections/s)",
    );
    let layout = style::y_from_zero(style::log_x(layout, ends), Axis::up_to(highest, 5.0));
    let layout = match point.rated() {
        Some(r) => {
            let found = format!(
                "{}{} connections, n = {}",
                r.limits.sign(),
                short_bound(r.summary.median, r.limits.bound()),
                r.summary.n
            );
            style::with_note(layout, &found).with_reference_line(style::upright(r.summary.median))
        }
        None => style::with_note(layout, "no result"),
    };
    style::draw(plots, layout)
}

fn place(record: &TrialRecord) -> Option<(f64, f64)> {
    Some((
        record.result.spec.kind.connections()? as f64,
        record.result.spec.rate.0 as f64,
    ))
}

/// Returns the median rates in both phases for the numbers of connections that were held.
fn held(point: &PointDigest) -> Vec<(f64, f64)> {
    let steps = point.steps(point.first_goal());
    let mut line: Vec<(f64, f64)> = steps
        .iter()
        .filter_map(|s| Some((s.connections as f64, s.rates?.median)))
        .collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    line
}

fn marks(digest: &Digest, point: &PointDigest) -> Vec<Plot> {
    let number = |r: &TrialRecord| whole(r.result.spec.kind.connections().unwrap_or(0));
    let label = |r: &TrialRecord, word: &str| {
        format!("{} connections: {}", number(r), style::trial_label(r, word))
    };
    style::trials(
        digest,
        point.records.iter().filter_map(|&r| Some((place(r)?, r))),
        label,
    )
}
