//! Which clauses of the RFCs a run meets and which it bends, from the plan alone.

use crate::Input;
use crate::table::Table;
use crate::words::{count, loss_goal, seconds};
use sixbench_method::plan::{PortOrder, Ports, Test};
use sixbench_method::terms::{Directions, FrameSize, LossRatio};

/// One requirement, and how this run stands to it.
pub(crate) struct Clause {
    clause: &'static str,
    asks: &'static str,
    here: String,
    met: bool,
}

/// The clauses as a table.
pub(crate) fn table(input: &Input) -> Table {
    let row = |c: Clause| {
        let standing = if c.met { "met" } else { "bent" };
        vec![c.clause.to_owned(), c.asks.to_owned(), c.here, standing.to_owned()]
    };
    Table::new(["Clause", "Asks for", "This run", "Standing"]).with_rows(clauses(input).into_iter().map(row))
}

/// Every clause that is judged here.
pub(crate) fn clauses(input: &Input) -> Vec<Clause> {
    let mut clauses = timing(input);
    clauses.extend(statistics(input));
    clauses.extend(traffic(input));
    clauses.extend(instrument());
    clauses
}

fn timing(input: &Input) -> Vec<Clause> {
    let trial = &input.plan.trial;
    vec![
        Clause {
            clause: "RFC 2544 section 24",
            asks: "trials of at least 60 s",
            here: seconds(trial.duration_ns),
            met: trial.duration_ns >= 60_000_000_000,
        },
        Clause {
            clause: "RFC 2544 section 23",
            asks: "2 s of waiting for residual frames",
            here: format!("at most {}; ends early once every frame is accounted for", seconds(trial.residual_ns)),
            met: trial.residual_ns >= 2_000_000_000,
        },
        Clause {
            clause: "RFC 2544 section 23",
            asks: "at least 5 s of rest between trials",
            here: seconds(trial.rest_ns),
            met: trial.rest_ns >= 5_000_000_000,
        },
    ]
}

fn statistics(input: &Input) -> Vec<Clause> {
    let goal = input.plan.search.goals.first().copied().unwrap_or(LossRatio::ZERO);
    let fewest = input.plan.tests.iter().map(|t| t.repetitions).min().unwrap_or(0);
    let completed = !input.interrupted;
    vec![
        Clause {
            clause: "RFC 2544 section 26.1",
            asks: "throughput: the highest rate without loss",
            here: format!("the highest rate {}", loss_goal(goal)),
            met: goal == LossRatio::ZERO,
        },
        Clause {
            clause: "RFC 8219 section 7",
            asks: "at least 20 repetitions (of latency and delay variation; usual for throughput as well)",
            here: format!("{}{}", count(u64::from(fewest), "repetition"), if completed { "" } else { " planned; interrupted" }),
            met: fewest >= 20 && completed,
        },
        Clause {
            clause: "RFC 8219 section 12",
            asks: "median, 1st and 99th percentile with the size of the sample",
            here: "printed with every result".to_owned(),
            met: true,
        },
    ]
}

fn traffic(input: &Input) -> Vec<Clause> {
    let tests = &input.plan.tests;
    let both = |t: &Test| t.directions == Directions::Both;
    let ports = |t: &Test| t.ports == Ports::RFC_4814;
    let sizes = |t: &Test| ETHERNET_SIZES.iter().all(|size| t.frame_sizes.contains(size));
    vec![
        Clause {
            clause: "RFC 8219 section 5.1.1",
            asks: "frame sizes 84, 128, 256, 512, 768, 1024, 1280, 1518",
            here: sizes_used(tests),
            met: tests.iter().all(sizes),
        },
        Clause {
            clause: "RFC 8219 section 5.3",
            asks: "bidirectional traffic",
            here: in_tests(tests, both, "both directions at the same rate"),
            met: tests.iter().all(both),
        },
        Clause {
            clause: "RFC 4814 section 4.5",
            asks: "pseudorandom ports, source 1024–65535, destination 1–49151",
            here: format!("{}; seed {}", ports_used(tests), input.plan.seed),
            met: tests.iter().all(ports),
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
            met: false,
        },
        Clause {
            clause: "RFC 1242 section 3.8",
            asks: "delay measured at the ports",
            here: "software time stamps: from handing a frame to the port until the receiver sees it".to_owned(),
            met: false,
        },
    ]
}
