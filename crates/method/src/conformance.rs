//! Which clauses of the RFCs a plan meets and which it bends: known before anything runs.

use crate::plan::{Plan, PortOrder, Ports, Test};
use crate::terms::{Directions, FrameSize, LossRatio};

/// One requirement, and how a plan stands to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// RFC and section.
    pub clause: &'static str,
    /// What it asks for.
    pub asks: &'static str,
    /// What the plan does.
    pub here: String,
    /// Whether that is what was asked for; what is not met is bent, and said.
    pub is_met: bool,
}

/// Every clause that is judged here.
pub fn clauses(plan: &Plan) -> Vec<Clause> {
    let mut clauses = timing(plan);
    clauses.extend(statistics(plan));
    clauses.extend(traffic(plan));
    clauses.extend(instrument());
    clauses
}

fn timing(plan: &Plan) -> Vec<Clause> {
    let trial = &plan.trial;
    vec![
        Clause {
            clause: "RFC 2544 section 24",
            asks: "trials of at least 60 s",
            here: seconds(trial.duration_ns),
            is_met: trial.duration_ns >= 60_000_000_000,
        },
        Clause {
            clause: "RFC 2544 section 23",
            asks: "2 s of waiting for residual frames",
            here: format!("at most {}; ends early once every frame is accounted for", seconds(trial.residual_ns)),
            is_met: trial.residual_ns >= 2_000_000_000,
        },
        Clause {
            clause: "RFC 2544 section 23",
            asks: "at least 5 s of rest between trials",
            here: seconds(trial.rest_ns),
            is_met: trial.rest_ns >= 5_000_000_000,
        },
    ]
}

fn statistics(plan: &Plan) -> Vec<Clause> {
    let goal = plan.search.goals.first().copied().unwrap_or(LossRatio::ZERO);
    let fewest = plan.tests.iter().map(|t| t.repetitions).min().unwrap_or(0);
    vec![
        Clause {
            clause: "RFC 2544 section 26.1",
            asks: "throughput: the highest rate without loss",
            here: loss_goal(goal),
            is_met: goal == LossRatio::ZERO,
        },
        Clause {
            clause: "RFC 8219 section 7",
            asks: "at least 20 repetitions (of latency and delay variation; usual for throughput as well)",
            here: format!("{} planned", count(u64::from(fewest), "repetition")),
            is_met: fewest >= 20,
        },
        Clause {
            clause: "RFC 8219 section 12",
            asks: "median, 1st and 99th percentile with the size of the sample",
            here: "printed with every result".to_owned(),
            is_met: true,
        },
    ]
}

fn traffic(plan: &Plan) -> Vec<Clause> {
    let tests = &plan.tests;
    let both = |t: &Test| t.directions == Directions::Both;
    let ports = |t: &Test| t.ports == Ports::RFC_4814;
    let sizes = |t: &Test| ETHERNET_SIZES.iter().all(|size| t.frame_sizes.contains(size));
    vec![
        Clause {
            clause: "RFC 8219 section 5.1.1",
            asks: "frame sizes 84, 128, 256, 512, 768, 1024, 1280, 1518",
            here: sizes_used(tests),
            is_met: tests.iter().all(sizes),
        },
        Clause {
            clause: "RFC 8219 section 5.3",
            asks: "bidirectional traffic",
            here: in_tests(tests, both, "both directions at the same rate"),
            is_met: tests.iter().all(both),
        },
        Clause {
            clause: "RFC 4814 section 4.5",
            asks: "pseudorandom ports, source 1024-65535, destination 1-49151",
            here: format!("{}; seed {}", ports_used(tests), plan.seed),
            is_met: tests.iter().all(ports),
        },
    ]
}

/// The sizes for Ethernet, 84 in place of 64 for translation from IPv6 to IPv4.
const ETHERNET_SIZES: [FrameSize; 8] = [
    FrameSize(84),
    FrameSize(128),
    FrameSize(256),
    FrameSize(512),
    FrameSize(768),
    FrameSize(1024),
    FrameSize(1280),
    FrameSize(1518),
];

fn sizes_used(tests: &[Test]) -> String {
    let all: std::collections::BTreeSet<FrameSize> = tests.iter().flat_map(|t| t.frame_sizes.iter().copied()).collect();
    all.iter().map(FrameSize::to_string).collect::<Vec<_>>().join(", ")
}

fn ports_used(tests: &[Test]) -> String {
    match tests.iter().any(|t| t.ports.order == PortOrder::Fixed) {
        true => {
            in_tests(tests, |t| t.ports == Ports::RFC_4814, "as asked").replace("as asked", "as asked; fixed ports elsewhere")
        }
        false => in_tests(tests, |t| t.ports == Ports::RFC_4814, "as asked"),
    }
}

fn in_tests(tests: &[Test], holds: impl Fn(&Test) -> bool, what: &str) -> String {
    match tests.iter().filter(|t| holds(t)).count() {
        n if n == tests.len() => what.to_owned(),
        n => format!("in {n} of {}: {what}", count(tests.len() as u64, "test")),
    }
}

/// What holds for every run of a software tester.
fn instrument() -> Vec<Clause> {
    vec![
        Clause {
            clause: "RFC 2544 section 26.1",
            asks: "a graph of frame rate over frame size, with the theoretical rate of the medium",
            here: "graph and table; no theoretical line, the rate of the medium is not on record".to_owned(),
            is_met: false,
        },
        Clause {
            clause: "RFC 1242 section 3.8",
            asks: "delay measured at the ports",
            here: "software time stamps: from handing a frame to the port until the receiver sees it".to_owned(),
            is_met: false,
        },
    ]
}

fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

fn loss_goal(goal: LossRatio) -> String {
    match goal {
        LossRatio::ZERO => "the highest rate without loss".to_owned(),
        goal => format!("the highest rate with at most {goal} loss"),
    }
}
