//! A run of every measure: the real procedures with a device simulated by arithmetic.

use super::{SECOND, Sample, plan, test, watch};
use sixbench_method::disturbance::signs_of;
use sixbench_method::measures::{Findings, Outcome};
use sixbench_method::plan::*;
use sixbench_method::record::{DropPlace, Drops, Ending, FORMAT, TrialRecord, Watch};
use sixbench_method::replay::{ResumedMeasurement, resume};
use sixbench_method::terms::*;
use sixbench_method::trial::*;

impl Sample {
    /// Returns a run of every measure and of every kind of series.
    pub(crate) fn of_every_measure() -> Self {
        let mut tests = of_one_point();
        tests.extend([1, 4, 16, 64].map(flows));
        tests.extend([1, 16].map(flows_latency));
        tests.extend([1, 16].map(flows_loss));
        tests.extend([0, 10, 50, 90, 100].map(background));
        tests.extend([1, 2, 4].map(cores));
        Self::of_tests(tests)
    }

    /// Returns a run of these tests.
    pub(crate) fn of_tests(tests: Vec<Test>) -> Self {
        let mut plan = Plan {
            name: "every-measure".to_owned(),
            link_rate: Some(1_000_000_000),
            tests,
            ..plan()
        };
        plan.search.maximum = FrameRate(1_000_000);
        let mut sample = Self {
            plan,
            ..Self::empty().ended(Some(Ending::Complete))
        };
        for test in sample.plan.tests.clone() {
            test.points().for_each(|point| {
                (1..=3).for_each(|repetition| sample.perform(&test, &point, repetition));
            });
        }
        sample
    }

    /// Returns the run with only these tests.
    pub(crate) fn only(mut self, names: &[&str]) -> Self {
        self.plan
            .tests
            .retain(|test| names.contains(&test.name.as_str()));
        self.records
            .retain(|record| names.contains(&record.point.test.as_str()));
        self.outcomes
            .retain(|outcome| names.contains(&outcome.point.test.as_str()));
        self
    }

    fn perform(&mut self, test: &Test, point: &Point, repetition: u32) {
        let dut = Device::of(test, point.frame_size, repetition);
        self.drive(point, repetition, |spec| {
            let result = dut.trial(*spec, test.directions);
            let mut watch = watch((spec.rate.0 / 1000).min(900) as u16);
            watch.memory = vec![12 << 20, 13 << 20];
            watch.drops = dropped(&result);
            (result, watch)
        });
    }

    /// Makes one repetition of a measurement by its real procedure; `perform` performs the trials.
    pub(super) fn drive(
        &mut self,
        point: &Point,
        repetition: u32,
        mut perform: impl FnMut(&TrialSpec) -> (TrialResult, Watch),
    ) {
        let ResumedMeasurement {
            mut procedure,
            trials,
            load,
        } = resume(&self.plan, point, repetition, &self.records).expect("records of this plan");
        let (mut trial, mut invalid) = (trials, 0);
        while let Some(spec) = procedure.next_trial() {
            trial += 1;
            let (result, watch) = perform(&spec);
            invalid += u32::from(procedure.verdict(&result) == Verdict::Invalid);
            procedure.learn(&result);
            let (point, load, started) = (
                point.clone(),
                load.clone().map(Box::new),
                "2026-11-21T09:00:00Z".to_owned(),
            );
            let watch = Some(watch.into());
            self.records.push(TrialRecord {
                format: FORMAT,
                point,
                repetition,
                trial,
                load,
                started,
                result,
                watch,
            });
        }
        let Findings { brackets, values } = procedure.findings();
        let goal = self
            .plan
            .test(&point.test)
            .expect("a test")
            .first_goal(&self.plan);
        let made = self.of_repetition(point, repetition);
        let signs = brackets
            .first()
            .map(|bracket| signs_of(bracket, goal, &made))
            .unwrap_or_default();
        let point = point.clone();
        self.outcomes.push(Outcome {
            point,
            repetition,
            trials: trial,
            invalid,
            load,
            brackets,
            values,
            signs,
        });
    }
}

fn dropped(result: &TrialResult) -> Vec<Drops> {
    let drops = Drops {
        place: DropPlace::Backlog,
        way: "received".to_owned(),
        samples: vec![result.not_received()],
    };
    if result.not_received() > 0 {
        vec![drops]
    } else {
        vec![]
    }
}

/// Returns a plain test of each measure.
fn of_one_point() -> Vec<Test> {
    let (load, duration_ns) = (Load::Rate(FrameRate(20_000)), 3 * SECOND);
    let scan = LossScan {
        rates: (1..=10).rev().map(|i| FrameRate(120_192 * i)).collect(),
        until_lossless: true,
    };
    let latency = Latency {
        load: Load::OfThroughput(1.0),
        duration_ns: 6 * SECOND,
        tag_after_ns: 3 * SECOND,
        tagged: 50_000,
    };
    let burst = BackToBack {
        rate: FrameRate(1_000_000),
        longest_ns: SECOND,
        step_frames: 100,
    };
    let small = |test| Test {
        frame_sizes: vec![FrameSize(84)],
        ..test
    };
    let of = |name: &str, title: &str, dut: &str, measure| Test {
        measure,
        ..test(name, title, dut)
    };
    vec![
        of("rate", "Jool, SIIT", "jool-siit", Measure::Throughput),
        small(of(
            "loss",
            "Jool, SIIT, loss",
            "jool-siit",
            Measure::FrameLossRate(scan.clone()),
        )),
        small(of(
            "loss-tayga",
            "TAYGA, SIIT, loss",
            "tayga",
            Measure::FrameLossRate(scan),
        )),
        of(
            "latency",
            "Jool, SIIT, latency",
            "jool-siit",
            Measure::Latency(latency),
        ),
        of(
            "pdv",
            "Jool, SIIT, PDV",
            "jool-siit",
            Measure::Pdv(PdvStream { load, duration_ns }),
        ),
        of(
            "ipdv",
            "Jool, SIIT, IPDV",
            "jool-siit",
            Measure::Ipdv(IpdvStream { load, duration_ns }),
        ),
        of(
            "burst",
            "Jool, SIIT, bursts",
            "jool-siit",
            Measure::BackToBack(burst),
        ),
        of(
            "burst-tayga",
            "TAYGA, SIIT, bursts",
            "tayga",
            Measure::BackToBack(burst),
        ),
        of("recovery", "Jool, SIIT, recovery", "jool-siit", recovery()),
        of("reset", "Jool, SIIT, reset", "jool-siit", reset()),
    ]
}

fn recovery() -> Measure {
    Measure::Recovery(Recovery {
        overload: 1.1,
        duration_ns: 3 * SECOND,
        after_ns: 3 * SECOND,
    })
}

fn reset() -> Measure {
    Measure::Reset(Reset {
        load: Load::Rate(FrameRate(20_000)),
        before_ns: SECOND,
        after_ns: 4 * SECOND,
    })
}

fn step(name: &str, by: SeriesBy, at: u32, title: &str) -> Test {
    let series = Series {
        name: name.to_owned(),
        by,
        at: f64::from(at),
        device: None,
    };
    Test {
        series: Some(series),
        ..test(
            &format!("{name}-{at}"),
            &format!("{title} {at}"),
            "jool-siit",
        )
    }
}

fn flows(n: u32) -> Test {
    let traffic = TrafficSettings {
        flows: Some(Flows {
            count: n,
            step_ns: 0,
        }),
        ..TrafficSettings::RFC_4814
    };
    Test {
        traffic,
        ..step("flows", SeriesBy::Flows, n, "Jool, flows")
    }
}

fn flows_latency(n: u32) -> Test {
    let load = Load::Rate(FrameRate(30_000));
    let measure = Measure::Latency(Latency {
        load,
        duration_ns: 3 * SECOND,
        tag_after_ns: SECOND,
        tagged: 1000,
    });
    let traffic = TrafficSettings {
        flows: Some(Flows {
            count: n,
            step_ns: SECOND / 10,
        }),
        ..TrafficSettings::RFC_4814
    };
    Test {
        measure,
        traffic,
        ..step("latency-flows", SeriesBy::Flows, n, "Jool, latency, flows")
    }
}

fn flows_loss(n: u32) -> Test {
    let rates = [480_000, 320_000, 160_000].map(FrameRate).to_vec();
    let measure = Measure::FrameLossRate(LossScan {
        rates,
        until_lossless: false,
    });
    let traffic = TrafficSettings {
        flows: Some(Flows {
            count: n,
            step_ns: 0,
        }),
        ..TrafficSettings::RFC_4814
    };
    Test {
        measure,
        traffic,
        frame_sizes: vec![FrameSize(84)],
        ..step("loss-flows", SeriesBy::Flows, n, "Jool, loss, flows")
    }
}

fn background(percent: u32) -> Test {
    let foreground = Share {
        foreground: 100 - percent,
        of: 100,
    };
    Test {
        foreground,
        ..step("mix", SeriesBy::Background, percent, "Jool, background %")
    }
}

fn cores(n: u32) -> Test {
    Test {
        cores: Some(n),
        ..step("scaling", SeriesBy::Cores, n, "Jool, cores")
    }
}

/// A device simulated by arithmetic, with a capacity, a buffer, and a delay with a tail.
struct Device {
    capacity: f64,
    delay_ns: f64,
    repetition: u32,
}

impl Device {
    fn of(test: &Test, size: FrameSize, repetition: u32) -> Self {
        let noise = 1.0 + f64::from(repetition * 7 % 5) / 100.0;
        let slow =
            if test.dut == "tayga" { 0.3 } else { 1.0 } * if size.0 > 1000 { 0.15 } else { 1.0 };
        let flows = f64::from(test.traffic.flows.map_or(1, |f| f.count)).log2();
        let share = f64::from(test.foreground.foreground) / f64::from(test.foreground.of);
        let mixed = (350_000.0 / share).min(450_000.0 / (1.0 - share).max(1e-9));
        let cores = f64::from(test.cores.unwrap_or(1)).powf(0.85);
        let capacity = mixed * slow * cores * noise / (1.0 + 0.04 * flows);
        Self {
            capacity,
            delay_ns: 80_000.0 * noise * (1.0 + 0.1 * flows),
            repetition,
        }
    }

    fn trial(&self, spec: TrialSpec, directions: Directions) -> TrialResult {
        let directions = directions
            .each()
            .iter()
            .map(|&d| self.direction(spec, d))
            .collect();
        TrialResult::new(spec, directions, vec![])
    }

    fn direction(&self, spec: TrialSpec, direction: Direction) -> DirectionResult {
        let offered = spec.frames();
        let mut d = DirectionResult::counted(direction, offered, self.received(spec).min(offered));
        let lost = d.not_received();
        if lost > 0 {
            d.lost_by_bin = vec![lost / 30; 30];
        }
        self.outages(spec, &mut d);
        self.delays(&mut d);
        d
    }

    fn received(&self, spec: TrialSpec) -> u64 {
        let forwarded = (self.capacity * spec.duration_ns as f64 / 1e9) as u64;
        match spec.kind {
            TrialKind::Burst => forwarded + 26_000 + 100 * u64::from(self.repetition),
            TrialKind::Drop { at_ns, .. } => {
                spec.frames() - (spec.rate.0 as f64 * 0.05 * at_ns as f64 / 1e9) as u64
            }
            TrialKind::Reset { .. } => spec.frames() - (spec.rate.0 as f64 * self.outage()) as u64,
            _ => forwarded,
        }
    }

    /// Returns the seconds without a frame around a reset.
    fn outage(&self) -> f64 {
        1.2 + f64::from(self.repetition) / 50.0
    }

    fn outages(&self, spec: TrialSpec, d: &mut DirectionResult) {
        let later = u64::from(self.repetition) * 10_000_000;
        match spec.kind {
            TrialKind::Drop { at_ns, .. } => d.last_missing_ns = Some(at_ns + 120_000_000 + later),
            TrialKind::Reset { at_ns } => {
                let to_ns = at_ns + (self.outage() * 1e9) as u64;
                d.silence = Some(Silence {
                    from_ns: at_ns,
                    to_ns,
                });
                d.last_missing_ns = Some(to_ns);
            }
            _ => {}
        }
    }

    /// Fills buckets one per cent apart, each with 4 % of the remaining frames, which results in a tail over two decades.
    fn delays(&self, d: &mut DirectionResult) {
        let factor = if d.direction == Direction::Reverse {
            1.4
        } else {
            1.0
        };
        let mut left = d.received;
        let mut at = self.delay_ns * factor;
        while left > 0 {
            let frames = (left / 25).max(1);
            d.delays.push(Bucket {
                up_to_ns: at as u64,
                frames,
            });
            left -= frames;
            at *= 1.01 + 0.000_05 * d.delays.len() as f64;
        }
        let delay = |at: f64| {
            d.delays
                .get((d.delays.len() as f64 * at) as usize)
                .map_or(0, |b| b.up_to_ns)
        };
        let (median_ns, p999_ns, max_ns) = (delay(0.06), delay(0.5), delay(0.9999));
        let min_ns = d.delays.first().map_or(0, |b| b.up_to_ns);
        d.delay = Some(Delay {
            count: d.received,
            min_ns,
            median_ns,
            p999_ns,
            max_ns,
            moments: None,
            bounds: None,
        });
        d.tagged = d.delay.clone();
        d.ipdv = Some(Ipdv {
            pairs: d.received,
            min_ns: -(median_ns as i64),
            median_ns: 12,
            max_ns: p999_ns as i64,
            bounds: None,
        });
    }
}
