//! TCP connections, in the reporting format of RFC 3511 sections 5.2.5 and 5.3.5.

use super::{OPEN, percentile_note, rate_cells};
use crate::digest::{Digest, PointDigest, Rated};
use crate::layout::table::Table;
use crate::wording::numbers::{grouped, title, whole, with_decimals};
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::Verdict;
use sixbench_method::trial::tcp::{Close, TcpResult, Times};

pub(crate) fn tables(digest: &Digest) -> Vec<Table> {
    vec![found(digest), transport(digest)]
}

fn points<'d, 'a>(digest: &'d Digest<'a>) -> Vec<&'d PointDigest<'a>> {
    // A soak test finds neither a rate nor a number, and has a separate table.
    digest.points_of(|measure| measure.tcp().is_some() && measure.soak().is_none()).collect()
}

fn found(digest: &Digest) -> Table {
    let columns = [
        "Test",
        "Device",
        "Measure",
        "#Median",
        "#P1",
        "#P99",
        "#n",
        "#Octets",
        "#Requested",
        "#Returned",
        "Closed",
        "#Invalid",
    ];
    let points = points(digest);
    let rated: Vec<Rated> = points.iter().filter_map(|point| point.rated()).collect();
    Table::new("TCP connections (RFC 3511)", columns)
        .with_rows(points.iter().map(|point| found_row(digest, point)))
        .with_note(
            "Both ends use the kernel's own sockets and HTTP/1.1. Octets: the size of each object; requested and returned: \
             objects in the passing trial with the most; each is compared octet by octet. RFC 8219 section 8 calls for these \
             tests; RFC 9411 has since obsoleted RFC 3511.",
        )
        .with_note(percentile_note(rated.iter().map(|rated| &rated.summary)))
        .with_note(OPEN)
        .with_notes(points.iter().flat_map(|point| resets(point)))
}

fn found_row(digest: &Digest, point: &PointDigest) -> Vec<String> {
    let measure = if point.test.measure.is_capacity() { "open at once (5.2)" } else { "per second (5.3)" };
    let mut row = vec![title(point.test), digest.dut_title(point.test).to_owned(), measure.to_owned()];
    row.extend(rate_cells(point));
    row.extend(match best(point) {
        Some((_, tcp)) => {
            let (requested, returned) = objects(tcp);
            let [octets, requested, returned] = [u64::from(tcp.spec.object_octets), requested, returned].map(whole);
            [octets, requested, returned, closed(tcp.spec.close).to_owned()]
        }
        None => ["–"; 4].map(str::to_owned),
    });
    row.push(point.invalid().to_string());
    row
}

/// Returns who refused or reset connections in the losing trial with the fewest in which anybody did.
fn resets(point: &PointDigest) -> Vec<String> {
    let losing = point.records.iter().filter(|record| record.result.verdict(point.first_goal()) == Verdict::Lost);
    let with_tcp = losing.filter_map(|record| record.result.tcp()).filter(|tcp| !tcp.resets_in_words().is_empty());
    let Some(tcp) = with_tcp.min_by_key(|tcp| (tcp.connections.attempted, tcp.spec.rate)) else { return Vec::new() };
    let of_trial = format!("{}, a losing trial at {}/s", title(point.test), whole(tcp.spec.rate));
    tcp.resets_in_words().into_iter().map(|resets| format!("{of_trial}: {resets}.")).collect()
}

/// Returns the numbers of objects requested and completed, counting both requests if each connection makes two.
fn objects(tcp: &TcpResult) -> (u64, u64) {
    let check = tcp.check.unwrap_or_default();
    (tcp.connections.established + check.requested, tcp.connections.completed + check.alive)
}

fn closed(close: Close) -> &'static str {
    match close {
        Close::ServerFirst => "server first",
        Close::ClientFirst => "client first",
        Close::Reset => "RST",
    }
}

fn transport(digest: &Digest) -> Table {
    let columns = "Test; #Attempts/s; #Attempted; #Completed; #Establishment (ms)|Min; #Establishment (ms)|Avg; \
        #Establishment (ms)|P99.9; #Establishment (ms)|Max; #Establishment (ms)|Aggregate; #SYNs again; #Sources; #Outside; \
        #Entries"
        .split("; ");
    let row = |point: &&PointDigest| best(point).map(|(record, tcp)| transport_row(point, record, tcp));
    Table::new("TCP establishment in the passing trial with the most", columns)
        .with_rows(points(digest).iter().filter_map(row))
        .with_note(
            "Establishment: from SYN to SYN/ACK as the client's kernel sees it. Aggregate: the sum. SYNs again: sent a second \
             time. Sources: addresses from which the server saw connections come; outside: connections from addresses outside \
             the pool. Entries: the most that the device's connection tracking table had at any sample.",
        )
}

fn transport_row(point: &PointDigest, record: &TrialRecord, tcp: &TcpResult) -> Vec<String> {
    let rate = record.result.spec.rate.0 as f64;
    let mut row = vec![title(point.test)];
    row.extend([rate, tcp.connections.attempted as f64, tcp.connections.completed as f64].map(grouped));
    row.extend(tcp.connect.map_or_else(|| ["–"; 5].map(str::to_owned), times));
    row.push(grouped(tcp.kernel.client_syn_retransmitted as f64));
    row.extend(match &tcp.server {
        Some(server) => [server.source_addresses, server.outside_pool].map(|count| grouped(count as f64)),
        None => ["–"; 2].map(str::to_owned),
    });
    let entries = record.watch.as_ref().and_then(|watch| watch.connections.iter().max());
    row.push(entries.map_or("–".to_owned(), |entries| grouped(*entries as f64)));
    row
}

fn times(times: Times) -> [String; 5] {
    let average = times.sum_ns as f64 / times.count.max(1) as f64;
    let all = [times.min_ns as f64, average, times.p999_ns as f64, times.max_ns as f64, times.sum_ns as f64];
    all.map(|ns| with_decimals(ns / 1e6, 3))
}

/// Returns the passing trial with the most connections or the highest rate.
fn best<'a>(point: &PointDigest<'a>) -> Option<(&'a TrialRecord, &'a TcpResult)> {
    let passing = point.records.iter().filter(|r| r.result.verdict(point.first_goal()) == Verdict::Passed);
    let with_tcp = passing.filter_map(|record| Some((*record, record.result.tcp()?)));
    with_tcp.max_by_key(|(_, tcp)| (tcp.connections.attempted, tcp.spec.rate))
}
