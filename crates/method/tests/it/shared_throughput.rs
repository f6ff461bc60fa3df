//! One throughput for each device, frame size, directions and traffic, searched for once.

use sixbench_method::budget::estimate;
use sixbench_method::fixtures::{live, plan};
use sixbench_method::measures::{Outcome, SearchRef};
use sixbench_method::plan::*;
use sixbench_method::record::TrialRecord;
use sixbench_method::replay::replay;
use sixbench_method::search::SearchMethod;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::{Directions, FrameRate, FrameSize, SECOND_NS};
use sixbench_method::throughput::{SharingSavings, saved};
use sixbench_method::trial::TrialKind;
use sixbench_stats::median;

fn dut() -> SimulatedDut {
    SimulatedDut::new(
        Behaviour::Noisy { deviation: 0.02 },
        FrameRate(1_000_000),
        7,
    )
    .with_delay(1_000_000, 1_000)
}

fn pdv() -> Measure {
    Measure::Pdv(PdvStream {
        load: Load::OfThroughput(1.0),
        duration_ns: 60 * SECOND_NS,
    })
}

fn half() -> Measure {
    Measure::Ipdv(IpdvStream {
        load: Load::OfThroughput(0.5),
        duration_ns: 60 * SECOND_NS,
    })
}

fn recovery() -> Measure {
    Measure::Recovery(Recovery {
        overload: 1.1,
        duration_ns: 60 * SECOND_NS,
        after_ns: 10 * SECOND_NS,
    })
}

/// Returns a plan of these measures of one device at one size, with three repetitions each, named by their number.
fn plan_of(measures: Vec<Measure>) -> Plan {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    let test = Test {
        frame_sizes: vec![FrameSize(84)],
        ..plan.tests[0].clone()
    };
    plan.tests = measures
        .into_iter()
        .zip(0..)
        .map(|(measure, n)| Test {
            name: n.to_string(),
            measure,
            ..test.clone()
        })
        .collect();
    plan
}

fn of<'o>(outcomes: &'o [Outcome], test: &str) -> Vec<&'o Outcome> {
    outcomes
        .iter()
        .filter(|outcome| outcome.point.test == test)
        .collect()
}

fn searches(tests: &[(&str, u32)]) -> Vec<SearchRef> {
    tests
        .iter()
        .map(|&(test, repetition)| SearchRef {
            test: test.to_owned(),
            repetition,
        })
        .collect()
}

/// Returns the loads of the trials that are not steps of a search for the throughput.
fn loads(records: &[TrialRecord], test: &str) -> Vec<u64> {
    records
        .iter()
        .filter(|record| record.point.test == test && record.load.is_some())
        .map(|r| r.result.spec.rate.0)
        .collect()
}

#[test]
fn what_is_made_at_the_throughput_is_made_at_the_median_of_the_throughput_test() {
    let plan = plan_of(vec![Measure::Throughput, pdv(), half(), recovery()]);
    let (records, outcomes) = live(&plan, &mut dut());
    let found: Vec<f64> = of(&outcomes, "0")
        .iter()
        .map(|outcome| outcome.throughput().unwrap().0 as f64)
        .collect();
    let throughput = median(&found).unwrap() as u64;
    assert_eq!(loads(&records, "1"), [throughput; 3]);
    assert_eq!(loads(&records, "2"), [throughput / 2; 3]);
    assert_eq!(loads(&records, "3"), [(throughput as f64 * 1.1) as u64; 3]);
    for outcome in ["1", "2", "3"].iter().flat_map(|test| of(&outcomes, test)) {
        let load = outcome.load.as_ref().expect("a source");
        assert_eq!(
            (load.throughput.0, load.searches.clone()),
            (throughput, searches(&[("0", 1), ("0", 2), ("0", 3)]))
        );
        assert_eq!(
            (outcome.trials, outcome.brackets.len()),
            (1, 0),
            "no search of its own"
        );
    }
    assert_eq!(replay(&plan, &records).finished, outcomes);
    let trials = 3 * of(&outcomes, "0")[0].trials;
    assert_eq!(
        saved(&plan, &outcomes),
        SharingSavings {
            points: 3,
            trials,
            time_ns: u64::from(trials) * 65 * SECOND_NS
        }
    );
}

#[test]
fn without_a_throughput_test_the_first_that_needs_it_searches_for_all() {
    let plan = plan_of(vec![pdv(), recovery(), half()]);
    let (records, outcomes) = live(&plan, &mut dut());
    let first = of(&outcomes, "0")[0];
    let throughput = first.throughput().expect("found by its own search");
    assert!(first.trials > 10 && first.load.is_none());
    let others: Vec<&Outcome> = outcomes
        .iter()
        .filter(|outcome| !std::ptr::eq(*outcome, first))
        .collect();
    assert_eq!(others.len(), 8);
    for outcome in others {
        let load = outcome.load.as_ref().expect("a source");
        assert_eq!(
            (load.throughput, load.searches.clone(), outcome.trials),
            (throughput, searches(&[("0", 1)]), 1)
        );
    }
    assert_eq!(replay(&plan, &records).finished, outcomes);
}

#[test]
fn another_device_size_direction_or_traffic_has_a_throughput_of_its_own() {
    let changes: [fn(&mut Test); 5] = [
        |test| test.dut = "other".into(),
        |test| test.frame_sizes = vec![FrameSize(1518)],
        |test| test.directions = Directions::Forward,
        |test| test.cores = Some(1),
        |test| test.frame_timeout_ns = Some(SECOND_NS),
    ];
    for change in changes {
        let mut plan = plan_of(vec![Measure::Throughput, pdv()]);
        change(&mut plan.tests[1]);
        let (_, outcomes) = live(&plan, &mut dut());
        let first = of(&outcomes, "1")[0];
        assert!(
            first.load.is_none() && first.trials > 10,
            "{:?}",
            plan.tests[1]
        );
    }
}

#[test]
fn a_search_that_found_nothing_is_no_source() {
    let plan = plan_of(vec![pdv(), half()]);
    let mut lossy = SimulatedDut::new(Behaviour::HardLimit, FrameRate(10), 1);
    let (_, outcomes) = live(&plan, &mut lossy);
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.load.is_none() && outcome.values.is_empty()),
        "{outcomes:?}"
    );
}

#[test]
fn results_of_before_throughputs_were_shared_are_read_as_they_were_made() {
    let plan = plan_of(vec![pdv(), half()]);
    let (mut records, mut outcomes) = live(&plan, &mut dut());
    let own = |records: &mut Vec<TrialRecord>, test: &str| {
        records.retain(|record| record.point.test == test);
    };
    own(&mut records, "0");
    for record in &mut records {
        record.load = None;
    }
    outcomes.retain(|outcome| outcome.point.test == "0");
    for outcome in &mut outcomes {
        outcome.load = None;
    }
    let read = replay(&plan, &records);
    assert!(read.mismatches.is_empty());
    assert_eq!(
        read.finished, outcomes,
        "a repetition without a source takes what the first one found"
    );
}

#[test]
fn the_estimate_counts_a_shared_search_once() {
    let own = estimate(&plan_of(vec![Measure::Throughput])).trials;
    let shared = estimate(&plan_of(vec![Measure::Throughput, pdv(), recovery()])).trials;
    assert_eq!(shared, own + 6);
    let bare = plan_of(vec![pdv(), recovery()]);
    assert!(
        (11 + 6..=13 + 6).contains(&estimate(&bare).trials),
        "{:?}",
        estimate(&bare)
    );
    assert!(
        bare.tests
            .iter()
            .all(|test| test.measure.is_at_throughput())
    );
    let fixed = Measure::Pdv(PdvStream {
        load: Load::Rate(FrameRate(1)),
        duration_ns: 1,
    });
    assert!(!fixed.is_at_throughput());
}

fn queries(with_aaaa: u8, at_found_rate: bool) -> Measure {
    Measure::Dns(DnsTest {
        with_aaaa,
        at_found_rate,
        ..DnsTest::required(DnsRole::Through)
    })
}

#[test]
fn queries_at_the_found_rate_are_one_trial_in_each_repetition_at_the_median_of_the_searches_with_the_same_queries()
 {
    // Neither the throughput of frames nor the rate of other queries applies to them.
    let mut plan = plan_of(vec![
        Measure::Throughput,
        queries(0, false),
        queries(100, false),
        queries(100, true),
    ]);
    plan.tests[1].maximum = Some(FrameRate(500_000));
    let (records, outcomes) = live(&plan, &mut dut());
    let found: Vec<f64> = of(&outcomes, "2")
        .iter()
        .map(|outcome| outcome.throughput().unwrap().0 as f64)
        .collect();
    let rate = median(&found).unwrap() as u64;
    assert_eq!(loads(&records, "3"), [rate; 3]);
    for outcome in of(&outcomes, "3") {
        let load = outcome.load.as_ref().expect("a source");
        assert_eq!(
            (load.throughput.0, load.searches.clone()),
            (rate, searches(&[("2", 1), ("2", 2), ("2", 3)]))
        );
        let passed = outcome.throughput();
        assert!(
            outcome.trials == 1 && passed.is_none_or(|passed| passed.0 == rate),
            "{outcome:?}"
        );
        let value = outcome.brackets[0]
            .value()
            .expect("it passed or it did not");
        assert!(
            !value.is_bound(),
            "what passed is no lower bound: {outcome:?}"
        );
    }
    assert!(
        records
            .iter()
            .filter(|record| record.point.test == "3")
            .all(|r| r.result.spec.kind == TrialKind::Queries)
    );
    assert_eq!(replay(&plan, &records).finished, outcomes);
    let searched = estimate(&plan_of(vec![queries(100, false)])).trials;
    assert_eq!(
        estimate(&plan_of(vec![queries(100, false), queries(100, true)])).trials,
        searched + 3
    );
}

#[test]
fn an_overload_is_still_a_drop_of_the_rate() {
    let plan = plan_of(vec![Measure::Throughput, recovery()]);
    let (records, _) = live(&plan, &mut dut());
    let last = records.last().expect("a trial");
    assert!(matches!(last.result.spec.kind, TrialKind::Drop { .. }));
}
