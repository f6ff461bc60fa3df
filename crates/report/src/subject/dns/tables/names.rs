//! The origin of the answers, which is the server's cache or the authority, and the queries that the authority received.

use super::cells::{ServerTest, share, test_columns};
use crate::digest::{Digest, QueryTrial};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use sixbench_method::trial::dns::{AuthorityCounts, Cache};

/// The passing trial with the highest rate of a test.
struct PassingRow<'d> {
    test: ServerTest<'d>,
    asked: QueryTrial<'d>,
}

impl<'d> PassingRow<'d> {
    fn cache(&self) -> &'d Cache {
        &self.asked.dns.cache
    }

    /// Returns a number of the names that were resolved before the trial; `None` if there were none.
    fn resolved(&self, cell: fn(&Cache) -> Cell) -> Option<Cell> {
        (self.cache().preloaded > 0).then(|| cell(self.cache()))
    }

    fn share_of_sound(&self, queries: u64) -> Cell {
        share(queries, self.asked.dns.answers.sound())
    }
}

/// Returns a table of the intended and the observed caching; empty for servers that answer from a zone.
pub(super) fn caching(digest: &Digest) -> Table {
    let columns = test_columns(|row: &PassingRow| &row.test)
        .into_iter()
        .chain(caching_columns());
    Table::new("Caching", columns, trials(digest).filter(|row| row.test.dns.role.has_cache())).with_note(
        "In the passing trial with the highest rate, as shares of the correct answers. Intended: those for names resolved \
         before. Observed: those for which the authority was not queried; –: the authority is not the tester's own, so this is \
         not known. A trial in which the two do not agree is invalid.",
    )
}

fn caching_columns<'d>() -> [Column<'d, PassingRow<'d>>; 7] {
    [
        Column::number("Queries/s", |row: &PassingRow| {
            Cell::Count(row.asked.rate())
        }),
        Column::number("Answered", |row: &PassingRow| {
            Cell::Count(row.asked.dns.answers.received())
        }),
        Column::number_in("Cache hits", "Intended", |row: &PassingRow| {
            row.share_of_sound(row.cache().intended)
        }),
        Column::number_in("Cache hits", "Observed", |row: &PassingRow| {
            row.cache().observed.map(|hits| row.share_of_sound(hits))
        }),
        Column::number_in("Resolved before", "Names", |row: &PassingRow| {
            row.resolved(|cache| Cell::Count(cache.preloaded))
        }),
        Column::number_in("Resolved before", "Queries", |row: &PassingRow| {
            row.resolved(|cache| Cell::Count(cache.preload_queries))
        }),
        Column::number_in("Resolved before", "Time (s)", |row: &PassingRow| {
            row.resolved(|cache| Cell::Significant(cache.preload_ns as f64 / 1e9))
        }),
    ]
}

/// A trial with what reached the tester's authority.
struct AuthorityRow<'d> {
    trial: PassingRow<'d>,
    counts: &'d AuthorityCounts,
}

pub(super) fn authority(digest: &Digest) -> Table {
    let columns = test_columns(|row: &AuthorityRow| &row.trial.test)
        .into_iter()
        .chain(authority_columns());
    let rows = trials(digest).filter_map(|trial| {
        trial
            .asked
            .dns
            .authority
            .as_ref()
            .map(|counts| AuthorityRow { trial, counts })
    });
    Table::new("What reached the authority", columns, rows).with_note(
        "In the same trials. With AAAA: client queries for names that have an AAAA record. A server that has cached nothing \
         queries AAAA and, if there is none, A: two queries for each query of the client. Names: names of the trial, each \
         counted once. Lost: at the authority's own socket, because it was too slow.",
    )
}

fn authority_columns<'d>() -> [Column<'d, AuthorityRow<'d>>; 9] {
    const ASKED: &str = "Asked of the authority";
    [
        Column::number("Queries/s", |row: &AuthorityRow| {
            Cell::Count(row.trial.asked.rate())
        }),
        Column::number("With AAAA", |row: &AuthorityRow| {
            Cell::Count(row.trial.asked.dns.existing)
        }),
        Column::number_in(ASKED, "AAAA", |row: &AuthorityRow| {
            Cell::Count(row.counts.aaaa)
        }),
        Column::number_in(ASKED, "A", |row: &AuthorityRow| Cell::Count(row.counts.a)),
        Column::number_in(ASKED, "Other", |row: &AuthorityRow| {
            Cell::Count(row.counts.other)
        }),
        Column::number_in(ASKED, "Per query", AuthorityRow::per_query),
        Column::number_in(ASKED, "Names", |row: &AuthorityRow| {
            Cell::Count(row.counts.names)
        }),
        Column::number("Over TCP", |row: &AuthorityRow| {
            Cell::Count(row.counts.over_tcp)
        }),
        Column::number("Lost", |row: &AuthorityRow| {
            Cell::Count(row.counts.overruns)
        }),
    ]
}

impl AuthorityRow<'_> {
    fn per_query(&self) -> Cell {
        Cell::Decimals(
            self.counts.queries() as f64 / self.trial.asked.dns.answers.sent.max(1) as f64,
            3,
        )
    }
}

fn trials<'d>(digest: &'d Digest<'d>) -> impl Iterator<Item = PassingRow<'d>> {
    digest.dns_points().filter_map(|(point, dns)| {
        let asked = point.all_answered(point.first_goal())?;
        Some(PassingRow {
            test: ServerTest::new(digest, point, dns),
            asked,
        })
    })
}
