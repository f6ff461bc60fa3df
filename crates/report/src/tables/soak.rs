//! Soak tests: loss, and growth of memory and connections, over hours at one load of frames or of new connections.

use crate::digest::{Digest, PointDigest, PointSample};
use crate::layout::table::Table;
use crate::wording::numbers::{grouped, percentage, stretch, title, value};
use sixbench_method::measures::Quantity;
use sixbench_method::terms::Direction;

/// A kind of memory whose growth is reported: its name in sentences, and the quantities of the growth and of the ends of its interval.
pub(crate) struct MemoryKind {
    name: &'static str,
    growth: [Quantity; 3],
}

/// Every kind of memory, in the order of the columns.
pub(crate) const KINDS: [MemoryKind; 2] = [
    MemoryKind {
        name: "memory of the device",
        growth: [Quantity::MemoryGrowthRate, Quantity::MemoryGrowthLeast, Quantity::MemoryGrowthMost],
    },
    MemoryKind {
        name: "memory of the kernel",
        growth: [Quantity::KernelGrowthRate, Quantity::KernelGrowthLeast, Quantity::KernelGrowthMost],
    },
];

impl MemoryKind {
    /// Returns the median growth and the medians of the ends of its interval, octets per hour.
    fn medians(&self, point: &PointDigest) -> Option<[f64; 3]> {
        let of = |quantity| point.samples.iter().find(|sample| sample.quantity == quantity).map(|sample| sample.summary.median);
        let [growth, least, most] = self.growth.map(of);
        Some([growth?, least?, most?])
    }

    /// Returns a sentence on the growth: `memory of the device grew by 100 kB/h (95 %: 90 to 110)`. If the interval includes zero, no growth is shown.
    pub(crate) fn sentence(&self, point: &PointDigest) -> Option<String> {
        let [growth, least, most] = self.medians(point)?;
        let interval = format!("95\u{a0}%: {} to {}", kilo(least), kilo(most));
        Some(match least > 0.0 || most < 0.0 {
            true if growth < 0.0 => format!("{} shrank by {}\u{a0}kB/h ({interval})", self.name, kilo(-growth)),
            true => format!("{} grew by {}\u{a0}kB/h ({interval})", self.name, kilo(growth)),
            false => format!("no growth of the {} is shown ({interval}\u{a0}kB/h)", self.name),
        })
    }

    fn cells(&self, point: &PointDigest) -> [String; 2] {
        let none = || "–".to_owned();
        let Some([growth, least, most]) = self.medians(point) else { return [none(), none()] };
        [kilo(growth), format!("{} to {}", kilo(least), kilo(most))]
    }
}

/// Returns octets in kB of 1000.
fn kilo(octets: f64) -> String {
    value(Quantity::MemoryGrowth, octets)
}

/// Returns the table of tests with frames, and that of tests with new connections.
pub(crate) fn tables(digest: &Digest) -> Vec<Table> {
    vec![of_frames(digest), of_connections(digest)]
}

/// Returns a row for each test and frame size.
fn of_frames(digest: &Digest) -> Table {
    let columns =
        "Test; #Size; #Load; #Time; #Loss (%)|Forward; #Loss (%)|Reverse; #Memory (kB/h)|Growth; #Memory (kB/h)|95 %; \
        #Kernel (kB/h)|Growth; #Kernel (kB/h)|95 %; #Connections gained; #n"
            .split("; ");
    Table::new("Soak", columns).with_rows(digest.points.iter().filter_map(row)).with_note(
        "Growth per hour after the warm-up, by a line through the means of 20 equal parts of the time, with its 95 % interval; \
         medians of the repetitions. Memory: resident, of the device's processes, or in use on a machine of its own. Kernel: \
         what the kernel of the tester's machine cannot reclaim, of everything on it. Connections: in the kernel's table. Load: \
         frames/s per direction.",
    )
}

fn row(point: &PointDigest) -> Option<Vec<String>> {
    let soak = point.test.measure.soak().filter(|soak| soak.tcp.is_none())?;
    let of = |quantity, direction| point.samples.iter().find(|s| s.quantity == quantity && s.direction == direction);
    let loss = |direction| {
        of(Quantity::SoakLoss, direction).map_or_else(|| "–".to_owned(), |sample| percentage(sample.summary.median))
    };
    let first = point.samples.iter().find(|sample| sample.quantity == Quantity::SoakLoss)?;
    let gained = of(Quantity::TableGrowth, Direction::Forward);
    let mut row = vec![title(point.test), point.point.frame_size.to_string(), grouped(first.load.0 as f64)];
    row.push(stretch(soak.duration_ns / 1_000_000_000));
    row.extend([Direction::Forward, Direction::Reverse].map(loss));
    row.extend(KINDS.iter().flat_map(|kind| kind.cells(point)));
    row.push(gained.map_or_else(|| "–".to_owned(), |sample| grouped(sample.summary.median)));
    row.push(first.summary.n.to_string());
    Some(row)
}

/// Returns a row for each test of new connections.
fn of_connections(digest: &Digest) -> Table {
    let columns = "Test; #Connections per second|Asked; #Connections per second|Opened; #Connections per second|Closed; #Failed (%); #Time; \
        #Memory (kB/h)|Growth; #Memory (kB/h)|95 %; #Kernel (kB/h)|Growth; #Kernel (kB/h)|95 %; #Entries|Most; #Entries|Gained; #n"
        .split("; ");
    Table::new("Soak with new connections", columns)
        .with_rows(digest.points.iter().filter_map(row_of_connections))
        .with_note(
            "TCP connections, each with a GET and closed at once. Opened: those that brought their object. Closed: those whose end both sides saw \
             in order and in time. Failed: of those attempted. Memory and kernel: growth per hour after the warm-up, by a line through the means of 20 equal parts of the time. Entries: of the \
             kernel's connection tracking table, where closed connections stay until its timeout; gained: from the end of the warm-up to that of \
             the trial. Medians of the repetitions.",
        )
}

fn row_of_connections(point: &PointDigest) -> Option<Vec<String>> {
    let soak = point.test.measure.soak().filter(|soak| soak.tcp.is_some())?;
    let failed = sample(point, Quantity::FailedConnections)?;
    let count =
        |quantity| sample(point, quantity).map_or_else(|| "–".to_owned(), |sample| value(quantity, sample.summary.median));
    let mut row = vec![title(point.test), grouped(failed.load.0 as f64)];
    row.extend([Quantity::ConnectionsOpened, Quantity::ConnectionsClosed].map(count));
    row.extend([percentage(failed.summary.median), stretch(soak.duration_ns / 1_000_000_000)]);
    row.extend(KINDS.iter().flat_map(|kind| kind.cells(point)));
    row.extend([Quantity::TableLargest, Quantity::TableGrowth].map(count));
    row.push(failed.summary.n.to_string());
    Some(row)
}

fn sample<'p>(point: &'p PointDigest, quantity: Quantity) -> Option<&'p PointSample> {
    point.samples.iter().find(|sample| sample.quantity == quantity)
}
