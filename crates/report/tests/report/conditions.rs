//! Tests without and with a condition of RFC 2544 section 11, side by side.

use crate::formats::{broadcasts_csv, bursts_csv, html, json, terminal};
use crate::sample::Sample;
use serde_json::Value;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Point, Series, SeriesBy, Test};
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{BroadcastCounts, BurstTimes};
use std::num::NonZeroU32;

/// Returns the points of records and outcomes, each with the name that its test gets.
fn points_of<'s>(
    records: &'s mut [TrialRecord],
    outcomes: &'s mut [Outcome],
    name: &'static str,
) -> Vec<(&'s mut Point, &'static str)> {
    let of_records = records.iter_mut().map(|record| &mut record.point);
    let of_outcomes = outcomes.iter_mut().map(|outcome| &mut outcome.point);
    of_records
        .chain(of_outcomes)
        .map(|point| (point, name))
        .collect()
}

/// Returns a run of two steps of a series over a condition, the second of which has half the rates.
fn two_steps(by: SeriesBy, with: f64, change: impl Fn(&mut Test)) -> Sample {
    let mut sample = Sample::complete();
    let base = sample.plan.tests[0].clone();
    let step = |name: &str, at: f64| Test {
        name: name.to_owned(),
        series: Some(Series {
            name: "c".to_owned(),
            by,
            at,
            device: None,
        }),
        ..base.clone()
    };
    let mut changed = step("c.with", with);
    change(&mut changed);
    sample.plan.tests = vec![step("c.without", 0.0), changed];
    sample
        .records
        .retain(|record| record.point.test == base.name);
    sample
        .outcomes
        .retain(|outcome| outcome.point.test == base.name);
    let (mut records, mut outcomes) = (sample.records.clone(), sample.outcomes.clone());
    for (point, name) in points_of(&mut sample.records, &mut sample.outcomes, "c.without")
        .into_iter()
        .chain(points_of(&mut records, &mut outcomes, "c.with"))
    {
        name.clone_into(&mut point.test);
    }
    for bracket in outcomes.iter_mut().flat_map(|of| &mut of.brackets) {
        for bound in [&mut bracket.lower, &mut bracket.upper]
            .into_iter()
            .flatten()
        {
            bound.0 /= 2;
        }
    }
    sample.records.extend(records);
    sample.outcomes.extend(outcomes);
    sample
}

#[test]
fn results_without_and_with_filters_stand_side_by_side_with_their_ratio() {
    let sample = two_steps(SeriesBy::Filters, 25.0, |test| test.filters = 25);
    let input = sample.input();
    let page = html(&input).expect("a page");
    assert!(page.contains("Without and with filters: c"), "no table");
    assert!(
        page.contains("25 filters") && page.contains(">50.0<"),
        "no ratio"
    );
    let results: Value = serde_json::from_str(&json(&input)).expect("JSON");
    let points = results["points"].as_array().expect("points");
    let with = points.iter().find(|point| point["test"] == "c.with");
    assert_eq!(with.expect("a point")["filters"], 25);
    let text = terminal(&input, 400, false);
    assert!(
        text.contains("with 0 filters") && text.contains("with 25 filters"),
        "{text}"
    );
}

#[test]
fn broadcast_frames_are_told_apart_with_those_that_were_forwarded() {
    let mut sample = two_steps(SeriesBy::Broadcast, 1.0, |test| {
        test.traffic.broadcast_every = Some(100);
    });
    let mut trials = 0;
    for record in &mut sample.records {
        if record.point.test == "c.with" {
            trials += 1;
            for direction in &mut record.result.directions {
                direction.broadcasts = Some(BroadcastCounts {
                    sent: 10,
                    forwarded: 1,
                });
            }
        }
    }
    let input = sample.input();
    let page = html(&input).expect("a page");
    for text in [
        "Without and with broadcast frames: c",
        "Broadcast frames within the trials",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let results: Value = serde_json::from_str(&json(&input)).expect("JSON");
    let points = results["points"].as_array().expect("points");
    let all: Vec<&Value> = points
        .iter()
        .filter_map(|point| point["broadcasts"].as_array())
        .flatten()
        .filter(|of| of["direction"] == "forward")
        .collect();
    let sum = |key: &str| all.iter().filter_map(|of| of[key].as_u64()).sum::<u64>();
    assert_eq!((sum("sent"), sum("forwarded")), (10 * trials, trials));
    let file = broadcasts_csv(&input).expect("a file");
    assert!(file.starts_with("plan,test,frame_size_octets,direction,trials,sent,forwarded,"));
    assert!(file.contains(",c.with,"), "{file}");
    assert!(!file.contains(",c.without,"), "{file}");
}

#[test]
fn results_with_single_frames_and_in_bursts_stand_side_by_side_with_how_fast_the_bursts_left() {
    let mut sample = two_steps(SeriesBy::Burst, 64.0, |test| {
        test.traffic.burst = NonZeroU32::new(64);
    });
    for test in &mut sample.plan.tests {
        if let Some(series) = test.series.as_mut().filter(|of| of.at == 0.0) {
            series.at = 1.0;
        }
    }
    for record in &mut sample.records {
        if record.point.test == "c.with" {
            for direction in &mut record.result.directions {
                direction.bursts = Some(BurstTimes {
                    frames: 64,
                    bursts: 10,
                    total_ns: 320_000,
                    longest_ns: 50_000,
                });
            }
        }
    }
    let input = sample.input();
    let page = html(&input).expect("a page");
    for text in [
        "Without and with bursts: c",
        "Bursts within the trials",
        ">≥\u{a0}2,000,000<",
        ">50.0<",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let results: Value = serde_json::from_str(&json(&input)).expect("JSON");
    let points = results["points"].as_array().expect("points");
    let with = points.iter().find(|point| point["test"] == "c.with");
    assert_eq!(with.expect("a point")["bursts"][0]["mean_ns"], 32_000);
    let file = bursts_csv(&input).expect("a file");
    assert!(file.contains(",c.with,84,forward,64,"), "{file}");
    assert!(file.contains(",32000,50000,"), "{file}");
    assert_eq!(bursts_csv(&Sample::complete().input()), None);
    let text = terminal(&input, 400, false);
    assert!(
        text.contains("with single frames") && text.contains("with bursts of 64"),
        "{text}"
    );
}
