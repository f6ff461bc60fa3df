//! Measures the cost of stateful tests (RFC 9693) for the tester: the enumeration of four-tuples, phase 1, the state table, the Responder. Table 6
//! of the paper on siitperf measures its phase 1 with the same three enumerations.

use super::result::SelftestResult;
use super::wire::wire;
use crate::RunError;
use sixbench_engine::frames::profile::{AddressVariation, TrafficProfile};
use sixbench_engine::frames::selftest;
use sixbench_engine::frames::stateful::{StatefulGateway, TranslationPool};
use sixbench_io::clock::Clock;
use sixbench_method::plan::{AddressPart, Ports, Stateful, ValueOrder, ValueRange};
use sixbench_method::terms::{Direction, FrameRate, FrameSize};

/// The value of both N and M, as in the paper.
const CONNECTIONS: u64 = 4_000_000;

/// The first and last values of source ports, destination ports, source addresses and destination addresses.
type Ranges = [(u16, u16); 4];

const CASES: [(&str, Ranges); 3] = [
    (
        "ports 40,000 x 100",
        [(1, 40_000), (1, 100), (2, 2), (2, 2)],
    ),
    (
        "addresses 4,000 x 1,000",
        [(4_000, 4_000), (80, 80), (2, 4_001), (2, 1_001)],
    ),
    (
        "ports 400 x 100, addresses 10 x 10",
        [(1, 400), (1, 100), (2, 11), (2, 11)],
    ),
];

pub(super) fn figures(clock: &Clock) -> Result<Vec<SelftestResult>, RunError> {
    let mut figures = Vec::new();
    for (name, ranges) in CASES {
        let profile = profile(ranges);
        let rate = selftest::enumerate(&profile, 10 * CONNECTIONS, clock);
        figures.push(figure(
            format!("four-tuples, pseudorandom: {name}"),
            rate,
            "tuples/s",
        ));
    }
    for (name, ranges) in CASES {
        let opening = selftest::open(&profile(ranges), CONNECTIONS, clock)?;
        figures.push(figure(
            format!("phase 1, IPv4, 64 octets: {name}"),
            opening,
            "frames/s",
        ));
    }
    let responder = selftest::respond(&profile(CASES[0].1), CONNECTIONS, clock)?;
    let mib = responder.table_octets as f64 / f64::from(1 << 20);
    figures.push(figure(
        format!("state table of 4,000,000 ({mib:.1} MiB), pseudorandom reads"),
        responder.reads,
        "reads/s",
    ));
    figures.push(figure(
        "Responder, phase 2, IPv4, 64 octets, 4,000,000 connections".to_owned(),
        responder.frames,
        "frames/s",
    ));
    Ok(figures)
}

fn figure(what: String, rate: FrameRate, unit: &'static str) -> SelftestResult {
    SelftestResult::new(what, rate.0, unit)
}

fn profile([source, destination, from, to]: Ranges) -> TrafficProfile {
    let range = |(first, last)| ValueRange {
        first,
        last,
        order: ValueOrder::Pseudorandom,
    };
    let part = |(first, last): (u16, u16)| {
        let range = ValueRange {
            first: first.into(),
            last: last.into(),
            order: ValueOrder::Pseudorandom,
        };
        AddressVariation::Part(AddressPart {
            range,
            ipv4_offset: 2,
            ipv6_offset: 14,
        })
    };
    let gateway = StatefulGateway {
        opens: Direction::Forward,
        settings: Stateful::new(CONNECTIONS, FrameRate(1), 0),
        pool: TranslationPool {
            parts: vec![(1, 1)],
            ports: (1, 65_535),
        },
    };
    TrafficProfile {
        forward_ports: Ports {
            source: range(source),
            destination: range(destination),
        },
        left_variation: part(from),
        right_variation: part(to),
        gateway: Some(gateway),
        ..wire("198.18.0.2", "198.19.0.2", FrameSize(84))
    }
}
