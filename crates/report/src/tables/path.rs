//! The path of datagrams: mapped for many subscribers, encapsulated, or through several devices in a row.

use super::{OPEN, percentile_note, rate_cells};
use crate::digest::{Digest, PointDigest, Rated};
use crate::layout::table::Table;
use crate::wording::numbers::{grouped, title};
use sixbench_method::record::PathFacts;

/// Returns the tables of the frames on both links with their results, and of the rules.
pub(crate) fn tables(digest: &Digest) -> Vec<Table> {
    vec![frames(digest), rules(digest)]
}

fn points<'d, 'a>(digest: &'d Digest<'a>) -> Vec<(&'d PointDigest<'a>, &'a PathFacts)> {
    // Requests and replies have a separate table.
    let all = digest.points_of(|measure| measure.response_time().is_none());
    all.filter_map(|point| Some((point, digest.path(point.test)?))).collect()
}

fn frames(digest: &Digest) -> Table {
    let columns =
        "Test; Device; #Subscribers; #Size; #Octets on the link|Left; #Octets on the link|Right; #Median; #P1; #P99; \
        #n"
        .split("; ");
    let points = points(digest);
    let rated: Vec<Rated> = points.iter().filter_map(|(point, _)| point.rated()).collect();
    Table::new("Subscribers, encapsulation and devices in a row", columns)
        .with_rows(points.iter().map(|(point, path)| frames_row(digest, point, path)))
        .with_note(
            "Size: that of the frame if the datagram is IPv6, with Ethernet header and FCS; an IPv4 frame is 20 octets \
             shorter. An encapsulated frame is longer by the outer header: 20 octets for IPv4, 40 for IPv6. Rates are per \
             second and direction.",
        )
        .with_note(percentile_note(rated.iter().map(|rated| &rated.summary)))
        .with_note(OPEN)
}

fn frames_row(digest: &Digest, point: &PointDigest, path: &PathFacts) -> Vec<String> {
    let mut row = vec![title(point.test), digest.dut_title(point.test).to_owned()];
    row.push(digest.subscribers(point.test).map_or("–".to_owned(), |count| grouped(f64::from(count))));
    // The size of queries is not set by the plan.
    row.extend(match point.size() {
        Some(size) => [size.0, path.left.octets(size), path.right.octets(size)].map(|octets| octets.to_string()),
        None => ["–"; 3].map(str::to_owned),
    });
    row.extend(point.rated().map_or_else(|| ["–"; 4].map(str::to_owned), |_| rate_cells(point)));
    row
}

fn rules(digest: &Digest) -> Table {
    let described = digest.input.facts.duts.values().filter_map(|dut| Some((dut, dut.path.as_ref()?)));
    let is_row = described.clone().any(|(_, path)| !path.devices.is_empty());
    Table::new("Devices and the rules of their subscribers", ["Device", "Technology", "In a row", "Rule"])
        .with_rows(described.map(|(dut, path)| {
            let rule: Vec<String> = path.rule.iter().map(|(key, value)| format!("{key} {value}")).collect();
            let or_dash = |text: String| if text.is_empty() { "–".to_owned() } else { text };
            vec![dut.title.clone(), dut.technology.clone(), or_dash(path.devices.join(", ")), or_dash(rule.join(", "))]
        }))
        .with_note_if(
            is_row,
            "For several devices in a row, the rates are those of the whole row and do not show which device is slower (RFC \
             8219 section 4.2). The processor load of each device shows this, as does a test of each device alone.",
        )
}
