//! Tables of series over the DUT's cores: the table from Lencse and Nagy's paper with the fitted laws below, and the idle time of the devices.

use crate::digest::{Digest, common_goal};
use crate::layout::table::Table;
use crate::scaling::{ScaledStep, Scaling, scalings};
use crate::wording::bound::Bound;
use crate::wording::numbers::{
    commonly_searched, count, frames, full_rate_unit, grouped, rate_unit, short, size_cell, three_digits, with_decimals,
};
use sixbench_method::bottleneck::Idleness;

const COLUMNS: &str =
    "#Size; #Cores; #Median; #Minimum; #Maximum; #n; #Proportion: current/previous; #Speed-up; #Efficiency (%)";

/// Returns for each series the table of its rates and that of its idle times.
pub(crate) fn tables(digest: &Digest) -> Vec<Table> {
    let all = scalings(digest);
    let series = all.chunk_by(|a, b| a.name == b.name);
    series.flat_map(|sizes| [rates(sizes), idle(digest, sizes)]).collect()
}

fn rates(sizes: &[Scaling]) -> Table {
    let [first, ..] = sizes else { return Table::new("", COLUMNS.split("; ")) };
    let rows = sizes.iter().flat_map(|scaling| (0..scaling.steps.len()).map(|place| row(scaling, place)));
    let what = format!(
        "{}, {}",
        commonly_searched(first.measure, common_goal(first.steps.iter().map(|step| step.point))),
        full_rate_unit(first.measure)
    );
    let whose = first.device.map_or_else(String::new, |device| {
        format!(" The cores are those of {device} alone; every other device has the same number in all rows.")
    });
    let table = Table::new(format!("Core scaling: {}", first.name), COLUMNS.split("; ")).with_rows(rows).with_note(format!(
        "{what}. Proportion: the median divided by that of the row above. Speed-up: the median divided by that with one core. \
         Efficiency: the median per core divided by that with the fewest cores.{whose}"
    ));
    sizes.iter().flat_map(|scaling| fitted(scaling)).fold(table, Table::with_note)
}

fn row(scaling: &Scaling, place: usize) -> Vec<String> {
    let ScaledStep { point, step, .. } = &scaling.steps[place];
    let ratio = |value: Option<f64>, bound: Bound, decimals: usize| value.and_then(|value| bounded(value, bound, decimals));
    let (to_previous, to_first) = (scaling.bound_of_proportion(place), scaling.bound_to_first(place));
    let efficiency = step.efficiency.map(|share| share * 100.0);
    let cells = [ratio(step.proportion, to_previous, 2), ratio(step.speed_up, to_first, 2), ratio(efficiency, to_first, 1)];
    let summary = &step.summary;
    let mut row = vec![size_cell(point.size()), step.cores.to_string()];
    let printed = point.limits().printed(summary);
    row.extend([printed.median, printed.min, printed.max, summary.n.to_string()]);
    row.extend(cells.map(|cell| cell.unwrap_or("–".to_owned())));
    row
}

fn bounded(value: f64, bound: Bound, decimals: usize) -> Option<String> {
    let rounded = bound.rounded(value, 10f64.powi(-(decimals as i32)));
    Some(format!("{}{}", bound.sign()?, with_decimals(rounded, decimals)))
}

/// Returns sentences on the laws, and on the steps that they leave out.
pub(crate) fn fitted(scaling: &Scaling) -> Vec<String> {
    let of = scaling.size.map_or(String::new(), |size| format!("{}: ", frames(Some(size))));
    let unit = format!("\u{a0}{}", rate_unit(scaling.measure));
    let rate = |rate: f64| grouped(rate.round());
    let said = scaling.fits().into_iter().map(|fit| match fit {
        Ok(fit) => format!("{of}{}.", fit.words(&unit, &rate)),
        Err(refusal) => format!("{of}{refusal}."),
    });
    left_out(scaling).map(|words| format!("{of}{words}.")).into_iter().chain(said).collect()
}

fn left_out(scaling: &Scaling) -> Option<String> {
    let cores: Vec<String> = scaling.left_out().iter().map(ToString::to_string).collect();
    let noun = if cores == ["1"] { "core" } else { "cores" };
    let why = "their true values may be higher, because something other than the device ended the search";
    (!cores.is_empty()).then(|| format!("no law is fitted to the rates with {} {noun}: {why}", cores.join(", ")))
}

fn idle(digest: &Digest, sizes: &[Scaling]) -> Table {
    let name = sizes.first().map_or("", |scaling| scaling.name);
    let columns = "#Size; #Cores; Device; #Rate|lowest; #Rate|highest; #Trials; #Idle (%)|all cores; #Idle (%)|least idle; \
        #Its core"
        .split("; ");
    let steps = || sizes.iter().flat_map(|scaling| &scaling.steps);
    let rows = steps().flat_map(|step| idle_rows(digest, step));
    let table = Table::new(format!("Idle time at the found rate: {name}"), columns).with_rows(rows).with_note(
        "Processor time left over in the passing trial at the highest load of each repetition, or, where the plan repeats the \
         found rate in a test of its own, in the trials of that test; averaged, without the first and the last sample of a \
         trial.",
    );
    steps().filter_map(|step| bottleneck(step)).fold(table, Table::with_note)
}

fn idle_rows(digest: &Digest, step: &ScaledStep) -> Vec<Vec<String>> {
    let trials = digest.trials_at_rate(step.point);
    let rates = || trials.iter().map(|trial| trial.result.spec.rate.0);
    let [low, high] = [rates().min(), rates().max()].map(|rate| short(rate.unwrap_or(0) as f64));
    let row = |of: &Idleness| {
        let mut row = vec![size_cell(step.point.size()), step.step.cores.to_string(), of.place()];
        row.extend([low.clone(), high.clone(), trials.len().to_string()]);
        row.extend([three_digits(of.mean_percent), three_digits(of.least_percent), of.least_idle_core.to_string()]);
        row
    };
    step.idleness(digest).iter().map(row).collect()
}

/// Returns a sentence on the bottleneck of a chain: `84 bytes, 16 cores: the bottleneck is plat ...`.
pub(crate) fn bottleneck(step: &ScaledStep) -> Option<String> {
    let chain = step.chain()?;
    let of = step.device.map_or_else(String::new, |device| format!(" of {device}"));
    let cores = count(step.step.cores.get().into(), "core") + &of;
    let size = step.point.size().map_or(String::new(), |size| format!("{}, ", frames(Some(size))));
    Some(format!("{size}{cores}: {chain}."))
}
