//! The tables of RFC 9693: rates of connections, the capacity of the table that holds them, and the parameters needed to reproduce a stateful test.

mod capacity;
mod lost;
mod mapping;
mod parameters;
mod rates;

use crate::digest::{Digest, PointDigest, RatedSummary};
use crate::layout::table::Table;
use crate::subject::statistics::{OPEN, Statistics, percentile_note};
use sixbench_method::plan::Stateful;

pub(crate) fn tables(digest: &Digest) -> Vec<Table> {
    let mut tables = vec![
        rates::establishment(digest),
        rates::tear_down(digest),
        capacity::found(digest),
    ];
    tables.extend(capacity::steps(digest));
    tables.extend([
        parameters::phases(digest),
        parameters::tuples(digest),
        mapping::table(digest),
        lost::table(digest),
    ]);
    tables
}

/// A point of a stateful test.
struct StatefulRow<'d> {
    point: &'d PointDigest<'d>,
    device: &'d str,
    stateful: Stateful,
    rate: Statistics,
}

impl<'d> StatefulRow<'d> {
    fn new(digest: &'d Digest, point: &'d PointDigest<'d>, stateful: Stateful) -> Self {
        Self {
            point,
            device: digest.dut_title(point.test),
            stateful,
            rate: Statistics::of_rate(point),
        }
    }
}

/// Adds a note if the validation did not cover all connections, since others may have been lost unnoticed.
fn with_validation<'p>(
    table: Table,
    mut points: impl Iterator<Item = &'p PointDigest<'p>>,
) -> Table {
    table.with_note_if(
        points.any(PointDigest::is_validated_in_part),
        "If N was larger than M, the Responder only knew the last M connections: only those were validated, and earlier \
         ones may have been lost without being noticed.",
    )
}

/// Adds the notes on percentiles and signs.
fn with_notes<'r>(table: Table, rated: impl Iterator<Item = &'r RatedSummary> + Clone) -> Table {
    let is_open = rated.clone().any(|r| r.limits.is_median_open);
    table
        .with_note(percentile_note(rated.map(|r| &r.summary)))
        .with_note_if(is_open, OPEN)
}
