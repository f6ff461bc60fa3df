//! The tables of the 6to4 paper, with a column for each number of clients and a row for each quantity.

use crate::digest::{ClientSeries, ClientStep, Digest, client_series};
use crate::findings::status;
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::statistics::percentile_note;
use crate::wording::numbers::{self, grouped};
use sixbench_method::lists::by_key;
use sixbench_method::measures::Quantity;
use sixbench_stats::Summary;

const ROWS: [(Quantity, &str); 7] = [
    (Quantity::RequestLoss, "Frame loss (%)"),
    (Quantity::ResponseTime, "Response time, average (ms)"),
    (
        Quantity::ResponseTimeDeviation,
        "Response time, std. dev. (ms)",
    ),
    (Quantity::ProcessorLoad, "CPU load, average (%)"),
    (Quantity::ProcessorLoadDeviation, "CPU load, std. dev. (%)"),
    (Quantity::ForwardedFrames, "Forwarded frames (frames/s)"),
    (Quantity::MemoryGrowth, "Memory (kB)"),
];

/// Returns one table for each device, kind of request and frame size, and a second one on the spread if there are several repetitions.
pub(super) fn tables(digest: &Digest) -> Vec<Table> {
    client_series(digest)
        .iter()
        .flat_map(|series| [Some(table(digest, series)), spread(digest, series)])
        .flatten()
        .collect()
}

/// A row: the quantity, its name, and the statistic of each number of clients.
struct QuantityRow {
    name: String,
    cell: Box<dyn Fn(&ClientStep) -> Cell>,
}

impl QuantityRow {
    fn new(quantity: Quantity, name: impl Into<String>, statistic: fn(&Summary) -> f64) -> Self {
        let cell = move |step: &ClientStep| {
            step.sample(quantity)
                .map(|sample| cell(quantity, statistic(&sample.summary)))
                .into()
        };
        Self {
            name: name.into(),
            cell: Box::new(cell),
        }
    }

    /// Returns the row of the numbers of repetitions.
    fn of_repetitions() -> Self {
        let n = |step: &ClientStep| {
            step.sample(Quantity::RequestLoss)
                .map_or(0, |sample| sample.summary.n)
        };
        Self {
            name: "n".to_owned(),
            cell: Box::new(move |step| Cell::Number(n(step) as u64)),
        }
    }
}

fn columns<'s>(series: &'s ClientSeries) -> impl Iterator<Item = Column<'s, QuantityRow>> {
    let clients = series.steps.iter().map(|step| {
        Column::number(step.clients.to_string(), |row: &QuantityRow| {
            (row.cell)(step)
        })
    });
    std::iter::once(Column::text("Number of clients", |row: &QuantityRow| {
        row.name.clone()
    }))
    .chain(clients)
}

/// Returns a table of the percentiles that RFC 8219 section 12 requires in addition to the median.
fn spread(digest: &Digest, series: &ClientSeries) -> Option<Table> {
    let has_samples = |quantity| {
        series
            .samples(quantity)
            .any(|(_, sample)| sample.summary.n > 1)
    };
    let rows = ROWS
        .iter()
        .filter(|(quantity, _)| has_samples(*quantity))
        .flat_map(|(quantity, name)| {
            let low = QuantityRow::new(*quantity, format!("{name}, P1"), |summary| summary.p1);
            [
                low,
                QuantityRow::new(*quantity, format!("{name}, P99"), |summary| summary.p99),
            ]
        });
    let summaries = || {
        ROWS.iter()
            .flat_map(|(quantity, _)| series.samples(*quantity))
            .map(|(_, sample)| &sample.summary)
    };
    let title = format!(
        "{}, {}, {}\u{a0}bytes: percentiles of the repetitions",
        digest.dut_title(series.test),
        series.name,
        series.size
    );
    let table = Table::new(title, columns(series), rows).with_note(percentile_note(summaries()));
    (!table.rows.is_empty()).then_some(table)
}

fn table(digest: &Digest, series: &ClientSeries) -> Table {
    let title = format!(
        "{}, {}: {}, {}\u{a0}bytes, {} requests/s from each client",
        digest.dut_title(series.test),
        series.name,
        series.payload(),
        series.size,
        grouped(series.settings.rate_per_client.0 as f64)
    );
    let medians = ROWS
        .iter()
        .map(|(quantity, name)| QuantityRow::new(*quantity, *name, |summary| summary.median));
    let table = Table::new(title, columns(series), medians.chain([QuantityRow::of_repetitions()]))
        .with_note(
            "Medians of the repetitions. Frame loss: requests without a correct reply in time, whether the request or the \
             reply was lost. Response time: from the departure of a request to the arrival of its reply. Forwarded frames: \
             requests and replies together. Memory: growth since before the first frame; 1 kB = 1000 octets. –: could not be \
             monitored, or other processes ran on the same cores.",
        )
        .with_note(turn_around(series));
    missing(digest, series)
        .into_iter()
        .fold(table, Table::with_note)
}

/// Returns a sentence for each reason why some numbers of clients have no result: `No result for #8 and #9: every trial ...`.
fn missing(digest: &Digest, series: &ClientSeries) -> Vec<String> {
    let why = |step: &ClientStep| {
        step.point
            .planned(digest)
            .map(status::why)
            .unwrap_or_default()
    };
    by_key(
        series
            .missing()
            .map(|step| (why(step), format!("#{}", step.clients))),
    )
    .iter()
    .map(|(why, names)| {
        format!(
            "No result for {}: {}.",
            numbers::enumerated(names),
            why.trim_end_matches('.')
        )
    })
    .collect()
}

/// Returns a value formatted as in the paper: CPU loads to a tenth, frames/s and kB as whole numbers.
fn cell(quantity: Quantity, value: f64) -> Cell {
    match quantity {
        Quantity::ProcessorLoad | Quantity::ProcessorLoadDeviation => Cell::Decimals(value, 1),
        quantity => Cell::Quantity(quantity, value),
    }
}

/// Returns a note on the part of the response time that may come from the tester itself.
fn turn_around(series: &ClientSeries) -> String {
    let records = series.steps.iter().flat_map(|step| &step.point.records);
    let worst = records
        .filter_map(|record| Some(record.result.exchange()?.worst_turn_around_ns()))
        .max()
        .unwrap_or(0);
    format!(
        "The tester's own share of a response time, from the last read before it saw a request until the reply left, was at most {}.",
        numbers::short_ms(worst as f64)
    )
}
