//! The outcomes of the queries in the deciding trials: the passing one at the highest rate, and the failing one next above it.

use super::cells::{ServerTest, percent};
use crate::digest::{Digest, QueryTrial};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::grouped;
use sixbench_method::trial::dns::{Answers, TcpCounts};

/// A column of numbers of queries.
struct AnswerColumn {
    group: &'static str,
    name: &'static str,
    count: fn(&Answers) -> u64,
}

impl AnswerColumn {
    const fn new(group: &'static str, name: &'static str, count: fn(&Answers) -> u64) -> Self {
        Self { group, name, count }
    }
}

/// The outcomes of most queries, with the kinds of wrong answers.
const OUTCOMES: [AnswerColumn; 9] = [
    AnswerColumn::new("", "Sent", |a| a.sent),
    AnswerColumn::new("", "Right, in time", |a| a.right),
    AnswerColumn::new("", "Late", |a| a.late),
    AnswerColumn::new("", "Unanswered", |a| a.unanswered),
    AnswerColumn::new("Wrong", "Address", |a| a.wrong_address),
    AnswerColumn::new("Wrong", "TTL", |a| a.wrong_ttl),
    AnswerColumn::new("Wrong", "Form", |a| a.wrong_form),
    AnswerColumn::new("Wrong", "Empty", |a| a.empty),
    AnswerColumn::new("Wrong", "Error", errors_of),
];

/// Error responses, and whatever else arrived in addition to the answers.
const ERRORS: [AnswerColumn; 12] = [
    AnswerColumn::new("Error", "SERVFAIL", |a| a.servfail),
    AnswerColumn::new("Error", "NXDOMAIN", |a| a.nxdomain),
    AnswerColumn::new("Error", "REFUSED", |a| a.refused),
    AnswerColumn::new("Error", "Other", |a| a.other_rcode),
    AnswerColumn::new("Error", "Truncated", |a| a.truncated),
    AnswerColumn::new("Error", "Malformed", |a| a.malformed),
    AnswerColumn::new("Besides the answers", "Duplicate", |a| a.duplicate),
    AnswerColumn::new("Besides the answers", "Mismatched", |a| a.mismatched),
    AnswerColumn::new("Besides the answers", "Unasked", |a| a.unasked),
    AnswerColumn::new("Besides the answers", "Port unreachable", |a| {
        a.port_unreachable
    }),
    AnswerColumn::new("Besides the answers", "Host unreachable", |a| {
        a.host_unreachable
    }),
    AnswerColumn::new(
        "Besides the answers",
        "Network error",
        Answers::other_unreachable,
    ),
];

fn errors_of(a: &Answers) -> u64 {
    a.servfail + a.nxdomain + a.refused + a.other_rcode + a.truncated + a.malformed
}

/// Returns a table of every query in the deciding trials by its outcome.
pub(super) fn outcomes(digest: &Digest) -> Table {
    table("What happened to the queries", OUTCOMES.iter(), deciding(digest)).with_note(
        "For each test, the passing trial with the highest rate and the failing one next above it; every query is counted \
         once, by its first answer. Late: correct, but after the timeout. Address: another AAAA record, or more than one; TTL: \
         longer than the authority's; form: not a proper response; empty: no AAAA record although there should be one; error: \
         below.",
    )
}

/// Returns a table of the errors and additional answers, with the columns that occurred and the trials that had any.
pub(super) fn errors(digest: &Digest) -> Table {
    let mut deciding = deciding(digest);
    let occurred = |column: &&AnswerColumn| {
        deciding
            .iter()
            .any(|trial| (column.count)(trial.answers()) > 0)
    };
    let occurred: Vec<&AnswerColumn> = ERRORS.iter().filter(occurred).collect();
    deciding.retain(|trial| {
        occurred
            .iter()
            .any(|column| (column.count)(trial.answers()) > 0)
    });
    let network: Vec<String> = deciding
        .iter()
        .flat_map(DecidingRow::network_notes)
        .collect();
    let table = table("Errors, and additional answers", occurred.into_iter(), deciding).with_note(
        "The same trials; those not listed had none, and anything without a column did not occur. Duplicate: a further answer \
         to the same query; mismatched: an answer to a question other than that of the query with its identifier; unasked: \
         with an identifier that no query has; port or host unreachable, network error: what the network reported, at least that often.",
    );
    table.with_notes(network)
}

/// Returns a table of the first answers to the queries of files by their response codes.
pub(super) fn response_codes(digest: &Digest) -> Table {
    let rows: Vec<CodeRow> = deciding(digest)
        .into_iter()
        .filter_map(CodeRow::new)
        .collect();
    let columns = deciding_columns(|row: &CodeRow| &row.trial).chain([
        Column::text("Queries of", |row: &CodeRow| row.file.clone()),
        Column::text("First answers", |row: &CodeRow| row.codes.clone()),
        Column::number("Not looked up", |row: &CodeRow| {
            Cell::Count(row.trial.asked.dns.not_looked_up)
        }),
    ]);
    Table::new("Response codes of the queries of files", columns, rows).with_note(
        "The same trials, with queries of a file, right and wrong answers alike. Right is NOERROR or NXDOMAIN to the question that was asked, with the \
         flags of the server's kind, in a message that is complete, whose records belong to the name or its aliases. For AAAA queries to a \
         DNS64 server, each address must moreover be the name's own or embed an address of its A record, which the server gave before the trials; not \
         looked up: names for which it did not. Which other records a name has is not known, and so not checked; nor are times to live.",
    )
}

/// A deciding trial with queries of a file.
struct CodeRow<'d> {
    trial: DecidingRow<'d>,
    file: String,
    codes: String,
}

impl<'d> CodeRow<'d> {
    fn new(trial: DecidingRow<'d>) -> Option<Self> {
        let file = trial.test.dns.queries.as_ref()?.description();
        let codes = trial.asked.dns.rcodes.iter();
        let codes: Vec<String> = codes
            .map(|(code, answers)| format!("{code} {}", grouped(*answers as f64)))
            .collect();
        Some(Self {
            trial,
            file,
            codes: codes.join(", "),
        })
    }
}

/// Returns a table of the TCP connections of the deciding trials over TCP.
pub(super) fn connections(digest: &Digest) -> Table {
    let rows: Vec<ConnectionRow> = deciding(digest)
        .into_iter()
        .filter_map(|trial| {
            let tcp = trial.asked.dns.tcp.as_ref()?;
            Some(ConnectionRow { trial, tcp })
        })
        .collect();
    let counts = CONNECTIONS.iter().map(|column| {
        Column::number(column.name, |row: &ConnectionRow| {
            Cell::Count((column.count)(row.tcp))
        })
    });
    let columns = deciding_columns(|row: &ConnectionRow| &row.trial).chain(counts);
    Table::new("Connections of queries over TCP", columns, rows).with_note(
        "The same trials, over TCP, with TLS or without. Opened: established, the first ones included; refused: attempts that failed; closed: by the server, and opened \
         again; interrupted: queries that waited for their answers on those, and were not sent again; held back: queries that were due while their \
         connection carried as many as it may, was not established or took no more octets, which counts in their times; misframed: connections \
         with a length before a message that is below that of a header, or that ended within a message.",
    )
}

/// A deciding trial over TCP.
struct ConnectionRow<'d> {
    trial: DecidingRow<'d>,
    tcp: &'d TcpCounts,
}

/// A column of counts of connections.
struct ConnectionColumn {
    name: &'static str,
    count: fn(&TcpCounts) -> u64,
}

impl ConnectionColumn {
    const fn new(name: &'static str, count: fn(&TcpCounts) -> u64) -> Self {
        Self { name, count }
    }
}

const CONNECTIONS: [ConnectionColumn; 7] = [
    ConnectionColumn::new("Connections", |tcp| tcp.connections),
    ConnectionColumn::new("Opened", |tcp| tcp.opened),
    ConnectionColumn::new("Refused", |tcp| tcp.refused),
    ConnectionColumn::new("Closed", |tcp| tcp.closed),
    ConnectionColumn::new("Interrupted", |tcp| tcp.interrupted),
    ConnectionColumn::new("Held back", |tcp| tcp.held_back),
    ConnectionColumn::new("Misframed", |tcp| tcp.misframed),
];

fn table<'d>(
    title: &str,
    outcomes: impl Iterator<Item = &'d AnswerColumn>,
    rows: Vec<DecidingRow<'d>>,
) -> Table {
    let counts = outcomes.map(|column| {
        Column::number_in(column.group, column.name, |row: &DecidingRow| {
            Cell::Count((column.count)(row.answers()))
        })
    });
    let columns = deciding_columns(|row: &DecidingRow| row).chain(counts);
    Table::new(title, columns, rows)
}

/// Returns the columns that identify a row's trial.
pub(super) fn deciding_columns<'d, Row: 'd>(
    trial: for<'r> fn(&'r Row) -> &'r DecidingRow<'d>,
) -> impl Iterator<Item = Column<'d, Row>> {
    let of_test = [
        Column::text("Test", move |row: &Row| trial(row).test.server().to_owned()),
        Column::number("Cached", move |row: &Row| trial(row).test.cached()),
        Column::number("AAAA", move |row: &Row| {
            percent(trial(row).test.dns.with_aaaa)
        }),
    ];
    let of_trial = [
        Column::text("Trial", move |row: &Row| trial(row).verdict),
        Column::number("Queries/s", move |row: &Row| {
            Cell::Count(trial(row).asked.rate())
        }),
    ];
    of_test.into_iter().chain(of_trial)
}

/// A deciding trial.
pub(super) struct DecidingRow<'d> {
    test: ServerTest<'d>,
    verdict: &'static str,
    pub(super) asked: QueryTrial<'d>,
}

impl DecidingRow<'_> {
    fn answers(&self) -> &Answers {
        &self.asked.dns.answers
    }

    /// Returns what the network reported in the trial.
    fn network_notes(&self) -> Vec<String> {
        let Self {
            test,
            verdict,
            asked,
        } = self;
        let of_trial = format!(
            "{}, the trial that {verdict} at {} queries/s",
            test.server(),
            grouped(asked.rate() as f64)
        );
        asked
            .dns
            .network_errors()
            .into_iter()
            .map(|errors| format!("{of_trial}: {errors}."))
            .collect()
    }
}

/// Returns the deciding trials of all tests.
pub(super) fn deciding<'d>(digest: &'d Digest<'d>) -> Vec<DecidingRow<'d>> {
    digest
        .dns_points()
        .flat_map(|(point, dns)| deciding_of(ServerTest::new(digest, point, dns)))
        .collect()
}

fn deciding_of(test: ServerTest<'_>) -> Vec<DecidingRow<'_>> {
    let (point, goal) = (test.point, test.point.first_goal());
    let trials = [
        ("passed", point.all_answered(goal)),
        ("failed", point.not_all_answered(goal)),
    ];
    let row = |(verdict, asked): (&'static str, Option<_>)| {
        Some(DecidingRow {
            test: test.clone(),
            verdict,
            asked: asked?,
        })
    };
    trials.into_iter().filter_map(row).collect()
}
