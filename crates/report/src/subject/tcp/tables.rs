//! TCP connections, in the reporting format of RFC 3511 sections 5.2.5 and 5.3.5.

use crate::digest::{Digest, PointDigest, RatedSummary};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::{OPEN, Statistics, percentile_note};
use crate::wording::numbers::{title, whole};
use sixbench_method::measures::ResultKind;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::Verdict;
use sixbench_method::trial::tcp::{Close, TcpResult, Times};

pub(super) fn tables(digest: &Digest) -> Vec<Table> {
    vec![found(digest), transport(digest)]
}

fn points<'d, 'a>(digest: &'d Digest<'a>) -> Vec<&'d PointDigest<'a>> {
    // A soak test finds neither a rate nor a number, and has a separate table.
    digest
        .points_of(|measure| measure.tcp().is_some() && measure.soak().is_none())
        .collect()
}

/// A point of TCP connections.
struct TcpRow<'d> {
    point: &'d PointDigest<'d>,
    device: &'d str,
    rate: Statistics,
    /// The result of the passing trial with the most.
    best: Option<&'d TcpResult>,
}

fn found(digest: &Digest) -> Table {
    let points = points(digest);
    let rated: Vec<RatedSummary> = points.iter().filter_map(|point| point.rated()).collect();
    let rows = points.iter().map(|point| TcpRow {
        point,
        device: digest.dut_title(point.test),
        rate: Statistics::of_rate(point),
        best: best(point).map(|(_, tcp)| tcp),
    });
    Table::new("TCP connections (RFC 3511)", found_columns(), rows)
        .with_note(
            "Both ends use the kernel's own sockets and HTTP/1.1. Octets: the size of each object; requested and returned: \
             objects in the passing trial with the most; each is compared octet by octet. RFC 8219 section 8 calls for these \
             tests; RFC 9411 has since obsoleted RFC 3511.",
        )
        .with_note(percentile_note(rated.iter().map(|rated| &rated.summary)))
        .with_note(OPEN)
        .with_notes(points.iter().flat_map(|point| resets(point)))
}

fn found_columns<'d>() -> Vec<Column<'d, TcpRow<'d>>> {
    vec![
        Column::text("Test", |row: &TcpRow| title(row.point.test)),
        Column::text("Device", |row: &TcpRow| row.device),
        Column::text("Measure", |row: &TcpRow| measured(row.point)),
        Column::number("Median", |row: &TcpRow| row.rate.median.clone()),
        Column::number("P1", |row: &TcpRow| row.rate.p1.clone()),
        Column::number("P99", |row: &TcpRow| row.rate.p99.clone()),
        Column::number("n", |row: &TcpRow| row.rate.n.clone()),
        Column::number("Octets", |row: &TcpRow| {
            row.best
                .map(|tcp| Cell::Count(tcp.spec.object_octets.into()))
        }),
        Column::number("Requested", |row: &TcpRow| {
            row.best.map(|tcp| Cell::Count(objects(tcp).0))
        }),
        Column::number("Returned", |row: &TcpRow| {
            row.best.map(|tcp| Cell::Count(objects(tcp).1))
        }),
        Column::text("Closed", |row: &TcpRow| {
            row.best.map(|tcp| closed(tcp.spec.close))
        }),
        Column::number("Invalid", |row: &TcpRow| {
            Cell::Number(row.point.invalid().into())
        }),
    ]
}

fn measured(point: &PointDigest) -> &'static str {
    match point.test.measure.result_kind() {
        ResultKind::Number => "open at once (5.2)",
        ResultKind::Rate
        | ResultKind::RepeatedRate
        | ResultKind::Quantity
        | ResultKind::Curve
        | ResultKind::Requirements => "per second (5.3)",
    }
}

/// Returns who refused or reset connections in the losing trial with the fewest in which anybody did.
fn resets(point: &PointDigest) -> Vec<String> {
    let losing = point
        .records
        .iter()
        .filter(|record| record.result.verdict(point.first_goal()) == Verdict::Lost);
    let with_tcp = losing
        .filter_map(|record| record.result.tcp())
        .filter(|tcp| !tcp.resets_in_words().is_empty());
    let Some(tcp) = with_tcp.min_by_key(|tcp| (tcp.connections.attempted, tcp.spec.rate)) else {
        return Vec::new();
    };
    let of_trial = format!(
        "{}, a losing trial at {}/s",
        title(point.test),
        whole(tcp.spec.rate)
    );
    tcp.resets_in_words()
        .into_iter()
        .map(|resets| format!("{of_trial}: {resets}."))
        .collect()
}

/// Returns the numbers of objects requested and completed, counting both requests if each connection makes two.
fn objects(tcp: &TcpResult) -> (u64, u64) {
    let check = tcp.check.unwrap_or_default();
    (
        tcp.connections.established + check.requested,
        tcp.connections.completed + check.alive,
    )
}

fn closed(close: Close) -> &'static str {
    match close {
        Close::ServerFirst => "server first",
        Close::ClientFirst => "client first",
        Close::Reset => "RST",
    }
}

/// The passing trial of a point with the most connections.
struct TransportRow<'d> {
    point: &'d PointDigest<'d>,
    record: &'d TrialRecord,
    tcp: &'d TcpResult,
}

fn transport(digest: &Digest) -> Table {
    let points = points(digest).into_iter();
    let rows = points
        .filter_map(|point| best(point).map(|(record, tcp)| TransportRow { point, record, tcp }));
    Table::new("TCP establishment in the passing trial with the most", transport_columns(), rows).with_note(
        "Establishment: from SYN to SYN/ACK as the client's kernel sees it. Aggregate: the sum. SYNs again: sent a second \
             time. Sources: addresses from which the server saw connections come; outside: connections from addresses outside \
             the pool. Entries: the most that the device's connection tracking table had at any sample.",
    )
}

fn transport_columns<'d>() -> Vec<Column<'d, TransportRow<'d>>> {
    vec![
        Column::text("Test", |row: &TransportRow| title(row.point.test)),
        Column::number("Attempts/s", |row: &TransportRow| {
            Cell::Count(row.record.result.spec.rate.0)
        }),
        Column::number("Attempted", |row: &TransportRow| {
            Cell::Count(row.tcp.connections.attempted)
        }),
        Column::number("Completed", |row: &TransportRow| {
            Cell::Count(row.tcp.connections.completed)
        }),
        Column::number_in("Establishment (ms)", "Min", |row: &TransportRow| {
            row.time(|times| times.min_ns as f64)
        }),
        Column::number_in("Establishment (ms)", "Avg", |row: &TransportRow| {
            row.time(average_ns)
        }),
        Column::number_in("Establishment (ms)", "P99.9", |row: &TransportRow| {
            row.time(|times| times.p999_ns as f64)
        }),
        Column::number_in("Establishment (ms)", "Max", |row: &TransportRow| {
            row.time(|times| times.max_ns as f64)
        }),
        Column::number_in("Establishment (ms)", "Aggregate", |row: &TransportRow| {
            row.time(|times| times.sum_ns as f64)
        }),
        Column::number("SYNs again", |row: &TransportRow| {
            Cell::Count(row.tcp.kernel.client_syn_retransmitted)
        }),
        Column::number("Sources", |row: &TransportRow| {
            row.tcp
                .server
                .as_ref()
                .map(|server| Cell::Count(server.source_addresses))
        }),
        Column::number("Outside", |row: &TransportRow| {
            row.tcp
                .server
                .as_ref()
                .map(|server| Cell::Count(server.outside_pool))
        }),
        Column::number("Entries", TransportRow::entries),
    ]
}

impl TransportRow<'_> {
    /// Returns one of the times of establishment, nanoseconds.
    fn time(&self, of: fn(&Times) -> f64) -> Option<Cell> {
        self.tcp
            .connect
            .as_ref()
            .map(|times| Cell::Decimals(of(times) / 1e6, 3))
    }

    fn entries(&self) -> Option<Cell> {
        let entries = self
            .record
            .watch
            .as_ref()
            .and_then(|watch| watch.connections.iter().max());
        entries.map(|entries| Cell::Count(*entries))
    }
}

fn average_ns(times: &Times) -> f64 {
    times.sum_ns as f64 / times.count.max(1) as f64
}

/// Returns the passing trial with the most connections or the highest rate.
fn best<'a>(point: &PointDigest<'a>) -> Option<(&'a TrialRecord, &'a TcpResult)> {
    let passing = point
        .records
        .iter()
        .filter(|r| r.result.verdict(point.first_goal()) == Verdict::Passed);
    let with_tcp = passing.filter_map(|record| Some((*record, record.result.tcp()?)));
    with_tcp.max_by_key(|(_, tcp)| (tcp.connections.attempted, tcp.spec.rate))
}
