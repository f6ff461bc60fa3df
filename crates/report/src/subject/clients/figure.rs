//! Forwarded frames, CPU load and response time over the number of clients: figures 12 to 14 of the 6to4 paper.

use crate::digest::{ClientSeries, Digest, PointSample, client_series};
use crate::plot::end_labels::{self, EndLabel};
use crate::plot::figure::{Figure, VALUES};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds, Barred};
use crate::wording::numbers::{self, grouped};
use kuva::prelude::Plot;
use sixbench_method::lists::each_once;
use sixbench_method::measures::Quantity;
use sixbench_method::terms::FrameSize;
use std::collections::BTreeSet;

/// A kind of panel.
struct ClientPanel {
    quantity: Quantity,
    /// The title of its axis.
    title: &'static str,
    /// The number of the quantity's units in one unit of the axis.
    unit: f64,
}

impl ClientPanel {
    const fn new(quantity: Quantity, title: &'static str, unit: f64) -> Self {
        Self {
            quantity,
            title,
            unit,
        }
    }
}

const KINDS: [ClientPanel; 4] = [
    ClientPanel::new(Quantity::ForwardedFrames, "forwarded (frames/s)", 1.0),
    ClientPanel::new(Quantity::ProcessorLoad, "CPU load (%)", 1.0),
    ClientPanel::new(Quantity::ResponseTime, "response time (ms)", 1e6),
    ClientPanel::new(Quantity::RequestLoss, "frame loss (%)", 1.0),
];

pub(super) fn figure(digest: &Digest) -> Figure {
    let all: Vec<ClientSeries> = client_series(digest)
        .into_iter()
        .filter(|series| series.measured().count() > 1)
        .collect();
    // The names determine the colours of the lines.
    let names = each_once(all.iter().map(|series| series.name));
    let sizes: BTreeSet<FrameSize> = all.iter().map(|series| series.size).collect();
    let mut panels = Vec::new();
    for size in sizes {
        let of_size: Vec<&ClientSeries> = all.iter().filter(|series| series.size == size).collect();
        panels.extend(
            KINDS
                .iter()
                .filter_map(|kind| panel(&of_size, &names, size, kind)),
        );
    }
    let bounds = style::bound_keys(&panels);
    Figure {
        id: "clients".into(),
        title: "Over the number of clients".into(),
        caption: "Medians with bars from the 1st to the 99th percentile of the repetitions. Dashed: requests and replies if \
                  nothing were lost. CPU load: average over each trial; point at it for the standard deviation."
            .to_owned(),
        keys: end_labels::keys(names.iter().copied().enumerate().collect()).into_iter().chain(bounds).collect(),
        panels,
        data: VALUES,
        ..Figure::default()
    }
}

/// Returns the panel of a quantity; `None` if it was not measured. The place of a series among `names` determines its colour.
fn panel(
    all: &[&ClientSeries],
    names: &[&str],
    size: FrameSize,
    kind: &ClientPanel,
) -> Option<Panel> {
    let ClientPanel { quantity, unit, .. } = *kind;
    let measured: Vec<(usize, &ClientSeries)> = all
        .iter()
        .filter(|series| series.samples(quantity).next().is_some())
        .map(|series| (place_among(names, series), *series))
        .collect();
    let samples = || {
        measured
            .iter()
            .flat_map(|(_, series)| series.samples(quantity))
    };
    let highest = samples()
        .map(|(_, sample)| sample.summary.p99 / unit)
        .reduce(f64::max)?;
    let most = samples().map(|(clients, _)| clients).max()?;
    let marks: Vec<(usize, Vec<Barred>)> = measured
        .iter()
        .map(|(place, series)| (*place, marks(series, quantity, unit)))
        .collect();
    let mut plots: Vec<Plot> = marks
        .iter()
        .flat_map(|(place, marks)| style::joined(*place, marks.clone()))
        .collect();
    if quantity == Quantity::ForwardedFrames {
        plots.extend(measured.iter().map(|(place, series)| {
            style::dashed(lossless(series, highest), style::color(*place), 1.0)
        }));
    }
    let layout = style::panel(&plots, &format!("{size}\u{a0}bytes"), "clients", kind.title);
    let layout = marks.iter().fold(layout, |layout, (_, marks)| {
        style::with_signs(layout, marks)
    });
    let layout = if highest < 1000.0 {
        layout.with_y_tick_format(style::plain_numbers())
    } else {
        layout
    };
    let y = Axis::up_to(if highest > 0.0 { highest } else { 1.0 }, 5.0);
    let x = Axis::counting(f64::from(most), 10.0);
    let labels = measured
        .iter()
        .filter_map(|(place, series)| end_label(*place, series, kind))
        .collect();
    let layout = end_labels::named(layout, names.len(), x, labels, y.end);
    Some(style::draw(plots, style::y_from_zero(layout, y)))
}

fn place_among(names: &[&str], series: &ClientSeries) -> usize {
    names
        .iter()
        .position(|name| *name == series.name)
        .unwrap_or(0)
}

/// Returns the name of a series at the end of its line.
fn end_label(place: usize, series: &ClientSeries, kind: &ClientPanel) -> Option<EndLabel> {
    let (clients, last) = series.samples(kind.quantity).last()?;
    let end = (f64::from(clients), last.summary.median / kind.unit);
    Some(EndLabel::new(place, series.name, end))
}

/// Returns the line of all requests in both directions, up to the end of the axis.
fn lossless(series: &ClientSeries, highest: f64) -> Vec<(f64, f64)> {
    let each = 2.0 * series.settings.rate_per_client.0 as f64;
    let last = series
        .measured()
        .last()
        .map_or(0.0, |step| f64::from(step.clients))
        .min(highest / each);
    vec![(0.0, 0.0), (last, last * each)]
}

fn marks(series: &ClientSeries, quantity: Quantity, unit: f64) -> Vec<Barred> {
    let dot = |(clients, sample): (u32, &PointSample)| {
        let s = &sample.summary;
        let median = numbers::value(quantity, s.median);
        let label = format!(
            "{}, {clients} clients: {}{median} {}{}",
            series.name,
            sample.median_sign(),
            numbers::unit(quantity),
            spread(series, clients, quantity)
        );
        Barred::new(
            f64::from(clients),
            s.median / unit,
            AxisEnds::new(s.p1 / unit, s.p99 / unit),
            format!("{label}, n = {}", grouped(s.n as f64)),
        )
        .signed(sample.median_sign())
    };
    series.samples(quantity).map(dot).collect()
}

/// Returns the standard deviation within a trial, for quantities that have one.
fn spread(series: &ClientSeries, clients: u32, quantity: Quantity) -> String {
    let of = match quantity {
        Quantity::ResponseTime => Quantity::ResponseTimeDeviation,
        Quantity::ProcessorLoad => Quantity::ProcessorLoadDeviation,
        _ => return String::new(),
    };
    let deviation = series.samples(of).find(|(at, _)| *at == clients);
    deviation
        .map(|(_, s)| format!(" ± {}", numbers::value(of, s.summary.median)))
        .unwrap_or_default()
}
