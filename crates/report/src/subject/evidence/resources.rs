//! The memory and the drops of each device: its memory in the passing trial at the highest load, and where it dropped frames in the losing trial at the
//! lowest load.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{load, title};
use sixbench_method::record::{DropPlace, Drops, TrialRecord, Watch};

/// The memory of a device or of one of its processes in a trial.
struct MemoryRow<'d> {
    trial: WatchedTrial<'d>,
    of: &'d str,
    /// Octets.
    first: u64,
    /// Octets.
    most: u64,
}

/// A trial of a point during which the device was monitored.
#[derive(Clone, Copy)]
struct WatchedTrial<'d> {
    point: &'d PointDigest<'d>,
    record: &'d TrialRecord,
    watch: &'d Watch,
}

impl<'d> WatchedTrial<'d> {
    fn new(point: &'d PointDigest<'d>, record: Option<&'d TrialRecord>) -> Option<Self> {
        Some(Self {
            point,
            record: record?,
            watch: record?.watch.as_deref()?,
        })
    }
}

pub(super) fn memory(digest: &Digest) -> Table {
    let rows = digest.points.iter().flat_map(memory_rows);
    Table::new("Memory of the devices", memory_columns(), rows)
        .with_note("The passing trial at the highest load of each point. For the device's processes, it is their resident memory.")
}

fn memory_columns<'d>() -> Vec<Column<'d, MemoryRow<'d>>> {
    vec![
        Column::text("Test", |row: &MemoryRow| title(row.trial.point.test)),
        Column::number("Size", |row: &MemoryRow| row.trial.point.size()),
        Column::text("Load", |row: &MemoryRow| {
            load(&row.trial.record.result.spec)
        }),
        Column::text("Of", |row: &MemoryRow| row.of),
        Column::number("At the start (MiB)", |row: &MemoryRow| mebi(row.first)),
        Column::number("At most (MiB)", |row: &MemoryRow| mebi(row.most)),
    ]
}

fn mebi(octets: u64) -> Cell {
    Cell::Significant(octets as f64 / 1_048_576.0)
}

fn memory_rows<'d>(point: &'d PointDigest<'d>) -> Vec<MemoryRow<'d>> {
    let Some(trial) = WatchedTrial::new(point, point.busiest_trial(point.first_goal())) else {
        return Vec::new();
    };
    let of_dut = memory_row(trial, "the device's processes", &trial.watch.memory);
    let devices = trial
        .watch
        .devices
        .iter()
        .map(|device| memory_row(trial, &device.device, &device.memory));
    std::iter::once(of_dut).chain(devices).flatten().collect()
}

/// Returns a row for these samples, octets; `None` if there are none.
fn memory_row<'d>(trial: WatchedTrial<'d>, of: &'d str, samples: &[u64]) -> Option<MemoryRow<'d>> {
    Some(MemoryRow {
        trial,
        of,
        first: *samples.first()?,
        most: *samples.iter().max()?,
    })
}

/// A place where frames were dropped in a trial.
struct DropRow<'d> {
    trial: WatchedTrial<'d>,
    drops: &'d Drops,
}

pub(super) fn drops(digest: &Digest) -> Table {
    let rows = digest.points.iter().flat_map(drop_rows);
    Table::new("Frames dropped by the device's kernel", drop_columns(), rows).with_note(
        "The losing trial at the lowest load of each point. Of a connection tracking table it is what the table counted.",
    )
}

fn drop_columns<'d>() -> Vec<Column<'d, DropRow<'d>>> {
    vec![
        Column::text("Test", |row: &DropRow| title(row.trial.point.test)),
        Column::number("Size", |row: &DropRow| row.trial.point.size()),
        Column::text("Load", |row: &DropRow| load(&row.trial.record.result.spec)),
        Column::text("Where", |row: &DropRow| place(row.drops)),
        Column::text("Way", |row: &DropRow| row.drops.way.clone()),
        Column::number("Frames", |row: &DropRow| {
            Cell::Count(row.drops.samples.iter().sum())
        }),
    ]
}

fn place(drops: &Drops) -> String {
    match &drops.place {
        DropPlace::Conntrack => "connection tracking table".to_owned(),
        place => place.to_string(),
    }
}

fn drop_rows<'d>(point: &'d PointDigest<'d>) -> Vec<DropRow<'d>> {
    let Some(trial) = WatchedTrial::new(point, point.losing_trial(point.first_goal())) else {
        return Vec::new();
    };
    trial
        .watch
        .drops
        .iter()
        .map(|drops| DropRow { trial, drops })
        .collect()
}
