//! Frame rate and bit rate by frame size: the graph of RFC 2544 section 26.1.

use super::Figure;
use super::style::{self, Axis};
use crate::digest::Digest;
use crate::tables::mbit;
use crate::words::{grouped, quantity, title};
use kuva::plot::scatter::ScatterPlot;
use kuva::prelude::Plot;
use sixbench_method::plan::Test;
use sixbench_method::stats::Summary;
use sixbench_method::terms::FrameSize;
use std::collections::BTreeSet;

pub(crate) fn figure(digest: &Digest) -> Figure {
    let measured = digest.points.iter().any(|p| p.headline().is_some());
    let panels = if measured { vec![rates(digest), bits(digest)] } else { Vec::new() };
    let tests = digest.input.plan.tests.iter().enumerate();
    Figure {
        id: "throughput",
        title: "By frame size",
        caption: format!(
            "{} over the frame size, per direction: medians, with bars from the 1st to the 99th percentile.",
            quantity(digest.goal())
        ),
        keys: tests.map(|(i, test)| style::key(i, title(test))).collect(),
        panels,
    }
}

fn rates(digest: &Digest) -> String {
    chart(digest, "Frame rate", "rate (frames/s per direction)", |rate, _| rate)
}

fn bits(digest: &Digest) -> String {
    chart(digest, "Bit rate at layer 2", "rate (bit/s per direction)", |rate, size| mbit(rate, size) * 1e6)
}

fn chart(digest: &Digest, name: &str, y: &str, scale: fn(f64, FrameSize) -> f64) -> String {
    let sizes: Vec<FrameSize> = digest.points.iter().map(|p| p.point.frame_size).collect::<BTreeSet<_>>().into_iter().collect();
    let tests = digest.input.plan.tests.iter().enumerate();
    let plots: Vec<Plot> = tests.flat_map(|(i, test)| series(digest, i, test, &sizes, scale)).collect();
    let results = digest.points.iter().filter_map(|p| p.headline().map(|s| (p, s)));
    let highest = results.map(|(p, s)| scale(s.p99, p.point.frame_size)).fold(0.0, f64::max);
    let places = Axis { end: sizes.len() as f64 + 0.5, step: 1.0 };
    let layout = style::panel(&plots, name, "frame size (bytes)", y);
    let layout = style::from_zero(layout, places, Axis::up_to(highest, 5.0)).with_x_axis_min(0.5);
    style::draw(plots, layout.with_x_tick_format(style::names(sizes.iter().map(FrameSize::to_string).collect())))
}

fn series(digest: &Digest, i: usize, test: &Test, sizes: &[FrameSize], scale: fn(f64, FrameSize) -> f64) -> Vec<Plot> {
    let points = digest.points.iter().filter(|p| p.test.name == test.name);
    let mut points: Vec<(FrameSize, &Summary)> = points.filter_map(|p| p.headline().map(|s| (p.point.frame_size, s))).collect();
    points.sort_by_key(|(size, _)| *size);
    let place = |size: FrameSize| sizes.iter().position(|&s| s == size).unwrap_or(0) as f64 + 1.0;
    // Bars of several tests at one size stand side by side.
    let aside = (i as f64 - (digest.input.plan.tests.len() as f64 - 1.0) / 2.0) * 0.04;
    let at: Vec<(f64, f64)> = points.iter().map(|&(size, s)| (place(size) + aside, scale(s.median, size))).collect();
    let bars = points.iter().map(|&(size, s)| (scale(s.median - s.p1, size), scale(s.p99 - s.median, size)));
    let label = |s: &Summary| {
        let (p1, p99) = (grouped(s.p1), grouped(s.p99));
        format!("{}: {} frames/s [{p1}–{p99}], n = {}", title(test), grouped(s.median), s.n)
    };
    let dots = ScatterPlot::new().with_data(at.clone()).with_y_err_asymmetric(bars).with_color(style::color(i)).with_size(4.0);
    let labels: Vec<String> = points.iter().map(|(_, s)| label(s)).collect();
    let dots = dots.with_marker(style::marker(i)).with_tooltips().with_tooltip_labels(labels);
    vec![style::line(at, style::color(i), 1.5), dots.into()]
}
