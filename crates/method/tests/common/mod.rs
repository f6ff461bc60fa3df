//! A plan to test with, and the virtual life of its run.

use sixbench_method::plan::*;
use sixbench_method::terms::*;

/// One throughput test at two frame sizes; 1 k to 10 M frames/s, width 0.1 %, 60 s trials.
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
        tests: vec![Test {
            name: "nat64".into(),
            title: "NAT64".into(),
            dut: "simulated".into(),
            measure: Measure::Throughput,
            frame_sizes: vec![FrameSize(84), FrameSize(1518)],
            directions: Directions::Both,
            foreground: Share::ALL,
            ports: Ports::RFC_4814,
            repetitions: 3,
            expect: None,
        }],
    }
}
