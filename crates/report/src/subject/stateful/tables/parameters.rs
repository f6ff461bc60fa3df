//! The parameters of every stateful test that RFC 9693 requires to be reported.

use crate::digest::{Digest, PointDigest, phase_1_rate};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::bound::Bound;
use crate::wording::numbers::{title, whole};
use sixbench_method::lists::{by_key, each_once};
use sixbench_method::plan::{AddressPart, Ports, Stateful, Test, ValueRange};
use sixbench_method::terms::Direction;
use sixbench_method::units::counted as number_of;
use std::fmt::Display;

/// A stateful test.
struct PhasesRow<'d> {
    test: &'d Test,
    stateful: Stateful,
    safety: Option<Cell>,
    counted: String,
}

pub(super) fn phases(digest: &Digest) -> Table {
    let rows = stateful_tests(digest).map(|(test, stateful)| PhasesRow {
        test,
        stateful,
        safety: safety(digest, test, &stateful),
        counted: counted(digest, test),
    });
    Table::new("Parameters of the two phases", phase_columns(), rows).with_note(
        "N: connections of phase 1; M: entries of the Responder's state table; R: the rate of phase 1, connections/s; R / \
         maximum: the safety factor, relative to the establishment rate that this run measured for the same device (≤ if that may \
         be higher), otherwise –; T: the wait for frames of phase 1; D: from the first frame of phase 1 to the first of phase \
         2. Table size: that of the device, if the plan sets it. Device's count: after phase 1 and at the end, with the number of \
         trials; only trials whose phase 1 was complete are included.",
    )
}

fn phase_columns<'d>() -> Vec<Column<'d, PhasesRow<'d>>> {
    vec![
        Column::text("Test", |row: &PhasesRow| title(row.test)),
        Column::text("Measure", |row: &PhasesRow| row.test.measure.name()),
        Column::number("N", |row: &PhasesRow| connections(row.test, &row.stateful)),
        Column::number("M", |row: &PhasesRow| Cell::Count(row.stateful.state_table)),
        Column::number("R", |row: &PhasesRow| {
            phase_1_rate(row.test, &row.stateful)
                .map_or("searched".into(), |rate| Cell::Count(rate.0))
        }),
        Column::number("R / maximum", |row: &PhasesRow| row.safety.clone()),
        Column::number("T", |row: &PhasesRow| Cell::Time(row.stateful.timeout_ns)),
        Column::number("D", |row: &PhasesRow| delay(row.test)),
        Column::number("Table size", |row: &PhasesRow| {
            row.stateful.table_size.map(Cell::Count)
        }),
        Column::text("Device's count", |row: &PhasesRow| row.counted.clone()),
    ]
}

/// Tests that have the same four-tuples in the same orders.
struct TuplesRow {
    tests: String,
    tuples: Tuples,
}

/// The four-tuples of a test, in words and numbers.
#[derive(PartialEq, Eq)]
struct Tuples {
    source_ports: String,
    destination_ports: String,
    initiators: String,
    responders: String,
    combinations: u64,
    enumeration: &'static str,
    state_table: &'static str,
}

/// Returns one row for all tests that have the same four-tuples in the same orders.
pub(super) fn tuples(digest: &Digest) -> Table {
    // The steps of a series differ in other settings.
    let name = |test: &Test| {
        test.series
            .as_ref()
            .map_or_else(|| title(test), |series| series.name.clone())
    };
    let alike = by_key(
        stateful_tests(digest)
            .map(|(test, stateful)| (Tuples::new(digest, test, &stateful), name(test))),
    );
    let is_one = alike.len() == 1;
    let tests = |names: Vec<String>| {
        if is_one {
            "all".to_owned()
        } else {
            each_once(names).join("; ")
        }
    };
    let rows = alike.into_iter().map(|(tuples, names)| TuplesRow {
        tests: tests(names),
        tuples,
    });
    Table::new("Four-tuples of the connections", tuple_columns(), rows).with_note(
        "Addresses: values of the bits that vary. Enumeration: the order in which phase 1 goes through the combinations; \
         state table: the order in which the Responder reads it.",
    )
}

fn tuple_columns() -> Vec<Column<'static, TuplesRow>> {
    vec![
        Column::text("Tests", |row: &TuplesRow| row.tests.clone()),
        Column::number_in("Ports of the Initiator", "Source", |row: &TuplesRow| {
            row.tuples.source_ports.clone()
        }),
        Column::number_in(
            "Ports of the Initiator",
            "Destination",
            |row: &TuplesRow| row.tuples.destination_ports.clone(),
        ),
        Column::number_in("Addresses", "Initiator", |row: &TuplesRow| {
            row.tuples.initiators.clone()
        }),
        Column::number_in("Addresses", "Responder", |row: &TuplesRow| {
            row.tuples.responders.clone()
        }),
        Column::number("Combinations", |row: &TuplesRow| {
            Cell::Count(row.tuples.combinations)
        }),
        Column::text("Enumeration", |row: &TuplesRow| row.tuples.enumeration),
        Column::text("State table", |row: &TuplesRow| row.tuples.state_table),
    ]
}

fn stateful_tests<'d>(digest: &'d Digest) -> impl Iterator<Item = (&'d Test, Stateful)> {
    digest
        .input
        .plan
        .tests
        .iter()
        .filter_map(|test| Some((test, test.stateful?)))
}

impl Tuples {
    fn new(digest: &Digest, test: &Test, stateful: &Stateful) -> Self {
        let traffic = &test.traffic;
        let (
            Ports {
                source,
                destination,
            },
            initiator,
            responder,
        ) = match digest.opens(&test.dut) {
            Direction::Forward => (
                traffic.forward_ports,
                traffic.left_addresses,
                traffic.right_addresses,
            ),
            Direction::Reverse => (
                traffic.reverse_ports,
                traffic.right_addresses,
                traffic.left_addresses,
            ),
        };
        let count = |part: Option<AddressPart>| part.map_or(1, |part| part.range.count());
        let subscribers = digest.subscribers(test);
        let counts = [
            source.count(),
            destination.count(),
            subscribers.unwrap_or(count(initiator)),
            count(responder),
        ];
        Self {
            source_ports: range(&source),
            destination_ports: range(&destination),
            initiators: subscribers.map_or_else(
                || addresses(initiator),
                |count| number_of(count, "subscriber"),
            ),
            responders: addresses(responder),
            combinations: counts
                .iter()
                .map(|count| u64::from(*count))
                .fold(1, u64::saturating_mul),
            enumeration: stateful.enumeration.word(),
            state_table: stateful.responder.word(),
        }
    }
}

fn connections(test: &Test, stateful: &Stateful) -> String {
    match test.measure.phase_one_connections() {
        Some(own) => format!("{} on", whole(*own.start())),
        None => whole(stateful.connections),
    }
}

/// Returns the rate of phase 1 as a share of the highest, to three decimals.
fn safety(digest: &Digest, test: &Test, stateful: &Stateful) -> Option<Cell> {
    let (ratio, is_open) = digest.safety(test, stateful)?;
    Some(
        Cell::Significant((ratio * 1000.0).round() / 1000.0)
            .bounded(Bound::of_value(false, is_open)),
    )
}

/// Returns the delay before phase 2. Tests of connections have none, since the validation follows immediately.
fn delay(test: &Test) -> Option<Cell> {
    test.phase_two_delay_ns().map(Cell::Time)
}

fn range<V: Copy + Ord + Into<u32> + Display>(range: &ValueRange<V>) -> String {
    match range.count() {
        1 => range.first.to_string(),
        _ => format!("{}–{}", range.first, range.last),
    }
}

fn addresses(part: Option<AddressPart>) -> String {
    part.filter(|part| part.range.count() > 1)
        .map_or("one".to_owned(), |part| range(&part.range))
}

fn counted(digest: &Digest, test: &Test) -> String {
    let points = digest.points.iter().filter(|p| p.test.name == test.name);
    points
        .map(PointDigest::agreement)
        .reduce(|a, b| a + b)
        .unwrap_or_default()
        .describe()
}
