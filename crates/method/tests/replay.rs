//! The records of a run hold all its decisions: outcomes, and where a killed run goes on.

mod common;

use common::plan;
use proptest::prelude::*;
use sixbench_method::plan::{Plan, Point, SearchMethod};
use sixbench_method::record::{FORMAT, Outcome, TrialRecord};
use sixbench_method::search::replay::{outcomes, replay, resume, start_for};
use sixbench_method::search::{Start, new_search};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::Measurer;

/// A run as the run command does it; what it recorded and what it found.
fn live(plan: &Plan, dut: &mut SimulatedDut) -> (Vec<TrialRecord>, Vec<Outcome>) {
    let (mut records, mut found) = (Vec::new(), Vec::new());
    for point in plan.tests.iter().flat_map(|test| test.points()) {
        let mut of_this_point = Vec::new();
        for repetition in 1..=plan.test(&point.test).unwrap().repetitions {
            let start = start_for(&of_this_point);
            of_this_point.push(measure(plan, &point, repetition, start, dut, &mut records));
        }
        found.append(&mut of_this_point);
    }
    (records, found)
}

fn measure(
    plan: &Plan,
    point: &Point,
    repetition: u32,
    start: Start,
    dut: &mut SimulatedDut,
    records: &mut Vec<TrialRecord>,
) -> Outcome {
    let mut search = new_search(&plan.search, &plan.trial, start);
    let (mut trials, mut invalid) = (0, 0);
    while let Some(spec) = search.next_trial() {
        let Ok(result) = dut.measure(&spec);
        trials += 1;
        let verdict = result.verdict(plan.search.goals[0]);
        invalid += u32::from(verdict == sixbench_method::trial::Verdict::Invalid);
        search.learn(&result);
        let (point, started) = (point.clone(), String::new());
        let trial = trials;
        records.push(TrialRecord { format: FORMAT, point, repetition, trial, started, result, watch: None });
    }
    Outcome { point: point.clone(), repetition, trials, invalid, brackets: search.brackets() }
}

fn noisy(seed: u64) -> SimulatedDut {
    let noisy = Behaviour::Noisy { deviation: 0.02 };
    SimulatedDut::new(noisy, FrameRate(1_000_000), seed).with_stalls(0.05)
}

fn plans() -> [Plan; 2] {
    [plan(SearchMethod::Binary, &[0.0]), plan(SearchMethod::Mlrsearch, &[0.0, 0.001])]
}

#[test]
fn a_replay_finds_what_the_live_run_found() {
    for plan in plans() {
        let (mut records, found) = live(&plan, &mut noisy(7));
        assert_eq!(outcomes(&plan, &records), found);
        records.reverse();
        assert_eq!(outcomes(&plan, &records), found, "the order of the records does not matter");
    }
}

#[test]
fn a_killed_run_leaves_one_measurement_unfinished() {
    for plan in plans() {
        let (mut records, found) = live(&plan, &mut noisy(7));
        records.pop();
        let replay = replay(&plan, &records);
        assert_eq!(replay.finished, found[..5]);
        assert_eq!((replay.unfinished.len(), replay.unfinished[0].repetition), (1, 3));
        assert!(replay.mismatches.is_empty());
    }
}

#[test]
fn records_of_another_plan_are_refused() {
    let [mut plan, _] = plans();
    let (records, _) = live(&plan, &mut noisy(7));
    plan.search.maximum = FrameRate(9_000_000);
    let replay = replay(&plan, &records);
    assert_eq!((replay.finished.len(), replay.mismatches.len()), (0, 6));
    let refused = resume(&plan, &records[0].point, 1, &records).map(|_| ()).unwrap_err();
    insta::assert_snapshot!(refused, @"nat64/84, repetition 1: trial 1 was at 10000000 frames/s for 60 s, which this plan does not ask for there; was the plan changed since? (resume with the resolved.toml of these results)");
}

#[test]
fn the_first_repetition_is_cold_and_later_ones_near_the_median() {
    let [plan, _] = plans();
    let (_, mut found) = live(&plan, &mut noisy(7));
    found.truncate(2);
    assert_eq!(start_for(&[]), Start::Cold);
    let lower = |i: usize| found[i].brackets[0].lower.unwrap().0;
    assert_eq!(start_for(&found), Start::Near(FrameRate((lower(0) + lower(1)) / 2)));
    found.iter_mut().for_each(|outcome| outcome.brackets[0].lower = None);
    assert_eq!(start_for(&found), Start::Cold);
}

proptest! {
    #[test]
    fn a_run_killed_anywhere_goes_on_as_if_it_had_not_been(seed: u64, cut in 0.0..1.0f64, which in 0..2usize) {
        let plan = &plans()[which];
        let (records, _) = live(plan, &mut noisy(seed));
        let kept = (records.len() as f64 * cut) as usize;
        let next = &records[kept];
        let (search, trials) = resume(plan, &next.point, next.repetition, &records[..kept]).unwrap();
        prop_assert_eq!(trials, next.trial - 1);
        prop_assert_eq!(search.next_trial(), Some(next.result.spec));
    }
}
