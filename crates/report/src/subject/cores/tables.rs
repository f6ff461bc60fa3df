//! Tables of series over the DUT's cores: the table from Lencse and Nagy's paper with the fitted laws below, and the idle time of the devices.

use crate::digest::{Digest, common_goal};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::cores::scaling::{ScaledStep, Scaling, scalings};
use crate::subject::statistics::Statistics;
use crate::wording::numbers::{
    commonly_searched, count, frames, full_rate_unit, grouped, rate_unit, short,
};
use sixbench_method::bottleneck::Idleness;

/// Returns for each series the table of its rates and that of its idle times.
pub(super) fn tables(digest: &Digest) -> Vec<Table> {
    let all = scalings(digest);
    let series = all.chunk_by(|a, b| a.name == b.name);
    series
        .flat_map(|sizes| [rates(sizes), idle(digest, sizes)])
        .collect()
}

/// A number of cores in a series.
struct CoresRow<'s> {
    scaling: &'s Scaling<'s, 's>,
    place: usize,
    rate: Statistics,
}

impl<'s> CoresRow<'s> {
    fn new(scaling: &'s Scaling<'s, 's>, place: usize) -> Self {
        let ScaledStep { point, step, .. } = &scaling.steps[place];
        let rate = Statistics::new(point.limits().printed(&step.summary), step.summary.n);
        Self {
            scaling,
            place,
            rate,
        }
    }

    fn scaled(&self) -> &'s ScaledStep<'s, 's> {
        &self.scaling.steps[self.place]
    }

    fn proportion(&self) -> Option<Cell> {
        let bound = self.scaling.bound_of_proportion(self.place);
        self.scaled()
            .step
            .proportion
            .map(|proportion| Cell::rounded(proportion, bound, 2))
    }

    fn speed_up(&self) -> Option<Cell> {
        let bound = self.scaling.bound_to_first(self.place);
        self.scaled()
            .step
            .speed_up
            .map(|speed_up| Cell::rounded(speed_up, bound, 2))
    }

    fn efficiency(&self) -> Option<Cell> {
        let bound = self.scaling.bound_to_first(self.place);
        self.scaled()
            .step
            .efficiency
            .map(|share| Cell::rounded(share * 100.0, bound, 1))
    }
}

fn rate_columns<'s>() -> Vec<Column<'s, CoresRow<'s>>> {
    vec![
        Column::number("Size", |row: &CoresRow| row.scaled().point.size()),
        Column::number("Cores", |row: &CoresRow| {
            Cell::Number(row.scaled().step.cores.get().into())
        }),
        Column::number("Median", |row: &CoresRow| row.rate.median.clone()),
        Column::number("Minimum", |row: &CoresRow| row.rate.min.clone()),
        Column::number("Maximum", |row: &CoresRow| row.rate.max.clone()),
        Column::number("n", |row: &CoresRow| row.rate.n.clone()),
        Column::number("Proportion: current/previous", CoresRow::proportion),
        Column::number("Speed-up", CoresRow::speed_up),
        Column::number("Efficiency (%)", CoresRow::efficiency),
    ]
}

fn rates(sizes: &[Scaling]) -> Table {
    let [first, ..] = sizes else {
        return Table::new("", rate_columns(), []);
    };
    let rows = sizes
        .iter()
        .flat_map(|scaling| (0..scaling.steps.len()).map(|place| CoresRow::new(scaling, place)));
    let what = format!(
        "{}, {}",
        commonly_searched(
            first.measure,
            common_goal(first.steps.iter().map(|step| step.point))
        ),
        full_rate_unit(first.measure)
    );
    let whose = first.device.map_or_else(String::new, |device| {
        format!(" The cores are those of {device} alone; every other device has the same number in all rows.")
    });
    let table = Table::new(format!("Core scaling: {}", first.name), rate_columns(), rows).with_note(format!(
        "{what}. Proportion: the median divided by that of the row above. Speed-up: the median divided by that with one core. \
         Efficiency: the median per core divided by that with the fewest cores.{whose}"
    ));
    sizes
        .iter()
        .flat_map(|scaling| fitted(scaling))
        .fold(table, Table::with_note)
}

/// Returns sentences on the laws, and on the steps that they leave out.
pub(super) fn fitted(scaling: &Scaling) -> Vec<String> {
    let of = scaling
        .size
        .map_or(String::new(), |size| format!("{}: ", frames(Some(size))));
    let unit = format!("\u{a0}{}", rate_unit(scaling.measure));
    let rate = |rate: f64| grouped(rate.round());
    let said = scaling.fits().into_iter().map(|fit| match fit {
        Ok(fit) => format!("{of}{}.", fit.sentence(&unit, &rate)),
        Err(refusal) => format!("{of}{refusal}."),
    });
    left_out(scaling)
        .map(|words| format!("{of}{words}."))
        .into_iter()
        .chain(said)
        .collect()
}

fn left_out(scaling: &Scaling) -> Option<String> {
    let cores: Vec<String> = scaling.left_out().iter().map(ToString::to_string).collect();
    let noun = if cores == ["1"] { "core" } else { "cores" };
    let why =
        "their true values may be higher, because something other than the device ended the search";
    (!cores.is_empty()).then(|| {
        format!(
            "no law is fitted to the rates with {} {noun}: {why}",
            cores.join(", ")
        )
    })
}

/// A device while a rate that was found was offered.
struct IdleRow<'s> {
    step: &'s ScaledStep<'s, 's>,
    idleness: Idleness,
    /// The lowest and the highest rate of the trials, per second.
    rates: [u64; 2],
    trials: usize,
}

fn idle(digest: &Digest, sizes: &[Scaling]) -> Table {
    let name = sizes.first().map_or("", |scaling| scaling.name);
    let steps = || sizes.iter().flat_map(|scaling| &scaling.steps);
    let rows = steps().flat_map(|step| idle_rows(digest, step));
    let table = Table::new(format!("Idle time at the found rate: {name}"), idle_columns(), rows).with_note(
        "Processor time left over in the passing trial at the highest load of each repetition, or, where the plan repeats the \
         found rate in a test of its own, in the trials of that test; averaged, without the first and the last sample of a \
         trial.",
    );
    steps()
        .filter_map(|step| bottleneck(step))
        .fold(table, Table::with_note)
}

fn idle_columns<'s>() -> Vec<Column<'s, IdleRow<'s>>> {
    vec![
        Column::number("Size", |row: &IdleRow| row.step.point.size()),
        Column::number("Cores", |row: &IdleRow| {
            Cell::Number(row.step.step.cores.get().into())
        }),
        Column::text("Device", |row: &IdleRow| row.idleness.place()),
        Column::number_in("Rate", "lowest", |row: &IdleRow| short(row.rates[0] as f64)),
        Column::number_in("Rate", "highest", |row: &IdleRow| {
            short(row.rates[1] as f64)
        }),
        Column::number("Trials", |row: &IdleRow| Cell::Number(row.trials as u64)),
        Column::number_in("Idle (%)", "all cores", |row: &IdleRow| {
            Cell::Significant(row.idleness.mean_percent)
        }),
        Column::number_in("Idle (%)", "least idle", |row: &IdleRow| {
            Cell::Significant(row.idleness.least_percent)
        }),
        Column::number("Its core", |row: &IdleRow| {
            Cell::Number(row.idleness.least_idle_core.into())
        }),
    ]
}

fn idle_rows<'s>(digest: &Digest, step: &'s ScaledStep<'s, 's>) -> Vec<IdleRow<'s>> {
    let trials = digest.trials_at_rate(step.point);
    let rates = || trials.iter().map(|trial| trial.result.spec.rate.0);
    let rates = [rates().min(), rates().max()].map(|rate| rate.unwrap_or(0));
    let idle = step.idleness(digest).into_iter();
    idle.map(|idleness| IdleRow {
        step,
        idleness,
        rates,
        trials: trials.len(),
    })
    .collect()
}

/// Returns a sentence on the bottleneck of a chain: `84 bytes, 16 cores: the bottleneck is plat ...`.
pub(super) fn bottleneck(step: &ScaledStep) -> Option<String> {
    let chain = step.chain()?;
    let of = step
        .device
        .map_or_else(String::new, |device| format!(" of {device}"));
    let cores = count(step.step.cores.get().into(), "core") + &of;
    let size = step
        .point
        .size()
        .map_or(String::new(), |size| format!("{}, ", frames(Some(size))));
    Some(format!("{size}{cores}: {chain}."))
}
