//! The memory and the drops of each device: its memory in the passing trial at the highest load, and where it dropped frames in the losing trial at the
//! lowest load.

use crate::digest::{Digest, PointDigest};
use crate::layout::table::Table;
use crate::wording::numbers::{grouped, load, size_cell, three_digits, title};
use sixbench_method::record::{DropPlace, Drops, TrialRecord, Watch};

pub(crate) fn memory(digest: &Digest) -> Table {
    let rows = digest.points.iter().flat_map(|point| memory_rows(point));
    Table::new("Memory of the devices", ["Test", "#Size", "Load", "Of", "#At the start (MiB)", "#At most (MiB)"])
        .with_rows(rows)
        .with_note("The passing trial at the highest load of each point. Of the device's processes it is the resident memory.")
}

fn memory_rows(point: &PointDigest) -> Vec<Vec<String>> {
    let Some((record, watch)) = watched(point.busiest_trial(point.first_goal())) else { return Vec::new() };
    let of_dut = ("the device's processes", &watch.memory);
    let all = std::iter::once(of_dut).chain(watch.devices.iter().map(|device| (device.device.as_str(), &device.memory)));
    let mib = |octets: u64| three_digits(octets as f64 / 1_048_576.0);
    let row = |(of, samples): (&str, &Vec<u64>)| {
        let (first, most) = (*samples.first()?, *samples.iter().max()?);
        Some(head(point, record).into_iter().chain([of.to_owned(), mib(first), mib(most)]).collect())
    };
    all.filter_map(row).collect()
}

pub(crate) fn drops(digest: &Digest) -> Table {
    let rows = digest.points.iter().flat_map(|point| drop_rows(point));
    Table::new("Frames dropped by the device's kernel", ["Test", "#Size", "Load", "Where", "Way", "#Frames"])
        .with_rows(rows)
        .with_note(
            "The losing trial at the lowest load of each point. Of a connection tracking table it is what the table counted.",
        )
}

fn drop_rows(point: &PointDigest) -> Vec<Vec<String>> {
    let Some((record, watch)) = watched(point.losing_trial(point.first_goal())) else { return Vec::new() };
    let row = |drops: &Drops| {
        let count = grouped(drops.samples.iter().sum::<u64>() as f64);
        let place = match drops.place == DropPlace::Conntrack {
            true => "connection tracking table".to_owned(),
            false => drops.place.to_string(),
        };
        head(point, record).into_iter().chain([place, drops.way.to_string(), count]).collect()
    };
    watch.drops.iter().map(row).collect()
}

fn watched(record: Option<&TrialRecord>) -> Option<(&TrialRecord, &Watch)> {
    record.and_then(|record| Some((record, record.watch.as_deref()?)))
}

fn head(point: &PointDigest, record: &TrialRecord) -> [String; 3] {
    [title(point.test), size_cell(point.size()), load(&record.result.spec)]
}
