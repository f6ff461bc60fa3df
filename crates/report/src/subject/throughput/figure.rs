//! Frame rate and bit rate by frame size: the graph of RFC 2544 section 26.1.

use crate::digest::{Digest, PointDigest, PrintedSummary, common_goal, sizes};
use crate::plot::end_labels::{self, EndLabel};
use crate::plot::figure::{Figure, SEARCHES};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds, Barred, LegendEntry};
use crate::subject::statistics::mbit;
use crate::wording::bound::Bound;
use crate::wording::numbers::{common_quantity, title};
use kuva::prelude::{Layout, Plot};
use sixbench_method::plan::Test;
use sixbench_method::terms::FrameSize;

/// A function from frames per second to the value on the axis.
type Scale = fn(f64, FrameSize) -> f64;

/// A chart of the rates, in one unit.
struct RateChart {
    title: &'static str,
    /// The title of the vertical axis.
    axis: &'static str,
    scale: Scale,
}

const FRAMES: RateChart = RateChart {
    title: "Frame rate",
    axis: "rate (frames/s per direction)",
    scale: |rate, _| rate,
};
const BITS: RateChart = RateChart {
    title: "Bit rate at layer 2",
    axis: "rate (bit/s per direction)",
    scale: |rate, size| mbit(rate, size) * 1e6,
};

pub(super) fn figure(digest: &Digest) -> Figure {
    let with_medium = || {
        digest
            .input
            .plan
            .link_rate
            .map(|_| against_the_medium(digest))
    };
    let panels: Vec<Panel> = match measured(digest).next() {
        Some(_) => with_medium()
            .into_iter()
            .chain([FRAMES, BITS].map(|chart| panel(digest, &chart)))
            .collect(),
        None => Vec::new(),
    };
    let tests = compared(digest).into_iter();
    let medium = digest
        .input
        .plan
        .link_rate
        .map(|_| LegendEntry::new("╌╌", style::MUTED, "theoretical maximum of the medium"));
    Figure {
        id: "throughput".into(),
        title: "By frame size".into(),
        caption: format!(
            "{} over the frame size, per direction: medians, with bars from the 1st to the 99th percentile.",
            common_quantity(common_goal(measured(digest)))
        ),
        keys: end_labels::keys(
            tests
                .map(|test| (digest.place(test), title(test)))
                .collect(),
        )
        .into_iter()
        .chain(medium)
        .chain(style::bound_keys(&panels))
        .collect(),
        panels,
        notes: bounds(digest).into_iter().collect(),
        data: SEARCHES,
        ..Figure::default()
    }
}

/// Returns the note that names the points that are lower bounds. `None` if there are none.
fn bounds(digest: &Digest) -> Option<String> {
    let open: Vec<String> = measured(digest)
        .filter(|point| point.is_result_open())
        .map(PointDigest::name)
        .collect();
    (!open.is_empty()).then(|| {
        format!(
            "Lower bounds, whose true values may be higher: {}.",
            open.join("; ")
        )
    })
}

fn measured<'d, 'a>(digest: &'d Digest<'a>) -> impl Iterator<Item = &'d PointDigest<'a>> {
    digest.compared_points().filter(|p| p.headline().is_some())
}

fn panel(digest: &Digest, chart: &RateChart) -> Panel {
    let scale = chart.scale;
    let plots = all_series(digest, scale);
    let highest = highest(digest, scale);
    let layout = framed(digest, &plots, chart.title, chart.axis, highest);
    style::draw(
        plots,
        with_names(digest, with_signs(digest, layout, scale), scale, highest),
    )
}

/// Returns the layout with the sign of a bound at each point that is one.
fn with_signs(digest: &Digest, layout: Layout, scale: Scale) -> Layout {
    all_points(digest, scale)
        .iter()
        .fold(layout, |layout, (_, points)| {
            style::with_signs(layout, points)
        })
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
        let measured = |(place, &size): (usize, &FrameSize)| {
            Some((place, size, digest.point(test, size)?.headline()?.median))
        };
        let (place, size, rate) = sizes.iter().enumerate().rev().find_map(measured)?;
        Some(EndLabel::new(
            digest.place(test),
            &title(test),
            (place as f64 + 1.0, scale(rate, size)),
        ))
    };
    let labels = compared(digest).into_iter().filter_map(last).collect();
    end_labels::labelled(
        layout,
        labels,
        0.08 * sizes.len() as f64,
        Axis::up_to(highest, 5.0).end,
    )
}

/// Returns the panel with the theoretical and the measured line, as the clause requires.
fn against_the_medium(digest: &Digest) -> Panel {
    let scale = FRAMES.scale;
    let sizes = sizes(digest.compared_points());
    let rate = |size| digest.theoretical(size).map_or(0.0, |rate| rate.0 as f64);
    let medium: Vec<(f64, f64)> = sizes
        .iter()
        .zip(1..)
        .map(|(&size, place)| (f64::from(place), rate(size)))
        .collect();
    let highest = medium
        .iter()
        .map(|(_, rate)| *rate)
        .fold(highest(digest, scale), f64::max);
    // A line needs two points; for a single size it spans the width of the panel.
    let ends = match medium.as_slice() {
        [(_, rate)] => vec![(0.5, *rate), (1.5, *rate)],
        _ => medium,
    };
    let mut plots = vec![style::dashed(ends, style::MUTED, 1.5)];
    plots.extend(all_series(digest, scale));
    let layout = framed(
        digest,
        &plots,
        &format!("{} against the medium", FRAMES.title),
        FRAMES.axis,
        highest,
    );
    let layout = with_signs(digest, layout, scale);
    style::draw(plots, with_names(digest, layout, scale, highest))
}

fn highest(digest: &Digest, scale: Scale) -> f64 {
    let results =
        measured(digest).filter_map(|p| Some(scale(p.headline()?.p99, p.point.frame_size)));
    results.fold(0.0, f64::max)
}

/// Returns the layout of a panel in which the frame sizes are at equal distances.
fn framed(digest: &Digest, plots: &[Plot], name: &str, y: &str, highest: f64) -> Layout {
    let sizes = sizes(digest.compared_points());
    let room = if is_labelled(digest) {
        end_labels::ROOM * (sizes.len() as f64 + 0.5)
    } else {
        0.0
    };
    let places = Axis {
        end: sizes.len() as f64 + 0.5 + room,
        step: 1.0,
    };
    let layout = style::panel(plots, name, "frame size (bytes)", y);
    let layout = style::from_zero(layout, places, Axis::up_to(highest, 5.0)).with_x_axis_min(0.5);
    layout.with_x_tick_format(style::names(
        sizes.iter().map(FrameSize::to_string).collect(),
    ))
}

fn all_series(digest: &Digest, scale: Scale) -> Vec<Plot> {
    all_points(digest, scale)
        .into_iter()
        .flat_map(|(test, points)| style::joined(digest.place(test), points))
        .collect()
}

/// Returns each test with its points.
fn all_points<'a>(digest: &Digest<'a>, scale: Scale) -> Vec<(&'a Test, Vec<Barred>)> {
    let sizes = sizes(digest.compared_points());
    let tests: Vec<&Test> = compared(digest);
    let of_test = |(place, &test): (usize, &&'a Test)| {
        (
            test,
            points(digest, test, aside(place, tests.len()), &sizes, scale),
        )
    };
    tests.iter().enumerate().map(of_test).collect()
}

/// Returns the tests with a result, in the order of the plan.
fn compared<'a>(digest: &Digest<'a>) -> Vec<&'a Test> {
    digest
        .input
        .plan
        .tests
        .iter()
        .filter(|test| measured(digest).any(|p| p.test.name == test.name))
        .collect()
}

/// Returns the medians of a test with their bars, which are offset by `aside` from those of other tests at the same size.
fn points(
    digest: &Digest,
    test: &Test,
    aside: f64,
    sizes: &[FrameSize],
    scale: Scale,
) -> Vec<Barred> {
    let point = |(&size, place): (&FrameSize, u32)| {
        let point = digest.point(test, size)?;
        let s = point.headline()?;
        let PrintedSummary {
            median, p1, p99, ..
        } = point.limits().printed(s);
        let label = format!(
            "{}: {median} frames/s [{p1}–{p99}], n = {}",
            title(test),
            s.n
        );
        let sign = Bound::at_least_if(point.is_result_open())
            .sign()
            .unwrap_or_default();
        let bar = AxisEnds::new(scale(s.p1, size), scale(s.p99, size));
        Some(Barred::new(f64::from(place) + aside, scale(s.median, size), bar, label).signed(sign))
    };
    sizes.iter().zip(1..).filter_map(point).collect()
}
