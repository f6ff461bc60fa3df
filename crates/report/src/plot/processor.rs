//! What the DUT's cores did while it forwarded as much as it could.

use super::Figure;
use super::style::{self, Axis, Key};
use crate::digest::{Digest, PointDigest};
use crate::words::short;
use kuva::plot::StackedAreaPlot;
use kuva::prelude::{LegendPosition, Plot};
use sixbench_method::record::{CoreWatch, CpuSample, TrialRecord};

/// A kind of work: its name, the place of its colour in the palette, and its share.
type Kind = (&'static str, usize, fn(&CpuSample) -> u16);

/// Stacked from below: what forwards frames in the kernel first.
const KINDS: [Kind; 4] = [
    ("softirq and interrupts", 0, |s| s.softirq),
    ("system", 5, |s| s.system),
    ("user", 2, |s| s.user),
    ("stolen by the host", 1, |s| s.steal),
];

pub(crate) fn figure(digest: &Digest) -> Figure {
    Figure {
        id: "processor",
        title: "The DUT's processor",
        caption: "Each core of the DUT during the passing trial at the highest load of each point. A core near 100 % is what \
                  limits the DUT; idle cores with loss point elsewhere."
            .to_owned(),
        keys: KINDS.map(|(name, i, _)| Key::new("■", style::color(i), name)).to_vec(),
        panels: digest.points.iter().flat_map(|p| panels(digest, p)).collect(),
    }
}

fn panels(digest: &Digest, point: &PointDigest) -> Vec<String> {
    let Some(record) = point.highest_passing(digest.goal()) else {
        return Vec::new();
    };
    let cores = record.watch.iter().flat_map(|w| w.cores.iter().map(|c| (w.interval_ns, c)));
    let of_the_dut = cores.filter(|(_, c)| c.role == "dut" && c.samples.len() > 1);
    of_the_dut.map(|(interval_ns, core)| panel(point, record, interval_ns, core)).collect()
}

fn panel(point: &PointDigest, record: &TrialRecord, interval_ns: u64, core: &CoreWatch) -> String {
    let interval = interval_ns as f64 / 1e9;
    let times = (0..core.samples.len()).map(|i| i as f64 * interval);
    let area = StackedAreaPlot::new().with_x(times).with_fill_opacity(0.85).with_strokes(false);
    let stack = |area: StackedAreaPlot, (_, color, share): &Kind| {
        area.with_series(core.samples.iter().map(|s| f64::from(share(s)) / 10.0)).with_color(style::color(*color))
    };
    let area = KINDS.iter().fold(area, stack).with_legend_position(LegendPosition::OutsideRightTop);
    let plots: Vec<Plot> = vec![area.into()];
    let layout = style::panel(&plots, &style::point_title(point), "time within the trial (s)", "share of the core (%)");
    let end = (core.samples.len() - 1) as f64 * interval;
    let x = Axis { end, ..Axis::up_to(end / 1.05, 6.0) };
    let note = format!("core {} at {} frames/s", core.core, short(record.result.spec.rate.0 as f64));
    let layout = style::from_zero(layout, x, Axis { end: 100.0, step: 25.0 });
    style::draw(plots, style::with_note(layout, &note))
}
