//! Vectors for DNS servers in a file: `zone`, `query` and `expect`, whose lines are those of zone files and of dig.

use super::mistake::MistakeKind;
use super::table::{SourceText, TableReader};
use crate::dns::{DnsAlternative, DnsExchange, TextLine, UpstreamRule};

/// The key that only vectors for DNS servers have.
pub(super) const QUERY: &str = "query";
/// The keys of a vector for DNS servers.
pub(super) const DNS_VECTOR_KEYS: [&str; 10] = [
    "name", "clause", "level", "sentence", "zone", QUERY, "expect", "allowed", "upstream", "prefix",
];
const ALTERNATIVE_KEYS: [&str; 3] = ["name", "clause", "expect"];
/// The only value of `upstream`.
const NOTHING: &str = "nothing";
/// The only value of `prefix`.
const WELL_KNOWN: &str = sixbench_wire::Prefix6052::WELL_KNOWN;

/// Returns the exchange of a vector; `common` are the lines with which the zone of every vector of the file begins. Mistakes are noted.
pub(super) fn exchange_of(
    name: &str,
    table: &TableReader<'_>,
    common: &[TextLine],
    source: &mut SourceText,
) -> DnsExchange {
    let exchange = DnsExchange {
        common: common.to_vec(),
        zone: table.lines("zone", source).unwrap_or_default(),
        query: query_of(table, source),
        expect: expectation_of(table, source),
        allowed: table
            .tables("allowed", source)
            .into_iter()
            .map(|table| alternative_of(&table, source))
            .collect(),
        upstream: if table.is_word("upstream", NOTHING, source) {
            UpstreamRule::Nothing
        } else {
            UpstreamRule::Anything
        },
        needs_well_known_prefix: table.is_word("prefix", WELL_KNOWN, source),
    };
    for found in exchange.mistakes(name) {
        let kind = MistakeKind::Dns(found.mistake);
        // A mistake in the lines that all vectors share is noted once.
        if !source.has_noted(found.line, &kind) {
            source.note(found.line, kind);
        }
    }
    exchange
}

fn query_of(table: &TableReader<'_>, source: &mut SourceText) -> TextLine {
    let query = table.text(QUERY, source);
    TextLine {
        number: query.line,
        text: query.text,
    }
}

fn expectation_of(table: &TableReader<'_>, source: &mut SourceText) -> Vec<TextLine> {
    table.lines("expect", source).unwrap_or_else(|| {
        source.note(table.line, MistakeKind::Missing("expect"));
        Vec::new()
    })
}

fn alternative_of(table: &TableReader<'_>, source: &mut SourceText) -> DnsAlternative {
    table.check_keys(&ALTERNATIVE_KEYS, source);
    DnsAlternative {
        name: table.text("name", source).text,
        clause: table.text("clause", source).text,
        expect: expectation_of(table, source),
    }
}
