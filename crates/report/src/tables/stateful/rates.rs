//! The rates at which connections are opened and deleted.

use super::{head, with_notes, with_validation};
use crate::digest::{Digest, PointDigest, Rated};
use crate::layout::table::Table;
use crate::tables::rate_cells;
use crate::tables::throughput::limit_words;
use crate::wording::numbers::{grouped, percent, three_digits};
use sixbench_method::measures::Demand;
use sixbench_method::plan::Stateful;

/// Returns the table of the highest rates at which every frame of phase 1 opens a working connection.
pub(super) fn establishment(digest: &Digest) -> Table {
    let columns = "Test; Device; #N; #M; #Connections/s|Median; #Connections/s|P1; #Connections/s|P99; #n; #Validation|Of R; \
        #Validation|Lost alone; Limited by; Device's count; #Invalid"
        .split("; ");
    let points: Vec<_> = digest
        .stateful_points()
        .filter(|(p, _)| p.test.measure.is_searched_rate() && p.test.measure.is_of_connections())
        .collect();
    let rated: Vec<Rated> = points.iter().filter_map(|(p, _)| p.rated()).collect();
    let table = Table::new("Maximum connection establishment rate", columns)
        .with_rows(points.iter().map(|(p, s)| establishment_row(digest, p, s)))
        .with_note(
            "N: connections of phase 1, one frame each; M: entries of the Responder's state table; R: the rate. A trial passes \
             when all frames of phase 1 arrive and then, in the validation, a frame of the Responder comes back on every \
             connection, at this share of R. Lost alone: trials that would have passed without the validation. Device's count: \
             after phase 1 and at the end, with the number of trials; only trials whose phase 1 was complete are included.",
        );
    with_validation(with_notes(table, rated.iter()), points.iter().map(|(p, _)| *p))
}

fn establishment_row(digest: &Digest, point: &PointDigest, stateful: &Stateful) -> Vec<String> {
    let mut row = head(digest, point, stateful);
    row.push(grouped(stateful.state_table as f64));
    row.extend(rate_cells(point));
    row.push(percent(stateful.validation));
    row.push(point.lost_in_validation_alone(point.first_goal()).to_string());
    row.push(point.goals.first().map_or("–".to_owned(), limit_words));
    row.extend([point.agreement().words(), point.invalid().to_string()]);
    row
}

pub(super) fn tear_down(digest: &Digest) -> Table {
    let columns = "Test; Device; #N; #R; #Connections/s|Median; #Connections/s|P1; #Connections/s|P99; #n; \
        #Time for N (s)|Median; #Time for N (s)|Min; #Time for N (s)|Max; Device's count; #Invalid"
        .split("; ");
    let points: Vec<_> = digest.stateful_points().filter(|(p, _)| p.test.measure.demand() == Some(Demand::TearDown)).collect();
    let rated: Vec<Rated> = points.iter().filter_map(|(p, _)| p.rated()).collect();
    let table = Table::new("Connection tear-down rate", columns)
        .with_rows(points.iter().map(|(p, s)| tear_down_row(digest, p, s)))
        .with_note(
            "N connections are opened at R connections/s, then deleted all at once by the implementation's own command, which \
             is in the recipe; starting it is part of the time. Device's count: before the deletion.",
        );
    with_notes(table, rated.iter())
}

fn tear_down_row(digest: &Digest, point: &PointDigest, stateful: &Stateful) -> Vec<String> {
    let mut row = head(digest, point, stateful);
    row.push(grouped(stateful.rate.0 as f64));
    row.extend(rate_cells(point));
    let times = point.deletions().map(|s| [s.median, s.min, s.max].map(|ns| three_digits(ns / 1e9)));
    row.extend(times.unwrap_or_else(|| ["–"; 3].map(str::to_owned)));
    row.extend([point.agreement().words(), point.invalid().to_string()]);
    row
}
