//! The status of planned points, one run of simulated devices for each kind.

use sixbench_method::fixtures::{live, plan};
use sixbench_method::plan::*;
use sixbench_method::record::*;
use sixbench_method::replay::outcomes;
use sixbench_method::search::SearchMethod;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::status::*;
use sixbench_method::terms::SECOND_NS;
use sixbench_method::terms::*;
use sixbench_method::trial::Fault;

/// Returns a plan with one test of this measure at one frame size.
fn plan_of(measure: Measure) -> Plan {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    plan.tests = vec![Test {
        measure,
        frame_sizes: vec![FrameSize(84)],
        ..plan.tests[0].clone()
    }];
    plan
}

/// Returns the records of a run of the whole plan on this device.
fn run(plan: &Plan, dut: &mut SimulatedDut) -> Vec<TrialRecord> {
    live(plan, dut).0
}

fn facts(ending: Option<Ending>) -> Facts {
    Facts {
        runs: vec![RunPart {
            ending,
            ..RunPart::default()
        }],
        ..Facts::default()
    }
}

fn status_in(plan: &Plan, records: &[TrialRecord], facts: &Facts) -> PointStatus {
    let points = planned_points(plan, records, &outcomes(plan, records), facts);
    assert_eq!(points.len(), 1, "{points:?}");
    points[0].status.clone()
}

/// Returns the status of the only point after a complete run.
fn status(measure: Measure, dut: SimulatedDut) -> PointStatus {
    let plan = plan_of(measure);
    let records = run(&plan, &mut dut.clone());
    status_in(&plan, &records, &facts(Some(Ending::Complete)))
}

fn dut(capacity: u64) -> SimulatedDut {
    SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1)
}

fn slow_tester() -> SimulatedDut {
    SimulatedDut::new(
        Behaviour::SlowTester { ceiling: 0.0001 },
        FrameRate(1_000_000),
        1,
    )
}

fn latency() -> Measure {
    let load = Load::OfThroughput(1.0);
    Measure::Latency(Latency {
        load,
        duration_ns: 120 * SECOND_NS,
        tag_after_ns: 60 * SECOND_NS,
        tagged: 500,
    })
}

fn burst() -> Measure {
    Measure::BackToBack(BackToBack {
        rate: FrameRate(1_000_000),
        longest_ns: SECOND_NS,
        step_frames: 1000,
    })
}

fn recovery() -> Measure {
    Measure::Recovery(Recovery {
        overload: 1.1,
        duration_ns: 60 * SECOND_NS,
        after_ns: 60 * SECOND_NS,
    })
}

#[test]
fn a_rate_the_dut_limits_is_a_result_and_so_is_that_it_passes_no_load() {
    assert_eq!(
        status(Measure::Throughput, dut(1_000_000)),
        PointStatus::Result
    );
    assert_eq!(status(Measure::Throughput, dut(1)), PointStatus::Result);
    assert_eq!(
        status(burst(), dut(1)),
        PointStatus::Result,
        "bursts of zero frames"
    );
}

#[test]
fn what_the_tester_or_the_plan_cut_off_is_a_lower_bound() {
    let half = SimulatedDut::new(
        Behaviour::SlowTester { ceiling: 0.5 },
        FrameRate(1_000_000),
        1,
    );
    let by_tester = LowerBoundReasons {
        invalid: 3,
        cause: InvalidCause::Tester,
        maximum: 0,
        disturbed: 0,
    };
    assert_eq!(
        status(Measure::Throughput, half),
        PointStatus::AtLeast(by_tester)
    );
    let by_plan = LowerBoundReasons {
        invalid: 0,
        cause: InvalidCause::Tester,
        maximum: 3,
        disturbed: 0,
    };
    assert_eq!(
        status(Measure::Throughput, dut(100_000_000)),
        PointStatus::AtLeast(by_plan)
    );
    assert_eq!(
        status(burst(), dut(2_000_000)),
        PointStatus::AtLeast(by_plan),
        "the longest burst of the plan"
    );
}

#[test]
fn a_tester_that_falls_short_at_every_load_leaves_no_result() {
    for measure in [Measure::Throughput, latency()] {
        let PointStatus::NoResult(NoResult::Invalid {
            cause,
            stage,
            trials,
            faults,
        }) = status(measure, slow_tester())
        else {
            panic!("no result");
        };
        assert_eq!((cause, stage), (InvalidCause::Tester, InvalidStage::Search));
        assert!(
            matches!(faults[..], [(Fault::SentTooSlowly { .. }, times)] if times == trials && trials > 0),
            "{faults:?}"
        );
    }
}

#[test]
fn a_measurement_whose_trials_are_all_invalid_counts_their_faults() {
    let PointStatus::NoResult(reason) = status(burst(), slow_tester()) else {
        panic!("no result")
    };
    let NoResult::Invalid {
        cause: InvalidCause::Tester,
        stage: InvalidStage::Measurement,
        trials,
        faults,
    } = reason
    else {
        panic!("{reason:?}");
    };
    assert_eq!(
        (trials, faults[0].1),
        (9, 9),
        "three trials in each of three repetitions"
    );
}

#[test]
fn without_a_throughput_there_is_no_load_to_measure_at() {
    assert_eq!(
        status(latency(), dut(1)),
        PointStatus::NoResult(NoResult::NoLoad)
    );
}

#[test]
fn a_device_that_loses_nothing_in_the_overload_has_nothing_to_recover_from() {
    // The plan's range ends below the capacity of the device, and so does the overload.
    assert_eq!(
        status(recovery(), dut(100_000_000)),
        PointStatus::NoResult(NoResult::NothingSeen)
    );
}

#[test]
fn phase_1_that_is_never_complete_is_not_the_testers_doing() {
    let mut plan = plan_of(Measure::Throughput);
    plan.tests[0].stateful = Some(Stateful::new(1000, FrameRate(10_000), SECOND_NS));
    let records = run(
        &plan,
        &mut dut(1_000_000).with_connections(FrameRate(10_000), 500),
    );
    let PointStatus::NoResult(reason) = status_in(&plan, &records, &facts(Some(Ending::Complete)))
    else {
        panic!("no result");
    };
    assert!(
        matches!(
            reason,
            NoResult::Invalid {
                cause: InvalidCause::Connections,
                ..
            }
        ),
        "{reason:?}"
    );
}

#[test]
fn a_table_that_holds_nothing_is_a_capacity_of_zero() {
    let mut plan = plan_of(Measure::TableCapacity(Capacity {
        start: 8,
        most: 64,
        error: 1,
        exponential_share: 0.2,
        binary_share: 0.5,
    }));
    plan.tests[0].stateful = Some(Stateful::new(8, FrameRate(1000), SECOND_NS));
    let records = run(
        &plan,
        &mut dut(1_000_000).with_connections(FrameRate(1000), 0),
    );
    assert_eq!(
        status_in(&plan, &records, &facts(Some(Ending::Complete))),
        PointStatus::Result
    );
}

#[test]
fn a_run_that_ended_before_or_within_a_point_says_what_ended_it() {
    let plan = plan_of(Measure::Throughput);
    let records = run(&plan, &mut dut(1_000_000));
    let failed = || Ending::Failed {
        error: "the device died".to_owned(),
    };
    let ends = [
        (Some(Ending::Interrupted), Stop::Interrupted),
        (
            Some(failed()),
            Stop::Failed {
                error: "the device died".to_owned(),
            },
        ),
        (None, Stop::CutOff),
    ];
    for (ending, stop) in ends {
        let facts = facts(ending);
        assert_eq!(
            status_in(&plan, &[], &facts),
            PointStatus::NotRun(NotRun::Stopped(stop.clone()))
        );
        let unfinished = NoResult::Unfinished {
            trials: 2,
            stop: stop.clone(),
        };
        assert_eq!(
            status_in(&plan, &records[..2], &facts),
            PointStatus::NoResult(unfinished)
        );
    }
    assert_eq!(
        status_in(&plan, &[], &Facts::default()),
        PointStatus::NotRun(NotRun::Stopped(Stop::Unknown))
    );
}

#[test]
fn a_point_with_some_of_its_repetitions_has_a_result_and_says_how_many() {
    let plan = plan_of(Measure::Throughput);
    let mut records = run(&plan, &mut dut(1_000_000));
    records.retain(|record| record.repetition == 1);
    let facts = facts(Some(Ending::Interrupted));
    let points = planned_points(&plan, &records, &outcomes(&plan, &records), &facts);
    assert_eq!(points[0].status, PointStatus::Result);
    assert_eq!(
        points[0].repetitions,
        RepetitionCounts {
            with_result: 1,
            made: 1,
            planned: 3
        }
    );
    assert_eq!(points[0].stop, Some(Stop::Interrupted));
}

#[test]
fn the_tests_of_a_device_that_could_not_be_set_up_are_told_from_those_after_it() {
    let mut plan = plan_of(Measure::Throughput);
    plan.tests.push(Test {
        name: "later".to_owned(),
        ..plan.tests[0].clone()
    });
    let error = "no such module".to_owned();
    let reason = SkipReason::SetUpFailed {
        dut: "simulated".to_owned(),
        error: error.clone(),
    };
    let mut facts = facts(Some(Ending::Failed {
        error: error.clone(),
    }));
    facts.not_run = vec![SkippedTest {
        test: "nat64".to_owned(),
        reason,
    }];
    let points = planned_points(&plan, &[], &[], &facts);
    let set_up = Stop::SetUpFailed {
        dut: "simulated".to_owned(),
        error: error.clone(),
    };
    assert_eq!(
        points[0].status,
        PointStatus::NotRun(NotRun::Stopped(set_up))
    );
    assert_eq!(
        points[1].status,
        PointStatus::NotRun(NotRun::Stopped(Stop::Failed { error }))
    );
}

#[test]
fn a_test_that_was_left_out_is_a_planned_one() {
    let plan = plan_of(Measure::Throughput);
    let planned = Box::new(Test {
        frame_sizes: vec![FrameSize(84), FrameSize(1518)],
        ..Test::new("jool", "jool-siit")
    });
    let reason = SkipReason::LeftOut {
        why: "no lab".to_owned(),
        planned,
    };
    let not_run = vec![SkippedTest {
        test: "jool".to_owned(),
        reason,
    }];
    let facts = Facts {
        not_run,
        ..facts(Some(Ending::Complete))
    };
    let records = run(&plan, &mut dut(1_000_000));
    let points = planned_points(&plan, &records, &outcomes(&plan, &records), &facts);
    let left_out = || {
        PointStatus::NotRun(NotRun::LeftOut {
            why: "no lab".to_owned(),
        })
    };
    let found: Vec<(String, PointStatus)> = points
        .iter()
        .map(|p| (p.point.to_string(), p.status.clone()))
        .collect();
    let expected = [
        ("nat64/84", PointStatus::Result),
        ("jool/84", left_out()),
        ("jool/1518", left_out()),
    ];
    assert_eq!(
        found,
        expected.map(|(name, status)| (name.to_owned(), status))
    );
    let counts = StatusCounts {
        points: 3,
        result: 1,
        at_least: 0,
        no_result: 0,
        not_run: 2,
    };
    assert_eq!(StatusCounts::count(&points), counts);
}

#[test]
fn records_that_the_plan_does_not_ask_for_are_told_as_that() {
    let mut plan = plan_of(Measure::Throughput);
    let records = run(
        &plan,
        &mut SimulatedDut::new(Behaviour::HardLimit, FrameRate(100_000), 1),
    );
    plan.search.maximum = FrameRate(plan.search.maximum.0 / 2);
    let facts = facts(Some(Ending::Complete));
    let found = planned_points(&plan, &records, &outcomes(&plan, &records), &facts);
    let trials = records.len() as u32;
    assert_eq!(
        found[0].status,
        PointStatus::NoResult(NoResult::Mismatched { trials })
    );
}
