//! DNS resolution performance, in the reporting format of RFC 8219 section 9.2.

mod answers;
mod cells;
mod grid;
mod names;
mod repeated;
mod selftest;
mod sessions;
mod times;

use crate::digest::{Digest, PointDigest, common_goal};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::limit_words;
use crate::subject::statistics::{Statistics, percentile_note};
pub(crate) use repeated::narrow_table as repeated_at_rates;

use cells::{ServerTest, test_columns};
use sixbench_method::plan::{DnsRole, DnsTest};
use sixbench_method::search::AcceptedLoss;

pub(crate) fn results(digest: &Digest) -> Vec<Table> {
    std::iter::once(found(digest))
        .chain(grid::tables(digest))
        .chain([repeated::table(digest)])
        .collect()
}

/// Returns the tables of the evidence behind the results: the deciding trials, and the tester's self-test.
pub(crate) fn trials(digest: &Digest) -> Vec<Table> {
    vec![
        answers::outcomes(digest),
        answers::errors(digest),
        answers::response_codes(digest),
        answers::connections(digest),
        sessions::table(digest),
        names::caching(digest),
        names::authority(digest),
        times::classic(digest),
        selftest::table(digest),
    ]
}

/// A test of a server.
struct FoundRow<'d> {
    test: ServerTest<'d>,
    device: &'d str,
    rate: Statistics,
    certified: Option<u64>,
}

impl<'d> FoundRow<'d> {
    fn new(digest: &'d Digest, point: &'d PointDigest<'d>, dns: &'d DnsTest) -> Self {
        Self {
            test: ServerTest::new(digest, point, dns),
            device: digest.dut_title(point.test),
            rate: Statistics::of_rate(point),
            certified: digest.certified(point, dns),
        }
    }
}

fn found(digest: &Digest) -> Table {
    let summaries = || {
        digest
            .dns_points()
            .filter_map(|(point, _)| point.headline())
    };
    let columns = test_columns(|row: &FoundRow| &row.test)
        .into_iter()
        .chain(found_columns());
    let rows = digest
        .dns_points()
        .map(|(point, dns)| FoundRow::new(digest, point, dns));
    Table::new("Queries processed per second", columns, rows)
        .with_note(format!(
            "Queries/s: the highest rate at which {} within the timeout. Cached: queries for \
             names that were resolved before the trial; AAAA: names with an AAAA record of their own. The result at 0 % and 0 \
             % is the primary one (RFC 8219 section 9.2). Certified: the highest rate that the tester's self-test allows \
             (section 9.2.1).",
            answered(digest)
        ))
        .with_note(percentile_note(summaries()))
        .with_note_if(
            digest.dns_points().any(|(point, _)| point.limits().is_median_open),
            "≥: the server may be better, because the tester, the names or the plan ended the search.",
        )
        .with_note_if(
            digest.dns_points().any(|(_, dns)| dns.role == DnsRole::Authority),
            "Authoritative servers answer from a zone: the method is that of section 9.2, but this test is not part of RFC \
             8219 (Lencse, Benchmarking authoritative DNS servers, IEEE Access, 2020).",
        )
}

fn found_columns<'d>() -> [Column<'d, FoundRow<'d>>; 9] {
    [
        Column::text("Device", |row: &FoundRow| row.device),
        Column::number("Median", |row: &FoundRow| row.rate.median.clone()),
        Column::number("P1", |row: &FoundRow| row.rate.p1.clone()),
        Column::number("P99", |row: &FoundRow| row.rate.p99.clone()),
        Column::number("n", |row: &FoundRow| row.rate.n.clone()),
        Column::number("Timeout", |row: &FoundRow| {
            Cell::Time(row.test.dns.timeout_ns)
        }),
        Column::number("Certified", |row: &FoundRow| row.certified.map(Cell::Count)),
        Column::text("Limited by", |row: &FoundRow| {
            row.test.point.goals.first().map(limit_words)
        }),
        Column::number("Invalid", |row: &FoundRow| {
            Cell::Number(row.test.point.invalid().into())
        }),
    ]
}

/// Returns the condition that the found rate meets: `every query had its correct answer`, if no test accepts any loss.
fn answered(digest: &Digest) -> &'static str {
    match common_goal(digest.dns_points().map(|(point, _)| point)) {
        Some(goal) if goal == AcceptedLoss::NONE => "every query had its correct answer",
        _ => {
            "no more queries than the first loss goal of the test allows were without a correct answer"
        }
    }
}
