//! Columns and cells that the tables of DNS tests share.

use crate::digest::{Digest, PointDigest};
use crate::numbers::grouped;
use sixbench_method::plan::DnsTest;

/// The columns that say which test a row is of, and their cells: each server's percentages tell its tests apart.
pub(super) const TEST: [&str; 3] = ["Test", "#Cached", "#AAAA"];

pub(super) fn test_cells(digest: &Digest, point: &PointDigest, dns: &DnsTest) -> [String; 3] {
    let cached = if dns.role.has_cache() { percent(dns.cached) } else { "–".to_owned() };
    [digest.server(point.test), cached, percent(dns.with_aaaa)]
}

/// A number, or that there is none.
pub(super) fn or_dash(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}

pub(super) fn percent(value: u8) -> String {
    format!("{value}\u{a0}%")
}

/// `240,000`.
pub(super) fn queries(count: u64) -> String {
    grouped(count as f64)
}
