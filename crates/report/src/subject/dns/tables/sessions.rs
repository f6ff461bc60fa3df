//! The TLS sessions of the deciding trials over TLS (RFC 7858).

use super::answers::{DecidingRow, deciding, deciding_columns};
use crate::digest::Digest;
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use sixbench_method::trial::dns::TlsCounts;

/// A deciding trial over TLS.
struct SessionRow<'d> {
    trial: DecidingRow<'d>,
    tls: &'d TlsCounts,
}

/// Returns a table of the TLS sessions of the deciding trials; it has no rows without TLS.
pub(super) fn table(digest: &Digest) -> Table {
    let rows: Vec<SessionRow> = deciding(digest)
        .into_iter()
        .filter_map(|trial| {
            let tls = trial.asked.dns.tcp.as_ref()?.tls.as_ref()?;
            Some(SessionRow { trial, tls })
        })
        .collect();
    let columns = deciding_columns(|row: &SessionRow| &row.trial).chain([
        Column::text(
            "Sessions by version and cipher suite",
            |row: &SessionRow| row.tls.suite_list(),
        ),
        Column::number("Resumed", |row: &SessionRow| Cell::Count(row.tls.resumed)),
        Column::number("Handshakes failed", |row: &SessionRow| {
            Cell::Count(row.tls.handshakes_failed)
        }),
        Column::number("Broken", |row: &SessionRow| Cell::Count(row.tls.broken)),
        Column::text("First error", |row: &SessionRow| {
            row.tls.first_error.clone().unwrap_or_default()
        }),
    ]);
    Table::new("TLS sessions of queries", columns, rows).with_note(
        "The same trials, over TLS (RFC 7858). The servers' certificates are not verified. Sessions: established, those opened again included; resumed: those that continued an earlier one, with less work for the server; \
         handshakes failed: attempts, which count as refused; broken: sessions that ended with an alert or with octets that are not TLS, which count as \
         closed.",
    )
}
