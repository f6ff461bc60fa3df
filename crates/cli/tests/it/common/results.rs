//! Results directories of simulated devices, as from a real run, but in milliseconds and without root.
#![allow(dead_code, reason = "`long` uses a part of it")]

use crate::common::Scratch;
use sixbench_method::plan::{Plan, Point, Profile, Test};
use sixbench_method::record::{FORMAT, Facts, TrialRecord};
use sixbench_method::repeat::Repetition;
use sixbench_method::replay::{ResumedMeasurement, resume};
use sixbench_method::search::{CapacityEstimate, RepetitionStart, SearchMethod, SearchSettings};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::{FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{Measurer, TrialSettings};
use std::fs;

/// Returns a test of the throughput of kernel forwarding, with seven repetitions at one frame size.
pub(crate) fn test(name: &str) -> Test {
    Test {
        repetitions: Repetition::Fixed(7),
        frame_sizes: vec![FrameSize(84)],
        ..Test::new(name, "linux-ipv4")
    }
}

/// Returns a plan of these tests that searches between 1 k and 200 k frames/s, to 0.5 %.
pub(crate) fn plan(tests: &[Test]) -> Plan {
    let search = SearchSettings {
        method: SearchMethod::Binary,
        minimum: FrameRate(1_000),
        maximum: FrameRate(200_000),
        width: 0.005,
        goals: vec![LossRatio::ZERO],
        max_invalid: 2,
        start: RepetitionStart::Dithered,
        estimate: CapacityEstimate::Bounded,
        certainty: None,
    };
    let second = 1_000_000_000;
    let trial = TrialSettings {
        duration_ns: second,
        residual_ns: second,
        rest_ns: 0,
        frame_timeout_ns: 0,
        stall_ns: 1_000_000,
    };
    Plan {
        seed: 1,
        ..Plan::new("simulated", Profile::Custom, trial, search, tests.to_vec())
    }
}

/// Returns a device that forwards at most this many frames per second.
pub(crate) fn dut(capacity: u64) -> SimulatedDut {
    SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1)
}

/// Returns a device that is faster than its tester, which cannot exceed this rate.
pub(crate) fn beyond_the_tester(rate: u64) -> SimulatedDut {
    SimulatedDut::new(
        Behaviour::SlowTester { ceiling: 0.1 },
        FrameRate(10 * rate),
        1,
    )
}

/// Returns all trials of a run of `plan`, with each test on the device that `of` returns.
pub(crate) fn records(plan: &Plan, of: impl Fn(&Test) -> SimulatedDut) -> Vec<TrialRecord> {
    let mut records = Vec::new();
    for test in &plan.tests {
        let mut dut = of(test);
        for (point, repetition) in test
            .points()
            .flat_map(|p| (1..=test.repetitions.most()).map(move |r| (p.clone(), r)))
        {
            measure(plan, &point, repetition, &mut dut, &mut records);
        }
    }
    records
}

fn measure(
    plan: &Plan,
    point: &Point,
    repetition: u32,
    dut: &mut SimulatedDut,
    records: &mut Vec<TrialRecord>,
) {
    let ResumedMeasurement {
        mut procedure,
        trials: mut trial,
        load,
    } = resume(plan, point, repetition, records).expect("records of the plan");
    while let Some(spec) = procedure.next_trial() {
        trial += 1;
        let Ok(result) = dut.measure(&spec);
        procedure.learn(&result);
        let (point, load, started) = (
            point.clone(),
            load.clone().map(Box::new),
            "2026-01-01T00:00:00Z".to_owned(),
        );
        records.push(TrialRecord {
            format: FORMAT,
            point,
            repetition,
            trial,
            load,
            started,
            result,
            watch: None,
        });
    }
}

/// Writes a results directory; returns its path.
pub(crate) fn write(
    scratch: &Scratch,
    name: &str,
    plan: &Plan,
    records: &[TrialRecord],
    facts: &Facts,
) -> String {
    fs::create_dir(scratch.path(name)).expect("a directory");
    let lines = records
        .iter()
        .map(|record| serde_json::to_string(record).expect("JSON") + "\n");
    scratch.write(&format!("{name}/trials.jsonl"), &lines.collect::<String>());
    scratch.write(
        &format!("{name}/resolved.toml"),
        &toml::to_string(plan).expect("TOML"),
    );
    scratch.write(&format!("{name}/plan.toml"), "# of a simulated run\n");
    scratch.write(
        &format!("{name}/facts.json"),
        &serde_json::to_string(facts).expect("JSON"),
    );
    scratch.path(name)
}
