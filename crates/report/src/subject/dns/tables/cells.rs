//! Columns and cells common to the tables of DNS tests.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::Column;
use sixbench_method::plan::DnsTest;

/// A test of a server; the tests of a server differ in their percentages.
#[derive(Clone)]
pub(super) struct ServerTest<'d> {
    pub(super) point: &'d PointDigest<'d>,
    pub(super) dns: &'d DnsTest,
    server: String,
}

/// Returns the columns that identify a row's test.
pub(super) fn test_columns<'d, Row: 'd>(
    test: for<'r> fn(&'r Row) -> &'r ServerTest<'d>,
) -> [Column<'d, Row>; 3] {
    [
        Column::text("Test", move |row: &Row| test(row).server.clone()),
        Column::number("Cached", move |row: &Row| test(row).cached()),
        Column::number("AAAA", move |row: &Row| percent(test(row).dns.with_aaaa)),
    ]
}

impl<'d> ServerTest<'d> {
    pub(super) fn new(digest: &Digest, point: &'d PointDigest<'d>, dns: &'d DnsTest) -> Self {
        Self {
            point,
            dns,
            server: digest.server(point.test),
        }
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn cached(&self) -> Option<String> {
        self.dns.role.has_cache().then(|| percent(self.dns.cached))
    }
}

pub(super) fn percent(value: u8) -> String {
    format!("{value}\u{a0}%")
}

/// Returns a cell with the share of queries, of which there may be none.
pub(super) fn share(queries: u64, of: u64) -> Cell {
    Cell::Share(queries as f64 / of.max(1) as f64)
}
