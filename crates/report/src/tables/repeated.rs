//! Tables of quantities that are measured in one trial per repetition: latency, delay variation, recovery, reset.

use super::{AT_LEAST, AT_MOST, SPREAD, dispersion, percentile_note, spread};
use crate::digest::{Digest, PointDigest, PointSample, PrintedSummary};
use crate::layout::table::Table;
use crate::wording::numbers::{self, grouped, title};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::Measure;
use sixbench_method::terms::Direction;

/// The reporting format of a measure: a row for each test, frame size and direction, and a group of columns for each quantity.
struct Format {
    id: &'static str,
    title: &'static str,
    measure: fn(&Measure) -> bool,
    /// The name of the trial's load.
    load: &'static str,
    /// An extra column after the load.
    extra: Option<Extra>,
    quantities: &'static [(Quantity, &'static str)],
    /// True if the clause requires the average.
    is_averaged: bool,
    note: &'static str,
}

/// A column that only one format has: its name and its cells.
type Extra = (&'static str, fn(&PointDigest, &PointSample) -> String);

const FORMATS: [Format; 5] = [
    Format {
        id: "latency",
        title: "Latency (RFC 8219 section 7.2)",
        measure: |m| matches!(m, Measure::Latency(_)),
        load: "#Load",
        extra: None,
        quantities: &[(Quantity::TypicalLatency, "TL (ms)"), (Quantity::WorstCaseLatency, "WCL (ms)")],
        is_averaged: false,
        note: "TL: typical latency, the median of the tagged frames; WCL: worst-case latency, their 99.9th percentile. \
               Load: frames/s per direction.",
    },
    Format {
        id: "pdv",
        title: "Packet delay variation (RFC 8219 section 7.3.1)",
        measure: |m| matches!(m, Measure::Pdv(_)),
        load: "#Load",
        extra: None,
        quantities: &[(Quantity::Pdv, "PDV (ms)"), (Quantity::MinimumDelay, "Dmin (ms)"), (Quantity::HighDelay, "D99.9 (ms)")],
        is_averaged: false,
        note: "PDV = D99.9 - Dmin of the received frames of a stream; loss is reported and never converted into delay. Load: \
               frames/s per direction.",
    },
    Format {
        id: "ipdv",
        title: "Inter packet delay variation (RFC 8219 section 7.3.2)",
        measure: |m| matches!(m, Measure::Ipdv(_)),
        load: "#Load",
        extra: None,
        quantities: &[
            (Quantity::IpdvMinimum, "Dmin (ms)"),
            (Quantity::IpdvMedian, "Dmed (ms)"),
            (Quantity::IpdvMaximum, "Dmax (ms)"),
        ],
        is_averaged: false,
        note: "Difference of the delays of two successive frames: smallest, median and largest of a stream. Load: frames/s \
               per direction.",
    },
    Format {
        id: "recovery",
        title: "System recovery (RFC 2544 section 26.5)",
        measure: |m| matches!(m, Measure::Recovery(_)),
        load: "#Overload",
        extra: Some(("#Throughput", |p, _| p.determined().map_or("–".to_owned(), |rate| grouped(rate.0 as f64)))),
        quantities: &[(Quantity::RecoveryTime, "Recovery time (ms)")],
        is_averaged: true,
        note: "From the drop to half of the overload until the last lost frame was due; 0 if none was lost after the drop. \
               Rates: frames/s per direction.",
    },
    Format {
        id: "reset",
        title: "Reset (RFC 6201)",
        measure: |m| matches!(m, Measure::Reset(_)),
        load: "#Load",
        extra: Some(("#Loss (frames)", average_loss)),
        quantities: &[
            (Quantity::ResetTimeByLoss, "By frame loss (ms)"),
            (Quantity::ResetTimeByTimestamps, "By timestamps (ms)"),
        ],
        is_averaged: true,
        note: "Both methods of RFC 6201 section 1.3: frames lost over the load, and the longest time without a frame. Loss: \
               average per trial. Load: frames/s per direction.",
    },
];

/// Returns a note on delays that were measured with the clocks of two machines.
fn clock_note(bound_ns: u64) -> String {
    format!(
        "Frames left by the clock of one machine and arrived by that of another: each delay may be wrong by {:.4} ms, by which the clocks may have been \
         apart at most.",
        bound_ns as f64 / 1e6
    )
}

/// Returns a note on how exactly the arrival of a frame is known.
fn bound_note(bound_ns: u64) -> String {
    format!(
        "The tester sees a frame when it polls its port: 99 % of these frames had arrived up to {:.4} ms before, by which their delays may be too long. \
         None is too short.",
        bound_ns as f64 / 1e6
    )
}

/// Returns the tables of all these measures, each with its anchor in the page.
pub(crate) fn tables(digest: &Digest) -> Vec<(&'static str, Table)> {
    FORMATS.iter().map(|format| (format.id, format.table(digest))).collect()
}

impl Format {
    fn table(&self, digest: &Digest) -> Table {
        let points: Vec<&PointDigest> = digest.points_of(self.measure).filter(|p| !p.samples.is_empty()).collect();
        let rows = points.iter().flat_map(|p| p.directions().into_iter().filter_map(|d| self.row(p, d)));
        let samples = || points.iter().flat_map(|p| &p.samples);
        Table::new(self.title, self.columns())
            .with_rows(rows)
            .with_note(self.note)
            .with_note(percentile_note(samples().map(|s| &s.summary)))
            .with_note_if(samples().any(|s| s.at_least > 0), AT_LEAST)
            .with_note_if(samples().any(|s| s.at_most > 0), AT_MOST)
            .with_notes(digest.delay_bound_ns(&points).filter(|_| self.is_of_delays()).map(bound_note))
            .with_notes(digest.clock_bound_ns(&points).filter(|_| self.is_of_delays()).map(clock_note))
    }

    fn is_of_delays(&self) -> bool {
        self.quantities.iter().any(|(quantity, _)| quantity.is_of_one_way_delays())
    }

    fn columns(&self) -> Vec<String> {
        let mut columns = ["Test", "#Size", "Direction"].map(str::to_owned).to_vec();
        columns.extend(self.extra.map(|(name, _)| name.to_owned()));
        columns.push(self.load.to_owned());
        for (_, group) in self.quantities {
            let names = self.is_averaged.then_some("Mean").into_iter().chain(SPREAD);
            columns.extend(names.map(|name| format!("#{group}|{name}")));
        }
        columns.push("#n".to_owned());
        columns
    }

    fn row(&self, point: &PointDigest, direction: Direction) -> Option<Vec<String>> {
        let first = point.sample(self.quantities.first()?.0, direction)?;
        let mut row = vec![title(point.test), point.point.frame_size.to_string(), direction.to_string()];
        row.extend(self.extra.map(|(_, cell)| cell(point, first)));
        row.push(grouped(first.load.0 as f64));
        for (quantity, _) in self.quantities {
            let sample = point.sample(*quantity, direction);
            let mean = sample.map_or("–".to_owned(), |s| format!("{}{}", s.sign(), numbers::value(s.quantity, s.mean)));
            row.extend(self.is_averaged.then_some(mean));
            row.extend(spread(sample));
        }
        row.push(first.summary.n.to_string());
        Some(row)
    }
}

/// Returns the frames lost on average. By the loss method the time is lost frames divided by the load, so the frames follow from it.
fn average_loss(_: &PointDigest, by_loss: &PointSample) -> String {
    grouped((by_loss.mean * by_loss.load.0 as f64 / 1e9).round())
}

/// Returns a table of every quantity with every statistic, except the loss rates, which have a separate table of this kind.
pub(crate) fn summaries(digest: &Digest) -> Table {
    let columns =
        "Test; #Size; Direction; Quantity; Unit; #Load; #Median; #P1; #P99; #Min; #Max; #Mean; #Dispersion; #n".split("; ");
    let samples = || digest.points.iter().flat_map(|p| p.samples.iter().map(move |s| (p, s)));
    let samples = || samples().filter(|(_, s)| s.quantity != Quantity::FrameLossRate);
    Table::new("Every quantity with every statistic", columns)
        .with_rows(samples().map(|(p, s)| summary_row(p, s)))
        .with_note(match digest.points.iter().any(|p| p.test.measure.counts_connections()) {
            true => "Dispersion: (max - min) / median. Load: frames/s per direction, or connections/s for connections.",
            false => "Dispersion: (max - min) / median. Load: frames/s per direction.",
        })
        .with_note(percentile_note(samples().map(|(_, s)| &s.summary)))
}

/// Returns the load of a sample. A table capacity was not measured at a single load.
fn load(sample: &PointSample) -> String {
    match sample.quantity {
        Quantity::TableCapacity => "–".to_owned(),
        _ => grouped(sample.load.0 as f64),
    }
}

fn summary_row(point: &PointDigest, sample: &PointSample) -> Vec<String> {
    let PrintedSummary { min, p1, median, p99, max } = sample.printed();
    let mean = format!("{}{}", sample.sign(), numbers::value(sample.quantity, sample.mean));
    let unit = numbers::unit(sample.quantity).to_owned();
    let head = [title(point.test), point.point.frame_size.to_string(), sample.direction.to_string()];
    let what = [sample.quantity.title().to_owned(), unit, load(sample), median, p1, p99];
    let rest = [min, max, mean, dispersion(&sample.summary)];
    head.into_iter().chain(what).chain(rest).chain([sample.summary.n.to_string()]).collect()
}
