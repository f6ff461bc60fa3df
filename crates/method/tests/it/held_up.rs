//! Delays measured while another program holds the device's core: they are made again for as long as there is patience, and are then upper bounds.

use sixbench_method::fixtures::plan;
use sixbench_method::measures::{Judgement, Outcome, Quantity, TrialPurpose};
use sixbench_method::patience::Patience;
use sixbench_method::plan::{IpdvStream, Latency, Load, Measure, PdvStream, Plan, Point};
use sixbench_method::record::{FORMAT, TrialRecord, Watch};
use sixbench_method::replay::{outcomes_of, replay, resume};
use sixbench_method::search::SearchMethod;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::{FrameRate, SECOND_NS};
use sixbench_method::trial::{Measurer, Verdict};

fn plan_of(measure: Measure) -> Plan {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    (plan.trial.duration_ns, plan.search.width, plan.patience_ns) =
        (SECOND_NS, 0.01, 5 * SECOND_NS);
    plan.tests[0].measure = measure;
    plan
}

fn measures() -> [Measure; 3] {
    let (load, duration_ns) = (Load::Rate(FrameRate(10_000)), SECOND_NS);
    let latency = Latency {
        load,
        duration_ns,
        tag_after_ns: SECOND_NS / 2,
        tagged: 500,
    };
    [
        Measure::Latency(latency),
        Measure::Pdv(PdvStream { load, duration_ns }),
        Measure::Ipdv(IpdvStream { load, duration_ns }),
    ]
}

/// Returns what is seen of a device that was ready for 60 ms of a second without a core, which another program had for `others_ms`.
fn watch(others_ms: u64) -> Watch {
    Watch {
        interval_ns: SECOND_NS / 10,
        waited_us: vec![6_000; 10],
        others_ms: Some(others_ms),
        ..Watch::default()
    }
}

/// Makes one repetition like the run command; another program holds the device's core in trials of these numbers.
fn repeat(plan: &Plan, held: impl Fn(u32) -> u64) -> (Outcome, Vec<TrialRecord>) {
    let point: Point = plan.tests[0].points().next().expect("a point");
    let mut dut =
        SimulatedDut::new(Behaviour::HardLimit, FrameRate(500_000), 1).with_delay(50_000, 100);
    let (mut records, mut patience) = (Vec::new(), Patience::new(plan, &[]));
    let mut procedure = resume(plan, &point, 1, &records)
        .expect("nothing to replay")
        .procedure;
    while let Some(spec) = procedure.next_trial() {
        let trial = records.len() as u32 + 1;
        let Ok(result) = dut.measure(&spec);
        let (point, started, watch) = (
            point.clone(),
            String::new(),
            Some(watch(held(trial)).into()),
        );
        let mut record = TrialRecord {
            format: FORMAT,
            point,
            repetition: 1,
            trial,
            load: None,
            started,
            result,
            watch,
        };
        let judgement = procedure.judgement(&record.result);
        if !patience.excuse(&mut record, judgement) {
            procedure.learn(&record.result);
        }
        records.push(record);
    }
    (outcomes_of(plan, &point, &records).remove(0), records)
}

fn upper_bounds(outcome: &Outcome) -> Vec<Quantity> {
    let mut found: Vec<Quantity> = outcome
        .values
        .iter()
        .filter(|value| value.is_at_most)
        .map(|value| value.quantity)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn delays_of_a_device_that_was_held_up_are_measured_again() {
    for measure in measures() {
        let (outcome, records) = repeat(
            &plan_of(measure.clone()),
            |trial| if trial <= 2 { 60 } else { 0 },
        );
        let again: Vec<bool> = records
            .iter()
            .map(|record| record.result.was_made_again())
            .collect();
        assert_eq!(again, [true, true, false], "{}", measure.name());
        assert!(
            !outcome.values.is_empty() && upper_bounds(&outcome).is_empty(),
            "{}: {outcome:?}",
            measure.name()
        );
    }
}

#[test]
fn delays_of_a_device_that_is_held_up_for_longer_than_the_patience_are_upper_bounds() {
    let expected = [
        vec![Quantity::TypicalLatency, Quantity::WorstCaseLatency],
        vec![Quantity::Pdv, Quantity::MinimumDelay, Quantity::HighDelay],
        vec![Quantity::IpdvMaximum],
    ];
    for (measure, expected) in measures().into_iter().zip(expected) {
        let (outcome, records) = repeat(&plan_of(measure.clone()), |_| 60);
        assert_eq!(
            records.len(),
            6,
            "five seconds of patience are five trials: {}",
            measure.name()
        );
        let found = upper_bounds(&outcome);
        assert!(
            expected.iter().all(|quantity| found.contains(quantity)),
            "{}: {found:?}",
            measure.name()
        );
    }
}

#[test]
fn a_few_frames_that_others_held_up_move_the_tail_and_neither_median_nor_minimum() {
    let [latency, pdv, _] = measures();
    let (outcome, records) = repeat(&plan_of(latency), |_| 1);
    assert_eq!(
        (records.len(), upper_bounds(&outcome)),
        (1, vec![Quantity::WorstCaseLatency])
    );
    let (outcome, _) = repeat(&plan_of(pdv), |_| 1);
    assert!(
        !upper_bounds(&outcome).contains(&Quantity::MinimumDelay),
        "{outcome:?}"
    );
    assert!(
        upper_bounds(&repeat(&plan_of(measures()[0].clone()), |_| 0).0).is_empty(),
        "nobody held it up"
    );
}

#[test]
fn a_run_from_before_such_trials_were_made_again_replays_to_its_end_with_upper_bounds() {
    let plan = plan_of(measures()[0].clone());
    let (_, mut records) = repeat(&plan, |_| 0);
    for record in &mut records {
        record.watch = Some(watch(60).into());
    }
    let replayed = replay(&plan, &records);
    assert!(
        replayed.mismatches.is_empty() && replayed.unfinished.is_empty(),
        "no trial is asked for that was never made"
    );
    assert_eq!(
        upper_bounds(&replayed.finished[0]),
        [Quantity::TypicalLatency, Quantity::WorstCaseLatency]
    );
}

#[test]
fn a_search_is_not_made_again_for_what_does_not_lose_a_frame() {
    let (_, records) = repeat(&plan_of(Measure::Throughput), |_| 60);
    assert!(
        records.iter().all(|record| !record.result.was_made_again()),
        "no delay is taken from it"
    );
    let plan = plan_of(measures()[0].clone());
    let mut record = repeat(&plan, |_| 0).1.remove(0);
    record.watch = Some(watch(60).into());
    let is_made_again = |purpose| {
        let judgement = Judgement {
            verdict: Verdict::Passed,
            purpose,
            is_decided: false,
        };
        Patience::new(&plan, &[]).excuse(&mut record.clone(), judgement)
    };
    assert!(!is_made_again(TrialPurpose::Counts));
    assert!(is_made_again(TrialPurpose::Delays));
}
