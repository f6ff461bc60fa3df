//! The rates at which connections are opened and deleted.

use super::{StatefulRow, with_notes, with_validation};
use crate::digest::{Digest, PointDigest, RatedSummary};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::limit_words;

use crate::wording::numbers::title;
use sixbench_method::measures::Quantity;

/// Returns the table of the highest rates at which every frame of phase 1 opens a working connection.
pub(super) fn establishment(digest: &Digest) -> Table {
    let points: Vec<_> = digest
        .stateful_points()
        .filter(|(p, _)| p.is_of_establishment())
        .collect();
    let rated: Vec<RatedSummary> = points.iter().filter_map(|(p, _)| p.rated()).collect();
    let rows = points
        .iter()
        .map(|(p, stateful)| StatefulRow::new(digest, p, *stateful));
    let table = Table::new("Maximum connection establishment rate", establishment_columns(), rows).with_note(
        "N: connections of phase 1, one frame each; M: entries of the Responder's state table; R: the rate. A trial passes \
             when all frames of phase 1 arrive and then, in the validation, a frame of the Responder comes back on every \
             connection, at this share of R. Lost alone: trials that would have passed without the validation. Device's count: \
             after phase 1 and at the end, with the number of trials; only trials whose phase 1 was complete are included.",
    );
    with_validation(
        with_notes(table, rated.iter()),
        points.iter().map(|(p, _)| *p),
    )
}

fn establishment_columns<'d>() -> Vec<Column<'d, StatefulRow<'d>>> {
    vec![
        Column::text("Test", |row: &StatefulRow| title(row.point.test)),
        Column::text("Device", |row: &StatefulRow| row.device),
        Column::number("N", |row: &StatefulRow| {
            Cell::Count(row.stateful.connections)
        }),
        Column::number("M", |row: &StatefulRow| {
            Cell::Count(row.stateful.state_table)
        }),
        Column::number_in("Connections/s", "Median", |row: &StatefulRow| {
            row.rate.median.clone()
        }),
        Column::number_in("Connections/s", "P1", |row: &StatefulRow| {
            row.rate.p1.clone()
        }),
        Column::number_in("Connections/s", "P99", |row: &StatefulRow| {
            row.rate.p99.clone()
        }),
        Column::number("n", |row: &StatefulRow| row.rate.n.clone()),
        Column::number_in("Validation", "Of R", |row: &StatefulRow| {
            Cell::Share(row.stateful.validation)
        }),
        Column::number_in("Validation", "Lost alone", |row: &StatefulRow| {
            lost_alone(row.point)
        }),
        Column::text("Limited by", |row: &StatefulRow| {
            row.point.goals.first().map(limit_words)
        }),
        Column::text("Device's count", |row: &StatefulRow| {
            row.point.agreement().describe()
        }),
        Column::number("Invalid", |row: &StatefulRow| {
            Cell::Number(row.point.invalid().into())
        }),
    ]
}

fn lost_alone(point: &PointDigest) -> Cell {
    Cell::Number(point.lost_in_validation_alone(point.first_goal()) as u64)
}

pub(super) fn tear_down(digest: &Digest) -> Table {
    let points: Vec<_> = digest
        .stateful_points()
        .filter(|(p, _)| p.test.measure.info().headline == Some(Quantity::TearDownRate))
        .collect();
    let rated: Vec<RatedSummary> = points.iter().filter_map(|(p, _)| p.rated()).collect();
    let rows = points
        .iter()
        .map(|(p, stateful)| StatefulRow::new(digest, p, *stateful));
    let table = Table::new("Connection tear-down rate", tear_down_columns(), rows).with_note(
        "N connections are opened at R connections/s, then deleted all at once by the implementation's own command, which \
             is in the recipe; starting it is part of the time. Device's count: before the deletion.",
    );
    with_notes(table, rated.iter())
}

fn tear_down_columns<'d>() -> Vec<Column<'d, StatefulRow<'d>>> {
    vec![
        Column::text("Test", |row: &StatefulRow| title(row.point.test)),
        Column::text("Device", |row: &StatefulRow| row.device),
        Column::number("N", |row: &StatefulRow| {
            Cell::Count(row.stateful.connections)
        }),
        Column::number("R", |row: &StatefulRow| Cell::Count(row.stateful.rate.0)),
        Column::number_in("Connections/s", "Median", |row: &StatefulRow| {
            row.rate.median.clone()
        }),
        Column::number_in("Connections/s", "P1", |row: &StatefulRow| {
            row.rate.p1.clone()
        }),
        Column::number_in("Connections/s", "P99", |row: &StatefulRow| {
            row.rate.p99.clone()
        }),
        Column::number("n", |row: &StatefulRow| row.rate.n.clone()),
        Column::number_in("Time for N (s)", "Median", |row: &StatefulRow| {
            row.point.deletions().map(|ns| seconds(ns.median))
        }),
        Column::number_in("Time for N (s)", "Min", |row: &StatefulRow| {
            row.point.deletions().map(|ns| seconds(ns.min))
        }),
        Column::number_in("Time for N (s)", "Max", |row: &StatefulRow| {
            row.point.deletions().map(|ns| seconds(ns.max))
        }),
        Column::text("Device's count", |row: &StatefulRow| {
            row.point.agreement().describe()
        }),
        Column::number("Invalid", |row: &StatefulRow| {
            Cell::Number(row.point.invalid().into())
        }),
    ]
}

fn seconds(ns: f64) -> Cell {
    Cell::Significant(ns / 1e9)
}
