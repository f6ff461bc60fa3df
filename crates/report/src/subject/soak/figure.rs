//! The state of the device during a soak test: the entries of its connection tracking table, and its memory.

use super::tables;
use crate::digest::{Digest, PointDigest};
use crate::plot::figure::Figure;
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis};
use crate::wording::numbers::{load, short};
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::Verdict;

/// The most points of a line: if there are more samples, the means of this many parts are drawn.
const POINTS: usize = 200;

const MEGABYTE: f64 = 1e6;

pub(super) fn figure(digest: &Digest) -> Figure {
    Figure {
        id: tables::ID.into(),
        title: "Table and memory over the soak".into(),
        caption: "What was seen of the device in the last valid trial of each soak test: entries of the kernel's connection tracking table, resident \
                  memory of the device, and memory of the kernel of the tester's machine that cannot be reclaimed. Growth is computed from the dashed \
                  line on, where the warm-up ends. Where closed connections are freed, the table is level from there."
            .to_owned(),
        panels: digest.points.iter().flat_map(panels).collect(),
        ..Figure::default()
    }
}

fn panels(point: &PointDigest) -> Vec<Panel> {
    let Some(soak) = tables::settings(point) else {
        return Vec::new();
    };
    let is_valid = |r: &&&TrialRecord| {
        r.watch.is_some() && r.result.verdict(LossRatio(1.0)) != Verdict::Invalid
    };
    let Some((record, watch)) = point
        .records
        .iter()
        .rev()
        .find(is_valid)
        .and_then(|r| Some((*r, r.watch.as_deref()?)))
    else {
        return Vec::new();
    };
    let opening_ns = record
        .result
        .phase_one_result()
        .map_or(0, |connections| connections.delay_ns);
    let level = (opening_ns + soak.warm_up_ns) as f64 / 1e9;
    let drawn = [
        SoakCurve {
            what: "entries in the table",
            samples: watch.connections.clone(),
            unit: 1.0,
        },
        SoakCurve {
            what: "memory of the device (MB)",
            samples: watch.device_memory(),
            unit: MEGABYTE,
        },
        SoakCurve {
            what: "memory of the kernel (MB)",
            samples: watch.kernel_memory.clone(),
            unit: MEGABYTE,
        },
    ];
    drawn
        .iter()
        .filter(|curve| curve.samples.len() > 1)
        .map(|curve| panel(point, record, curve, watch.interval_ns, level))
        .collect()
}

/// What was seen of the device or of the machine, sample by sample.
struct SoakCurve {
    /// The title of its axis.
    what: &'static str,
    samples: Vec<u64>,
    /// The value that is 1 on the axis.
    unit: f64,
}

impl SoakCurve {
    /// Returns times in seconds with values: the samples, or the means of equal parts of them.
    fn line(&self, interval_ns: u64) -> Vec<(f64, f64)> {
        let part = self.samples.len().div_ceil(POINTS);
        let seconds = |sample: f64| sample * interval_ns as f64 / 1e9;
        let mean = |(i, part_of): (usize, &[u64])| {
            let mean =
                part_of.iter().map(|value| *value as f64).sum::<f64>() / part_of.len() as f64;
            (
                seconds(i as f64 * part as f64 + (part_of.len() - 1) as f64 / 2.0),
                mean / self.unit,
            )
        };
        self.samples.chunks(part).enumerate().map(mean).collect()
    }
}

fn panel(
    point: &PointDigest,
    record: &TrialRecord,
    curve: &SoakCurve,
    interval_ns: u64,
    level: f64,
) -> Panel {
    let (what, line) = (curve.what, curve.line(interval_ns));
    // Long times are easier to read in hours than in seconds.
    let end = line.last().map_or(0.0, |last| last.0);
    let (unit, word) = if end > 7200.0 {
        (3600.0, "h")
    } else {
        (1.0, "s")
    };
    let line: Vec<(f64, f64)> = line
        .into_iter()
        .map(|(time, value)| (time / unit, value))
        .collect();
    let highest = line.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let plots = vec![style::line(line, style::color(0), 1.5)];
    let layout = style::panel(
        &plots,
        &style::point_title(point),
        &format!("time within the trial ({word})"),
        what,
    );
    let layout = style::from_zero(
        layout,
        Axis::ending(end / unit, 6.0),
        Axis::up_to(highest, 5.0),
    );
    let note = format!(
        "{what}, at most {}; {}",
        short(highest),
        load(&record.result.spec)
    );
    style::draw(
        plots,
        style::with_note(
            layout.with_reference_line(style::upright(level / unit)),
            &note,
        ),
    )
}
