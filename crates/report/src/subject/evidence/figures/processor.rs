//! The work of the DUT's cores while it forwarded as much as it could.

use crate::digest::{Digest, PointDigest};
use crate::findings::bottleneck::bottlenecks;
use crate::plot::figure::{DataFile, Figure};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, LegendEntry};
use crate::wording::numbers::load;
use kuva::plot::StackedAreaPlot;
use kuva::prelude::{LegendPosition, Plot};
use sixbench_method::plan::SeriesBy;
use sixbench_method::record::{CoreWatch, CpuSample, DeviceWatch, TrialRecord, Watch};

/// A kind of work: its name, the index of its colour in the palette, and its share.
type WorkKind = (&'static str, usize, fn(&CpuSample) -> u16);

/// The kinds of work, stacked from below: first what forwards frames in the kernel.
const KINDS: [WorkKind; 4] = [
    ("softirq and interrupts", 0, |s| s.softirq),
    ("system", 5, |s| s.system),
    ("user", 2, |s| s.user),
    ("stolen by the host", 1, |s| s.steal),
];

pub(super) fn figure(digest: &Digest) -> Figure {
    Figure {
        id: "processor".into(),
        title: "The device's processor".into(),
        caption:
            "Each core of the device during the passing trial at the highest load of each point. A core near 100 % limits \
                  the device; loss with idle cores has another cause, which the table names."
                .to_owned(),
        keys: KINDS.map(|(name, i, _)| LegendEntry::new("■", style::color(i), name)).to_vec(),
        panels: digest.points.iter().flat_map(|p| panels(p)).collect(),
        data: DataFile::default(),
        findings: bottlenecks(digest),
        notes: digest.points.iter().filter_map(polling).collect(),
    }
}

fn panels(point: &PointDigest) -> Vec<Panel> {
    let Some(record) = point.busiest_trial(point.first_goal()) else {
        return Vec::new();
    };
    let of_watch = |watch: &Watch| {
        let of_host = watch
            .dut_cores()
            .map(|core| (format!("core {}", core.core), core));
        let drawn = of_host
            .chain(of_devices(point, watch))
            .filter(|(_, core)| core.samples.len() > 1);
        drawn
            .map(|(name, core)| panel(point, record, watch.interval_ns, &name, core))
            .collect::<Vec<_>>()
    };
    record
        .watch
        .as_deref()
        .into_iter()
        .flat_map(of_watch)
        .collect()
}

/// Returns the cores of devices that have cores to themselves. In a series over cores there are too many, and another figure shows their idle time.
fn of_devices<'w>(point: &PointDigest, watch: &'w Watch) -> Vec<(String, &'w CoreWatch)> {
    if point
        .test
        .series
        .as_ref()
        .is_some_and(|series| series.by == SeriesBy::Cores)
    {
        return Vec::new();
    }
    let cores_of = |device: &'w DeviceWatch| {
        let place = device.place();
        device
            .cores
            .iter()
            .map(move |core| (format!("{place}, core {}", core.core), core))
    };
    watch.devices.iter().flat_map(cores_of).collect()
}

/// Returns the note on a device that polls.
fn polling(point: &PointDigest) -> Option<String> {
    let polls = point
        .records
        .iter()
        .any(|record| record.watch.as_ref().is_some_and(|watch| watch.polling));
    polls.then(|| {
        let title = style::point_title(point);
        format!("{title}: the device polls for frames without pause, so its cores are full at any load and show no limit.")
    })
}

fn panel(
    point: &PointDigest,
    record: &TrialRecord,
    interval_ns: u64,
    name: &str,
    core: &CoreWatch,
) -> Panel {
    let interval = interval_ns as f64 / 1e9;
    let times = (0..core.samples.len()).map(|i| i as f64 * interval);
    let area = StackedAreaPlot::new()
        .with_x(times)
        .with_fill_opacity(0.85)
        .with_strokes(false);
    let stack = |area: StackedAreaPlot, (_, color, share): &WorkKind| {
        area.with_series(core.samples.iter().map(|s| f64::from(share(s)) / 10.0))
            .with_color(style::color(*color))
    };
    let area = KINDS
        .iter()
        .fold(area, stack)
        .with_legend_position(LegendPosition::OutsideRightTop);
    let plots: Vec<Plot> = vec![area.into()];
    let layout = style::panel(
        &plots,
        &style::point_title(point),
        "time within the trial (s)",
        "share of the core (%)",
    );
    let end = (core.samples.len() - 1) as f64 * interval;
    let note = format!("{name} at {}", load(&record.result.spec));
    let layout = style::from_zero(
        layout,
        Axis::ending(end, 6.0),
        Axis {
            end: 100.0,
            step: 25.0,
        },
    );
    style::draw(plots, style::with_note(layout, &note))
}
