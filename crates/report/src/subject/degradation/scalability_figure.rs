//! Rates over the number of connections, and over the size of the DUT's table (RFC 9693: scalability).

use crate::digest::{Digest, PointDigest, RatedSummary};
use crate::plot::end_labels::{self, EndLabel};
use crate::plot::figure::{Figure, SEARCHES};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds, Barred};
use crate::subject::series::{TestSeries, series, unit_of};
use crate::wording::numbers::{grouped, rate_unit};
use kuva::prelude::Plot;
use sixbench_method::lists::by_key;
use sixbench_method::plan::{Measure, SeriesBy};
use sixbench_method::terms::FrameSize;
use std::collections::BTreeSet;

/// What grows along a horizontal axis.
struct Growth {
    by: SeriesBy,
    /// The title of a panel, before the frame size.
    title: &'static str,
    /// The title of the axis.
    axis: &'static str,
}

const GROWTHS: [Growth; 3] = [
    Growth {
        by: SeriesBy::Connections,
        title: "Over the connections",
        axis: "connections N",
    },
    Growth {
        by: SeriesBy::TableSize,
        title: "Over the size of the table",
        axis: "entries of the device's table",
    },
    Growth {
        by: SeriesBy::Subscribers,
        title: "Over the subscribers",
        axis: "subscribers",
    },
];

pub(super) fn figure(digest: &Digest) -> Figure {
    let names = names(digest);
    let panels: Vec<Panel> = GROWTHS
        .iter()
        .flat_map(|growth| panels(digest, growth, &names))
        .collect();
    let bounds = style::bound_keys(&panels);
    Figure {
        id: "scalability".into(),
        title: "Rates over the number of connections, the size of the table and the number of subscribers".into(),
        caption:
            "Medians with bars from the 1st to the 99th percentile, over a logarithmic axis; the series of one measure and \
                  frame size share a panel."
                .to_owned(),
        keys: end_labels::keys(names.iter().copied().enumerate().collect()).into_iter().chain(bounds).collect(),
        panels,
        data: SEARCHES,
        ..Figure::default()
    }
}

/// Returns the names of the series that are drawn, in the order of the plan, which determines the colours of their lines.
fn names<'a>(digest: &Digest<'a>) -> Vec<&'a str> {
    let all = GROWTHS.iter().flat_map(|growth| series(digest, growth.by));
    all.filter(|steps| {
        steps
            .sizes()
            .into_iter()
            .any(|size| line(digest, steps, size).len() > 1)
    })
    .map(|s| s.name)
    .collect()
}

fn panels(digest: &Digest, growth: &Growth, names: &[&str]) -> Vec<Panel> {
    let all: Vec<TestSeries> = series(digest, growth.by)
        .into_iter()
        .filter(|steps| names.contains(&steps.name))
        .collect();
    let panels_of = |alike: Vec<(&Measure, &TestSeries)>| {
        let (measure, alike) = (
            alike[0].0,
            alike
                .into_iter()
                .map(|(_, steps)| steps)
                .collect::<Vec<_>>(),
        );
        let sizes: BTreeSet<FrameSize> = alike.iter().flat_map(|s| s.sizes()).collect();
        let is_drawn = |size: &FrameSize| alike.iter().any(|s| line(digest, s, *size).len() > 1);
        sizes
            .into_iter()
            .filter(is_drawn)
            .map(|size| panel(digest, growth, measure, &alike, size, names))
            .collect::<Vec<_>>()
    };
    let by_measure = by_key(all.iter().filter_map(|steps| {
        steps
            .measure()
            .map(|measure| (measure.name(), (measure, steps)))
    }));
    by_measure
        .into_iter()
        .flat_map(|(_, alike)| panels_of(alike))
        .collect()
}

fn panel(
    digest: &Digest,
    growth: &Growth,
    measure: &Measure,
    all: &[&TestSeries],
    size: FrameSize,
    names: &[&str],
) -> Panel {
    let lines: Vec<(usize, Vec<(f64, RatedSummary)>)> = all
        .iter()
        .map(|steps| {
            (
                names.iter().position(|n| *n == steps.name).unwrap_or(0),
                line(digest, steps, size),
            )
        })
        .collect();
    let marks: Vec<(usize, Vec<Barred>)> = lines
        .iter()
        .map(|(i, line)| (*i, marks(line, growth.by, measure)))
        .collect();
    let plots: Vec<Plot> = marks
        .iter()
        .flat_map(|(i, marks)| style::joined(*i, marks.clone()))
        .collect();
    let points = || lines.iter().flat_map(|(_, line)| line);
    let highest = points().map(|(_, r)| r.summary.p99).fold(0.0, f64::max);
    let (least, most) = points().fold((f64::MAX, 1.0f64), |(low, high), (at, _)| {
        (low.min(*at), high.max(*at))
    });
    let layout = style::panel(
        &plots,
        &format!("{}, {size}\u{a0}bytes", growth.title),
        growth.axis,
        &style::rate_label(measure),
    );
    let layout = marks.iter().fold(layout, |layout, (_, marks)| {
        style::with_signs(layout, marks)
    });
    let y = Axis::up_to(highest, 5.0);
    let label = |(i, line): &(usize, Vec<(f64, RatedSummary)>)| {
        Some((*i, line.last()?))
            .map(|(i, (at, rated))| EndLabel::new(i, names[i], (*at, rated.summary.median)))
    };
    let labels = lines.iter().filter_map(label).collect();
    let layout = end_labels::named_on_log(
        layout,
        names.len(),
        style::around(least, most),
        labels,
        y.end,
    );
    style::draw(plots, style::y_from_zero(layout, y))
}

fn line(digest: &Digest, steps: &TestSeries, size: FrameSize) -> Vec<(f64, RatedSummary)> {
    steps
        .at(digest, size)
        .into_iter()
        .filter_map(|(at, point)| Some((at, PointDigest::rated(point)?)))
        .collect()
}

fn marks(line: &[(f64, RatedSummary)], by: SeriesBy, measure: &Measure) -> Vec<Barred> {
    let dot = |(at, rated): &(f64, RatedSummary)| {
        let s = &rated.summary;
        let (sign, unit) = (rated.limits.sign(), rate_unit(measure));
        let label = format!(
            "{} {}: {sign}{} {unit}, n = {}",
            grouped(*at),
            unit_of(by),
            grouped(s.median),
            s.n
        );
        Barred::new(*at, s.median, AxisEnds::new(s.p1, s.p99), label).signed(sign)
    };
    line.iter().map(dot).collect()
}
