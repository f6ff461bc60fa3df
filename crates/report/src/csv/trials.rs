//! One row for each trial and direction: `trials.parquet`. What has no place in a table, such as the samples of the processors, is in `trials.jsonl`.

use super::run::{self, Rows};
use super::{directions, unquoted};
use crate::digest::Digest;
use crate::numbers::title;
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::DirectionResult;
use std::borrow::Cow;
use std::collections::HashMap;

const OF_TRIAL: &str = "plan,test,title,dut,frame_size_octets,directions,measure,repetition,trial,started,kind,rate_per_s,duration_ns,verdict,faults";
/// A column of a count.
type CountColumn = (&'static str, fn(&DirectionResult) -> u64);

const COUNTS: [CountColumn; 13] = [
    ("intended", |d| d.intended),
    ("offered", |d| d.offered),
    ("received", |d| d.received),
    ("late", |d| d.late),
    ("mistranslated", |d| d.mistranslated),
    ("corrupt", |d| d.corrupt),
    ("lost", DirectionResult::lost),
    ("duplicate", |d| d.duplicate),
    ("reordered", |d| d.reordered),
    ("defective", |d| d.defective),
    ("misdirected", |d| d.misdirected),
    ("foreign", |d| d.foreign),
    ("refused", |d| d.refused),
];
const TIMES: &str =
    "sending_took_ns,worst_lateness_ns,late_frames,worst_gap_ns,delay_min_ns,delay_median_ns,delay_p999_ns,delay_max_ns";

/// Every trial of the run, in its order. A trial without directions, whose phase 1 was not complete, has one row.
pub(crate) fn trials<'r>(digest: &'r Digest<'_>) -> Rows<'r> {
    let counts: Vec<&str> = COUNTS.iter().map(|(name, _)| *name).collect();
    let columns = format!("{OF_TRIAL},direction,{},{TIMES}", counts.join(","));
    let tests = digest.input.plan.tests.iter().map(|test| (test.name.as_str(), TestCells::of(test))).collect::<HashMap<_, _>>();
    let rows = digest.input.records.iter().flat_map(move |record| {
        let directions = &record.result.directions;
        let each: Vec<Option<&DirectionResult>> =
            if directions.is_empty() { vec![None] } else { directions.iter().map(Some).collect() };
        let on = digest.hosts.of(&record.point, record.repetition).join(", ");
        let of_trial = of_trial(digest, tests.get(record.point.test.as_str()), record);
        each.into_iter().map(move |direction| {
            let mut row = Vec::with_capacity(of_trial.len() + OF_DIRECTION);
            row.extend(of_trial.iter().cloned());
            of_direction(direction, &mut row);
            (on.clone(), row)
        })
    });
    run::rows(digest.input, &columns, rows)
}

/// The cells that are the same for every trial of a test.
#[derive(Clone, Default)]
struct TestCells {
    title: String,
    dut: String,
    directions: String,
    measure: &'static str,
}

impl TestCells {
    fn of(test: &Test) -> Self {
        Self { title: title(test), dut: test.dut.clone(), directions: directions(test), measure: test.measure.name() }
    }
}

fn of_trial<'r>(digest: &'r Digest<'_>, test: Option<&TestCells>, record: &'r TrialRecord) -> Vec<Cow<'r, str>> {
    let (input, spec) = (digest.input, &record.result.spec);
    let faults: Vec<String> = record
        .result
        .faults
        .iter()
        .filter_map(|fault| Some(serde_json::to_value(fault.itself()).ok()?["fault"].as_str()?.to_owned()))
        .collect();
    let test = test.cloned().unwrap_or_default();
    vec![
        input.plan.name.as_str().into(),
        record.point.test.as_str().into(),
        test.title.into(),
        test.dut.into(),
        record.point.frame_size.to_string().into(),
        test.directions.into(),
        test.measure.into(),
        record.repetition.to_string().into(),
        record.trial.to_string().into(),
        record.started.as_str().into(),
        unquoted(&spec.kind).into(),
        spec.rate.0.to_string().into(),
        spec.duration_ns.to_string().into(),
        unquoted(&digest.verdict(record)).into(),
        faults.join(" ").into(),
    ]
}

/// The number of cells of a direction.
const OF_DIRECTION: usize = 1 + COUNTS.len() + 8;

fn of_direction(direction: Option<&DirectionResult>, row: &mut Vec<Cow<'_, str>>) {
    let number =
        |of: fn(&DirectionResult) -> Option<u64>| direction.and_then(of).map(|value| value.to_string()).unwrap_or_default();
    let counts = COUNTS.iter().map(|(_, count)| direction.map(|direction| count(direction).to_string()).unwrap_or_default());
    let times: [fn(&DirectionResult) -> Option<u64>; 8] = [
        |d| Some(d.sending.took_ns),
        |d| Some(d.sending.worst_lateness_ns),
        |d| Some(d.sending.late_frames),
        |d| Some(d.receiving.worst_gap_ns),
        |d| d.delay.as_ref().map(|delay| delay.min_ns),
        |d| d.delay.as_ref().map(|delay| delay.median_ns),
        |d| d.delay.as_ref().map(|delay| delay.p999_ns),
        |d| d.delay.as_ref().map(|delay| delay.max_ns),
    ];
    let name = direction.map(|direction| direction.direction.to_string()).unwrap_or_default();
    row.extend(std::iter::once(name).chain(counts).chain(times.into_iter().map(number)).map(Cow::Owned));
}
