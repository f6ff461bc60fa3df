//! Throughput over the share of translated traffic with the two models, and over the DUT's cores with the ideal line.

use super::Figure;
use super::style::{self, Axis, Barred, Key};
use crate::digest::{Digest, PointDigest};
use crate::series::{Steps, series};
use crate::tables::mix::{ends, per_core};
use crate::words::{frames, grouped, rate_unit, three_digits};
use kuva::prelude::Plot;
use sixbench_method::mix;
use sixbench_method::plan::{Measure, SeriesBy};
use sixbench_method::terms::FrameSize;

/// The places of the colours: measured, first model, second model.
const COLORS: [usize; 3] = [0, 1, 2];

pub(crate) fn mixed(digest: &Digest) -> Figure {
    let [dots, separate, one] = COLORS;
    Figure {
        id: "mixed",
        title: "Throughput over the share of translated traffic",
        caption: "Medians with bars from the 1st to the 99th percentile. The lines are the two models between the measured \
                  ends: translated \
                  and native traffic on cores of their own, and all on one core (or many flows)."
            .to_owned(),
        keys: vec![
            style::key(dots, "measured"),
            Key::new("▬", style::color(separate), "separate cores: min(Tt/a, Tn/(1-a))"),
            Key::new("╌╌", style::color(one), "one core: 1/(a/Tt + (1-a)/Tn)"),
        ],
        panels: panels(digest, SeriesBy::Background, mixed_panel),
        ..Figure::default()
    }
}

pub(crate) fn scaling(digest: &Digest) -> Figure {
    Figure {
        id: "cores",
        title: "Over the DUT's cores",
        caption: "Medians with bars from the 1st to the 99th percentile; dashed: in proportion to the cores, from the step \
                  with the fewest."
            .to_owned(),
        keys: vec![style::key(COLORS[0], "measured"), Key::new("╌╌", style::MUTED, "ideal")],
        panels: panels(digest, SeriesBy::Cores, scaling_panel),
        ..Figure::default()
    }
}

/// The steps of a series at one size.
struct Stage<'d, 'a> {
    title: String,
    measure: &'d Measure,
    points: Vec<(f64, &'d PointDigest<'a>)>,
}

fn panels(digest: &Digest, by: SeriesBy, draw: fn(&Stage) -> String) -> Vec<String> {
    let all = series(digest, by);
    let is_drawn = |steps: &&Steps| by == SeriesBy::Cores || steps.measure() == Some(&Measure::Throughput);
    let stages = all.iter().filter(is_drawn).flat_map(|steps| steps.sizes().into_iter().map(|size| stage(digest, steps, size)));
    stages.filter(|stage| stage.points.len() > 1).map(|stage| draw(&stage)).collect()
}

fn stage<'d, 'a>(digest: &'d Digest<'a>, steps: &Steps<'a>, size: FrameSize) -> Stage<'d, 'a> {
    let measure = steps.measure().unwrap_or(&Measure::Throughput);
    let of = if measure.dns().is_some() { None } else { Some(size) };
    Stage { title: format!("{}, {}", steps.name, frames(of)), measure, points: steps.with_rate(digest, size) }
}

fn mixed_panel(stage: &Stage) -> String {
    let [dots, separate, one] = COLORS;
    let mut plots = Vec::new();
    let mut highest = top(stage);
    if let Some((tt, tn)) = ends(&stage.points) {
        let line = |model: fn(f64, f64, f64) -> f64| curve(|share| model(share, tt, tn));
        let models = [line(mix::separate_cores), line(mix::one_core)];
        highest = models.iter().flatten().map(|(_, y)| *y).fold(highest, f64::max);
        let [first, second] = models;
        plots.extend([style::line(first, style::color(separate), 1.5), style::dashed(second, style::color(one), 1.5)]);
    }
    plots.push(measured(dots, stage, |background| 100.0 - background, "% translated"));
    let layout = style::panel(&plots, &stage.title, "translated frames (%)", "throughput (frames/s per direction)");
    style::draw(plots, style::from_zero(layout, Axis { end: 100.0, step: 20.0 }, Axis::up_to(highest, 5.0)))
}

/// A model in per cent of translated frames; fine enough for its kink.
fn curve(model: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=200).map(|i| f64::from(i) / 200.0).map(|share| (share * 100.0, model(share))).collect()
}

fn scaling_panel(stage: &Stage) -> String {
    let most = stage.points.last().map_or(1.0, |(cores, _)| *cores);
    let ideal = per_core(&stage.points).unwrap_or(0.0) * most;
    let plots = vec![
        style::dashed(vec![(0.0, 0.0), (most, ideal)], style::MUTED, 1.5),
        measured(COLORS[0], stage, |cores| cores, "cores"),
    ];
    let layout = style::panel(&plots, &stage.title, "cores of the DUT", &style::rate_label(stage.measure));
    style::draw(plots, style::from_zero(layout, Axis::counting(most, 8.0), Axis::up_to(top(stage).max(ideal), 5.0)))
}

fn top(stage: &Stage) -> f64 {
    stage.points.iter().filter_map(|(_, p)| p.headline()).map(|s| s.p99).fold(0.0, f64::max)
}

fn measured(i: usize, stage: &Stage, place: fn(f64) -> f64, unit: &str) -> Plot {
    let dot = |&(at, point): &(f64, &PointDigest)| {
        let s = point.headline()?;
        let label =
            format!("{} {unit}: {} {}, n = {}", three_digits(place(at)), grouped(s.median), rate_unit(stage.measure), s.n);
        Some(Barred::new(place(at), s.median, (s.p1, s.p99), label))
    };
    style::barred(i, stage.points.iter().filter_map(dot).collect())
}
