//! A plan to test with.

use sixbench_method::plan::*;
use sixbench_method::repeat::Repetition;
use sixbench_method::terms::*;

/// One throughput test at two frame sizes, three repetitions; 1 k to 10 M frames/s, width 0.1 %, 60 s trials.
pub(crate) fn plan(method: SearchMethod, goals: &[f64]) -> Plan {
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
        },
        link_rate: None,
        interleave: false,
        tests: vec![throughput_test()],
    }
}

fn throughput_test() -> Test {
    Test {
        name: "nat64".into(),
        title: "NAT64".into(),
        dut: "simulated".into(),
        measure: Measure::Throughput,
        frame_sizes: vec![FrameSize(84), FrameSize(1518)],
        directions: Directions::Both,
        foreground: Share::ALL,
        traffic: Traffic::RFC_4814,
        stateful: None,
        repetitions: Repetition::Fixed(3),
        frame_timeout_ns: None,
        cores: None,
        ipv4_only: false,
        optional: false,
        series: None,
        expect: Vec::new(),
    }
}
