//! The parameters of every stateful test that RFC 9693 requires to be reported.

use crate::digest::{Digest, PointDigest, phase_1_rate};
use crate::layout::table::Table;
use crate::wording::numbers::{seconds, three_digits, title, whole};
use sixbench_method::lists::{by_key, each_once};
use sixbench_method::plan::{AddressPart, Ports, Stateful, Test, ValueRange};
use sixbench_method::terms::Direction;
use sixbench_method::units::counted as number_of;
use std::fmt::Display;

pub(super) fn phases(digest: &Digest) -> Table {
    let columns = ["Test", "Measure", "#N", "#M", "#R", "#R / maximum", "#T", "#D", "#Table size", "Device's count"];
    let row = |(test, stateful): (&Test, Stateful)| {
        let mut row = vec![title(test), test.measure.name().to_owned(), connections(test, &stateful)];
        row.push(whole(stateful.state_table));
        row.push(phase_1_rate(test, &stateful).map_or("searched".to_owned(), |rate| whole(rate.0)));
        row.push(safety(digest, test, &stateful));
        row.extend([seconds(stateful.timeout_ns), delay(test, &stateful)]);
        row.extend([stateful.table_size.map_or("–".to_owned(), whole), counted(digest, test)]);
        row
    };
    Table::new("Parameters of the two phases", columns).with_rows(stateful_tests(digest).map(row)).with_note(
        "N: connections of phase 1; M: entries of the Responder's state table; R: the rate of phase 1, connections/s; R / \
         maximum: the safety factor, relative to the establishment rate that this run measured for the same device (≤ if that may \
         be higher), otherwise –; T: the wait for frames of phase 1; D: from the first frame of phase 1 to the first of phase \
         2. Table size: that of the device, if the plan sets it. Device's count: after phase 1 and at the end, with the number of \
         trials; only trials whose phase 1 was complete are included.",
    )
}

/// Returns one row for all tests that have the same four-tuples in the same orders.
pub(super) fn tuples(digest: &Digest) -> Table {
    let columns = "Tests; #Ports of the Initiator|Source; #Ports of the Initiator|Destination; #Addresses|Initiator; \
        #Addresses|Responder; #Combinations; Enumeration; State table"
        .split("; ");
    // The steps of a series differ in other settings.
    let name = |test: &Test| test.series.as_ref().map_or_else(|| title(test), |series| series.name.clone());
    let alike = by_key(stateful_tests(digest).map(|(test, stateful)| (tuple_cells(digest, test, &stateful), name(test))));
    let is_one = alike.len() == 1;
    let tests = |names: Vec<String>| if is_one { "all".to_owned() } else { each_once(names).join("; ") };
    let rows = alike.into_iter().map(|(cells, names)| std::iter::once(tests(names)).chain(cells).collect());
    Table::new("Four-tuples of the connections", columns).with_rows(rows).with_note(
        "Addresses: values of the bits that vary. Enumeration: the order in which phase 1 goes through the combinations; \
         state table: the order in which the Responder reads it.",
    )
}

fn stateful_tests<'d>(digest: &'d Digest) -> impl Iterator<Item = (&'d Test, Stateful)> {
    digest.input.plan.tests.iter().filter_map(|test| Some((test, test.stateful?)))
}

fn tuple_cells(digest: &Digest, test: &Test, stateful: &Stateful) -> Vec<String> {
    let traffic = &test.traffic;
    let (Ports { source, destination }, initiator, responder) = match digest.opens(&test.dut) {
        Direction::Forward => (traffic.forward_ports, traffic.left_addresses, traffic.right_addresses),
        Direction::Reverse => (traffic.reverse_ports, traffic.right_addresses, traffic.left_addresses),
    };
    let count = |part: Option<AddressPart>| part.map_or(1, |part| part.range.count());
    let subscribers = digest.subscribers(test);
    let counts = [source.count(), destination.count(), subscribers.unwrap_or(count(initiator)), count(responder)];
    let combinations = counts.iter().map(|count| u64::from(*count)).fold(1, u64::saturating_mul);
    let own = subscribers.map_or_else(|| addresses(initiator), |count| number_of(count, "subscriber"));
    let mut cells = vec![range(&source), range(&destination), own, addresses(responder)];
    cells.extend([whole(combinations), stateful.enumeration.word().to_owned(), stateful.responder.word().to_owned()]);
    cells
}

fn connections(test: &Test, stateful: &Stateful) -> String {
    match test.measure.table_capacity() {
        Some(capacity) => format!("{} on", whole(capacity.start)),
        None => whole(stateful.connections),
    }
}

fn safety(digest: &Digest, test: &Test, stateful: &Stateful) -> String {
    let safety = digest.safety(test, stateful);
    safety.map_or("–".to_owned(), |(ratio, is_open)| {
        let sign = if is_open { "≤\u{a0}" } else { "" };
        format!("{sign}{}", three_digits((ratio * 1000.0).round() / 1000.0))
    })
}

/// Returns the delay before phase 2. Tests of connections have none, since the validation follows immediately.
fn delay(test: &Test, stateful: &Stateful) -> String {
    match test.measure.is_of_connections() {
        true => "–".to_owned(),
        false => seconds(stateful.delay_ns(stateful.phase_one())),
    }
}

fn range<V: Copy + Ord + Into<u32> + Display>(range: &ValueRange<V>) -> String {
    match range.count() {
        1 => range.first.to_string(),
        _ => format!("{}–{}", range.first, range.last),
    }
}

fn addresses(part: Option<AddressPart>) -> String {
    part.filter(|part| part.range.count() > 1).map_or("one".to_owned(), |part| range(&part.range))
}

fn counted(digest: &Digest, test: &Test) -> String {
    let points = digest.points.iter().filter(|p| p.test.name == test.name);
    points.map(PointDigest::agreement).reduce(|a, b| a + b).unwrap_or_default().words()
}
