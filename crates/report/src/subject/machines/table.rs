//! The processors of devices on separate machines, at the rate that was found.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use sixbench_method::bottleneck::{Idleness, idleness};
use sixbench_method::plan::SeriesBy;

/// A machine of a point.
struct MachineRow<'d> {
    point: &'d PointDigest<'d>,
    machine: String,
    idleness: Idleness,
    trials: usize,
}

/// Returns a row for each machine of each point, except those of series over cores, which have separate tables.
pub(super) fn table(digest: &Digest) -> Table {
    let is_scaling = |point: &&PointDigest| {
        point
            .test
            .series
            .as_ref()
            .is_some_and(|series| series.by == SeriesBy::Cores)
    };
    let rows = digest
        .points
        .iter()
        .filter(|point| !is_scaling(point))
        .flat_map(rows);
    Table::new("Idle time of machines", columns(), rows).with_note(
        "Processor time left over in the passing trial at the highest load of each repetition, averaged, without the first and \
         the last sample of a trial. Cores: those that were online.",
    )
}

fn columns<'d>() -> Vec<Column<'d, MachineRow<'d>>> {
    vec![
        Column::text("Test", |row: &MachineRow| row.point.test.name.clone()),
        Column::number("Size", |row: &MachineRow| row.point.size()),
        Column::text("Machine", |row: &MachineRow| row.machine.clone()),
        Column::text("Device", |row: &MachineRow| row.idleness.device.clone()),
        Column::number("Trials", |row: &MachineRow| Cell::Number(row.trials as u64)),
        Column::number("Cores", |row: &MachineRow| {
            Cell::Number(row.idleness.cores as u64)
        }),
        Column::number_in("Idle (%)", "all cores", |row: &MachineRow| {
            Cell::Significant(row.idleness.mean_percent)
        }),
        Column::number_in("Idle (%)", "least idle", |row: &MachineRow| {
            Cell::Significant(row.idleness.least_percent)
        }),
        Column::number("Its core", |row: &MachineRow| {
            Cell::Number(u64::from(row.idleness.least_idle_core))
        }),
    ]
}

fn rows<'d>(point: &'d PointDigest<'d>) -> Vec<MachineRow<'d>> {
    let trials = point.found_trials(point.first_goal());
    let row = |idleness: Idleness| {
        let machine = idleness.machine.clone()?;
        Some(MachineRow {
            point,
            machine,
            idleness,
            trials: trials.len(),
        })
    };
    idleness(&trials, "").into_iter().filter_map(row).collect()
}
