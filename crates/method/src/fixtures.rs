//! For the tests of this crate and of those above it: a plan, runs of it on simulated devices, and how often chance is allowed.

use crate::disturbance::{signs_of, weighed};
use crate::measures::{Findings, LimitSigns, Outcome, SendingTime, procedure};
use crate::plan::{Measure, Plan, Point, Profile, RequirementTest, Test};
use crate::record::{FORMAT, TrialRecord};
use crate::repeat::Repetition;
use crate::replay::{ResumedMeasurement, resume};
use crate::search::{Bracket, CapacityEstimate, RepetitionStart, SearchMethod, SearchSettings};
use crate::simulated::SimulatedDut;
use crate::terms::{Direction, FrameRate, FrameSize, LossRatio};
use crate::trial::{
    JudgedVector, LoadedDirection, LoadedFinding, Measurer, RequirementLevel, RequirementLoad,
    RequirementResults, TrialOutcome, TrialResult, TrialSettings, TrialSpec, VectorResult, Verdict,
};

/// Returns a plan with one throughput test at two frame sizes, three repetitions; 1 k to 10 M frames/s, width 0.1 %, 60 s trials.
pub fn plan(method: SearchMethod, goals: &[f64]) -> Plan {
    Plan {
        name: "simulated".into(),
        profile: Profile::Rfc,
        seed: 1,
        trial: TrialSettings {
            duration_ns: 60_000_000_000,
            residual_ns: 2_000_000_000,
            rest_ns: 5_000_000_000,
            frame_timeout_ns: 0,
            stall_ns: 1_000_000,
        },
        search: SearchSettings {
            method,
            minimum: FrameRate(1_000),
            maximum: FrameRate(10_000_000),
            width: 0.001,
            goals: goals.iter().map(|&ratio| LossRatio(ratio)).collect(),
            max_invalid: 3,
            start: RepetitionStart::Dithered,
            estimate: CapacityEstimate::Bounded,
            certainty: None,
        },
        patience_ns: Plan::USUAL_PATIENCE_NS,
        link_rate: None,
        interleave: false,
        exports: Vec::new(),
        reference: None,
        tests: vec![throughput_test()],
    }
}

fn throughput_test() -> Test {
    Test {
        title: "NAT64".into(),
        frame_sizes: vec![FrameSize(84), FrameSize(1518)],
        repetitions: Repetition::Fixed(3),
        ..Test::new("nat64", "simulated")
    }
}

/// Returns the outcome of a repetition that found nothing yet.
pub fn outcome(test: &str, size: u16, repetition: u32) -> Outcome {
    let point = Point {
        test: test.to_owned(),
        frame_size: FrameSize(size),
    };
    let (brackets, values, signs) = (Vec::new(), Vec::new(), LimitSigns::default());
    Outcome {
        point,
        repetition,
        trials: 1,
        invalid: 0,
        load: None,
        brackets,
        values,
        signs,
    }
}

/// Returns the result of a vector with a requirement of RFC 7915 section 4.1.
pub fn judged_vector(name: &str, level: RequirementLevel, result: VectorResult) -> JudgedVector {
    JudgedVector {
        name: name.to_owned(),
        rfc: 7915,
        clause: "4.1".to_owned(),
        level,
        sentence: "The total length is that of the translated datagram.".to_owned(),
        result,
        choice: None,
        reason: None,
        sent: vec!["ipv4: ipv4(src=host4, dst=host6) / udp(sport=1, dport=9)".to_owned()],
        frames: Vec::new(),
        steps: Vec::new(),
        attempts: 1,
        is_known: false,
        capture: None,
        capture_sha256: None,
        under_load: None,
    }
}

/// Returns a finding under load for which no frames are kept.
pub fn loaded_finding(result: VectorResult) -> LoadedFinding {
    LoadedFinding {
        result,
        choice: None,
        reason: None,
        frames: Vec::new(),
        steps: Vec::new(),
        attempts: 5,
        capture: None,
        capture_sha256: None,
    }
}

/// Returns a load of 20,000 frames/s, of which the device lost one frame in the reverse direction.
pub fn requirement_load() -> RequirementLoad {
    let received = [(Direction::Forward, 200_000), (Direction::Reverse, 199_999)];
    let directions = received.map(|(direction, received)| LoadedDirection {
        direction,
        offered: 200_000,
        received,
        wrong: 0,
    });
    RequirementLoad {
        rate: FrameRate(20_000),
        frame_size: FrameSize(84),
        trials: 2,
        invalid_trials: 0,
        directions: directions.to_vec(),
    }
}

/// Returns a test of all requirements of a device.
pub fn requirement_test(name: &str, dut: &str) -> Test {
    Test {
        measure: Measure::Requirements(RequirementTest::default()),
        ..Test::new(name, dut)
    }
}

/// Returns the record of the only trial of a test of requirements, with these results.
///
/// # Panics
/// The test has no point, or is of another measure.
pub fn requirement_record(test: &Test, vectors: Vec<JudgedVector>) -> TrialRecord {
    requirement_record_under(None, test, vectors)
}

/// Returns the same record with the counts of a load, if there was one.
///
/// # Panics
/// The test has no point, or is of another measure.
pub fn requirement_record_under(
    load: Option<RequirementLoad>,
    test: &Test,
    vectors: Vec<JudgedVector>,
) -> TrialRecord {
    let SendingTime::For(planned_ns) = test.measure.sending() else {
        panic!("vectors are sent for a time of their own");
    };
    let spec = TrialSpec::requirements(planned_ns);
    TrialRecord {
        format: FORMAT,
        point: test.points().next().expect("a point"),
        repetition: 1,
        trial: 1,
        load: None,
        started: "2026-11-21T09:30:00Z".to_owned(),
        result: TrialResult {
            outcome: TrialOutcome::Requirements(Some(Box::new(RequirementResults {
                load,
                vectors,
            }))),
            ..TrialResult::new(spec, vec![], vec![])
        },
        watch: None,
    }
}

/// Returns the next repetition of the plan's first point.
pub fn repeat(plan: &Plan, earlier: &[Outcome], dut: &mut SimulatedDut) -> Outcome {
    let frame_size = plan.tests[0].frame_sizes[0];
    repetition_of(plan, &plan.tests[0], frame_size, earlier, dut)
}

/// Returns the next repetition of a test of this plan, or of a similar one, at a frame size.
pub fn repetition_of(
    plan: &Plan,
    test: &Test,
    frame_size: FrameSize,
    earlier: &[Outcome],
    dut: &mut SimulatedDut,
) -> Outcome {
    let point = Point {
        test: test.name.clone(),
        frame_size,
    };
    let mut procedure = procedure(plan, test, frame_size, earlier, None);
    let mut trials = 0;
    while let Some(spec) = procedure.next_trial() {
        let Ok(result) = dut.measure(&spec);
        procedure.learn(&result);
        trials += 1;
    }
    let Findings { brackets, values } = procedure.findings();
    Outcome {
        point,
        repetition: earlier.len() as u32 + 1,
        trials,
        invalid: 0,
        load: None,
        brackets,
        values,
        signs: LimitSigns::default(),
    }
}

/// Performs a run like the run command; returns its records and outcomes.
///
/// # Panics
/// The plan names a point of a test that it does not have.
pub fn live(plan: &Plan, dut: &mut SimulatedDut) -> (Vec<TrialRecord>, Vec<Outcome>) {
    let (mut records, mut found) = (Vec::new(), Vec::new());
    for point in plan.tests.iter().flat_map(|test| test.points()) {
        for repetition in 1..=plan.test(&point.test).unwrap().repetitions.most() {
            found.push(measure(plan, &point, repetition, dut, &mut records));
        }
    }
    (records, found)
}

/// Performs one repetition of a point like the run command, and adds its trials to `records`.
///
/// # Panics
/// The records are not those of this plan.
pub fn measure(
    plan: &Plan,
    point: &Point,
    repetition: u32,
    dut: &mut SimulatedDut,
    records: &mut Vec<TrialRecord>,
) -> Outcome {
    let ResumedMeasurement {
        mut procedure,
        mut trials,
        load,
    } = resume(plan, point, repetition, records).unwrap();
    let mut invalid = 0;
    while let Some(spec) = procedure.next_trial() {
        let Ok(result) = dut.measure(&spec);
        trials += 1;
        invalid += u32::from(procedure.verdict(&result) == Verdict::Invalid);
        procedure.learn(&result);
        let (point, load, started) = (point.clone(), load.clone().map(Box::new), String::new());
        records.push(TrialRecord {
            format: FORMAT,
            point,
            repetition,
            trial: trials,
            load,
            started,
            result,
            watch: None,
        });
    }
    let Findings { brackets, values } = procedure.findings();
    let made: Vec<&TrialRecord> = records
        .iter()
        .filter(|r| r.point == *point && r.repetition == repetition)
        .collect();
    let brackets: Vec<Bracket> = brackets
        .into_iter()
        .map(|bracket| weighed(bracket, &made))
        .collect();
    let goal = plan.test(&point.test).expect("a test").first_goal(plan);
    let signs = brackets
        .first()
        .map(|bracket| signs_of(bracket, goal, &made))
        .unwrap_or_default();
    Outcome {
        point: point.clone(),
        repetition,
        trials,
        invalid,
        load,
        brackets,
        values,
        signs,
    }
}

/// Returns the smallest number of `runs` that must contain the true value if each does so with a probability of 95 %: chance yields fewer in one of
/// 100,000 cases.
pub fn least_that_hold(runs: u64) -> u64 {
    const CHANCE: f64 = 1e-5;
    let (held, missed) = (0.95_f64.ln(), 0.05_f64.ln());
    let (mut ln_term, mut tail, mut least) = (runs as f64 * missed, 0.0, 0);
    for k in 0..runs {
        tail += ln_term.exp();
        if tail > CHANCE {
            break;
        }
        least = k + 1;
        ln_term += ((runs - k) as f64 / (k + 1) as f64).ln() + held - missed;
    }
    least
}
