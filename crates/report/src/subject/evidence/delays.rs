//! The delays in the trials that decided throughputs.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{short, title};
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{Delay, DirectionResult};

/// The delays in one direction of a trial.
struct OneWayDelay<'d> {
    point: &'d PointDigest<'d>,
    record: &'d TrialRecord,
    direction: Direction,
    delay: &'d Delay,
}

/// Returns a table of the delays in the passing trial at the highest load of each point.
pub(super) fn table(digest: &Digest) -> Table {
    let rows = digest.throughput_points().flat_map(delay_rows);
    Table::new("Delay in the throughput trials", delay_columns(), rows).with_note(
        "One-way delay as observed in the passing trial at the highest load of each point: a by-product of the throughput \
         trials, not latency by RFC 8219 section 7.2, which requires 120 s and at least 500 tagged frames after the first 60 \
         s.",
    )
}

fn delay_columns<'d>() -> Vec<Column<'d, OneWayDelay<'d>>> {
    vec![
        Column::text("Test", |row: &OneWayDelay| title(row.point.test)),
        Column::number("Size", |row: &OneWayDelay| row.point.point.frame_size),
        Column::number("Load", |row: &OneWayDelay| {
            short(row.record.result.spec.rate.0 as f64)
        }),
        Column::text("Direction", |row: &OneWayDelay| row.direction),
        Column::number("Frames", |row: &OneWayDelay| Cell::Count(row.delay.count)),
        Column::number_in("Delay (ms)", "Min", |row: &OneWayDelay| {
            Cell::Milliseconds(row.delay.min_ns as f64)
        }),
        Column::number_in("Delay (ms)", "Median", |row: &OneWayDelay| {
            Cell::Milliseconds(row.delay.median_ns as f64)
        }),
        Column::number_in("Delay (ms)", "P99.9", |row: &OneWayDelay| {
            Cell::Milliseconds(row.delay.p999_ns as f64)
        }),
        Column::number_in("Delay (ms)", "Max", |row: &OneWayDelay| {
            Cell::Milliseconds(row.delay.max_ns as f64)
        }),
    ]
}

fn delay_rows<'d>(point: &'d PointDigest<'d>) -> Vec<OneWayDelay<'d>> {
    let Some(record) = point.highest_passing(point.first_goal()) else {
        return Vec::new();
    };
    let directions = record.result.directions.iter();
    let row = |of: &'d DirectionResult| {
        Some(OneWayDelay {
            point,
            record,
            direction: of.direction,
            delay: of.delay.as_ref()?,
        })
    };
    directions.filter_map(row).collect()
}
