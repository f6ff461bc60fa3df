//! One row for each trial and direction: `trials.parquet`. What has no place in a table, such as the samples of the processors, is in `trials.jsonl`.

use super::run::{self, Rows};
use super::{directions, unquoted};
use crate::digest::Digest;
use crate::numbers::title;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::DirectionResult;

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
pub(crate) fn trials(digest: &Digest<'_>) -> Rows {
    let counts: Vec<&str> = COUNTS.iter().map(|(name, _)| *name).collect();
    let columns = format!("{OF_TRIAL},direction,{},{TIMES}", counts.join(","));
    let rows = digest.input.records.iter().flat_map(|record| {
        let directions = &record.result.directions;
        let each: Vec<Option<&DirectionResult>> =
            if directions.is_empty() { vec![None] } else { directions.iter().map(Some).collect() };
        let on = digest.hosts.of(&record.point, record.repetition).join(", ");
        let row = move |direction| (on.clone(), [of_trial(digest, record), of_direction(direction)].concat());
        each.into_iter().map(row)
    });
    run::rows(digest.input, &columns, rows)
}

fn of_trial(digest: &Digest<'_>, record: &TrialRecord) -> Vec<String> {
    let (input, spec) = (digest.input, &record.result.spec);
    let test = input.plan.test(&record.point.test);
    let faults: Vec<String> = record
        .result
        .faults
        .iter()
        .filter_map(|fault| Some(serde_json::to_value(fault.itself()).ok()?["fault"].as_str()?.to_owned()))
        .collect();
    vec![
        input.plan.name.clone(),
        record.point.test.clone(),
        test.map(title).unwrap_or_default(),
        test.map(|test| test.dut.clone()).unwrap_or_default(),
        record.point.frame_size.to_string(),
        test.map(directions).unwrap_or_default(),
        test.map(|test| test.measure.name()).unwrap_or_default().to_owned(),
        record.repetition.to_string(),
        record.trial.to_string(),
        record.started.clone(),
        unquoted(&spec.kind),
        spec.rate.0.to_string(),
        spec.duration_ns.to_string(),
        unquoted(&digest.verdict(record)),
        faults.join(" "),
    ]
}

fn of_direction(direction: Option<&DirectionResult>) -> Vec<String> {
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
    std::iter::once(name).chain(counts).chain(times.into_iter().map(number)).collect()
}
