//! The number of connections that the DUT's table holds, and how it was found.

use super::with_validation;
use crate::digest::{CapacityStep, Digest, PointDigest, RatedSummary};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::{OPEN, Statistics, percentile_note};
use crate::wording::numbers::title;
use sixbench_method::plan::Capacity;

/// A search for a capacity at a point.
struct CapacityRow<'d> {
    point: &'d PointDigest<'d>,
    device: &'d str,
    capacity: Capacity,
    found: Statistics,
    limit: Option<String>,
}

impl<'d> CapacityRow<'d> {
    fn new(digest: &'d Digest, point: &'d PointDigest<'d>, capacity: Capacity) -> Self {
        let limit = point.rated().map(|rated| rated.limits.describe());
        Self {
            point,
            device: digest.dut_title(point.test),
            capacity,
            found: Statistics::of_rate(point),
            limit,
        }
    }

    /// Returns the entries of the Responder's state table.
    fn state_table(&self) -> u64 {
        self.point
            .test
            .stateful
            .map_or(self.capacity.start, |stateful| stateful.state_table)
    }
}

pub(super) fn found(digest: &Digest) -> Table {
    let points: Vec<_> = digest.capacity_points().collect();
    let rated: Vec<RatedSummary> = points.iter().filter_map(|(p, _)| p.rated()).collect();
    let rows = points
        .iter()
        .map(|(p, capacity)| CapacityRow::new(digest, p, *capacity));
    let table = Table::new("Capacity of the connection tracking table", columns(), rows)
        .with_note(
            "The largest number of connections that was held. From C0 on the number is doubled until the establishment rate \
             falls below beta of that of the number before; then the interval is halved, and a number is held where its rate \
             is at least gamma of that of the last number held. M: entries of the Responder's state table. Table size: as set \
             by the plan, otherwise –.",
        )
        .with_note_if(rated.iter().any(|r| r.limits.is_median_open), OPEN);
    with_validation(table, points.iter().map(|(p, _)| *p))
}

fn columns<'d>() -> Vec<Column<'d, CapacityRow<'d>>> {
    vec![
        Column::text("Test", |row: &CapacityRow| title(row.point.test)),
        Column::text("Device", |row: &CapacityRow| row.device),
        Column::number_in("Connections", "Median", |row: &CapacityRow| {
            row.found.median.clone()
        }),
        Column::number_in("Connections", "Min", |row: &CapacityRow| {
            row.found.min.clone()
        }),
        Column::number_in("Connections", "Max", |row: &CapacityRow| {
            row.found.max.clone()
        }),
        Column::number("n", |row: &CapacityRow| row.found.n.clone()),
        Column::number("Known to", |row: &CapacityRow| {
            Cell::Count(row.capacity.error.max(1))
        }),
        Column::number("C0", |row: &CapacityRow| Cell::Count(row.capacity.start)),
        Column::number("M", |row: &CapacityRow| Cell::Count(row.state_table())),
        Column::number("Most tried", |row: &CapacityRow| {
            Cell::Count(row.capacity.most)
        }),
        Column::number("Beta", |row: &CapacityRow| {
            Cell::Share(row.capacity.exponential_share)
        }),
        Column::number("Gamma", |row: &CapacityRow| {
            Cell::Share(row.capacity.binary_share)
        }),
        Column::number("Table size", |row: &CapacityRow| {
            row.point
                .test
                .stateful
                .and_then(|s| s.table_size)
                .map(Cell::Count)
        }),
        Column::text("Limited by", |row: &CapacityRow| row.limit.clone()),
        Column::number("Invalid", |row: &CapacityRow| {
            Cell::Number(row.point.invalid().into())
        }),
    ]
}

pub(super) fn steps(digest: &Digest) -> Vec<Table> {
    digest
        .capacity_points()
        .map(|(point, _)| steps_table(point))
        .collect()
}

fn steps_table(point: &PointDigest) -> Table {
    let steps = point.steps(point.first_goal());
    Table::new(format!("Step by step: {}", title(point.test)), step_columns(), &steps)
        .with_note(
            "Held: in how many of the repetitions that tried this number. Rates: connections/s, searched up to the rate of the \
             number held before. <: not held; connections were lost even at this rate.",
        )
        .with_note(percentile_note(steps.iter().filter_map(|s| s.rates.as_ref())))
}

fn step_columns<'s>() -> Vec<Column<'s, &'s CapacityStep>> {
    vec![
        Column::text("Phase", |step: &&CapacityStep| step.phase.name()),
        Column::number("Connections", |step: &&CapacityStep| {
            Cell::Count(step.connections)
        }),
        Column::number("Held", |step: &&CapacityStep| {
            format!("{} of {}", held(step), step.tried)
        }),
        Column::number_in("Establishment rate", "Median", |step: &&CapacityStep| {
            median(step)
        }),
        Column::number_in("Establishment rate", "P1", |step: &&CapacityStep| {
            step.rates.map(|rates| Cell::Rate(rates.p1))
        }),
        Column::number_in("Establishment rate", "P99", |step: &&CapacityStep| {
            step.rates.map(|rates| Cell::Rate(rates.p99))
        }),
        Column::number("n", |step: &&CapacityStep| Cell::Number(held(step) as u64)),
        Column::number("Trials", |step: &&CapacityStep| {
            Cell::Number(step.trials as u64)
        }),
    ]
}

/// Returns the number of repetitions that held the step.
fn held(step: &CapacityStep) -> usize {
    step.rates.map_or(0, |rates| rates.n)
}

fn median(step: &CapacityStep) -> Cell {
    match (step.rates, step.lowest_lost_rate) {
        (Some(rates), _) => Cell::Rate(rates.median),
        (None, Some(rate)) => Cell::Count(rate).signed("<\u{a0}"),
        (None, None) => "no result".into(),
    }
}
