//! Soak tests: loss, and growth of memory and connections, over hours at one load of frames or of new connections.

use crate::digest::{Digest, PointDigest, PointSample};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{percentage, stretch, title, value};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::Soak;
use sixbench_method::terms::Direction;

/// The name of the chapter and of its figure.
pub(super) const ID: &str = "soak";

/// Returns the settings of a soak test; `None` for other tests.
pub(super) fn settings<'a>(point: &PointDigest<'a>) -> Option<&'a Soak> {
    point.test.measure.soak()
}

/// A kind of memory whose growth is reported: its name in sentences, and the quantities of the growth and of the ends of its interval.
pub(crate) struct MemoryKind {
    name: &'static str,
    growth: [Quantity; 3],
}

/// Every kind of memory, in the order of the columns.
pub(crate) const KINDS: [MemoryKind; 2] = [
    MemoryKind {
        name: "memory of the device",
        growth: [
            Quantity::MemoryGrowthRate,
            Quantity::MemoryGrowthLeast,
            Quantity::MemoryGrowthMost,
        ],
    },
    MemoryKind {
        name: "memory of the kernel",
        growth: [
            Quantity::KernelGrowthRate,
            Quantity::KernelGrowthLeast,
            Quantity::KernelGrowthMost,
        ],
    },
];

impl MemoryKind {
    /// Returns the median growth and the medians of the ends of its interval, octets per hour.
    fn medians(&self, point: &PointDigest) -> Option<[f64; 3]> {
        let median_of = |quantity| {
            point
                .samples
                .iter()
                .find(|sample| sample.quantity == quantity)
                .map(|sample| sample.summary.median)
        };
        let [growth, least, most] = self.growth.map(median_of);
        Some([growth?, least?, most?])
    }

    /// Returns a sentence on the growth: `memory of the device grew by 100 kB/h (95 %: 90 to 110)`. If the interval includes zero, no growth is shown.
    pub(crate) fn sentence(&self, point: &PointDigest) -> Option<String> {
        let [growth, least, most] = self.medians(point)?;
        let interval = format!("95\u{a0}%: {} to {}", kilo(least), kilo(most));
        Some(match least > 0.0 || most < 0.0 {
            true if growth < 0.0 => format!(
                "{} shrank by {}\u{a0}kB/h ({interval})",
                self.name,
                kilo(-growth)
            ),
            true => format!(
                "{} grew by {}\u{a0}kB/h ({interval})",
                self.name,
                kilo(growth)
            ),
            false => format!(
                "no growth of the {} is shown ({interval}\u{a0}kB/h)",
                self.name
            ),
        })
    }

    fn growth(&self, point: &PointDigest) -> Option<String> {
        self.medians(point).map(|[growth, ..]| kilo(growth))
    }

    fn interval(&self, point: &PointDigest) -> Option<String> {
        self.medians(point)
            .map(|[_, least, most]| format!("{} to {}", kilo(least), kilo(most)))
    }
}

/// Returns octets in kB of 1000.
fn kilo(octets: f64) -> String {
    value(Quantity::MemoryGrowth, octets)
}

/// Returns the table of tests with frames, and that of tests with new connections.
pub(super) fn tables(digest: &Digest) -> Vec<Table> {
    vec![of_frames(digest), of_connections(digest)]
}

/// A soak test at a point.
struct SoakRow<'d> {
    point: &'d PointDigest<'d>,
    soak: &'d Soak,
    /// The sample of what went wrong: frames lost, or connections failed.
    failed: &'d PointSample,
}

impl<'d> SoakRow<'d> {
    /// Returns the row of a point whose test is one of new connections, or one of frames.
    fn new(point: &'d PointDigest<'d>, is_of_connections: bool) -> Option<Self> {
        let soak = settings(point).filter(|soak| soak.tcp.is_some() == is_of_connections)?;
        let failed = if is_of_connections {
            Quantity::FailedConnections
        } else {
            Quantity::SoakLoss
        };
        Some(Self {
            point,
            soak,
            failed: sample(point, failed)?,
        })
    }

    fn time(&self) -> String {
        stretch(self.soak.duration_ns / 1_000_000_000)
    }

    /// Returns the median loss in a direction, per cent.
    fn loss(&self, direction: Direction) -> Option<String> {
        self.point
            .sample(Quantity::SoakLoss, direction)
            .map(|sample| percentage(sample.summary.median))
    }

    fn median(&self, quantity: Quantity) -> Option<Cell> {
        sample(self.point, quantity).map(|sample| Cell::Quantity(quantity, sample.summary.median))
    }

    fn gained(&self) -> Option<Cell> {
        let gained = self.point.sample(Quantity::TableGrowth, Direction::Forward);
        gained.map(|sample| Cell::Rate(sample.summary.median))
    }
}

/// Returns a row for each test and frame size.
fn of_frames(digest: &Digest) -> Table {
    let rows = digest
        .points
        .iter()
        .filter_map(|point| SoakRow::new(point, false));
    Table::new("Soak", frame_columns(), rows).with_note(
        "Growth per hour after the warm-up, by a line through the means of 20 equal parts of the time, with its 95 % interval; \
         medians of the repetitions. Memory: resident, of the device's processes, or in use on a machine of its own. Kernel: \
         what the kernel of the tester's machine cannot reclaim, of everything on it. Connections: in the kernel's table. Load: \
         frames/s per direction.",
    )
}

fn frame_columns<'d>() -> Vec<Column<'d, SoakRow<'d>>> {
    let mut columns = vec![
        Column::text("Test", |row: &SoakRow| title(row.point.test)),
        Column::number("Size", |row: &SoakRow| row.point.point.frame_size),
        Column::number("Load", |row: &SoakRow| Cell::Count(row.failed.load.0)),
        Column::number("Time", SoakRow::time),
        Column::number_in("Loss (%)", "Forward", |row: &SoakRow| {
            row.loss(Direction::Forward)
        }),
        Column::number_in("Loss (%)", "Reverse", |row: &SoakRow| {
            row.loss(Direction::Reverse)
        }),
    ];
    columns.extend(memory_columns());
    columns.push(Column::number("Connections gained", SoakRow::gained));
    columns.push(Column::number("n", |row: &SoakRow| {
        Cell::Number(row.failed.summary.n as u64)
    }));
    columns
}

fn memory_columns<'d>() -> [Column<'d, SoakRow<'d>>; 4] {
    let [memory, kernel] = &KINDS;
    [
        Column::number_in("Memory (kB/h)", "Growth", |row: &SoakRow| {
            memory.growth(row.point)
        }),
        Column::number_in("Memory (kB/h)", "95 %", |row: &SoakRow| {
            memory.interval(row.point)
        }),
        Column::number_in("Kernel (kB/h)", "Growth", |row: &SoakRow| {
            kernel.growth(row.point)
        }),
        Column::number_in("Kernel (kB/h)", "95 %", |row: &SoakRow| {
            kernel.interval(row.point)
        }),
    ]
}

/// Returns a row for each test of new connections.
fn of_connections(digest: &Digest) -> Table {
    let rows = digest
        .points
        .iter()
        .filter_map(|point| SoakRow::new(point, true));
    Table::new("Soak with new connections", connection_columns(), rows).with_note(
        "TCP connections, each with a GET and closed at once. Opened: those that brought their object. Closed: those whose end both sides saw \
             in order and in time. Failed: of those attempted. Memory and kernel: growth per hour after the warm-up, by a line through the means of 20 equal parts of the time. Entries: of the \
             kernel's connection tracking table, where closed connections stay until its timeout; gained: from the end of the warm-up to that of \
             the trial. Medians of the repetitions.",
    )
}

fn connection_columns<'d>() -> Vec<Column<'d, SoakRow<'d>>> {
    let mut columns = vec![
        Column::text("Test", |row: &SoakRow| title(row.point.test)),
        Column::number_in("Connections per second", "Asked", |row: &SoakRow| {
            Cell::Count(row.failed.load.0)
        }),
        Column::number_in("Connections per second", "Opened", |row: &SoakRow| {
            row.median(Quantity::ConnectionsOpened)
        }),
        Column::number_in("Connections per second", "Closed", |row: &SoakRow| {
            row.median(Quantity::ConnectionsClosed)
        }),
        Column::number("Failed (%)", |row: &SoakRow| {
            percentage(row.failed.summary.median)
        }),
        Column::number("Time", SoakRow::time),
    ];
    columns.extend(memory_columns());
    columns.extend([
        Column::number_in("Entries", "Most", |row: &SoakRow| {
            row.median(Quantity::TableLargest)
        }),
        Column::number_in("Entries", "Gained", |row: &SoakRow| {
            row.median(Quantity::TableGrowth)
        }),
        Column::number("n", |row: &SoakRow| {
            Cell::Number(row.failed.summary.n as u64)
        }),
    ]);
    columns
}

fn sample<'p>(point: &'p PointDigest, quantity: Quantity) -> Option<&'p PointSample> {
    point
        .samples
        .iter()
        .find(|sample| sample.quantity == quantity)
}
