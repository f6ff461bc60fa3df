//! The processors of devices on separate machines, at the rate that was found.

use crate::digest::{Digest, PointDigest};
use crate::layout::table::Table;
use crate::wording::numbers::{size_cell, three_digits};
use sixbench_method::bottleneck::{Idleness, idleness};
use sixbench_method::plan::SeriesBy;

const COLUMNS: &str = "Test; #Size; Machine; Device; #Trials; #Cores; #Idle (%)|all cores; #Idle (%)|least idle; #Its core";

/// Returns a row for each machine of each point, except those of series over cores, which have separate tables.
pub(crate) fn table(digest: &Digest) -> Table {
    let is_scaling = |point: &&PointDigest| point.test.series.as_ref().is_some_and(|series| series.by == SeriesBy::Cores);
    let rows = digest.points.iter().filter(|point| !is_scaling(point)).flat_map(|point| rows(point));
    Table::new("Idle time of machines", COLUMNS.split("; ")).with_rows(rows).with_note(
        "Processor time left over in the passing trial at the highest load of each repetition, averaged, without the first and \
         the last sample of a trial. Cores: those that were online.",
    )
}

fn rows(point: &PointDigest) -> Vec<Vec<String>> {
    let trials = point.found_trials(point.first_goal());
    let row = |of: Idleness| {
        let mut row = vec![point.test.name.clone(), size_cell(point.size()), of.machine?, of.device];
        row.extend([trials.len().to_string(), of.cores.to_string()]);
        row.extend([three_digits(of.mean_percent), three_digits(of.least_percent), of.least_idle_core.to_string()]);
        Some(row)
    };
    idleness(&trials, "").into_iter().filter_map(row).collect()
}
