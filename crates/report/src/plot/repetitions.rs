//! Every repetition a dot: the spread behind a median, and whether it drifts.

use super::Figure;
use super::style::{self, Axis, Key};
use crate::digest::{Digest, PointDigest};
use crate::words::{cut, grouped, short, three_digits, title};
use kuva::prelude::{Layout, Plot, ReferenceLine, TextAnnotation, TickFormat};
use sixbench_method::terms::FrameSize;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) fn figure(digest: &Digest) -> Figure {
    let sizes: BTreeSet<FrameSize> = digest.points.iter().map(|p| p.point.frame_size).collect();
    Figure {
        id: "repetitions",
        title: "Every repetition",
        caption:
            "Each dot is one repetition: how far it lies from the median of its point. From top to bottom in the order of the \
                  run, so that a slope is a drift. The numbers on the right are the medians, frames/s per direction."
                .to_owned(),
        keys: vec![Key::new("●", style::color(0), "one repetition"), Key::new("┃", style::MUTED, "median")],
        panels: sizes.into_iter().filter_map(|size| panel(digest, size)).collect(),
    }
}

fn panel(digest: &Digest, size: FrameSize) -> Option<String> {
    let points = digest.points.iter().filter(|p| p.point.frame_size == size);
    let points: Vec<&PointDigest> = points.filter(|p| p.headline().is_some_and(|s| s.median > 0.0)).collect();
    let widest = points.iter().flat_map(|p| deviations(p)).map(|(_, d, _)| d.abs()).fold(0.5, f64::max);
    (!points.is_empty()).then(|| strip(&points, size, Axis::up_to(widest, 2.0)))
}

fn strip(points: &[&PointDigest], size: FrameSize, x: Axis) -> String {
    let rows = points.len();
    // The first test of the plan on top.
    let level = |i: usize| (rows - i) as f64;
    let plots: Vec<Plot> = points.iter().enumerate().map(|(i, p)| row(p, level(i))).collect();
    let names = points.iter().rev().map(|p| cut(&title(p.test), 24)).collect();
    let layout = style::panel(&plots, &format!("{size} bytes"), "distance from the median (%)", "");
    // The medians stand to the right of the axis' last tick.
    let ticks = TickFormat::Custom(Arc::new(move |v| if v > x.end * 1.01 { String::new() } else { three_digits(v) }));
    let layout = layout.with_x_tick_format(ticks).with_x_axis_min(-x.end).with_x_axis_max(x.end * 1.6).with_x_tick_step(x.step);
    let layout = layout.with_y_axis_min(0.4).with_y_axis_max(rows as f64 + 0.6).with_y_tick_step(1.0);
    let layout = layout.with_y_tick_format(style::names(names)).with_reference_line(
        ReferenceLine::vertical(0.0).with_color(style::MUTED).with_stroke_width(1.5).with_dasharray("none"),
    );
    let medians = points.iter().enumerate().map(|(i, p)| (level(i), p.headline().map_or(0.0, |s| s.median)));
    style::draw(plots, medians.fold(layout, |layout, (y, median)| labelled(layout, x.end * 1.35, y, median)))
}

fn labelled(layout: Layout, x: f64, y: f64, median: f64) -> Layout {
    layout.with_annotation(TextAnnotation::new(short(median), x, y - 0.14).with_font_size(11).with_color(style::INK))
}

/// Repetition, distance from the median in per cent, and the value.
fn deviations(point: &PointDigest) -> Vec<(u32, f64, u64)> {
    let median = point.headline().map_or(0.0, |s| s.median);
    let value = |o: &&sixbench_method::record::Outcome| Some((o.repetition, o.brackets.first()?.lower?.0));
    let values = point.outcomes.iter().filter_map(value);
    values.map(|(repetition, rate)| (repetition, (rate as f64 / median - 1.0) * 100.0, rate)).collect()
}

fn row(point: &PointDigest, level: f64) -> Plot {
    let deviations = deviations(point);
    let last = deviations.iter().map(|(repetition, ..)| *repetition).max().unwrap_or(1).max(2);
    let place = |repetition: u32| level + 0.25 - 0.5 * f64::from(repetition - 1) / f64::from(last - 1);
    let at = deviations.iter().map(|&(repetition, d, _)| (d, place(repetition))).collect();
    let labels = deviations.iter().map(|(r, _, rate)| format!("repetition {r}: {} frames/s", grouped(*rate as f64)));
    style::dots(at, style::color(0), style::marker(0), labels.collect())
}
