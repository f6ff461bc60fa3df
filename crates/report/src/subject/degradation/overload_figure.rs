//! Degradation over the number of flows (RFC 8219 section 10).

use crate::digest::Digest;
use crate::plot::figure::{Figure, SEARCHES};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds, Barred, LegendEntry};
use crate::subject::series::{Curve, CurveStep, TestSeries, curves, quantities, series};
use crate::wording::bound::Bound;
use kuva::prelude::{Layout, Plot};
use sixbench_method::plan::SeriesBy;
use sixbench_method::terms::{Direction, FrameSize};
use sixbench_method::units::counted;

/// The greatest ratio of the most to the fewest flows for which the axis is linear; above it, it is logarithmic.
const LINEAR_UP_TO: f64 = 16.0;

pub(super) fn figure(digest: &Digest) -> Figure {
    let all = series(digest, SeriesBy::Flows);
    let sizes: std::collections::BTreeSet<FrameSize> =
        all.iter().flat_map(TestSeries::sizes).collect();
    let sizes: Vec<FrameSize> = sizes.into_iter().collect();
    let keys = sizes
        .iter()
        .enumerate()
        .map(|(i, size)| style::key(i, format!("{size}\u{a0}bytes")));
    let panels: Vec<Panel> = all
        .iter()
        .flat_map(|steps| panels(digest, steps, &sizes))
        .collect();
    let reverse = LegendEntry::new(
        "╌╌",
        style::INK,
        "reverse direction, if the directions differ",
    );
    Figure {
        id: "degradation".into(),
        title: "Degradation over the number of flows".into(),
        caption: "Change of the median in per cent, relative to the smallest number of flows; values above 0 are worse."
            .to_owned(),
        keys: keys.chain([reverse]).chain(style::bound_keys(&panels)).collect(),
        panels,
        data: SEARCHES,
        ..Figure::default()
    }
}

/// Returns one panel for each quantity of a series.
fn panels(digest: &Digest, steps: &TestSeries, sizes: &[FrameSize]) -> Vec<Panel> {
    let curves: Vec<Curve> = curves(digest, steps).into_iter().filter(has_line).collect();
    let curves_of = |quantity: &str| {
        curves
            .iter()
            .filter(|c| c.subject.quantity == quantity)
            .collect::<Vec<_>>()
    };
    quantities(&curves)
        .into_iter()
        .map(|quantity| {
            panel(
                &format!("{quantity}: {}", steps.name),
                &curves_of(quantity),
                sizes,
            )
        })
        .collect()
}

/// Returns whether a curve is drawn. Loss rates are already curves over the rate, and are in the table.
fn has_line(curve: &Curve) -> bool {
    curve.subject.rate.is_none() && line(curve).len() > 1
}

/// Returns the steps with a known degradation, each with its degradation.
fn shown(curve: &Curve) -> impl Iterator<Item = (&CurveStep, f64)> {
    let is_known =
        |step: &&CurveStep| step.at == curve.steps[0].at || curve.bound(step) != Bound::Unknown;
    curve
        .steps
        .iter()
        .filter(is_known)
        .filter_map(|step| Some((step, curve.degradation(step)?)))
}

fn line(curve: &Curve) -> Vec<(f64, f64)> {
    shown(curve)
        .map(|(step, degradation)| (step.at, degradation))
        .collect()
}

fn panel(title: &str, curves: &[&Curve], sizes: &[FrameSize]) -> Panel {
    let plots: Vec<Plot> = curves
        .iter()
        .flat_map(|curve| plots(curve, sizes))
        .collect();
    let points = || curves.iter().flat_map(|curve| line(curve));
    let (lowest, highest) = points().fold((0.0f64, 1.0f64), |(low, high), (_, y)| {
        (low.min(y), high.max(y))
    });
    let layout = style::panel(&plots, title, "network flows n", "degradation (%)")
        .with_y_tick_format(style::plain_numbers());
    let layout = over_flows(layout, points().map(|(x, _)| x));
    let layout = curves.iter().fold(layout, |layout, curve| {
        style::with_signs(layout, &marks(curve))
    });
    let y = Axis::up_to(highest - lowest, 5.0);
    let bottom = (lowest / y.step).floor() * y.step;
    let top = ((highest / y.step).floor() + 1.0) * y.step;
    style::draw(
        plots,
        layout
            .with_y_axis_min(bottom)
            .with_y_axis_max(top)
            .with_y_tick_step(y.step),
    )
}

fn over_flows(layout: Layout, flows: impl Iterator<Item = f64>) -> Layout {
    let (fewest, most) = flows.fold((f64::MAX, 1.0f64), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    if most / fewest > LINEAR_UP_TO {
        style::log_x(layout, style::decades(fewest, most)).with_x_tick_format(style::thousands())
    } else {
        style::x_from_zero(layout, Axis::counting(most, 8.0))
    }
}

/// Returns the plots of a curve: the colour shows the size, a dashed line the reverse direction.
fn plots(curve: &Curve, sizes: &[FrameSize]) -> [Plot; 2] {
    let i = sizes
        .iter()
        .position(|&size| size == curve.size)
        .unwrap_or(0);
    let is_reverse = curve.subject.direction == Some(Direction::Reverse);
    let joined = if is_reverse {
        style::dashed
    } else {
        style::line
    };
    let (color, marker) = (style::color(i), style::marker(i));
    let (points, labels) = marks(curve)
        .into_iter()
        .map(|mark| (mark.at, mark.label))
        .unzip();
    [
        joined(line(curve), color, 1.5),
        style::dots(points, color, marker, labels),
    ]
}

/// Returns the marks of a curve, without bars. The first is where the degradation is 0 by definition.
fn marks(curve: &Curve) -> Vec<Barred> {
    let mark = |(step, d): (&CurveStep, f64)| {
        let bound = if step.at == curve.steps[0].at {
            Bound::Exact
        } else {
            curve.bound(step)
        };
        let sign = bound.sign().unwrap_or_default();
        let label = format!(
            "{}, {} bytes: {sign}{d:.2} %",
            counted(step.at, "flow"),
            curve.size
        );
        Barred::new(step.at, d, AxisEnds::new(d, d), label).signed(sign)
    };
    shown(curve).map(mark).collect()
}
