//! A soak test of a daemon with a memory leak, on a kernel without one.

use super::{SECOND, Sample, plan, test, watch};
use sixbench_method::plan::*;
use sixbench_method::record::{Ending, Watch};
use sixbench_method::replay::outcomes;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::*;
use sixbench_method::trial::Measurer as _;
use sixbench_method::trial::tcp::Close;

impl Sample {
    /// Returns two hours at 20,000 frames/s; the process gains 100 kB per hour, and the kernel's memory goes up and down.
    pub(crate) fn of_a_soak() -> Self {
        let load = Load::Rate(FrameRate(20_000));
        let measure = Measure::Soak(Soak {
            load,
            duration_ns: 7200 * SECOND,
            warm_up_ns: 1800 * SECOND,
            tcp: None,
        });
        let test = Test {
            measure,
            frame_sizes: vec![FrameSize(594)],
            repetitions: sixbench_method::repeat::Repetition::Fixed(1),
            ..test("soak", "TAYGA, NAT64", "tayga")
        };
        let plan = Plan {
            name: "soak".to_owned(),
            link_rate: None,
            tests: vec![test],
            ..plan()
        };
        let mut sample = Self {
            plan,
            ..Self::empty().ended(Some(Ending::Complete))
        };
        let point = sample.plan.tests[0].points().next().expect("a point");
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(100_000), 1);
        sample.drive(&point, 1, |spec| {
            let Ok(result) = dut.measure(spec);
            let wave = |second: u64| (second * 7919 % 101) * 4096;
            let memory = (0..7202)
                .map(|second| 8_000_000 + second * 100_000 / 3600)
                .collect();
            let kernel_memory = (0..7202).map(|second| 90_000_000 + wave(second)).collect();
            let connections = (0..7202).map(|second| 10_000 + second / 3600).collect();
            (
                result,
                Watch {
                    interval_ns: SECOND,
                    cores: vec![],
                    memory,
                    kernel_memory,
                    connections,
                    ..watch(0)
                },
            )
        });
        sample.outcomes = outcomes(&sample.plan, &sample.records);
        sample
    }

    /// Returns two hours of 100 new connections per second; each stays in the table for two minutes, and one in a thousand for ever.
    pub(crate) fn of_new_connections() -> Self {
        let tcp = Tcp {
            object_octets: 64,
            time_limit_ns: 900_000_000,
            close: Close::ServerFirst,
            server_ports: (80, 80),
        };
        let load = Load::Rate(FrameRate(100));
        let measure = Measure::Soak(Soak {
            load,
            duration_ns: 7200 * SECOND,
            warm_up_ns: 1800 * SECOND,
            tcp: Some(tcp),
        });
        let mut sample = Self::of_a_soak();
        sample.records.clear();
        sample.plan.tests[0] = Test {
            measure,
            name: "cycles".to_owned(),
            ..sample.plan.tests[0].clone()
        };
        let point = sample.plan.tests[0].points().next().expect("a point");
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(5_000), 1);
        sample.drive(&point, 1, |spec| {
            let Ok(result) = dut.measure(spec);
            let connections = (0..7202)
                .map(|second: u64| 100 * second.min(120) + second / 10)
                .collect();
            (
                result,
                Watch {
                    interval_ns: SECOND,
                    cores: vec![],
                    connections,
                    ..watch(0)
                },
            )
        });
        sample.outcomes = outcomes(&sample.plan, &sample.records);
        sample
    }
}
