//! The tables of the 6to4 paper: a column for each number of clients, a row for each quantity.

use super::percentile_note;
use crate::digest::{Digest, Ladder, Rung, ladders};
use crate::status;
use crate::table::Table;
use crate::words::{self, grouped};
use sixbench_method::measures::Quantity;
use sixbench_method::stats::Summary;

/// The rows of the paper, in its order.
const ROWS: [(Quantity, &str); 7] = [
    (Quantity::RequestLoss, "Frame loss (%)"),
    (Quantity::ResponseTime, "Response time, average (ms)"),
    (Quantity::ResponseTimeDeviation, "Response time, std. dev. (ms)"),
    (Quantity::ProcessorLoad, "CPU load, average (%)"),
    (Quantity::ProcessorLoadDeviation, "CPU load, std. dev. (%)"),
    (Quantity::ForwardedFrames, "Forwarded frames (frames/s)"),
    (Quantity::MemoryGrowth, "Memory (kB)"),
];

/// One table for each device, kind of request and frame size, and a second one where there are repetitions to be apart.
pub(crate) fn tables(digest: &Digest) -> Vec<Table> {
    ladders(digest).iter().flat_map(|ladder| [Some(table(digest, ladder)), spread(digest, ladder)]).flatten().collect()
}

fn columns(ladder: &Ladder) -> Vec<String> {
    let clients = ladder.steps.iter().map(|rung| format!("#{}", rung.clients));
    std::iter::once("Number of clients".to_owned()).chain(clients).collect()
}

/// The percentiles that RFC 8219 section 12 puts beside a median.
fn spread(digest: &Digest, ladder: &Ladder) -> Option<Table> {
    let has_samples = |quantity| ladder.samples(quantity).any(|(_, sample)| sample.summary.n > 1);
    type Of = fn(&Summary) -> f64;
    let kinds: [(&str, Of); 2] = [("P1", |s| s.p1), ("P99", |s| s.p99)];
    let rows: Vec<Vec<String>> = ROWS
        .iter()
        .filter(|(quantity, _)| has_samples(*quantity))
        .flat_map(|(quantity, name)| kinds.map(|(kind, of)| row(ladder, *quantity, &format!("{name}, {kind}"), of)))
        .collect();
    let summaries = || ROWS.iter().flat_map(|(quantity, _)| ladder.samples(*quantity)).map(|(_, sample)| &sample.summary);
    let title = format!(
        "{}, {}, {}\u{a0}bytes: percentiles of the repetitions",
        digest.dut_title(ladder.test),
        ladder.name,
        ladder.size
    );
    let table = Table::new(title, columns(ladder)).with_rows(rows).with_note(percentile_note(summaries()));
    (!table.rows.is_empty()).then_some(table)
}

fn table(digest: &Digest, ladder: &Ladder) -> Table {
    let title = format!(
        "{}, {}: {}, {}\u{a0}bytes, {} requests/s from each client",
        digest.dut_title(ladder.test),
        ladder.name,
        ladder.payload(),
        ladder.size,
        grouped(ladder.settings.rate_per_client.0 as f64)
    );
    let rows = ROWS.iter().map(|(quantity, name)| row(ladder, *quantity, name, |s| s.median)).chain([repetitions(ladder)]);
    let table = Table::new(title, columns(ladder))
        .with_rows(rows)
        .with_note(
            "Medians of the repetitions. Frame loss: requests without a right \
             reply in time, on whichever way. Response time: from the departure of a request to the arrival of its reply. Forwarded \
             frames: requests and replies together. Memory: growth over that before the first frame; 1 kB = 1000 octets. –: nobody could \
             look, or others ran on the same cores.",
        )
        .with_note(turn_around(ladder));
    missing(digest, ladder).into_iter().fold(table, Table::with_note)
}

/// Returns a sentence for each reason why there is no result for some numbers of clients: `No result for #8 and #9: every trial
/// ...`.
fn missing(digest: &Digest, ladder: &Ladder) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for rung in ladder.missing() {
        let why = rung.point.planned(digest).map(status::why).unwrap_or_default();
        let name = format!("#{}", rung.clients);
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => groups.push((why, vec![name])),
        }
    }
    groups
        .iter()
        .map(|(why, names)| format!("No result for {}: {}.", words::enumerated(names), why.trim_end_matches('.')))
        .collect()
}

fn row(ladder: &Ladder, quantity: Quantity, name: &str, of: fn(&Summary) -> f64) -> Vec<String> {
    let cells = ladder.steps.iter().map(|rung| match rung.sample(quantity) {
        Some(sample) => cell(quantity, of(&sample.summary)),
        None => "–".to_owned(),
    });
    std::iter::once(name.to_owned()).chain(cells).collect()
}

/// As in the paper: CPU loads to a tenth, frames/s and kB whole.
fn cell(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::ProcessorLoad | Quantity::ProcessorLoadDeviation => words::with_decimals(value, 1),
        quantity => words::value(quantity, value),
    }
}

fn repetitions(ladder: &Ladder) -> Vec<String> {
    let n = |rung: &Rung| rung.sample(Quantity::RequestLoss).map_or(0, |sample| sample.summary.n);
    std::iter::once("n".to_owned()).chain(ladder.steps.iter().map(|rung| n(rung).to_string())).collect()
}

/// Returns a note on the part of the response time that may be the tester's own.
fn turn_around(ladder: &Ladder) -> String {
    let records = ladder.steps.iter().flat_map(|rung| &rung.point.records);
    let worst = records.filter_map(|record| Some(record.result.exchange()?.worst_turn_around_ns())).max().unwrap_or(0);
    format!(
        "The tester's own part of a response time, from the look before it saw a request to the reply's leaving, was at most {}.",
        words::short_ms(worst as f64)
    )
}
