//! Rates over the DUT's cores with the ideal line and the fitted laws, and the idle time of each device at the found rate.

use super::tables::bottleneck;
use crate::digest::{DeviceIdle, Digest, PointDigest};
use crate::plot::figure::{DataFile, Figure};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds, Barred, LegendEntry};
use crate::subject::cores::scaling::{ScaledStep, Scaling, scalings};
use crate::wording::numbers::{frames, grouped, load, rate_unit};
use kuva::prelude::Plot;
use sixbench_analysis::scaling::{Fit, Law};
use sixbench_method::record::TrialRecord;
use sixbench_method::units::counted;

/// The indices of the colours: measured, Amdahl's law, the universal scalability law.
const COLORS: [usize; 3] = [0, 1, 2];

pub(super) fn rates(digest: &Digest) -> Figure {
    let [dots, amdahl, universal] = COLORS;
    let panels: Vec<Panel> = scalings(digest)
        .iter()
        .filter(|scaling| scaling.steps.len() > 1)
        .map(panel)
        .collect();
    let bounds = style::bound_keys(&panels);
    Figure {
        id: "cores".into(),
        title: "Rate over the device's cores".into(),
        caption: "Medians with bars from the minimum to the maximum; grey and dashed: in proportion to the cores, starting \
                  from the step with the fewest. The lines are the laws fitted to those medians that were limited by the device \
                  itself; between the steps they are a guess."
            .to_owned(),
        keys: [
            style::key(dots, "measured"),
            LegendEntry::new("╌╌", style::MUTED, "ideal"),
            LegendEntry::new("▬", style::color(amdahl), "Amdahl's law"),
            LegendEntry::new("╌╌", style::color(universal), "universal scalability law"),
        ]
        .into_iter()
        .chain(bounds)
        .collect(),
        panels,
        data: DataFile("results-scaling.csv"),
        ..Figure::default()
    }
}

fn panel(scaling: &Scaling) -> Panel {
    let most = scaling
        .steps
        .last()
        .map_or(1.0, |step| f64::from(step.step.cores.get()));
    let ideal = scaling.per_core() * most;
    let mut plots = vec![style::dashed(
        vec![(0.0, 0.0), (most, ideal)],
        style::MUTED,
        1.5,
    )];
    plots.extend(scaling.fits().iter().flatten().map(|fit| curve(fit, most)));
    let measured = measured(scaling);
    let highest = scaling
        .steps
        .iter()
        .map(|step| step.step.summary.max)
        .fold(ideal, f64::max);
    let title = format!("{}, {}", scaling.name, frames(scaling.size));
    let cores = format!("cores of {}", scaling.device.unwrap_or("the device"));
    plots.push(style::barred(COLORS[0], measured.clone()));
    let layout = style::panel(&plots, &title, &cores, &style::rate_label(scaling.measure));
    let layout = style::with_signs(layout, &measured);
    style::draw(
        plots,
        style::from_zero(layout, Axis::counting(most, 8.0), Axis::up_to(highest, 5.0)),
    )
}

/// Returns the curve of a law from one core to the most that were measured.
fn curve(fit: &Fit, most: f64) -> Plot {
    const PARTS: i32 = 100;
    let [_, amdahl, universal] = COLORS;
    let at = |part: i32| 1.0 + (most - 1.0) * f64::from(part) / f64::from(PARTS);
    let points = (0..=PARTS)
        .map(at)
        .map(|cores| (cores, fit.at(cores)))
        .collect();
    match fit.law {
        Law::Amdahl => style::line(points, style::color(amdahl), 1.5),
        Law::Universal => style::dashed(points, style::color(universal), 1.5),
    }
}

fn measured(scaling: &Scaling) -> Vec<Barred> {
    let dot = |ScaledStep { step, point, .. }: &ScaledStep| {
        let (s, sign) = (&step.summary, point.sign());
        let label = format!(
            "{}: {sign}{} {}, n = {}",
            counted(step.cores.get(), "core"),
            grouped(s.median),
            rate_unit(scaling.measure),
            s.n
        );
        Barred::new(
            step.cores.get().into(),
            s.median,
            AxisEnds::new(s.min, s.max),
            label,
        )
        .signed(sign)
    };
    scaling.steps.iter().map(dot).collect()
}

pub(super) fn idle(digest: &Digest) -> Figure {
    let all = scalings(digest);
    let steps = || all.iter().flat_map(|scaling| &scaling.steps);
    Figure {
        id: "idle".into(),
        title: "CPU idle time at the found rate".into(),
        caption:
            "One line for each core: the idle time in the passing trial at the highest load of each repetition, or in the trials \
                  of a test that repeats the found rate, averaged. In a chain of devices, the one with a core near 0 % is the bottleneck."
                .to_owned(),
        panels: steps().flat_map(|step| idle_panels(digest, step.point)).collect(),
        notes: steps().filter_map(|step| bottleneck(step)).collect(),
        ..Figure::default()
    }
}

fn idle_panels(digest: &Digest, point: &PointDigest) -> Vec<Panel> {
    let trials = digest.trials_at_rate(point);
    let devices = point.idle_devices(&trials, digest.dut_title(point.test));
    devices
        .iter()
        .map(|device| idle_panel(point, &trials, device))
        .collect()
}

fn idle_panel(point: &PointDigest, trials: &[&TrialRecord], device: &DeviceIdle) -> Panel {
    let seconds = device.interval_ns as f64 / 1e9;
    let line = |percent: &[f64]| {
        percent
            .iter()
            .zip(1..)
            .map(|(idle, end)| (f64::from(end) * seconds, *idle))
            .collect()
    };
    let cores = device.cores.iter().enumerate();
    let plots: Vec<Plot> = cores
        .map(|(i, core)| style::line(line(&core.percent), style::color(i), 1.5))
        .collect();
    let samples = device
        .cores
        .iter()
        .map(|core| core.percent.len())
        .max()
        .unwrap_or(1);
    let end = samples as f64 * seconds;
    let layout = style::panel(
        &plots,
        &style::point_title(point),
        "time within the trial (s)",
        "idle time (%)",
    );
    let layout = style::from_zero(
        layout,
        Axis::ending(end, 6.0),
        Axis {
            end: 100.0,
            step: 25.0,
        },
    );
    style::draw(plots, style::with_note(layout, &note(trials, device)))
}

/// Returns a note on a device: `plat, core 0: mean of 3 trials, up to 365 k frames/s`.
fn note(trials: &[&TrialRecord], device: &DeviceIdle) -> String {
    let cores = match &device.cores[..] {
        [only] => format!("core {}", only.core),
        several => format!("{} cores", several.len()),
    };
    let fastest = trials
        .iter()
        .map(|trial| &trial.result.spec)
        .max_by_key(|spec| spec.rate)
        .map(load)
        .unwrap_or_default();
    match trials.len() {
        1 => format!("{}, {cores}: {fastest}", device.device),
        several => format!(
            "{}, {cores}: mean of {several} trials, up to {fastest}",
            device.device
        ),
    }
}
