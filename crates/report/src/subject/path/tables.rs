//! The path of datagrams: mapped for many subscribers, encapsulated, or through several devices in a row.

use crate::digest::{Digest, PointDigest, RatedSummary};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::{OPEN, Statistics, percentile_note};
use crate::wording::numbers::title;
use sixbench_method::measures::Family;
use sixbench_method::record::{DutFacts, LinkFacts, PathFacts};

/// Returns the tables of the frames on both links with their results, and of the rules.
pub(super) fn tables(digest: &Digest) -> Vec<Table> {
    vec![frames(digest), rules(digest)]
}

fn points<'d, 'a>(digest: &'d Digest<'a>) -> Vec<(&'d PointDigest<'a>, &'a PathFacts)> {
    // Requests and replies have a separate table.
    let all = digest.points_of(|measure| match measure.family() {
        Family::Requests | Family::Vectors => false,
        Family::Frames | Family::PhaseOne | Family::Tcp | Family::Queries => true,
    });
    all.filter_map(|point| Some((point, digest.path(point.test)?)))
        .collect()
}

/// A point of a device whose path of datagrams is known.
struct PathRow<'d> {
    point: &'d PointDigest<'d>,
    device: &'d str,
    subscribers: Option<u32>,
    path: &'d PathFacts,
    rate: Statistics,
}

fn frames(digest: &Digest) -> Table {
    let points = points(digest);
    let rated: Vec<RatedSummary> = points
        .iter()
        .filter_map(|(point, _)| point.rated())
        .collect();
    let rows = points.iter().map(|(point, path)| PathRow {
        point,
        device: digest.dut_title(point.test),
        subscribers: digest.subscribers(point.test),
        path,
        rate: point
            .rated()
            .map_or_else(Statistics::missing, |_| Statistics::of_rate(point)),
    });
    Table::new("Subscribers, encapsulation and devices in a row", columns(), rows)
        .with_note(
            "Size: that of the frame if the datagram is IPv6, with Ethernet header and FCS; an IPv4 frame is 20 octets \
             shorter. An encapsulated frame is longer by the outer header: 20 octets for IPv4, 40 for IPv6. Rates are per \
             second and direction.",
        )
        .with_note(percentile_note(rated.iter().map(|rated| &rated.summary)))
        .with_note(OPEN)
}

fn columns<'d>() -> Vec<Column<'d, PathRow<'d>>> {
    vec![
        Column::text("Test", |row: &PathRow| title(row.point.test)),
        Column::text("Device", |row: &PathRow| row.device),
        Column::number("Subscribers", |row: &PathRow| {
            row.subscribers.map(|count| Cell::Count(count.into()))
        }),
        // The size of queries is not set by the plan.
        Column::number("Size", |row: &PathRow| row.point.size()),
        Column::number_in("Octets on the link", "Left", |row: &PathRow| {
            octets(row.point, &row.path.left)
        }),
        Column::number_in("Octets on the link", "Right", |row: &PathRow| {
            octets(row.point, &row.path.right)
        }),
        Column::number("Median", |row: &PathRow| row.rate.median.clone()),
        Column::number("P1", |row: &PathRow| row.rate.p1.clone()),
        Column::number("P99", |row: &PathRow| row.rate.p99.clone()),
        Column::number("n", |row: &PathRow| row.rate.n.clone()),
    ]
}

fn rules(digest: &Digest) -> Table {
    let described = digest
        .input
        .facts
        .duts
        .values()
        .filter_map(|dut| Some((dut, dut.path.as_ref()?)));
    let is_row = described.clone().any(|(_, path)| !path.devices.is_empty());
    let rows = described.map(|(dut, path)| RuleRow { dut, path });
    Table::new("Devices and the rules of their subscribers", rule_columns(), rows).with_note_if(
        is_row,
        "For several devices in a row, the rates are those of the whole row and do not show which device is slower (RFC \
         8219 section 4.2). The processor load of each device shows this, as does a test of each device alone.",
    )
}

/// A device with its rule.
struct RuleRow<'d> {
    dut: &'d DutFacts,
    path: &'d PathFacts,
}

fn rule_columns<'d>() -> Vec<Column<'d, RuleRow<'d>>> {
    vec![
        Column::text("Device", |row: &RuleRow| row.dut.title.clone()),
        Column::text("Technology", |row: &RuleRow| row.dut.technology.clone()),
        Column::text("In a row", |row: &RuleRow| joined(&row.path.devices)),
        Column::text("Rule", |row: &RuleRow| {
            let rule: Vec<String> = row
                .path
                .rule
                .iter()
                .map(|(key, value)| format!("{key} {value}"))
                .collect();
            joined(&rule)
        }),
    ]
}

/// Returns the octets of a frame on a link, if the plan sets its size.
fn octets(point: &PointDigest, link: &LinkFacts) -> Option<Cell> {
    point
        .size()
        .map(|size| Cell::Number(link.octets(size).into()))
}

fn joined(items: &[String]) -> Option<String> {
    let joined = items.join(", ");
    (!joined.is_empty()).then_some(joined)
}
