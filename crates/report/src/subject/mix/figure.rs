//! Throughput over the share of translated traffic with the two models.

use super::tables::ends;
use crate::digest::{Digest, PointDigest};
use crate::plot::figure::{Figure, SEARCHES};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds, Barred, LegendEntry};
use crate::subject::series::{TestSeries, series};
use crate::wording::numbers::{frames, grouped, three_digits};
use sixbench_analysis::mix;
use sixbench_method::plan::SeriesBy;
use sixbench_method::terms::FrameSize;

/// The indices of the colours.
const MEASURED: usize = 0;
const SEPARATE_CORES: usize = 1;
const ONE_CORE: usize = 2;

pub(super) fn figure(digest: &Digest) -> Figure {
    let panels = panels(digest);
    let bounds = style::bound_keys(&panels);
    Figure {
        id: "mixed".into(),
        title: "Throughput over the share of translated traffic".into(),
        caption: "Medians with bars from the 1st to the 99th percentile. The lines are the two models between the measured \
                  ends: translated and native traffic on separate cores, and all traffic on one core (or many flows)."
            .to_owned(),
        keys: [
            style::key(MEASURED, "measured"),
            LegendEntry::new("▬", style::color(SEPARATE_CORES), "separate cores: min(Tt/a, Tn/(1-a))"),
            LegendEntry::new("╌╌", style::color(ONE_CORE), "one core: 1/(a/Tt + (1-a)/Tn)"),
        ]
        .into_iter()
        .chain(bounds)
        .collect(),
        panels,
        data: SEARCHES,
        ..Figure::default()
    }
}

/// The steps of a series at one size.
struct MixSeries<'d, 'a> {
    title: String,
    points: Vec<(f64, &'d PointDigest<'a>)>,
}

fn panels(digest: &Digest) -> Vec<Panel> {
    let all = series(digest, SeriesBy::Background);
    let drawn = all.iter().filter(|steps| steps.is_of_throughput());
    let stages = drawn.flat_map(|steps| {
        steps
            .sizes()
            .into_iter()
            .map(|size| mix_series(digest, steps, size))
    });
    stages
        .filter(|mix_series| mix_series.points.len() > 1)
        .map(|mix_series| mixed_panel(&mix_series))
        .collect()
}

fn mix_series<'d, 'a>(
    digest: &'d Digest<'a>,
    steps: &TestSeries<'a>,
    size: FrameSize,
) -> MixSeries<'d, 'a> {
    MixSeries {
        title: format!("{}, {}", steps.name, frames(Some(size))),
        points: steps.with_rate(digest, size),
    }
}

fn mixed_panel(mix_series: &MixSeries) -> Panel {
    let mut plots = Vec::new();
    let mut highest = top(mix_series);
    if let Some((tt, tn)) = ends(&mix_series.points) {
        let line = |model: fn(f64, f64, f64) -> f64| curve(|share| model(share, tt, tn));
        let models = [line(mix::separate_cores), line(mix::one_core)];
        highest = models
            .iter()
            .flatten()
            .map(|(_, y)| *y)
            .fold(highest, f64::max);
        let [first, second] = models;
        plots.extend([
            style::line(first, style::color(SEPARATE_CORES), 1.5),
            style::dashed(second, style::color(ONE_CORE), 1.5),
        ]);
    }
    let measured = measured(mix_series);
    plots.push(style::barred(MEASURED, measured.clone()));
    let layout = style::panel(
        &plots,
        &mix_series.title,
        "translated frames (%)",
        "throughput (frames/s per direction)",
    );
    let layout = style::with_signs(layout, &measured);
    style::draw(
        plots,
        style::from_zero(
            layout,
            Axis {
                end: 100.0,
                step: 20.0,
            },
            Axis::up_to(highest, 5.0),
        ),
    )
}

/// Returns the curve of a model over the percentage of translated frames, with enough points for its kink: that of `separate_cores` lies at
/// tt / (tt + tn), between two of these points at most.
fn curve(model: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=200)
        .map(|i| f64::from(i) / 200.0)
        .map(|share| (share * 100.0, model(share)))
        .collect()
}

fn top(mix_series: &MixSeries) -> f64 {
    mix_series
        .points
        .iter()
        .filter_map(|(_, p)| p.headline())
        .map(|s| s.p99)
        .fold(0.0, f64::max)
}

fn measured(mix_series: &MixSeries) -> Vec<Barred> {
    let dot = |&(background, point): &(f64, &PointDigest)| {
        let (share, s) = (100.0 - background, point.headline()?);
        let label = format!(
            "{} % translated: {}{} frames/s, n = {}",
            three_digits(share),
            point.sign(),
            grouped(s.median),
            s.n
        );
        Some(Barred::new(share, s.median, AxisEnds::new(s.p1, s.p99), label).signed(point.sign()))
    };
    mix_series.points.iter().filter_map(dot).collect()
}
