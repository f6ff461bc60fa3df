//! Columns and cells common to the tables of DNS tests.

use crate::digest::{Digest, PointDigest};
use crate::wording::numbers::grouped;
use sixbench_method::plan::DnsTest;

/// The columns that identify a row's test; the tests of a server differ in their percentages.
pub(super) const TEST: [&str; 3] = ["Test", "#Cached", "#AAAA"];

pub(super) fn test_cells(digest: &Digest, point: &PointDigest, dns: &DnsTest) -> [String; 3] {
    let cached = if dns.role.has_cache() { percent(dns.cached) } else { "–".to_owned() };
    [digest.server(point.test), cached, percent(dns.with_aaaa)]
}

/// Returns a number, or a dash if there is none.
pub(super) fn or_dash(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}

pub(super) fn percent(value: u8) -> String {
    format!("{value}\u{a0}%")
}

/// Returns a number of queries: `240,000`.
pub(super) fn queries(count: u64) -> String {
    grouped(count as f64)
}
