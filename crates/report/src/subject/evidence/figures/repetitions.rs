//! Every repetition as a dot: shows the spread behind a median, and any drift.

use crate::digest::{Digest, PointDigest, kinds};
use crate::plot::figure::{DataFile, Figure};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, LegendEntry};
use crate::wording::bound::Bound;
use crate::wording::numbers::{cut, frames, three_digits, title};
use kuva::prelude::{Layout, Plot, ReferenceLine, TextAnnotation, TickFormat};
use sixbench_method::terms::FrameSize;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn figure(digest: &Digest) -> Figure {
    let room = room(digest);
    let is_drawn_in_part = digest
        .points
        .iter()
        .any(|point| point.outcomes.len() > room);
    Figure {
        id: "repetitions".into(),
        title: "Every repetition".into(),
        caption: format!(
            "Each dot is one repetition and shows its distance from the median of its point. Repetitions are shown from top to \
             bottom in the order of the run, so a slope indicates drift. {}The numbers on the right are the medians: {}",
            if is_drawn_in_part {
                of_part(room)
            } else {
                String::new()
            },
            match digest.has_queries_and_others() {
                (true, false) =>
                    "queries/s (q/s). Next to the names: per cent cached + per cent with AAAA records.",
                (has_queries, _) => {
                    if has_queries { OF_ALL } else { OF_FRAMES }
                }
            }
        ),
        keys: vec![
            LegendEntry::new("●", style::color(0), "one repetition"),
            LegendEntry::new("┃", style::MUTED, "median"),
        ],
        panels: kinds(digest.points.iter())
            .into_iter()
            .flat_map(|kind| panels(digest, kind, room))
            .collect(),
        findings: None,
        notes: crate::findings::steadiness::findings(digest),
        data: DataFile("points.csv"),
    }
}

const OF_FRAMES: &str = "rates in frames/s per direction, connections with their unit, otherwise the measure's first quantity \
                         in its worse direction.";
const OF_ALL: &str = "rates in frames/s per direction, connections and queries (q/s) with their unit, otherwise the measure's \
                      first quantity in its worse direction. Next to the names of DNS servers: per cent cached + per cent with \
                      AAAA records.";

/// The most dots of a figure: with more, the page would be slow to open.
const MOST_DOTS: usize = 10_000;

/// The number of repetitions of a point that are always drawn: as many as RFC 8219 requires.
const LEAST_OF_POINT: usize = 20;

/// Returns the most repetitions of a point that are drawn, not counting the extremes.
fn room(digest: &Digest) -> usize {
    (MOST_DOTS / digest.points.len().max(1)).max(LEAST_OF_POINT)
}

fn of_part(room: usize) -> String {
    format!(
        "If a point has more than {room} repetitions, {room} are shown, evenly spread over the run, and the lowest and the highest. "
    )
}

/// Returns these repetitions if there are at most `room` of them; otherwise that many, evenly spread, and those with the lowest and the highest value.
fn spread(all: Vec<(u32, f64, f64)>, room: usize) -> Vec<(u32, f64, f64)> {
    if all.len() <= room {
        return all;
    }
    let by_value = |a: &usize, b: &usize| all[*a].1.total_cmp(&all[*b].1);
    let mut places: BTreeSet<usize> = (0..room).map(|dot| dot * all.len() / room).collect();
    places.extend((0..all.len()).min_by(by_value));
    places.extend((0..all.len()).max_by(by_value));
    places.into_iter().map(|place| all[place]).collect()
}

/// The most rows of a panel that do not overlap.
const ROWS: usize = 9;

fn panels(digest: &Digest, kind: Option<FrameSize>, room: usize) -> Vec<Panel> {
    let points = digest.points.iter().filter(|p| p.size() == kind);
    let points: Vec<&PointDigest> = points.filter(|p| median(p).is_some()).collect();
    let strip = |(part, points): (String, &[&PointDigest])| {
        strip(digest, points, &format!("{}{part}", frames(kind)), room)
    };
    style::shared_out(&points, ROWS).map(strip).collect()
}

/// Returns the median with which repetitions are compared; `None` if there is none or it is zero, since nothing can be related to zero,
/// and of requirements, which do not vary.
fn median(point: &PointDigest) -> Option<f64> {
    let values: Vec<f64> = point.headlines().iter().map(|(_, value)| *value).collect();
    let median = if point.is_searched() {
        point.headline()?.median
    } else {
        sixbench_stats::median(&values)?
    };
    (median != 0.0 && point.test.measure.result_kind().varies()).then_some(median)
}

/// Returns the name of a row. The titles of DNS tests begin alike, so the name has the percentages, which the RFC calls a combination.
fn name(digest: &Digest, point: &PointDigest) -> String {
    match point.combination() {
        Some(shares) => format!("{} {shares}", cut(&digest.server(point.test), 14)),
        None => cut(&title(point.test), 24),
    }
}

fn strip(digest: &Digest, points: &[&PointDigest], name_of_panel: &str, room: usize) -> Panel {
    let widest = points
        .iter()
        .flat_map(|p| deviations(p))
        .map(|(_, d, _)| d.abs())
        .fold(0.5, f64::max);
    let x = Axis::up_to(widest, 2.0);
    let rows = points.len();
    // The first test of the plan is at the top.
    let level = |i: usize| (rows - i) as f64;
    let plots: Vec<Plot> = points
        .iter()
        .enumerate()
        .map(|(i, p)| row(p, level(i), room))
        .collect();
    let names = points.iter().rev().map(|p| name(digest, p)).collect();
    let layout = style::panel(&plots, name_of_panel, "distance from the median (%)", "");
    let mut layout = with_axes(layout, x, rows).with_y_tick_format(style::names(names));
    // kuva draws a label above its position; this offset moves it onto the row.
    let lower = 0.06 * rows as f64;
    for (i, point) in points.iter().enumerate() {
        let bound = Bound::at_least_if(point.is_result_open());
        let median = point.show_value(median(point).unwrap_or(0.0), bound);
        layout = labelled(layout, x.end * 1.55, level(i) - lower, median);
    }
    style::draw(plots, layout)
}

/// Sets the axes of a strip: the deviations, with room for the medians on their right, and a level for each row.
fn with_axes(layout: Layout, x: Axis, rows: usize) -> Layout {
    // The medians are to the right of the axis' last tick.
    let ticks = TickFormat::Custom(Arc::new(move |v| {
        if v > x.end * 1.01 {
            String::new()
        } else {
            three_digits(v)
        }
    }));
    layout
        .with_x_tick_format(ticks)
        .with_x_axis_min(-x.end)
        .with_x_axis_max(x.end * 2.1)
        .with_x_tick_step(x.step)
        .with_y_axis_min(0.4)
        .with_y_axis_max(rows as f64 + 0.6)
        .with_y_tick_step(1.0)
        .with_reference_line(
            ReferenceLine::vertical(0.0)
                .with_color(style::MUTED)
                .with_stroke_width(1.5)
                .with_dasharray("none"),
        )
}

fn labelled(layout: Layout, x: f64, y: f64, median: String) -> Layout {
    layout.with_annotation(
        TextAnnotation::new(median, x, y)
            .with_font_size(11)
            .with_color(style::INK),
    )
}

/// Returns each repetition with its deviation from the median in per cent, and its value.
fn deviations(point: &PointDigest) -> Vec<(u32, f64, f64)> {
    let median = median(point).unwrap_or(1.0);
    point
        .headlines()
        .into_iter()
        .map(|(repetition, value)| (repetition, (value / median - 1.0) * 100.0, value))
        .collect()
}

fn row(point: &PointDigest, level: f64, room: usize) -> Plot {
    let all = deviations(point);
    let last = all
        .iter()
        .map(|(repetition, ..)| *repetition)
        .max()
        .unwrap_or(1)
        .max(2);
    let deviations = spread(all, room);
    let place =
        |repetition: u32| level + 0.25 - 0.5 * f64::from(repetition - 1) / f64::from(last - 1);
    let at = deviations
        .iter()
        .map(|&(repetition, d, _)| (d, place(repetition)))
        .collect();
    let labels = deviations.iter().map(|&(r, _, value)| {
        format!(
            "repetition {r}: {}",
            point.show_value(value, point.bound_of(r))
        )
    });
    style::dots(at, style::color(0), style::marker(0), labels.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_repetitions_some_are_drawn_with_both_extremes() {
        let all: Vec<(u32, f64, f64)> = (0..1000)
            .map(|i| (i + 1, f64::from(i % 499), 0.0))
            .collect();
        let drawn = spread(all.clone(), 20);
        assert!(
            (20..=22).contains(&drawn.len())
                && drawn.is_sorted_by_key(|(repetition, ..)| *repetition),
            "{drawn:?}"
        );
        assert!(
            drawn.iter().any(|(_, deviation, _)| *deviation == 498.0)
                && drawn.iter().any(|(_, deviation, _)| *deviation == 0.0)
        );
        assert_eq!(spread(all[..20].to_vec(), 20), all[..20]);
    }
}
