//! Runs on simulated devices: one with every status of a point, and random ones with missing parts.

use super::{SECOND, Sample, plan, test, watch};
use sixbench_method::plan::*;
use sixbench_method::record::*;
use sixbench_method::repeat::Repetition;
use sixbench_method::replay;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::*;
use sixbench_method::trial::{Fault, Measurer};
use sixbench_stats::SplitMix64;

const ERROR: &str = "cannot load the module | no such & file";

fn latency() -> Measure {
    let load = Load::OfThroughput(1.0);
    Measure::Latency(Latency {
        load,
        duration_ns: 6 * SECOND,
        tag_after_ns: 3 * SECOND,
        tagged: 500,
    })
}

fn burst() -> Measure {
    Measure::BackToBack(BackToBack {
        rate: FrameRate(500_000),
        longest_ns: SECOND,
        step_frames: 1000,
    })
}

fn recovery() -> Measure {
    Measure::Recovery(Recovery {
        overload: 1.1,
        duration_ns: 3 * SECOND,
        after_ns: 3 * SECOND,
    })
}

fn loss() -> Measure {
    Measure::FrameLossRate(LossScan {
        rates: [500_000, 400_000].map(FrameRate).to_vec(),
        until_lossless: false,
    })
}

fn hard(capacity: u64) -> SimulatedDut {
    SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1)
}

/// Returns a test with a single repetition, which starts cold: later ones are too short to be affected by the disturbance of passing trials.
fn once(test: Test) -> Test {
    Test {
        repetitions: Repetition::Fixed(1),
        ..test
    }
}

fn slow_tester(ceiling: f64) -> SimulatedDut {
    SimulatedDut::new(Behaviour::SlowTester { ceiling }, FrameRate(300_000), 1)
}

impl Sample {
    /// Returns a run of these tests, each on its device, by the real procedures.
    fn of_simulated(tests: Vec<(Test, SimulatedDut)>) -> Self {
        let plan = Plan {
            name: "points".to_owned(),
            tests: tests.iter().map(|(test, _)| test.clone()).collect(),
            ..plan()
        };
        let mut sample = Self {
            plan,
            ..Self::empty().ended(Some(Ending::Complete))
        };
        for (test, mut dut) in tests {
            for point in test.points() {
                for repetition in 1..=test.repetitions.most() {
                    sample.drive(&point, repetition, |spec| {
                        let Ok(result) = dut.measure(spec);
                        (result, watch(300))
                    });
                }
            }
        }
        sample
    }

    /// Returns the run as a report reads it from disk, with the outcomes that result from the records.
    pub(crate) fn replayed(mut self) -> Self {
        self.outcomes = replay::outcomes(&self.plan, &self.records);
        self
    }

    /// Leaves a test out of the run, as if its device were not available.
    fn leave_out(&mut self, name: &str) {
        let at = self
            .plan
            .tests
            .iter()
            .position(|test| test.name == name)
            .expect("a test");
        let planned = Box::new(self.plan.tests.remove(at));
        self.records.retain(|record| record.point.test != name);
        let reason = SkipReason::LeftOut {
            why: "no lab is built".to_owned(),
            planned,
        };
        self.facts.not_run.push(SkippedTest {
            test: name.to_owned(),
            reason,
        });
    }

    /// Returns a run with every status; the tests are named after them.
    pub(crate) fn of_every_status() -> Self {
        let of = |name: &str, measure| Test {
            measure,
            ..test(name, &format!("DUT, {name}"), &format!("simulated-{name}"))
        };
        let mut stateful = of("phase-1", Measure::Throughput);
        stateful.stateful = Some(Stateful::new(1000, FrameRate(10_000), SECOND));
        let mut sample = Self::of_simulated(vec![
            (of("result", Measure::Throughput), hard(300_001)),
            (of("loss", loss()), hard(300_000)),
            (of("zero", Measure::Throughput), hard(1)),
            (of("at-least", Measure::Throughput), slow_tester(0.5)),
            (of("maximum", burst()), hard(2_000_000)),
            (of("tester", Measure::Throughput), slow_tester(0.001)),
            (of("invalid", burst()), slow_tester(0.001)),
            (of("no-load", latency()), hard(1)),
            (of("nothing", recovery()), hard(10_000_000)),
            (
                stateful,
                hard(300_000).with_connections(FrameRate(10_000), 500),
            ),
            (once(of("disturbed", Measure::Throughput)), hard(300_000)),
            (of("disturbed-burst", burst()), hard(2_000_000)),
            (of("taken", Measure::Throughput), hard(300_000)),
            (of("partly", Measure::Throughput), hard(260_000)),
            (of("unfinished", Measure::Throughput), hard(200_000)),
            (of("broken", Measure::Throughput), hard(200_000)),
            (of("later", latency()), hard(200_000)),
            (of("optional", Measure::Throughput), hard(200_000)),
        ]);
        sample.leave_out("optional");
        let is_kept = |r: &TrialRecord| match r.point.test.as_str() {
            "partly" => r.repetition == 1,
            "unfinished" => r.repetition == 1 && r.trial <= 2,
            "broken" | "later" => false,
            _ => true,
        };
        sample.records.retain(is_kept);
        sample.take_processors("disturbed");
        sample.take_processors("disturbed-burst");
        sample.lose_to_others("taken");
        let mut sample = sample.replayed().ended(Some(Ending::Failed {
            error: ERROR.to_owned(),
        }));
        let reason = SkipReason::SetUpFailed {
            dut: "simulated".to_owned(),
            error: ERROR.to_owned(),
        };
        sample.facts.not_run.push(SkippedTest {
            test: "broken".to_owned(),
            reason,
        });
        sample
    }

    /// Disturbs every passing trial of this test: other processes had the DUT's processors for a fifth of a second.
    pub(crate) fn disturbed(mut self, name: &str) -> Self {
        self.take_processors(name);
        self.replayed()
    }

    fn take_processors(&mut self, name: &str) {
        let passed = |r: &&mut TrialRecord| r.point.test == name && r.result.not_received() == 0;
        self.records
            .iter_mut()
            .filter(passed)
            .for_each(|r| r.result.faults.push(Fault::CpuTaken { milliseconds: 200 }));
    }

    /// Other processes have the DUT's processors all the time, so no trial at any load is valid, and the search ends below its lowest load.
    fn lose_to_others(&mut self, name: &str) {
        let points: Vec<Point> = self.plan.test(name).expect("a test").points().collect();
        self.records.retain(|record| record.point.test != name);
        for (point, repetition) in points
            .iter()
            .flat_map(|point| (1..=3).map(move |repetition| (point, repetition)))
        {
            let mut dut = hard(1);
            self.drive(point, repetition, |spec| {
                let Ok(mut result) = dut.measure(spec);
                let milliseconds = spec.duration_ns / 1_000_000;
                result.faults.push(Fault::CpuTaken { milliseconds });
                (result, watch(300))
            });
        }
    }

    /// Returns a random plan, with random parts of its records missing or corrupted.
    pub(crate) fn of_chance(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let count = 1 + random.next_u64() % 5;
        let tests = (0..count).map(|i| chance_test(i, &mut random)).collect();
        let mut sample = Self::of_simulated(tests);
        let names: Vec<String> = sample
            .plan
            .tests
            .iter()
            .map(|test| test.name.clone())
            .collect();
        for name in &names {
            match random.next_u64() % 10 {
                0 if sample.plan.tests.len() > 1 => sample.leave_out(name),
                1 => {
                    sample.records.retain(|record| record.point.test != *name);
                    let reason = SkipReason::SetUpFailed {
                        dut: "simulated".to_owned(),
                        error: ERROR.to_owned(),
                    };
                    sample.facts.not_run.push(SkippedTest {
                        test: name.clone(),
                        reason,
                    });
                }
                2 => sample
                    .records
                    .retain(|record| record.point.test != *name || random.uniform() < 0.9),
                3 => {
                    let most = random.next_u64() % 12;
                    sample
                        .records
                        .retain(|r| r.point.test != *name || u64::from(r.trial) <= most);
                }
                4 => sample
                    .records
                    .iter_mut()
                    .filter(|r| r.point.test == *name && random.uniform() < 0.2)
                    .for_each(spoil),
                5 => sample.take_processors(name),
                6 => sample
                    .records
                    .iter_mut()
                    .filter(|r| r.point.test == *name && random.uniform() < 0.3)
                    .for_each(disturb),
                _ => {}
            }
        }
        let endings = [
            Some(Ending::Complete),
            Some(Ending::Interrupted),
            Some(Ending::Failed {
                error: ERROR.to_owned(),
            }),
            None,
        ];
        sample
            .replayed()
            .ended(endings[(random.next_u64() % 4) as usize].clone())
    }
}

fn spoil(record: &mut TrialRecord) {
    let fault = Fault::SentTooSlowly {
        direction: Direction::Forward,
        nominal_ns: SECOND,
        took_ns: 2 * SECOND,
    };
    record.result.faults.push(fault);
}

fn disturb(record: &mut TrialRecord) {
    let milliseconds = record.result.spec.duration_ns / 3_000_000;
    record.result.faults.push(Fault::CpuTaken { milliseconds });
}

fn chance_test(i: u64, random: &mut SplitMix64) -> (Test, SimulatedDut) {
    let measures = [
        Measure::Throughput,
        loss(),
        latency(),
        burst(),
        recovery(),
        Measure::EstablishmentRate,
        Measure::TearDownRate,
    ];
    let measure = measures[(random.next_u64() % measures.len() as u64) as usize].clone();
    let stateful = measure
        .family()
        .ends_with_phase_one()
        .then(|| Stateful::new(1000, FrameRate(10_000), SECOND));
    let capacity = [1, 90_000, 300_000, 10_000_000][(random.next_u64() % 4) as usize];
    let behaviour = match random.next_u64() % 3 {
        0 => Behaviour::SlowTester {
            ceiling: random.uniform(),
        },
        1 => Behaviour::Noisy { deviation: 0.01 },
        _ => Behaviour::HardLimit,
    };
    let stalls = [0.0, 0.3, 1.0][(random.next_u64() % 3) as usize];
    let dut =
        SimulatedDut::new(behaviour, FrameRate(capacity), random.next_u64()).with_stalls(stalls);
    // Delays take time to compute, and nothing else needs them.
    let has_delays = matches!(measure, Measure::Latency(_)) && random.uniform() < 0.3;
    let dut = if has_delays {
        dut.with_delay(50_000, 10_000)
    } else {
        dut
    };
    let dut = dut.with_connections(
        FrameRate(capacity),
        [10, 100_000][(random.next_u64() % 2) as usize],
    );
    let sizes = [vec![84], vec![84, 1518]][(random.next_u64() % 2) as usize]
        .iter()
        .map(|&size| FrameSize(size))
        .collect();
    let name = format!("t{i}-{}", measure.name());
    let title = format!("Test {i}, {}", measure.name());
    (
        Test {
            measure,
            stateful,
            frame_sizes: sizes,
            ..test(&name, &title, &format!("simulated-{name}"))
        },
        dut,
    )
}
