//! Frame rate and bit rate by frame size: the graph of RFC 2544 section 26.1.

use super::end_labels::{self, EndLabel};
use super::figure::{Figure, SEARCHES};
use super::panel::Panel;
use super::style::{self, Axis, Barred, LegendEntry};
use crate::digest::{Digest, PointDigest, PrintedSummary, common_goal, sizes};
use crate::numbers::{common_quantity, title};
use crate::tables::mbit;
use kuva::prelude::{Layout, Plot, TextAnnotation};
use sixbench_method::plan::Test;
use sixbench_method::terms::FrameSize;

/// A function from frames per second to the value on the axis.
type Scale = fn(f64, FrameSize) -> f64;

const FRAMES: (&str, &str, Scale) = ("Frame rate", "rate (frames/s per direction)", |rate, _| rate);
const BITS: (&str, &str, Scale) = ("Bit rate at layer 2", "rate (bit/s per direction)", |rate, size| mbit(rate, size) * 1e6);

pub(crate) fn figure(digest: &Digest) -> Figure {
    let results = measured(digest).count();
    let with_medium = digest.input.plan.link_rate.map(|_| against_the_medium(digest));
    let panels = with_medium.into_iter().chain([FRAMES, BITS].map(|what| chart(digest, what)));
    let tests = compared(digest).into_iter();
    let medium = digest.input.plan.link_rate.map(|_| LegendEntry::new("╌╌", style::MUTED, "theoretical maximum of the medium"));
    Figure {
        id: "throughput".into(),
        title: "By frame size".into(),
        caption: format!(
            "{} over the frame size, per direction: medians, with bars from the 1st to the 99th percentile.",
            common_quantity(common_goal(measured(digest)))
        ),
        keys: end_labels::keys(tests.map(|test| (digest.place(test), title(test))).collect())
            .into_iter()
            .chain(medium)
            .collect(),
        panels: if results > 0 { panels.collect() } else { Vec::new() },
        notes: bounds(digest).into_iter().collect(),
        data: SEARCHES,
        ..Figure::default()
    }
}

/// Returns the note on the points that are lower bounds: a figure has no sign for them. `None` if there are none.
fn bounds(digest: &Digest) -> Option<String> {
    let open: Vec<String> = measured(digest).filter(|point| point.is_result_open()).map(PointDigest::name).collect();
    (!open.is_empty()).then(|| format!("Lower bounds, whose true values may be higher: {}.", open.join("; ")))
}

fn measured<'d, 'a>(digest: &'d Digest<'a>) -> impl Iterator<Item = &'d PointDigest<'a>> {
    digest.compared_points().filter(|p| p.headline().is_some())
}

fn chart(digest: &Digest, (name, y, scale): (&str, &str, Scale)) -> Panel {
    let plots = all_series(digest, scale);
    let highest = highest(digest, scale);
    let layout = framed(digest, &plots, name, y, highest);
    style::draw(plots, with_names(digest, with_signs(digest, layout, scale), scale, highest))
}

/// Returns the layout with the sign of a bound at each point that is one.
fn with_signs(digest: &Digest, layout: Layout, scale: Scale) -> Layout {
    let (sizes, tests) = (sizes(digest.compared_points()), compared(digest));
    let open = measured(digest).filter(|point| point.is_result_open());
    let sign = |point: &PointDigest| {
        let place = sizes.iter().position(|size| *size == point.point.frame_size)?;
        let test = tests.iter().position(|test| test.name == point.test.name)?;
        let rate = scale(point.headline()?.median, point.point.frame_size);
        let sign = TextAnnotation::new("≥", place as f64 + 1.0 + aside(test, tests.len()), rate);
        Some(sign.with_font_size(11).with_color(style::INK))
    };
    open.filter_map(sign).fold(layout, Layout::with_annotation)
}

/// Returns by how far the points of a test are beside those of others at the same size.
fn aside(place: usize, tests: usize) -> f64 {
    (place as f64 - (tests as f64 - 1.0) / 2.0) * (0.3 / tests as f64).min(0.04)
}

/// Returns whether the names of the tests are at the ends of their lines.
fn is_labelled(digest: &Digest) -> bool {
    end_labels::is_room_for(compared(digest).len())
}

/// Returns the layout with the name of each test at the end of its line, if they fit.
fn with_names(digest: &Digest, layout: Layout, scale: Scale, highest: f64) -> Layout {
    if !is_labelled(digest) {
        return layout;
    }
    let sizes = sizes(digest.compared_points());
    let last = |test: &Test| {
        let measured = |(place, &size): (usize, &FrameSize)| Some((place, size, digest.point(test, size)?.headline()?.median));
        let (place, size, rate) = sizes.iter().enumerate().rev().find_map(measured)?;
        Some(EndLabel::of(digest.place(test), &title(test), (place as f64 + 1.0, scale(rate, size))))
    };
    let labels = compared(digest).into_iter().filter_map(last).collect();
    end_labels::labelled(layout, labels, 0.08 * sizes.len() as f64, Axis::up_to(highest, 5.0).end)
}

/// Returns the panel with the theoretical and the measured line, as the clause requires.
fn against_the_medium(digest: &Digest) -> Panel {
    let (name, y, scale) = FRAMES;
    let sizes = sizes(digest.compared_points());
    let rate = |size| digest.theoretical(size).map_or(0.0, |rate| rate.0 as f64);
    let medium: Vec<(f64, f64)> = sizes.iter().zip(1..).map(|(&size, place)| (f64::from(place), rate(size))).collect();
    let highest = medium.iter().map(|(_, rate)| *rate).fold(highest(digest, scale), f64::max);
    // A line needs two points; for a single size it spans the width of the panel.
    let ends = match medium.as_slice() {
        [(_, rate)] => vec![(0.5, *rate), (1.5, *rate)],
        _ => medium,
    };
    let mut plots = vec![style::dashed(ends, style::MUTED, 1.5)];
    plots.extend(all_series(digest, scale));
    let layout = framed(digest, &plots, &format!("{name} against the medium"), y, highest);
    let layout = with_signs(digest, layout, scale);
    style::draw(plots, with_names(digest, layout, scale, highest))
}

fn highest(digest: &Digest, scale: Scale) -> f64 {
    let results = measured(digest).filter_map(|p| Some(scale(p.headline()?.p99, p.point.frame_size)));
    results.fold(0.0, f64::max)
}

/// Returns the layout of a panel in which the frame sizes are at equal distances.
fn framed(digest: &Digest, plots: &[Plot], name: &str, y: &str, highest: f64) -> Layout {
    let sizes = sizes(digest.compared_points());
    let room = if is_labelled(digest) { end_labels::ROOM * (sizes.len() as f64 + 0.5) } else { 0.0 };
    let places = Axis { end: sizes.len() as f64 + 0.5 + room, step: 1.0 };
    let layout = style::panel(plots, name, "frame size (bytes)", y);
    let layout = style::from_zero(layout, places, Axis::up_to(highest, 5.0)).with_x_axis_min(0.5);
    layout.with_x_tick_format(style::names(sizes.iter().map(FrameSize::to_string).collect()))
}

fn all_series(digest: &Digest, scale: Scale) -> Vec<Plot> {
    let sizes = sizes(digest.compared_points());
    let tests: Vec<&Test> = compared(digest);
    let of_test = |(place, test): (usize, &&Test)| series(digest, test, aside(place, tests.len()), &sizes, scale);
    tests.iter().enumerate().flat_map(of_test).collect()
}

/// Returns the tests with a result, in the order of the plan.
fn compared<'a>(digest: &Digest<'a>) -> Vec<&'a Test> {
    digest.input.plan.tests.iter().filter(|test| measured(digest).any(|p| p.test.name == test.name)).collect()
}

/// Returns the line of a test and its bars, which are offset by `aside` from those of other tests at the same size.
fn series(digest: &Digest, test: &Test, aside: f64, sizes: &[FrameSize], scale: Scale) -> [Plot; 2] {
    let i = digest.place(test);
    let point = |(&size, place): (&FrameSize, u32)| {
        let s = digest.point(test, size)?.headline()?;
        let PrintedSummary { median, p1, p99, .. } = digest.point(test, size)?.limits().printed(s);
        let label = format!("{}: {median} frames/s [{p1}–{p99}], n = {}", title(test), s.n);
        Some(Barred::new(f64::from(place) + aside, scale(s.median, size), (scale(s.p1, size), scale(s.p99, size)), label))
    };
    style::joined(i, sizes.iter().zip(1..).filter_map(point).collect())
}
