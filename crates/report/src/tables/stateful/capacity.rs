//! The number of connections that the DUT's table holds, and how it was found.

use super::with_validation;
use crate::digest::{CapacityStep, Digest, PointDigest, Rated};
use crate::layout::table::Table;
use crate::tables::{OPEN, percentile_note, rated_cells};
use crate::wording::numbers::{grouped, percent, title, whole};
use sixbench_method::plan::Capacity;

pub(super) fn found(digest: &Digest) -> Table {
    let columns =
        "Test; Device; #Connections|Median; #Connections|Min; #Connections|Max; #n; #Known to; #C0; #M; #Most tried; \
        #Beta; #Gamma; #Table size; Limited by; #Invalid"
            .split("; ");
    let points: Vec<_> = searched(digest).collect();
    let rated: Vec<Rated> = points.iter().filter_map(|(p, _)| p.rated()).collect();
    let table = Table::new("Capacity of the connection tracking table", columns)
        .with_rows(points.iter().map(|(p, c)| row(digest, p, c)))
        .with_note(
            "The largest number of connections that was held. From C0 on the number is doubled until the establishment rate \
             falls below beta of that of the number before; then the interval is halved, and a number is held where its rate \
             is at least gamma of that of the last number held. M: entries of the Responder's state table. Table size: as set \
             by the plan, otherwise –.",
        )
        .with_note_if(rated.iter().any(|r| r.limits.is_median_open), OPEN);
    with_validation(table, points.iter().map(|(p, _)| *p))
}

fn searched<'d, 'a>(digest: &'d Digest<'a>) -> impl Iterator<Item = (&'d PointDigest<'a>, Capacity)> {
    digest.points.iter().filter_map(|p| Some((p, *p.test.measure.table_capacity()?)))
}

fn row(digest: &Digest, point: &PointDigest, capacity: &Capacity) -> Vec<String> {
    let rated = point.rated();
    let mut row = vec![title(point.test), digest.dut_title(point.test).to_owned()];
    row.extend(rated_cells(point, |printed| [printed.min, printed.max]));
    let responder = point.test.stateful.map_or(capacity.start, |s| s.state_table);
    row.extend([capacity.error.max(1), capacity.start, responder, capacity.most].map(whole));
    row.extend([capacity.exponential_share, capacity.binary_share].map(percent));
    row.push(point.test.stateful.and_then(|s| s.table_size).map_or("–".to_owned(), whole));
    row.push(rated.map_or("–".to_owned(), |r| r.limits.words()));
    row.push(point.invalid().to_string());
    row
}

pub(super) fn steps(digest: &Digest) -> Vec<Table> {
    searched(digest).map(|(point, _)| steps_table(point)).collect()
}

fn steps_table(point: &PointDigest) -> Table {
    let columns = "Phase; #Connections; #Held; #Establishment rate|Median; #Establishment rate|P1; #Establishment rate|P99; \
        #n; #Trials"
        .split("; ");
    let steps = point.steps(point.first_goal());
    Table::new(format!("Step by step: {}", title(point.test)), columns)
        .with_rows(steps.iter().map(step_row))
        .with_note(
            "Held: in how many of the repetitions that tried this number. Rates: connections/s, searched up to the rate of the \
             number held before. <: not held; connections were lost even at this rate.",
        )
        .with_note(percentile_note(steps.iter().filter_map(|s| s.rates.as_ref())))
}

fn step_row(step: &CapacityStep) -> Vec<String> {
    let held = step.rates.map_or(0, |rates| rates.n);
    let mut row = vec![step.phase.name().to_owned(), whole(step.connections), format!("{held} of {}", step.tried)];
    row.extend(match &step.rates {
        Some(rates) => [rates.median, rates.p1, rates.p99].map(|rate| grouped(rate.round())),
        None => [step.not_at.map_or("no result".to_owned(), |rate| format!("<\u{a0}{}", whole(rate))), "–".into(), "–".into()],
    });
    row.extend([held.to_string(), step.trials.to_string()]);
    row
}
