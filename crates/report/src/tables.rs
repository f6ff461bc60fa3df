//! The tables of a report.

use crate::digest::{Digest, GoalDigest, Limits, PointDigest};
use crate::table::Table;
use crate::words::{grouped, ms, quantity, short, title};
use sixbench_method::plan::Test;
use sixbench_method::stats::Summary;
use sixbench_method::terms::FrameSize;
use sixbench_method::trial::{Delay, DirectionResult, Fault};
use std::collections::BTreeMap;

/// The headline numbers: the first goal at every point.
pub(crate) fn headline(digest: &Digest) -> Table {
    let columns =
        ["Test", "DUT", "#Size", "#Median", "#P1", "#P99", "#Min", "#Max", "#n", "#Mbit/s", "Limited by", "#Invalid trials"];
    let rows = digest.points.iter().map(|p| headline_row(digest, p));
    Table::new(columns)
        .with_rows(rows)
        .with_note(format!(
            "{}: frames/s per direction. Size: octets of the IPv6 frame with FCS; the IPv4 frame of the same name is 20 shorter. \
             Mbit/s: layer 2, per direction, of the median and the nominal size.",
            quantity(digest.goal())
        ))
        .with_note(percentile_note(digest))
}

fn headline_row(digest: &Digest, point: &PointDigest) -> Vec<String> {
    let size = point.point.frame_size;
    let mut row = vec![title(point.test), digest.dut_title(point.test).to_owned(), size.to_string()];
    match point.headline() {
        Some(summary) => row.extend(summary_cells(summary, point.limits())),
        None => row.extend(["no result"].into_iter().chain(["–"; 4]).chain(["0"]).map(str::to_owned)),
    }
    row.push(point.headline().map_or("–".to_owned(), |s| grouped(mbit(s.median, size).round())));
    row.push(point.goals.first().map_or("–".to_owned(), limit_words));
    row.push(point.invalid().to_string());
    row
}

/// What limited a result, with the repetitions that need a word of their own.
pub(crate) fn limit_words(goal: &GoalDigest) -> String {
    let mut words = vec![goal.limits.words()];
    if goal.unmeasured > 0 {
        words.push(format!("tester, no result {}×", goal.unmeasured));
    }
    if goal.below_minimum > 0 {
        words.push(format!("below the lowest load {}×", goal.below_minimum));
    }
    words.retain(|w| w != "–" || goal.unmeasured == 0);
    words.join("; ")
}

fn summary_cells(summary: &Summary, limits: Limits) -> [String; 6] {
    let at_least = if limits.open_above() { "≥\u{a0}" } else { "" };
    [
        format!("{at_least}{}", grouped(summary.median)),
        grouped(summary.p1),
        grouped(summary.p99),
        grouped(summary.min),
        grouped(summary.max),
        summary.n.to_string(),
    ]
}

/// Layer 2, per direction, FCS included, preamble and gap not.
pub(crate) fn mbit(rate: f64, size: FrameSize) -> f64 {
    rate * f64::from(size.0) * 8.0 / 1e6
}

/// A percentile never stands without the size of its sample.
pub(crate) fn percentile_note(digest: &Digest) -> String {
    let sizes: std::collections::BTreeSet<usize> =
        digest.points.iter().filter_map(PointDigest::headline).map(|s| s.n).collect();
    let sizes: Vec<String> = sizes.iter().filter(|&&n| n < 100).map(usize::to_string).collect();
    match sizes.is_empty() {
        true => "P1 and P99: 1st and 99th percentile by RFC 2330 section 11.3; n: size of the sample.".to_owned(),
        false => format!("With n = {} the 1st/99th percentiles are the minimum and maximum.", sizes.join(", ")),
    }
}

/// The reporting format of RFC 2544 section 26.1, one table for each goal: frame sizes across, frame rates below.
pub(crate) fn by_size(digest: &Digest) -> Vec<(String, Table)> {
    let goals = digest.input.plan.search.goals.iter().enumerate();
    goals.map(|(i, &goal)| (format!("{}, frames/s per direction", quantity(goal)), size_table(digest, i))).collect()
}

fn size_table(digest: &Digest, goal: usize) -> Table {
    let sizes: std::collections::BTreeSet<FrameSize> = digest.points.iter().map(|p| p.point.frame_size).collect();
    let columns = std::iter::once("Frame size".to_owned()).chain(sizes.iter().map(|s| format!("#{s}")));
    let row = |test: &Test| {
        let cells = sizes.iter().map(|&size| size_cell(digest, test, size, goal));
        std::iter::once(title(test)).chain(cells).collect()
    };
    Table::new(columns)
        .with_rows(digest.input.plan.tests.iter().map(row))
        .with_note("Median [P1–P99] (n).")
        .with_note(percentile_note(digest))
}

fn size_cell(digest: &Digest, test: &Test, size: FrameSize, goal: usize) -> String {
    let point = digest.points.iter().find(|p| p.test.name == test.name && p.point.frame_size == size);
    let goal = point.and_then(|p| p.goals.get(goal));
    goal.and_then(|g| Some((g.summary.as_ref()?, g.limits))).map_or("–".to_owned(), |(summary, limits)| {
        let [median, p1, p99, _, _, n] = summary_cells(summary, limits);
        format!("{median} [{p1}–{p99}] ({n})")
    })
}

/// Delays in the passing trial at the highest load of each point.
pub(crate) fn delays(digest: &Digest) -> Table {
    let columns = ["Test", "#Size", "#Load", "Direction", "#Frames", "#Min ms", "#Median ms", "#P99.9 ms", "#Max ms"];
    Table::new(columns).with_rows(digest.points.iter().flat_map(|p| delay_rows(digest, p))).with_note(
        "One-way delay as observed in the passing trial at the highest load of each point: a by-product of the throughput trials, \
         not latency by RFC 8219 section 7.2, which wants 120 s and at least 500 tagged frames after the first 60 s.",
    )
}

fn delay_rows(digest: &Digest, point: &PointDigest) -> Vec<Vec<String>> {
    let Some(record) = point.highest_passing(digest.goal()) else {
        return Vec::new();
    };
    let row = |direction: &DirectionResult, delay: &Delay| {
        let head = [title(point.test), point.point.frame_size.to_string(), short(record.result.spec.rate.0 as f64)];
        let counts = [direction.direction.to_string(), grouped(delay.count as f64)];
        let times = [delay.min_ns, delay.median_ns, delay.p999_ns, delay.max_ns].map(ms);
        head.into_iter().chain(counts).chain(times).collect()
    };
    let directions = record.result.directions.iter();
    directions.filter_map(|d| d.delay.as_ref().map(|delay| row(d, delay))).collect()
}

/// A column of the anomalies: its name and the count behind it.
type Anomaly = (&'static str, fn(&DirectionResult) -> u64);

/// Frames whose fate was neither right nor plainly lost.
const ANOMALIES: [Anomaly; 9] = [
    ("#Late", |d| d.late),
    ("#Mistranslated", |d| d.mistranslated),
    ("#Defective", |d| d.defective),
    ("#Corrupt", |d| d.corrupt),
    ("#Duplicate", |d| d.duplicate),
    ("#Reordered", |d| d.reordered),
    ("#Misdirected", |d| d.misdirected),
    ("#Refused", |d| d.refused),
    ("#Foreign", |d| d.foreign),
];

/// Totals of the anomalies over all trials of a test.
pub(crate) fn anomalies(digest: &Digest) -> Table {
    let columns = std::iter::once("Test").chain(ANOMALIES.iter().map(|(name, _)| *name));
    let total = |test: &Test, of: fn(&DirectionResult) -> u64| grouped(directions(digest, test).map(of).sum::<u64>() as f64);
    let row = |test: &Test| std::iter::once(title(test)).chain(ANOMALIES.iter().map(|(_, of)| total(test, *of))).collect();
    Table::new(columns).with_rows(digest.input.plan.tests.iter().map(row)).with_note(
        "Frames in all trials, losing ones included. Defective: with a defect that the recipe names, else right; counted as received. \
         Refused: the link had no room because the DUT's receive queue was full. \
         Foreign: no test frames, ignored (RFC 2544 section 10).",
    )
}

fn directions<'d>(digest: &'d Digest, test: &Test) -> impl Iterator<Item = &'d DirectionResult> {
    let name = test.name.clone();
    let records = digest.input.records.iter().filter(move |r| r.point.test == name);
    records.flat_map(|r| r.result.directions.iter())
}

/// The first wrong frames of each test.
pub(crate) fn examples(digest: &Digest) -> Vec<String> {
    let of = |test| {
        let examples = directions(digest, test).flat_map(|d| d.examples.iter().map(move |e| (d.direction, e)));
        // The same wrong frame comes in every trial: each kind is told once.
        let mut told = std::collections::BTreeSet::new();
        let fresh = examples.filter(move |&(direction, e)| told.insert((direction, e)));
        fresh.take(3).map(move |(direction, e)| format!("{}, {direction}: {e}", title(test)))
    };
    digest.input.plan.tests.iter().flat_map(of).collect()
}

/// Faults of the tester, by point and kind, each with its first words.
pub(crate) fn faults(digest: &Digest) -> Table {
    let rows = digest.points.iter().flat_map(fault_rows);
    Table::new(["Test", "#Size", "Fault", "#Times", "First of them"])
        .with_rows(rows)
        .with_note("A fault invalidates a trial only where it can explain what is missing; sending too slowly always does.")
}

fn fault_rows(point: &PointDigest) -> Vec<Vec<String>> {
    let mut kinds: BTreeMap<&str, (u64, String)> = BTreeMap::new();
    for fault in point.records.iter().flat_map(|r| &r.result.faults) {
        kinds.entry(kind(fault)).or_insert_with(|| (0, fault.to_string())).0 += 1;
    }
    let row = |(kind, (times, first)): (&str, (u64, String))| {
        vec![title(point.test), point.point.frame_size.to_string(), kind.to_owned(), times.to_string(), first]
    };
    kinds.into_iter().map(row).collect()
}

fn kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::SentTooSlowly { .. } => "sent too slowly",
        Fault::SenderStalled { .. } => "sender stalled",
        Fault::ReceiverStalled { .. } => "receiver stalled",
        Fault::ReceiveRingOverrun { .. } => "receive ring overrun",
        Fault::NeighbourWentStale { .. } => "neighbour went stale",
        Fault::CpuStolen { .. } => "processor time stolen",
    }
}
