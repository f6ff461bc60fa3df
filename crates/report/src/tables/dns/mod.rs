//! DNS resolution performance, in the reporting format of RFC 8219 section 9.2.

mod answers;
mod cells;
mod grid;
mod names;
mod repeated;
mod selftest;
mod times;

use super::throughput::limit_words;
use super::{percentile_note, rate_cells};
use crate::digest::{Digest, PointDigest, common_goal};
use crate::layout::table::Table;
use crate::wording::numbers::seconds;
pub(crate) use repeated::narrow_table as repeated_at_rates;

use cells::{TEST, or_dash, queries, test_cells};
use sixbench_method::plan::{DnsRole, DnsTest};
use sixbench_method::terms::LossRatio;

pub(crate) fn results(digest: &Digest) -> Vec<Table> {
    std::iter::once(found(digest)).chain(grid::tables(digest)).chain([repeated::table(digest)]).collect()
}

/// Returns the tables of the evidence behind the results: the deciding trials, and the tester's self-test.
pub(crate) fn trials(digest: &Digest) -> Vec<Table> {
    vec![
        answers::fates(digest),
        answers::errors(digest),
        names::caching(digest),
        names::authority(digest),
        times::classic(digest),
        selftest::table(digest),
    ]
}

fn found(digest: &Digest) -> Table {
    let columns =
        TEST.into_iter().chain(["Device", "#Median", "#P1", "#P99", "#n", "#Timeout", "#Certified", "Limited by", "#Invalid"]);
    let summaries = || digest.dns_points().filter_map(|(point, _)| point.headline());
    Table::new("Queries processed per second", columns)
        .with_rows(digest.dns_points().map(|(point, dns)| found_row(digest, point, dns)))
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

/// Returns the condition that the found rate meets: `every query had its correct answer`, if no test accepts any loss.
fn answered(digest: &Digest) -> &'static str {
    match common_goal(digest.dns_points().map(|(point, _)| point)) {
        Some(LossRatio::ZERO) => "every query had its correct answer",
        _ => "no more queries than the first loss goal of the test allows were without a correct answer",
    }
}

fn found_row(digest: &Digest, point: &PointDigest, dns: &DnsTest) -> Vec<String> {
    let mut row = test_cells(digest, point, dns).to_vec();
    row.push(digest.dut_title(point.test).to_owned());
    row.extend(rate_cells(point));
    row.push(seconds(dns.timeout_ns));
    row.push(or_dash(digest.certified(point, dns).map(queries)));
    row.push(or_dash(point.goals.first().map(limit_words)));
    row.push(point.invalid().to_string());
    row
}
