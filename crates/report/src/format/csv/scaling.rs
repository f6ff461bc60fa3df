//! `results-scaling.csv`: series over the DUT's cores, one row for each number.

use super::column::{FileColumn, FileRow};
use super::run;
use crate::digest::Digest;
use crate::subject::cores::{Scaling, scalings};
use crate::wording::numbers::full_rate_unit;
use sixbench_analysis::scaling::{Fit, Law};

/// Returns rates, ratios, speed-up and efficiency for each number of cores, the idle time of each device, and the parameters of the fitted laws with
/// their intervals. `None` for a plan without such a series.
pub(crate) fn scaling_csv(digest: &Digest<'_>) -> Option<String> {
    let all = scalings(digest);
    let rows = all.iter().flat_map(|scaling| {
        let on = digest
            .hosts
            .of_points(scaling.steps.iter().map(|step| &step.point.point))
            .into_iter()
            .collect::<Vec<_>>();
        let row = move |value| FileRow {
            hosts: on.join(", "),
            row: SeriesRow { scaling, value },
        };
        values(digest, scaling).into_iter().map(row)
    });
    (!all.is_empty()).then(|| run::of_columns(digest, &columns(&digest.input.plan.name), rows))
}

/// A number of a series.
struct SeriesRow<'s> {
    scaling: &'s Scaling<'s, 's>,
    value: ScalingRow,
}

fn columns(plan: &str) -> [FileColumn<'_, SeriesRow<'_>>; 11] {
    [
        FileColumn::new("plan", move |_: &SeriesRow| plan),
        FileColumn::new("series", |row: &SeriesRow| row.scaling.name),
        FileColumn::optional("frame_size_octets", |row: &SeriesRow| row.scaling.size),
        FileColumn::new("cores", |row: &SeriesRow| row.value.cores.clone()),
        FileColumn::new("what", |row: &SeriesRow| row.value.what.clone()),
        FileColumn::new("device", |row: &SeriesRow| row.value.device.clone()),
        FileColumn::optional("value", |row: &SeriesRow| row.value.value),
        FileColumn::optional("low", |row: &SeriesRow| row.value.ends[0]),
        FileColumn::optional("high", |row: &SeriesRow| row.value.ends[1]),
        FileColumn::new("unit", |row: &SeriesRow| row.value.unit),
        FileColumn::new("is_at_least", |row: &SeriesRow| row.value.is_at_least),
    ]
}

/// The columns from `cores` on.
struct ScalingRow {
    cores: String,
    what: String,
    device: String,
    value: Option<f64>,
    ends: [Option<f64>; 2],
    unit: &'static str,
    /// True if the value is only a lower bound.
    is_at_least: bool,
}

fn values(digest: &Digest, scaling: &Scaling) -> Vec<ScalingRow> {
    let unit = full_rate_unit(scaling.measure);
    let steps = (0..scaling.steps.len()).flat_map(|place| of_step(digest, scaling, place, unit));
    let fits = scaling
        .fits()
        .into_iter()
        .flatten()
        .flat_map(|fit| of_fit(&fit, unit));
    steps.chain(fits).collect()
}

fn of_step(
    digest: &Digest,
    scaling: &Scaling,
    place: usize,
    unit: &'static str,
) -> Vec<ScalingRow> {
    let scaled = &scaling.steps[place];
    let step = &scaled.step;
    let row = |what: &str, device: &str, value: Option<f64>, ends, unit| ScalingRow {
        cores: step.cores.to_string(),
        what: what.to_owned(),
        device: device.to_owned(),
        value,
        ends,
        unit,
        is_at_least: what == "rate" && scaled.is_open,
    };
    // A rate whose true value may be higher has no upper end.
    let highest = (!scaled.is_open).then_some(step.summary.max);
    let mut rows = vec![row(
        "rate",
        "",
        Some(step.summary.median),
        [Some(step.summary.min), highest],
        unit,
    )];
    let ratios = [
        ("proportion", step.proportion),
        ("speed-up", step.speed_up),
        ("efficiency", step.efficiency),
    ];
    rows.extend(ratios.map(|(what, value)| row(what, "", value, [None; 2], "ratio")));
    rows.extend(scaled.idleness(digest).into_iter().flat_map(|of| {
        let idle = [("idle", of.mean_percent), ("idle-least", of.least_percent)];
        idle.map(|(what, percent)| row(what, &of.device, Some(percent), [None; 2], "percent"))
    }));
    rows
}

fn of_fit(fit: &Fit, unit: &'static str) -> Vec<ScalingRow> {
    let law = match fit.law {
        Law::Amdahl => "amdahl",
        Law::Universal => "universal",
    };
    let row = |what: &str, value: Option<f64>, ends: Option<(f64, Option<f64>)>, unit| ScalingRow {
        cores: String::new(),
        what: format!("{law}-{what}"),
        device: String::new(),
        value,
        ends: [ends.map(|(low, _)| low), ends.and_then(|(_, high)| high)],
        unit,
        is_at_least: false,
    };
    let closed = |(low, high): (f64, f64)| (low, Some(high));
    let interval = fit.interval.as_ref();
    let mut rows = vec![
        row(
            "lambda",
            Some(fit.lambda),
            interval.map(|i| closed(i.lambda)),
            unit,
        ),
        row(
            "sigma",
            Some(fit.sigma),
            interval.map(|i| closed(i.sigma)),
            "ratio",
        ),
    ];
    if fit.law == Law::Universal {
        let peak = interval
            .and_then(|i| i.peak)
            .map(|peak| (peak.low, peak.high));
        rows.push(row(
            "kappa",
            Some(fit.kappa),
            interval.map(|i| closed(i.kappa)),
            "ratio",
        ));
        rows.push(row("peak", fit.peak(), peak, "cores"));
    }
    rows.push(row("residual", Some(fit.residual), None, "ratio"));
    rows
}
