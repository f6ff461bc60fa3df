//! The records of a run contain all its decisions: its outcomes, and the state in which an interrupted run continues.

use proptest::prelude::*;
use sixbench_method::fixtures::{live, plan};
use sixbench_method::measures::{Family, Findings, Outcome};
use sixbench_method::plan::*;
use sixbench_method::record::TrialRecord;
use sixbench_method::replay::{
    OrderedReplay, Replay, ResumedMeasurement, outcomes, replay, resume,
};
use sixbench_method::search::{
    Bracket, CapacityEstimate, RepetitionStart, SearchMethod, SearchSettings, Start, new_search,
    start_for,
};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::{FrameRate, LossRatio, SECOND_NS};
use sixbench_method::trial::{Measurer as _, TrialKind};
use std::fmt::Write as _;

fn noisy(seed: u64) -> SimulatedDut {
    let noisy = Behaviour::Noisy { deviation: 0.02 };
    SimulatedDut::new(noisy, FrameRate(1_000_000), seed).with_stalls(0.05)
}

/// Returns three plans, the last of which has a test with its own loss goals.
fn plans() -> [Plan; 3] {
    let mut own = plan(SearchMethod::Binary, &[0.0]);
    own.tests[0].own_goals = Some([0.0, 0.001].map(LossRatio).to_vec());
    [
        plan(SearchMethod::Binary, &[0.0]),
        plan(SearchMethod::Mlrsearch, &[0.0, 0.001]),
        own,
    ]
}

#[test]
fn a_test_is_searched_by_its_own_loss_goals() {
    let [.., plan] = plans();
    let found = outcomes(&plan, &live(&plan, &mut noisy(1)).0);
    let goals: Vec<f64> = found[0]
        .brackets
        .iter()
        .map(|bracket| bracket.goal.0)
        .collect();
    assert_eq!((goals, plan.search.goals.len()), (vec![0.0, 0.001], 1));
}

/// Replays records repetition by repetition as they are read; returns `None` if they are not in the required order.
fn replayed_in_order(plan: &Plan, records: &[TrialRecord]) -> Option<Replay> {
    let mut replay = OrderedReplay::new(plan);
    let is_same =
        |a: &TrialRecord, b: &TrialRecord| (&a.point, a.repetition) == (&b.point, b.repetition);
    let is_in_order = records
        .chunk_by(is_same)
        .all(|repetition| replay.add(repetition));
    is_in_order.then(|| replay.end())
}

#[test]
fn a_run_that_is_replayed_while_it_is_read_comes_to_the_same() {
    for (plan, seed) in plans().iter().zip(1..) {
        let (mut records, _) = live(plan, &mut noisy(seed));
        records.pop();
        records[0].result.spec.rate.0 += 1;
        let first = records[0].clone();
        let found = replayed_in_order(plan, &records).expect("they are in order");
        assert!(
            !found.finished.is_empty()
                && !found.unfinished.is_empty()
                && !found.mismatches.is_empty()
        );
        assert_eq!(found, replay(plan, &records));
        records.push(first);
        assert_eq!(
            replayed_in_order(plan, &records),
            None,
            "of a repetition that was replayed"
        );
    }
}

/// Returns every measurement, at the throughput if it is made at a load.
fn measures() -> Vec<Measure> {
    let (load, duration_ns) = (Load::OfThroughput(1.0), 60 * SECOND_NS);
    let rates = (1..=20)
        .rev()
        .map(|tenth| FrameRate(tenth * 100_000))
        .collect();
    let close = sixbench_method::trial::tcp::Close::ServerFirst;
    let tcp = Tcp {
        object_octets: 64,
        time_limit_ns: SECOND_NS,
        close,
        server_ports: (80, 80),
    };
    let all = vec![
        Measure::Throughput,
        Measure::FrameLossRate(LossScan {
            rates,
            until_lossless: true,
        }),
        Measure::Latency(Latency {
            load,
            duration_ns: 120 * SECOND_NS,
            tag_after_ns: 60 * SECOND_NS,
            tagged: 500,
        }),
        Measure::Pdv(PdvStream { load, duration_ns }),
        Measure::Ipdv(IpdvStream { load, duration_ns }),
        Measure::BackToBack(BackToBack {
            rate: FrameRate(1_488_095),
            longest_ns: 2 * SECOND_NS,
            step_frames: 10,
        }),
        Measure::Recovery(Recovery {
            overload: 1.1,
            duration_ns,
            after_ns: 10 * SECOND_NS,
        }),
        Measure::Reset(Reset {
            load,
            before_ns: 15 * SECOND_NS,
            after_ns: 30 * SECOND_NS,
        }),
        Measure::EstablishmentRate,
        Measure::TearDownRate,
        Measure::TableCapacity(Capacity {
            start: 1_000,
            most: 1_000_000,
            exponential_share: 0.2,
            binary_share: 0.5,
            error: 100,
        }),
        Measure::TcpEstablishmentRate(tcp),
        Measure::ResponseTime(ResponseTime {
            rate_per_client: FrameRate(15_000),
            duration_ns,
            outstanding: None,
        }),
        Measure::Soak(Soak {
            load,
            duration_ns,
            warm_up_ns: 10 * SECOND_NS,
            tcp: None,
        }),
        Measure::Soak(Soak {
            load: Load::Rate(FrameRate(100)),
            duration_ns,
            warm_up_ns: 10 * SECOND_NS,
            tcp: Some(tcp),
        }),
        Measure::TcpCapacity(TcpCapacity {
            tcp,
            start: 1_000,
            most: 100_000,
            error: 100,
            rate: FrameRate(5_000),
        }),
        Measure::Requirements(RequirementTest::default()),
    ];
    all.iter().for_each(is_listed);
    all
}

/// Fails to compile when a measurement is added: it must be added to the list above.
fn is_listed(measure: &Measure) {
    match measure {
        Measure::Throughput | Measure::FrameLossRate(_) | Measure::BackToBack(_) => {}
        Measure::Latency(_) | Measure::Pdv(_) | Measure::Ipdv(_) => {}
        Measure::Recovery(_) | Measure::Reset(_) => {}
        Measure::EstablishmentRate | Measure::TearDownRate | Measure::TableCapacity(_) => {}
        Measure::TcpEstablishmentRate(_) | Measure::TcpCapacity(_) | Measure::Dns(_) => {}
        Measure::ResponseTime(_) | Measure::Soak(_) | Measure::Requirements(_) => {}
    }
}

/// Returns what a trial of this kind sends in phase 1 alone, by the kernel's sockets, or as frames.
fn sent_by(kind: &TrialKind) -> Family {
    match kind {
        TrialKind::Constant
        | TrialKind::Burst
        | TrialKind::Drop { .. }
        | TrialKind::Ramp { .. }
        | TrialKind::Reset { .. } => Family::Frames,
        TrialKind::Response => Family::Requests,
        TrialKind::Establish { .. } | TrialKind::TearDown { .. } => Family::PhaseOne,
        TrialKind::TcpRate | TrialKind::TcpCapacity { .. } => Family::Tcp,
        TrialKind::Queries => Family::Queries,
        TrialKind::Requirements => Family::Vectors,
    }
}

/// The family is stated, and the kind of trial is made by the measure: both have to say the same, also where the noun of the rate differs from what
/// is sent, as in phase 1.
#[test]
fn the_family_of_a_measure_is_what_its_largest_trial_sends() {
    for measure in measures() {
        let (name, family) = (measure.name(), measure.family());
        assert_eq!(family, sent_by(&measure.largest_kind(None)), "{name}");
        assert_eq!(family == Family::Tcp, measure.tcp().is_some(), "{name}");
        assert_eq!(family == Family::Queries, measure.dns().is_some(), "{name}");
    }
}

/// Returns all plans for every measurement, each also with flows that start one after the other.
fn every_plan() -> Vec<Plan> {
    let ramps = [
        None,
        Some(Flows {
            count: 4,
            step_ns: SECOND_NS,
        }),
    ];
    let cases = measures()
        .into_iter()
        .flat_map(|measure| ramps.map(|flows| (measure.clone(), flows)));
    let plans = cases.flat_map(|(measure, flows)| {
        plans().map(|mut plan| {
            plan.tests[0].measure = measure.clone();
            plan.tests[0].traffic.flows = flows;
            plan
        })
    });
    plans.collect()
}

#[test]
fn a_replay_finds_what_the_live_run_found() {
    for plan in every_plan() {
        let (mut records, found) = live(&plan, &mut noisy(7));
        assert_eq!(outcomes(&plan, &records), found);
        records.reverse();
        assert_eq!(
            outcomes(&plan, &records),
            found,
            "the order of the records does not matter"
        );
    }
}

#[test]
fn a_killed_run_leaves_one_measurement_unfinished() {
    for plan in plans() {
        let (mut records, found) = live(&plan, &mut noisy(7));
        records.pop();
        let replay = replay(&plan, &records);
        assert_eq!(replay.finished, found[..5]);
        assert_eq!(
            (replay.unfinished.len(), replay.unfinished[0].repetition),
            (1, 3)
        );
        assert!(replay.mismatches.is_empty());
    }
}

#[test]
fn a_trial_made_again_because_an_earlier_version_called_the_one_before_invalid_is_no_mismatch() {
    let [mut plan, ..] = plans();
    plan.tests[0].measure = Measure::ResponseTime(ResponseTime {
        rate_per_client: FrameRate(15_000),
        duration_ns: SECOND_NS,
        outstanding: None,
    });
    let (mut records, found) = live(&plan, &mut noisy(7));
    let again = TrialRecord {
        trial: 2,
        ..records[0].clone()
    };
    records.insert(1, again);
    let replay = replay(&plan, &records);
    assert!(replay.mismatches.is_empty(), "{:?}", replay.mismatches);
    assert_eq!(replay.finished.len(), found.len());
    assert_eq!(replay.finished[0].values, found[0].values);
}

#[test]
fn records_of_another_plan_are_refused() {
    let [mut plan, ..] = plans();
    let (records, _) = live(&plan, &mut noisy(7));
    plan.search.maximum = FrameRate(9_000_000);
    let replay = replay(&plan, &records);
    assert_eq!((replay.finished.len(), replay.mismatches.len()), (0, 6));
    let refused = resume(&plan, &records[0].point, 1, &records)
        .map(|_| ())
        .unwrap_err();
    insta::assert_snapshot!(refused, @"nat64/84, repetition 1: trial 1 was at 10000000 frames/s for 60 s, which is not what this plan does there; has the plan been changed since? (resume with the resolved.toml of these results)");
}

#[test]
fn records_of_another_measurement_are_refused() {
    let [mut plan, ..] = plans();
    let (records, _) = live(&plan, &mut noisy(7));
    for measure in measures().into_iter().skip(1) {
        plan.tests[0].measure = measure;
        let replay = replay(&plan, &records);
        assert!(!replay.mismatches.is_empty(), "{:?}", plan.tests[0].measure);
    }
}

#[test]
fn the_first_repetition_is_cold_and_later_ones_begin_as_the_plan_says() {
    let [mut plan, ..] = plans();
    let (_, mut found) = live(&plan, &mut noisy(7));
    found.truncate(2);
    let point = plan.tests[0].points().next().unwrap();
    let median = found
        .iter()
        .map(|outcome| outcome.brackets[0].lower.unwrap().0)
        .sum::<u64>()
        / 2;
    let mut start = |start, found: &[Outcome]| {
        plan.search.start = start;
        let found: Vec<_> = found.iter().map(Outcome::throughput).collect();
        start_for(
            &plan.search,
            plan.seed,
            &point.test,
            point.frame_size,
            &found,
        )
    };
    assert_eq!(start(RepetitionStart::Dithered, &[]), Start::Cold);
    assert_eq!(start(RepetitionStart::Cold, &found), Start::Cold);
    assert_eq!(
        start(RepetitionStart::Median, &found),
        Start::Near(FrameRate(median))
    );
    let Start::Near(FrameRate(near)) = start(RepetitionStart::Dithered, &found) else {
        panic!("a warm start")
    };
    assert!(
        near != median && (near as f64 / median as f64 - 1.0).abs() <= 0.009,
        "{near} {median}: eight widths of 0.1 %"
    );
    for outcome in &mut found {
        outcome.brackets[0].lower = None;
    }
    assert_eq!(start(RepetitionStart::Dithered, &found), Start::Cold);
}

#[test]
fn search_settings_of_before_there_was_a_start_begin_at_the_median_as_they_did() {
    let settings = "method = \"binary\"\nminimum = 1000\nmaximum = 2000\nwidth = 0.01\ngoals = [0.0]\nmax-invalid = 3\n";
    let settings: SearchSettings = toml::from_str(settings).expect("settings");
    assert_eq!(settings.start, RepetitionStart::Median);
}

proptest! {
    #[test]
    fn a_run_killed_anywhere_goes_on_as_if_it_had_not_been(
        seed: u64,
        cut in 0.0..1.0f64,
        plan in proptest::sample::select(every_plan()),
    ) {
        let (records, found) = live(&plan, &mut noisy(seed));
        let kept = (records.len() as f64 * cut) as usize;
        let next = &records[kept];
        let ResumedMeasurement { mut procedure, trials, load } = resume(&plan, &next.point, next.repetition, &records[..kept]).unwrap();
        prop_assert_eq!(load.as_ref(), next.load.as_deref());
        prop_assert_eq!(trials, next.trial - 1);
        for record in records[kept..].iter().take_while(|r| (&r.point, r.repetition) == (&next.point, next.repetition)) {
            prop_assert_eq!(procedure.next_trial(), Some(record.result.spec));
            procedure.learn(&record.result);
        }
        prop_assert_eq!(procedure.next_trial(), None);
        let whole = found.iter().find(|o| (&o.point, o.repetition) == (&next.point, next.repetition)).unwrap();
        let Findings { brackets, values } = procedure.findings();
        let bounds = |brackets: &[Bracket]| brackets.iter().map(|b| (b.lower, b.upper)).collect::<Vec<_>>();
        prop_assert_eq!((bounds(&brackets), values), (bounds(&whole.brackets), whole.values.clone()));
    }
}

/// Results are calculated from records by asking the search again which trial it wants. With other loads, those on record are no longer the ones that
/// their plans require, and their points have no result: a better way of searching needs a method of its own, and this snapshot stays.
#[test]
fn a_search_tries_the_loads_that_it_tried_in_results_on_record() {
    let devices = [
        ("hard limit", Behaviour::HardLimit),
        ("noisy", Behaviour::Noisy { deviation: 0.02 }),
        (
            "collapses",
            Behaviour::LossInversion {
                from: 3.0,
                to: f64::INFINITY,
                loss: 0.9999,
            },
        ),
        ("slow tester", Behaviour::SlowTester { ceiling: 0.5 }),
    ];
    let starts = [Start::Cold, Start::Near(FrameRate(900_000))];
    let mut table = String::new();
    let methods = [
        ("Binary", SearchMethod::Binary, CapacityEstimate::Literal),
        (
            "Mlrsearch",
            SearchMethod::Mlrsearch,
            CapacityEstimate::Literal,
        ),
        (
            "Mlrsearch (bounded)",
            SearchMethod::Mlrsearch,
            CapacityEstimate::Bounded,
        ),
    ];
    for (title, method, estimate) in methods {
        let plan = plan(method, &[0.0]);
        let settings = SearchSettings {
            width: 0.02,
            estimate,
            ..plan.search
        };
        for (name, behaviour) in devices {
            for start in starts {
                let mut dut = SimulatedDut::new(behaviour, FrameRate(1_000_000), 1);
                let mut search = new_search(&settings, &plan.trial, start);
                write!(table, "{title}, {name}, {start:?}:").unwrap();
                while let Some(spec) = search.next_trial() {
                    let Ok(result) = dut.measure(&spec);
                    search.learn(&result);
                    write!(table, " {}/{}s", spec.rate, spec.duration_ns / SECOND_NS).unwrap();
                }
                table.push('\n');
            }
        }
    }
    insta::assert_snapshot!(table);
}
