//! Tables of quantities that are measured in one trial per repetition: latency, delay variation, recovery, reset.

use crate::digest::{Digest, PointDigest, PointSample, PrintedSummary};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::Chapter;
use crate::subject::statistics::{AT_LEAST, AT_MOST, percentile_note};
use crate::wording::numbers::title;
use sixbench_method::measures::{Info, Quantity};
use sixbench_method::plan::Measure;
use sixbench_method::terms::Direction;

/// The reporting format of a measure: a row for each test, frame size and direction, and a group of columns for each quantity.
struct Format {
    title: &'static str,
    /// The title in the page's table of contents.
    short: &'static str,
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
type Extra = (&'static str, fn(&PointDigest, &PointSample) -> Cell);

/// A point in one direction.
struct DirectionSamples<'d> {
    point: &'d PointDigest<'d>,
    direction: Direction,
    /// The sample of the first quantity.
    first: &'d PointSample,
}

impl<'d> DirectionSamples<'d> {
    fn sample(&self, quantity: Quantity) -> Option<&'d PointSample> {
        self.point.sample(quantity, self.direction)
    }

    fn printed(&self, quantity: Quantity) -> Option<PrintedSummary> {
        self.sample(quantity).map(PointSample::printed)
    }
}

const FORMATS: [Format; 5] = [
    Format {
        title: "Latency (RFC 8219 section 7.2)",
        short: "Latency",
        load: "Load",
        extra: None,
        quantities: &[
            (Quantity::TypicalLatency, "TL (ms)"),
            (Quantity::WorstCaseLatency, "WCL (ms)"),
        ],
        is_averaged: false,
        note: "TL: typical latency, the median of the tagged frames; WCL: worst-case latency, their 99.9th percentile. \
               Load: frames/s per direction.",
    },
    Format {
        title: "Packet delay variation (RFC 8219 section 7.3.1)",
        short: "Packet delay variation",
        load: "Load",
        extra: None,
        quantities: &[
            (Quantity::Pdv, "PDV (ms)"),
            (Quantity::MinimumDelay, "Dmin (ms)"),
            (Quantity::HighDelay, "D99.9 (ms)"),
        ],
        is_averaged: false,
        note: "PDV = D99.9 - Dmin of the received frames of a stream; loss is reported and never converted into delay. Load: \
               frames/s per direction.",
    },
    Format {
        title: "Inter packet delay variation (RFC 8219 section 7.3.2)",
        short: "Inter packet delay variation",
        load: "Load",
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
        title: "System recovery (RFC 2544 section 26.5)",
        short: "System recovery",
        load: "Overload",
        extra: Some(("Throughput", |p, _| {
            p.determined().map(|rate| Cell::Count(rate.0)).into()
        })),
        quantities: &[(Quantity::RecoveryTime, "Recovery time (ms)")],
        is_averaged: true,
        note: "From the drop to half of the overload until the last lost frame was due; 0 if none was lost after the drop. \
               Rates: frames/s per direction.",
    },
    Format {
        title: "Reset (RFC 6201)",
        short: "Reset",
        load: "Load",
        // It gets the sample of the first quantity, from which it follows: the time by loss must stay first.
        extra: Some(("Loss (frames)", average_loss)),
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

/// Returns the chapters of all measures that have such a format. The anchor of each in the page is the name of the measure.
pub(super) fn chapters(digest: &Digest) -> Vec<Chapter> {
    let chapter = |info: &'static Info| {
        let format = FORMATS.iter().find(|format| format.is_of(info))?;
        let table = format.table(digest, info);
        Some(Chapter::new(
            info.term.name,
            format.short,
            vec![table],
            vec![],
        ))
    };
    Measure::infos().filter_map(chapter).collect()
}

impl Format {
    /// Returns whether it is the format of this measure: that with its first quantity.
    fn is_of(&self, info: &Info) -> bool {
        let first = self.quantities.first().map(|(quantity, _)| quantity);
        first.is_some() && first == info.quantities.first()
    }

    fn table(&self, digest: &Digest, info: &Info) -> Table {
        let points: Vec<&PointDigest> = digest
            .points
            .iter()
            .filter(|p| p.test.measure.name() == info.term.name && !p.samples.is_empty())
            .collect();
        let rows = points
            .iter()
            .flat_map(|p| p.directions().into_iter().filter_map(|d| self.row(p, d)));
        let samples = || points.iter().flat_map(|p| &p.samples);
        Table::new(self.title, self.columns(), rows)
            .with_note(self.note)
            .with_note(percentile_note(samples().map(|s| &s.summary)))
            .with_note_if(samples().any(|s| s.at_least > 0), AT_LEAST)
            .with_note_if(samples().any(|s| s.at_most > 0), AT_MOST)
            .with_notes(
                digest
                    .delay_bound_ns(&points)
                    .filter(|_| self.is_of_delays())
                    .map(bound_note),
            )
            .with_notes(
                digest
                    .clock_bound_ns(&points)
                    .filter(|_| self.is_of_delays())
                    .map(clock_note),
            )
    }

    fn is_of_delays(&self) -> bool {
        self.quantities
            .iter()
            .any(|(quantity, _)| quantity.is_of_one_way_delays())
    }

    fn columns(&self) -> Vec<Column<'_, DirectionSamples<'_>>> {
        let mut columns = vec![
            Column::text("Test", |row: &DirectionSamples| title(row.point.test)),
            Column::number("Size", |row: &DirectionSamples| row.point.point.frame_size),
            Column::text("Direction", |row: &DirectionSamples| row.direction),
        ];
        columns.extend(self.extra.map(|(name, cell)| {
            Column::number(name, move |row: &DirectionSamples| {
                cell(row.point, row.first)
            })
        }));
        columns.push(Column::number(self.load, |row: &DirectionSamples| {
            Cell::Count(row.first.load.0)
        }));
        columns.extend(
            self.quantities
                .iter()
                .flat_map(|&(quantity, group)| self.quantity_columns(quantity, group)),
        );
        columns.push(Column::number("n", |row: &DirectionSamples| {
            Cell::Number(row.first.summary.n as u64)
        }));
        columns
    }

    fn quantity_columns<'d>(
        &self,
        quantity: Quantity,
        group: &str,
    ) -> Vec<Column<'d, DirectionSamples<'d>>> {
        let mean = Column::number_in(group, "Mean", move |row: &DirectionSamples| {
            row.sample(quantity).map(mean)
        });
        let spread = [
            Column::number_in(group, "Median", move |row: &DirectionSamples| {
                row.printed(quantity).map(|of| of.median)
            }),
            Column::number_in(group, "P1", move |row: &DirectionSamples| {
                row.printed(quantity).map(|of| of.p1)
            }),
            Column::number_in(group, "P99", move |row: &DirectionSamples| {
                row.printed(quantity).map(|of| of.p99)
            }),
        ];
        self.is_averaged
            .then_some(mean)
            .into_iter()
            .chain(spread)
            .collect()
    }

    fn row<'d>(
        &self,
        point: &'d PointDigest<'d>,
        direction: Direction,
    ) -> Option<DirectionSamples<'d>> {
        let first = point.sample(self.quantities.first()?.0, direction)?;
        Some(DirectionSamples {
            point,
            direction,
            first,
        })
    }
}

fn mean(sample: &PointSample) -> Cell {
    Cell::Quantity(sample.quantity, sample.mean).signed(sample.sign())
}

/// Returns the frames lost on average. By the loss method the time is lost frames divided by the load, so the frames follow from it.
fn average_loss(_: &PointDigest, by_loss: &PointSample) -> Cell {
    Cell::Rate(by_loss.mean * by_loss.load.0 as f64 / 1e9)
}
