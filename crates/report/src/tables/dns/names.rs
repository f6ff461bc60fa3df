//! The origin of the answers, which is the server's cache or the authority, and the queries that the authority received.

use super::cells::{TEST, or_dash, queries, test_cells};
use crate::digest::{Digest, PointDigest, QueryTrial};
use crate::layout::table::Table;
use crate::wording::numbers::{percent, three_digits, with_decimals};
use sixbench_method::plan::DnsTest;
use sixbench_method::trial::dns::AuthorityCounts;

/// Returns a table of the intended and the observed caching; empty for servers that answer from a zone.
pub(super) fn caching(digest: &Digest) -> Table {
    let columns = TEST.into_iter().chain(
        "#Queries/s; #Answered; #Cache hits|Intended; #Cache hits|Observed; \
        #Resolved before|Names; #Resolved before|Queries; #Resolved before|Time (s)"
            .split("; "),
    );
    Table::new("Caching", columns)
        .with_rows(trials(digest).filter_map(|(p, dns, asked)| caching_row(digest, p, dns, &asked)))
        .with_note(
            "In the passing trial with the highest rate, as shares of the correct answers. Intended: those for names resolved \
         before. Observed: those for which the authority was not queried; –: the authority is not the tester's own, so this is \
         not known. A trial in which the two do not agree is invalid.",
        )
}

fn caching_row(digest: &Digest, point: &PointDigest, dns: &DnsTest, asked: &QueryTrial) -> Option<Vec<String>> {
    let (answers, cache) = (&asked.dns.answers, &asked.dns.cache);
    if !dns.role.has_cache() {
        return None;
    }
    let share = |queries: u64, of: u64| percent(queries as f64 / of.max(1) as f64);
    let observed = cache.observed.map(|hits| share(hits, answers.sound()));
    let resolved = match cache.preloaded {
        0 => ["–"; 3].map(str::to_owned),
        names => [queries(names), queries(cache.preload_queries), three_digits(cache.preload_ns as f64 / 1e9)],
    };
    let head = [queries(asked.rate()), queries(answers.received())];
    let hits = [share(cache.intended, answers.sound()), or_dash(observed)];
    Some(test_cells(digest, point, dns).into_iter().chain(head).chain(hits).chain(resolved).collect())
}

pub(super) fn authority(digest: &Digest) -> Table {
    let columns = TEST.into_iter().chain(
        "#Queries/s; #With AAAA; #Asked of the authority|AAAA; #Asked of the authority|A; \
        #Asked of the authority|Other; #Asked of the authority|Per query; #Asked of the authority|Names; #Over TCP; #Lost"
            .split("; "),
    );
    let rows = trials(digest).filter_map(|(p, dns, asked)| {
        let counts = asked.dns.authority.as_ref()?;
        Some(test_cells(digest, p, dns).into_iter().chain(authority_cells(&asked, counts)).collect())
    });
    Table::new("What reached the authority", columns).with_rows(rows).with_note(
        "In the same trials. With AAAA: client queries for names that have an AAAA record. A server that has cached nothing \
         queries AAAA and, if there is none, A: two queries for each query of the client. Names: names of the trial, each \
         counted once. Lost: at the authority's own socket, because it was too slow.",
    )
}

fn authority_cells(asked: &QueryTrial, counts: &AuthorityCounts) -> Vec<String> {
    let sent = asked.dns.answers.sent;
    let per_query = with_decimals(counts.queries() as f64 / sent.max(1) as f64, 3);
    let mut row = vec![queries(asked.rate()), queries(asked.dns.existing)];
    row.extend([counts.aaaa, counts.a, counts.other].map(queries));
    row.push(per_query);
    row.extend([counts.names, counts.over_tcp, counts.overruns].map(queries));
    row
}

fn trials<'d, 'a>(digest: &'d Digest<'a>) -> impl Iterator<Item = (&'d PointDigest<'a>, &'a DnsTest, QueryTrial<'a>)> {
    digest.dns_points().filter_map(|(point, dns)| Some((point, dns, point.all_answered(point.first_goal())?)))
}
