//! The trustworthiness of a run's figures: each rule is tested on recorded runs of a simulated device.

use sixbench_analysis::trust::{RULES, Trust, TrustLevel, trust};
use sixbench_method::fixtures::{live, plan};
use sixbench_method::measures::{Outcome, Quantity};
use sixbench_method::plan::{LossScan, Measure, Plan};
use sixbench_method::record::{DutFacts, Facts, TrialRecord, Watch};
use sixbench_method::repeat::Repetition;
use sixbench_method::replay::outcomes;
use sixbench_method::search::{Limit, SearchMethod};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::status::planned_points;
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::Fault;
use sixbench_method::trial::dns::Certificate;

/// A recorded run for tests to spoil.
struct Run {
    plan: Plan,
    facts: Facts,
    records: Vec<TrialRecord>,
}

impl Run {
    fn new(behaviour: Behaviour) -> Self {
        let mut plan = plan(SearchMethod::Binary, &[0.0]);
        plan.search.width = 0.01;
        let (records, _) = live(
            &plan,
            &mut SimulatedDut::new(behaviour, FrameRate(400_000), 7),
        );
        Self {
            plan,
            facts: Facts::default(),
            records,
        }
    }

    fn outcomes(&self) -> Vec<Outcome> {
        outcomes(&self.plan, &self.records)
    }

    fn trust(&self) -> Trust {
        self.trust_in(&self.outcomes()).expect("trials were made")
    }

    fn trust_in(&self, outcomes: &[Outcome]) -> Option<Trust> {
        let planned = planned_points(&self.plan, &self.records, outcomes, &self.facts);
        trust(&self.plan, &self.facts, &self.records, outcomes, &planned)
    }

    /// Returns the level, and the reasons that lower it.
    fn told(&self) -> (TrustLevel, String) {
        let Trust { level, reasons } = self.trust();
        let costly = reasons
            .iter()
            .filter(|reason| reason.level != TrustLevel::High);
        (
            level,
            costly
                .map(|reason| reason.text.as_str())
                .collect::<Vec<_>>()
                .join("; "),
        )
    }
}

#[test]
fn a_quiet_run_of_a_steady_device_is_trusted_and_says_why() {
    let trust = Run::new(Behaviour::HardLimit).trust();
    assert_eq!(trust.level, TrustLevel::High);
    let reasons: Vec<&str> = trust
        .reasons
        .iter()
        .map(|reason| reason.text.as_str())
        .collect();
    assert!(
        reasons[0].starts_with("other work disturbed none of ")
            && reasons.iter().any(|text| text.contains("spread by up to")),
        "{reasons:?}"
    );
}

#[test]
fn trials_made_again_cost_trust_by_their_share() {
    let mut run = Run::new(Behaviour::HardLimit);
    let whole = run.records.len();
    // Copies of trials that passed, as if they were the disturbed trials before these.
    let again: Vec<TrialRecord> = run
        .records
        .iter()
        .flat_map(|record| [record.clone(), record.clone()])
        .collect();
    run.records = again;
    let mut seen = std::collections::BTreeMap::new();
    for record in &mut run.records {
        let trials = seen
            .entry((record.point.clone(), record.repetition))
            .or_insert(0);
        *trials += 1;
        record.trial = *trials;
        if *trials % 2 == 1 {
            record
                .result
                .faults
                .push(Fault::MadeAgain { as_accident: false });
        }
    }
    assert_eq!(
        run.told(),
        (
            TrustLevel::Low,
            format!(
                "other work disturbed {whole} of {} trials (50 %)",
                2 * whole
            )
        )
    );
    assert_eq!(
        run.outcomes().len(),
        6,
        "and nothing else is changed by them"
    );
}

#[test]
fn a_wide_spread_and_a_single_repetition_cost_trust() {
    let (level, text) = Run::new(Behaviour::Bimodal {
        often: 0.2,
        at: 0.6,
    })
    .told();
    assert!(
        level >= TrustLevel::Fair && text.contains("spread by up to"),
        "{text}"
    );
    let mut run = Run::new(Behaviour::HardLimit);
    run.records.retain(|record| record.repetition == 1);
    assert_eq!(
        run.told(),
        (
            TrustLevel::Fair,
            "2 of 2 points have a single repetition, which shows no spread".to_owned()
        )
    );
}

#[test]
fn a_search_that_a_disturbance_ended_is_a_lower_bound() {
    let run = Run::new(Behaviour::HardLimit);
    let mut outcomes = run.outcomes();
    outcomes[0].brackets[0].limit = Limit::Disturbed;
    let level = |outcomes: &[Outcome]| run.trust_in(outcomes).expect("trials").level;
    assert_eq!(level(&outcomes), TrustLevel::Fair, "one of three");
    outcomes[1].brackets[0].limit = Limit::Disturbed;
    assert_eq!(level(&outcomes), TrustLevel::Low, "two of three");
}

#[test]
fn cores_that_the_host_moves_cost_trust_and_a_single_odd_look_does_not() {
    let mut run = Run::new(Behaviour::HardLimit);
    let watch = |ns| {
        Some(
            Watch {
                round_trips_ns: vec![ns, ns],
                ..Watch::default()
            }
            .into(),
        )
    };
    run.records
        .iter_mut()
        .for_each(|record| record.watch = watch(100));
    run.records[0].watch = watch(400);
    assert_eq!(run.trust().level, TrustLevel::High);
    run.records
        .iter_mut()
        .step_by(2)
        .for_each(|record| record.watch = watch(400));
    let (level, text) = run.told();
    assert!(
        level == TrustLevel::Fair && text.starts_with("a cache line took 100 to 400 ns"),
        "{text}"
    );
}

#[test]
fn a_self_test_without_headroom_costs_trust() {
    let mut run = Run::new(Behaviour::HardLimit);
    let certified = |rate| Certificate {
        rate,
        timeout_ns: 1,
        duration_ns: 1,
        path: String::new(),
        trials: vec![],
    };
    let facts = |rate| DutFacts {
        certificates: vec![certified(rate)],
        ..DutFacts::default()
    };
    run.facts
        .duts
        .insert("simulated".to_owned(), facts(4_000_000));
    assert_eq!(run.trust().level, TrustLevel::High);
    run.facts
        .duts
        .insert("simulated".to_owned(), facts(410_000));
    assert_eq!(
        run.told(),
        (
            TrustLevel::Fair,
            "the tester's self-test certified 1.0 times the rate measured of simulated".to_owned()
        )
    );
}

#[test]
fn nothing_is_said_of_a_run_without_trials_and_every_rule_says_what_it_looks_at() {
    let run = Run {
        plan: plan(SearchMethod::Binary, &[0.0]),
        facts: Facts::default(),
        records: vec![],
    };
    assert_eq!(run.trust_in(&[]), None);
    assert!(RULES.iter().all(|rule| !rule.subject.is_empty()));
}

#[test]
fn a_point_that_was_tried_in_vain_costs_all_trust() {
    let mut run = Run::new(Behaviour::HardLimit);
    let first = run.records[0].point.clone();
    let slow = Fault::SentTooSlowly {
        direction: Direction::Forward,
        nominal_ns: 1,
        took_ns: 2,
    };
    run.records
        .retain(|record| record.point != first || record.repetition == 1);
    run.records
        .iter_mut()
        .filter(|record| record.point == first)
        .for_each(|record| record.result.faults.push(slow.clone()));
    run.facts.runs = vec![];
    let (level, text) = run.told();
    assert!(
        level == TrustLevel::Low && text.contains("was tried and has no result"),
        "{text}"
    );
}

/// Returns a run of a frame loss rate test at the highest rate and half of it.
fn loss_scan(repetitions: u32) -> Run {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    let scan = LossScan {
        rates: [500_000, 250_000].map(FrameRate).to_vec(),
        until_lossless: false,
    };
    plan.tests[0].measure = Measure::FrameLossRate(scan);
    plan.tests[0].repetitions = Repetition::Fixed(repetitions);
    let (records, _) = live(
        &plan,
        &mut SimulatedDut::new(Behaviour::HardLimit, FrameRate(400_000), 7),
    );
    Run {
        plan,
        facts: Facts::default(),
        records,
    }
}

#[test]
fn a_loss_that_was_measured_once_is_not_trusted_highly() {
    assert_eq!(loss_scan(3).trust().level, TrustLevel::High);
    let once = "2 of 2 points have a single repetition, which shows no spread".to_owned();
    assert_eq!(loss_scan(1).told(), (TrustLevel::Fair, once));
}

#[test]
fn the_loss_at_each_rate_is_judged_by_its_median_or_ten_percentage_points() {
    let run = loss_scan(3);
    let level = |rate: u64, losses: [f64; 3]| {
        let mut outcomes = run.outcomes();
        let of_point = outcomes
            .iter_mut()
            .filter(|outcome| outcome.point.frame_size.0 == 84);
        for (outcome, loss) in of_point.zip(losses) {
            outcome
                .values
                .iter_mut()
                .filter(|value| value.load == FrameRate(rate))
                .for_each(|value| value.value = loss);
        }
        run.trust_in(&outcomes).expect("trials").level
    };
    assert_eq!(level(500_000, [20.0, 21.0, 20.5]), TrustLevel::High);
    assert_eq!(level(500_000, [20.0, 30.0, 21.0]), TrustLevel::Low);
    assert_eq!(
        level(250_000, [0.0, 0.05, 0.0]),
        TrustLevel::High,
        "a twentieth of a percentage point"
    );
    assert_eq!(level(250_000, [0.0, 5.0, 0.0]), TrustLevel::Low);
}

#[test]
fn a_quantity_that_some_repetitions_lack_and_one_that_varies_around_zero_are_not_trusted_highly() {
    let run = loss_scan(3);
    let mut outcomes = run.outcomes();
    outcomes[0].values.clear();
    let trust = run.trust_in(&outcomes).expect("trials");
    let text = trust
        .reasons
        .iter()
        .map(|reason| reason.text.as_str())
        .collect::<Vec<_>>()
        .join("; ");
    assert!(
        text.contains("Frame loss rate at 500000 frames/s, with one in 2 of 3"),
        "{text}"
    );
    let mut outcomes = run.outcomes();
    for (outcome, value) in outcomes.iter_mut().zip([0.0, 0.0, 5e6]) {
        outcome
            .values
            .iter_mut()
            .for_each(|of| (of.quantity, of.value) = (Quantity::RecoveryTime, value));
    }
    let trust = run.trust_in(&outcomes).expect("trials");
    let text = trust
        .reasons
        .iter()
        .map(|reason| reason.text.as_str())
        .collect::<Vec<_>>()
        .join("; ");
    assert!(
        trust.level >= TrustLevel::Fair && text.contains("differ around a median of zero"),
        "{text}"
    );
}

#[test]
fn trials_that_passed_while_others_had_the_processors_are_counted_by_what_became_of_them() {
    let mut run = Run::new(Behaviour::HardLimit);
    for record in run
        .records
        .iter_mut()
        .filter(|record| record.result.not_received() == 0)
    {
        record.result.faults.push(Fault::CpuTaken {
            milliseconds: record.result.spec.duration_ns / 2_000_000,
        });
    }
    let (passed, all) = (
        run.records
            .iter()
            .filter(|record| !record.result.faults.is_empty())
            .count(),
        run.records.len(),
    );
    let trust = run.trust();
    let (found, level) = trust.disturbed_trials().expect("trials");
    assert_eq!(
        (found.passed, found.not_made_again(), found.trials),
        (passed, passed, all)
    );
    assert!(
        level == TrustLevel::Low && trust.level == TrustLevel::Low,
        "{trust:?}"
    );
    let start = format!("other work disturbed {passed} of {all} trials (");
    assert!(
        trust
            .reasons
            .iter()
            .any(|reason| reason.text.starts_with(&start)),
        "{trust:?}"
    );
}

#[test]
fn a_point_whose_trials_were_all_disturbed_costs_trust_however_many_others_there_are() {
    let mut run = Run::new(Behaviour::HardLimit);
    let (first, all) = (run.records[0].point.clone(), run.records.len());
    let mut taken = run
        .records
        .iter_mut()
        .filter(|record| record.point == first && record.repetition == 1);
    let record = taken.next().expect("a trial");
    record.result.faults.push(Fault::CpuTaken {
        milliseconds: record.result.spec.duration_ns / 2_000_000,
    });
    assert!(all > 10, "less than a tenth of {all}");
    run.records
        .retain(|record| record.point != first || !record.result.faults.is_empty());
    let trust = run.trust();
    let worst = trust
        .disturbed_trials()
        .expect("trials")
        .0
        .worst
        .clone()
        .expect("a disturbed trial");
    assert_eq!((worst.point, worst.disturbed, worst.trials), (first, 1, 1));
    assert_eq!(trust.level, TrustLevel::Low);
}
