//! The two-dimensional table of RFC 8219 section 9.2: the share of cached names in rows, that of names with AAAA records in columns.

use super::cells::percent;
use crate::digest::{Digest, PointDigest, ServerGroup};
use crate::layout::table::{Column, Table};
use crate::subject::statistics::percentile_note;

/// Returns a table for each server that was tested at more than one point.
pub(super) fn tables(digest: &Digest) -> Vec<Table> {
    let groups = digest.server_groups();
    groups
        .iter()
        .filter(|group| group.tests.len() > 1)
        .map(|group| table(digest, group))
        .collect()
}

fn table(digest: &Digest, group: &ServerGroup) -> Table {
    let of_shares = group.with_aaaa().into_iter().map(|aaaa| {
        Column::number_in("Names with AAAA", percent(aaaa), move |cached: &u8| {
            group.at(digest, *cached, aaaa).and_then(cell)
        })
    });
    let columns =
        std::iter::once(Column::number("Cached", |cached: &u8| percent(*cached))).chain(of_shares);
    let points = || {
        group
            .tests
            .iter()
            .filter_map(|(_, dns)| group.at(digest, dns.cached, dns.with_aaaa)?.headline())
    };
    let title = format!(
        "{}: queries/s by cached names and names with AAAA records",
        group.title
    );
    Table::new(title, columns, group.cached())
        .with_note("Median [P1–P99], as in RFC 8219 section 9.2. –: not tested, or no result.")
        .with_note(percentile_note(points()))
}

fn cell(point: &PointDigest) -> Option<String> {
    let s = point.headline()?;
    let printed = point.limits().printed(s);
    Some(format!(
        "{} [{}–{}]",
        printed.median, printed.p1, printed.p99
    ))
}
