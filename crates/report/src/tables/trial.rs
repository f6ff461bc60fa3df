//! Tables of events within trials: delays, anomalous frames, faults of the tester.

use crate::digest::{Digest, PointDigest};
use crate::layout::table::Table;
use crate::wording::faults::kind;
use crate::wording::numbers::{grouped, ms, short, size_cell, title};
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{AnomalyKind, Delay, DirectionResult};
use std::collections::BTreeMap;

/// Returns a table of the delays in the passing trial at the highest load of each point.
pub(crate) fn delays(digest: &Digest) -> Table {
    let times = ["#Delay (ms)|Min", "#Delay (ms)|Median", "#Delay (ms)|P99.9", "#Delay (ms)|Max"];
    let columns = ["Test", "#Size", "#Load", "Direction", "#Frames"].into_iter().chain(times);
    let rows = digest.throughput_points().flat_map(|p| delay_rows(p));
    Table::new("Delay in the throughput trials", columns).with_rows(rows).with_note(
        "One-way delay as observed in the passing trial at the highest load of each point: a by-product of the throughput \
         trials, not latency by RFC 8219 section 7.2, which requires 120 s and at least 500 tagged frames after the first 60 \
         s.",
    )
}

fn delay_rows(point: &PointDigest) -> Vec<Vec<String>> {
    let Some(record) = point.highest_passing(point.first_goal()) else { return Vec::new() };
    let row = |direction: &DirectionResult, delay: &Delay| {
        let head = [title(point.test), point.point.frame_size.to_string(), short(record.result.spec.rate.0 as f64)];
        let counts = [direction.direction.to_string(), grouped(delay.count as f64)];
        let times = [delay.min_ns, delay.median_ns, delay.p999_ns, delay.max_ns].map(|ns| ms(ns as f64));
        head.into_iter().chain(counts).chain(times).collect()
    };
    let directions = record.result.directions.iter();
    directions.filter_map(|d| d.delay.as_ref().map(|delay| row(d, delay))).collect()
}

/// Returns the heading of the column of a kind of anomaly.
fn heading(kind: AnomalyKind) -> &'static str {
    match kind {
        AnomalyKind::Late => "#Late",
        AnomalyKind::Mistranslated => "#Mistranslated",
        AnomalyKind::Corrupt => "#Corrupt",
        AnomalyKind::Duplicate => "#Duplicate",
        AnomalyKind::Reordered => "#Reordered",
        AnomalyKind::Defective => "#Defective",
        AnomalyKind::Foreign => "#Foreign",
        AnomalyKind::Icmp => "#ICMP",
        AnomalyKind::Fragments => "#Fragments",
        AnomalyKind::Misdirected => "#Misdirected",
        AnomalyKind::Refused => "#Refused",
    }
}

/// Returns a table of the frames that were neither correct nor simply lost.
pub(crate) fn anomalies(digest: &Digest) -> Table {
    let columns = std::iter::once("Test").chain(AnomalyKind::ALL.iter().map(|kind| heading(*kind)));
    let total = |test: &Test, kind: AnomalyKind| {
        grouped(directions(digest, test).map(|of| kind.count(of)).fold(0, u64::saturating_add) as f64)
    };
    let row =
        |test: &Test| std::iter::once(title(test)).chain(AnomalyKind::ALL.iter().map(|kind| total(test, *kind))).collect();
    // The outcomes of queries have separate tables.
    let of_frames = digest.input.plan.tests.iter().filter(|test| test.measure.dns().is_none());
    let tests = of_frames.filter(|test| directions(digest, test).next().is_some());
    Table::new("Frames that were neither correct nor simply lost", columns).with_rows(tests.map(row)).with_note(
        "Frames in all trials, losing ones included. Defective: with a defect that the recipe names, otherwise correct; \
         counted as received. Refused: the link had no room because the device's receive queue was full. Foreign: not test \
         frames, ignored (RFC 2544 section 10); ICMP and fragments are among them.",
    )
}

/// Returns a table of the wrong frames of each test by the first wrong field.
pub(crate) fn wrong_fields(digest: &Digest) -> Table {
    let columns = ["Test", "Direction", "Field", "#Frames"];
    Table::new("Wrong fields", columns).with_rows(digest.input.plan.tests.iter().flat_map(|test| field_rows(digest, test))).with_note(
        "Mistranslated and corrupt frames in all trials, losing ones included, each under the first of its fields that was not as it must be.",
    )
}

fn field_rows(digest: &Digest, test: &Test) -> Vec<Vec<String>> {
    let mut fields: BTreeMap<_, u64> = BTreeMap::new();
    for direction in directions(digest, test) {
        for (field, frames) in &direction.wrong_fields {
            *fields.entry((direction.direction, field)).or_default() += frames;
        }
    }
    let row = |((direction, field), frames): ((Direction, &String), u64)| {
        vec![title(test), direction.to_string(), field.clone(), grouped(frames as f64)]
    };
    fields.into_iter().map(row).collect()
}

/// Returns the trials of all points of a test.
fn records<'d>(digest: &'d Digest, test: &Test) -> impl Iterator<Item = &'d TrialRecord> {
    let name = test.name.clone();
    let points = digest.all_points().filter(move |point| point.test.name == name);
    points.flat_map(|point| point.records.iter().copied())
}

fn directions<'d>(digest: &'d Digest, test: &Test) -> impl Iterator<Item = &'d DirectionResult> {
    records(digest, test).flat_map(|r| r.result.directions.iter())
}

/// The number of different examples that are listed for each test.
pub(crate) const EXAMPLES: usize = 3;

pub(crate) fn examples(digest: &Digest) -> Vec<String> {
    digest.input.plan.tests.iter().flat_map(|test| examples_of(digest, test)).collect()
}

/// Returns examples of wrong frames; lost connections have a separate table.
fn examples_of(digest: &Digest, test: &Test) -> Vec<String> {
    let of_frames = |r: &&TrialRecord| r.result.spec.kind.connections().is_none();
    let directions = records(digest, test).filter(of_frames).flat_map(|r| &r.result.directions);
    let examples = directions.flat_map(|d| d.examples.iter().map(move |e| (d.direction, e)));
    // The same wrong frame may appear in every trial, so each kind is listed once.
    let mut told = std::collections::BTreeSet::new();
    let fresh = examples.filter(|&(direction, e)| told.insert((direction, e)));
    fresh.take(EXAMPLES).map(|(direction, e)| format!("{}, {direction}: {e}", title(test))).collect()
}

/// Returns a table of the tester's faults, by point and kind, each with its first example.
pub(crate) fn faults(digest: &Digest) -> Table {
    let rows = digest.points.iter().flat_map(fault_rows);
    Table::new("Where the tester fell short", ["Test", "#Size", "Fault", "#Times", "First example"])
        .with_rows(rows)
        .with_note(
            "A fault invalidates a trial only if it can explain what is missing; sending too slowly always invalidates it.",
        )
        .with_note_if(
            digest.has_faults_of_connections(),
            "Phase 1 incomplete, connections differ: not caused by the tester, but the trial did not take place as planned.",
        )
        .with_note_if(
            digest.has_faults_of_names(),
            "Names not resolved before, cache hits differ, too few names: not caused by the tester, but the trial did not take \
             place as planned.",
        )
}

fn fault_rows(point: &PointDigest) -> Vec<Vec<String>> {
    let mut kinds: BTreeMap<&str, (u64, String)> = BTreeMap::new();
    for fault in point.records.iter().flat_map(|r| &r.result.faults) {
        kinds.entry(kind(fault)).or_insert_with(|| (0, fault.to_string())).0 += 1;
    }
    let row = |(kind, (times, first)): (&str, (u64, String))| {
        vec![title(point.test), size_cell(point.size()), kind.to_owned(), times.to_string(), first]
    };
    kinds.into_iter().map(row).collect()
}
