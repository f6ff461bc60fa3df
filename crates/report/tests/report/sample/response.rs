//! A run as in the 6to4 paper: numbers of clients on relays simulated by arithmetic.

use super::{SECOND, Sample, plan, test, watch};
use sixbench_method::plan::*;
use sixbench_method::record::{CoreRole, CoreWatch, CpuSample, DeviceWatch, Ending, Watch};
use sixbench_method::replay::outcomes;
use sixbench_method::simulated::SimulatedRelay;
use sixbench_method::terms::*;
use sixbench_method::trial::*;
use sixbench_method::units::counted;

impl Sample {
    /// Returns one to ten clients with UDP and with echoes through a virtual machine, and one client through a device that is not monitored.
    pub(crate) fn of_clients() -> Self {
        Self::of_clients_without(&[])
    }

    /// Does the same as [`Self::of_clients`], but the tester fell short in every trial of some tests.
    pub(crate) fn of_clients_without(unfit: &[&str]) -> Self {
        let payloads = [("udp", Payload::Udp), ("echo", Payload::Echo)];
        let mut tests: Vec<Test> = payloads
            .iter()
            .flat_map(|&(name, payload)| (1..=10).map(move |n| clients(name, payload, n)))
            .collect();
        let unseen = Test {
            series: None,
            name: "plain".to_owned(),
            dut: "unseen".to_owned(),
            ..clients("plain", Payload::Udp, 1)
        };
        tests.push(Test {
            traffic: TrafficSettings::RFC_4814,
            ..unseen
        });
        let plan = Plan {
            name: "clients".to_owned(),
            link_rate: None,
            tests,
            ..plan()
        };
        let mut sample = Self {
            plan,
            ..Self::empty().ended(Some(Ending::Complete))
        };
        for test in sample.plan.tests.clone() {
            test.points().for_each(|point| {
                (1..=3).for_each(|repetition| {
                    sample.request(&test, &point, repetition, unfit.contains(&&*test.name));
                });
            });
        }
        // What was observed of the device is in the records.
        sample.outcomes = outcomes(&sample.plan, &sample.records);
        sample
    }

    fn request(&mut self, test: &Test, point: &Point, repetition: u32, is_unfit: bool) {
        let capacity = if test.traffic.payload == Payload::Echo {
            220_000
        } else {
            200_000
        } + u64::from(repetition) * 1_000;
        let mut relay = SimulatedRelay::new(FrameRate(capacity), 100).with_link(20_000);
        let is_seen = test.dut != "unseen";
        self.drive(point, repetition, |spec| {
            let Ok(mut result) = relay.measure(spec);
            result.directions[1].sending.worst_lateness_ns = 41_000;
            let took_ns = 2 * spec.duration_ns;
            let too_slow = Fault::SentTooSlowly {
                direction: Direction::Forward,
                nominal_ns: spec.duration_ns,
                took_ns,
            };
            result.faults.extend(is_unfit.then_some(too_slow));
            let forwarded = result.exchange().map_or(0, |exchange| exchange.forwarded());
            let share =
                (forwarded * 1_000_000_000 / spec.duration_ns * 1000 / capacity).min(1000) as u16;
            let unseen = Watch {
                cores: vec![],
                interval_ns: SECOND / 10,
                ..watch(0)
            };
            (
                result,
                if is_seen {
                    Watch {
                        devices: vec![machine(share)],
                        ..unseen
                    }
                } else {
                    unseen
                },
            )
        });
    }
}

fn clients(name: &str, payload: Payload, count: u32) -> Test {
    let measure = Measure::ResponseTime(ResponseTime {
        rate_per_client: FrameRate(15_000),
        duration_ns: SECOND / 5,
        outstanding: None,
    });
    Test {
        measure,
        frame_sizes: vec![FrameSize(118)],
        traffic: TrafficSettings {
            payload,
            subscribers: Some(count),
            ..TrafficSettings::RFC_4814
        },
        series: Some(Series {
            name: name.to_owned(),
            by: SeriesBy::Subscribers,
            at: count.into(),
            device: None,
        }),
        ..test(
            &format!("{name}.subscribers{count}"),
            &format!("{name}, {}", counted(count, "subscriber")),
            "jool-siit",
        )
    }
}

/// Returns a virtual machine that has slightly more to do than to forward.
fn machine(share: u16) -> DeviceWatch {
    let sample = |more: u16| {
        let system = (share + more).min(1000);
        CpuSample {
            system,
            idle: 1000 - system,
            ..CpuSample::default()
        }
    };
    let memory = vec![
        196_000_000,
        196_000_000,
        196_000_000 + u64::from(share) * 100,
    ];
    DeviceWatch {
        device: "relay".to_owned(),
        machine: None,
        cores: vec![CoreWatch {
            core: 0,
            role: CoreRole::Dut,
            samples: vec![sample(4), sample(12)],
        }],
        memory,
    }
}
