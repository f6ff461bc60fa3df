//! The outcomes of the queries in the deciding trials: the passing one at the highest rate, and the failing one next above it.

use super::cells::{TEST, queries, test_cells};
use crate::digest::{Digest, PointDigest, QueryTrial};
use crate::layout::table::Table;
use sixbench_method::plan::DnsTest;
use sixbench_method::trial::dns::Answers;

/// A column: its name and the count behind it.
type AnswerColumn = (&'static str, fn(&Answers) -> u64);

/// The outcomes of most queries, with the kinds of wrong answers.
const FATES: [AnswerColumn; 9] = [
    ("#Sent", |a| a.sent),
    ("#Right, in time", |a| a.right),
    ("#Late", |a| a.late),
    ("#Unanswered", |a| a.unanswered),
    ("#Wrong|Address", |a| a.wrong_address),
    ("#Wrong|TTL", |a| a.wrong_ttl),
    ("#Wrong|Form", |a| a.wrong_form),
    ("#Wrong|Empty", |a| a.empty),
    ("#Wrong|Error", |a| errors_of(a)),
];

/// Error responses, and whatever else arrived in addition to the answers.
const ERRORS: [AnswerColumn; 12] = [
    ("#Error|SERVFAIL", |a| a.servfail),
    ("#Error|NXDOMAIN", |a| a.nxdomain),
    ("#Error|REFUSED", |a| a.refused),
    ("#Error|Other", |a| a.other_rcode),
    ("#Error|Truncated", |a| a.truncated),
    ("#Error|Malformed", |a| a.malformed),
    ("#Besides the answers|Duplicate", |a| a.duplicate),
    ("#Besides the answers|Mismatched", |a| a.mismatched),
    ("#Besides the answers|Unasked", |a| a.unasked),
    ("#Besides the answers|Port unreachable", |a| a.port_unreachable),
    ("#Besides the answers|Host unreachable", |a| a.host_unreachable),
    ("#Besides the answers|Network error", Answers::other_unreachable),
];

fn errors_of(a: &Answers) -> u64 {
    a.servfail + a.nxdomain + a.refused + a.other_rcode + a.truncated + a.malformed
}

/// Returns a table of every query in the deciding trials by its outcome.
pub(super) fn fates(digest: &Digest) -> Table {
    table(digest, "What happened to the queries", &FATES, |_| true).with_note(
        "For each test, the passing trial with the highest rate and the failing one next above it; every query is counted \
         once, by its first answer. Late: correct, but after the timeout. Address: another AAAA record, or more than one; TTL: \
         longer than the authority's; form: not a proper response; empty: no AAAA record although there should be one; error: \
         below.",
    )
}

/// Returns a table of the errors and additional answers, with the columns that occurred and the trials that had any.
pub(super) fn errors(digest: &Digest) -> Table {
    let deciding = deciding(digest);
    let occurred = |column: &&AnswerColumn| deciding.iter().any(|trial| column.1(&trial.asked.dns.answers) > 0);
    let occurred: Vec<AnswerColumn> = ERRORS.iter().filter(occurred).copied().collect();
    let is_told = |a: &Answers| occurred.iter().any(|(_, of)| of(a) > 0);
    table(digest, "Errors, and additional answers", &occurred, is_told).with_note(
        "The same trials; those not listed had none, and anything without a column did not occur. Duplicate: a further answer \
         to the same query; mismatched: an answer to a question other than that of the query with its identifier; unasked: \
         with an identifier that no query has; port or host unreachable, network error: what the network reported, at least that often.",
    )
    .with_notes(deciding.iter().flat_map(network_notes))
}

/// Returns what the network reported in a deciding trial.
fn network_notes(Deciding { test, verdict, asked }: &Deciding) -> Vec<String> {
    let errors = asked.dns.network_errors().into_iter();
    let of_trial = format!("{}, the trial that {verdict} at {} queries/s", test[0], queries(asked.rate()));
    errors.map(|errors| format!("{of_trial}: {errors}.")).collect()
}

fn table(digest: &Digest, title: &str, fates: &[AnswerColumn], is_told: impl Fn(&Answers) -> bool) -> Table {
    let columns = TEST.into_iter().chain(["Trial", "#Queries/s"]).chain(fates.iter().map(|(name, _)| *name));
    let told = deciding(digest).into_iter().filter(|trial| is_told(&trial.asked.dns.answers));
    let rows = told.map(|Deciding { test, verdict, asked }| {
        let counts = fates.iter().map(|(_, of)| queries(of(&asked.dns.answers)));
        test.into_iter().chain([verdict.to_owned(), queries(asked.rate())]).chain(counts).collect()
    });
    Table::new(title, columns).with_rows(rows)
}

/// A deciding trial, with the cells of its test.
struct Deciding<'a> {
    test: [String; 3],
    verdict: &'static str,
    asked: QueryTrial<'a>,
}

fn deciding<'a>(digest: &Digest<'a>) -> Vec<Deciding<'a>> {
    let of = |(point, dns): (&PointDigest<'a>, &DnsTest)| {
        let goal = point.first_goal();
        let test = test_cells(digest, point, dns);
        let trials = [("passed", point.all_answered(goal)), ("failed", point.not_all_answered(goal))];
        trials.into_iter().filter_map(move |(verdict, asked)| Some(Deciding { test: test.clone(), verdict, asked: asked? }))
    };
    digest.dns_points().flat_map(of).collect()
}
