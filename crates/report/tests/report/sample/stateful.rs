//! A run of stateful gateways (RFC 9693): the real procedures on simulated devices, with made-up values for what only a real DUT can report.

use super::{SECOND, Sample, plan, test, watch};
use sixbench_method::plan::*;
use sixbench_method::record::{DropPlace, Drops, DutFacts, Ending, Watch};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::*;
use sixbench_method::trial::*;

/// The size of the samples' tables.
const TABLE: u64 = 262_144;

impl Sample {
    /// Returns a run of every measure of connections, of phase 2, and of both kinds of series.
    pub(crate) fn of_stateful_gateways() -> Self {
        let mut tests = of_connections();
        tests.extend(of_phase_2());
        tests.extend(
            ["nft-nat44", "iptables-nat44"]
                .iter()
                .flat_map(|dut| series(dut)),
        );
        let mut plan = Plan {
            name: "stateful".to_owned(),
            tests,
            ..plan()
        };
        plan.search.maximum = FrameRate(400_000);
        let mut sample = Self {
            plan,
            ..Self::empty().ended(Some(Ending::Complete))
        };
        sample.facts.duts = [
            dut("nft-nat44", "nftables, NAT44"),
            dut("iptables-nat44", "iptables, NAT44"),
        ]
        .into();
        for test in sample.plan.tests.clone() {
            for point in test.points() {
                let count = test.repetitions.most();
                (1..=count).for_each(|repetition| sample.converse(&test, &point, repetition));
            }
        }
        sample
    }

    fn converse(&mut self, test: &Test, point: &Point, repetition: u32) {
        let mut trial = 0;
        self.drive(point, repetition, |spec| {
            trial += 1;
            let mut result = perform(test, point.frame_size, repetition, spec);
            told(test, &mut result);
            // In one trial the DUT loses connections to a timeout in phase 2.
            if test.name == "pdv" && repetition == 1 && trial == 1 {
                let differ = Fault::ConnectionsDiffer {
                    expected: 100_000,
                    counted: 99_312,
                    after_phase_2: true,
                };
                result.faults.push(differ);
            }
            let watch = watched(&result);
            (result, watch)
        });
    }
}

fn dut(name: &str, title: &str) -> (String, DutFacts) {
    let (technology, version) = ("nat44".to_owned(), "Linux 6.1.0-26-amd64".to_owned());
    (
        name.to_owned(),
        DutFacts {
            title: title.to_owned(),
            version,
            technology,
            ..DutFacts::default()
        },
    )
}

/// Returns a stateful test with 84-octet frames.
fn two_phases(name: &str, title: &str, dut: &str, measure: Measure, connections: u64) -> Test {
    let stateful = Stateful {
        table_size: None,
        ..Stateful::new(connections, FrameRate(50_000), SECOND / 2)
    };
    let ports = Ports {
        source: ValueRange {
            first: 10_000,
            last: 49_999,
            order: ValueOrder::Pseudorandom,
        },
        destination: ValueRange {
            first: 80,
            last: 179,
            order: ValueOrder::Pseudorandom,
        },
    };
    let traffic = TrafficSettings {
        forward_ports: ports,
        ..TrafficSettings::RFC_4814
    };
    Test {
        measure,
        traffic,
        stateful: Some(stateful),
        frame_sizes: vec![FrameSize(84)],
        ..test(name, title, dut)
    }
}

fn of_connections() -> Vec<Test> {
    let capacity = |most| {
        Measure::TableCapacity(Capacity {
            start: 20_000,
            most,
            exponential_share: 0.2,
            binary_share: 0.5,
            error: 2_000,
        })
    };
    let of = two_phases;
    vec![
        of(
            "rate",
            "nftables, opening",
            "nft-nat44",
            Measure::EstablishmentRate,
            100_000,
        ),
        of(
            "rate-ipt",
            "iptables, opening",
            "iptables-nat44",
            Measure::EstablishmentRate,
            100_000,
        ),
        of(
            "down",
            "nftables, tear-down",
            "nft-nat44",
            Measure::TearDownRate,
            100_000,
        ),
        of(
            "down-ipt",
            "iptables, tear-down",
            "iptables-nat44",
            Measure::TearDownRate,
            100_000,
        ),
        whole(of(
            "table",
            "nftables, capacity",
            "nft-nat44",
            capacity(1_000_000),
            20_000,
        )),
        of(
            "table-ipt",
            "iptables, capacity",
            "iptables-nat44",
            capacity(80_000),
            20_000,
        ),
    ]
}

/// Returns the test with a state table for every number that is tried.
fn whole(test: Test) -> Test {
    Test {
        stateful: test.stateful.map(|s| Stateful {
            state_table: 1_000_000,
            ..s
        }),
        ..test
    }
}

fn of_phase_2() -> Vec<Test> {
    let pdv = PdvStream {
        load: Load::Rate(FrameRate(20_000)),
        duration_ns: 3 * SECOND,
    };
    let hasty = two_phases(
        "hasty",
        "nftables, R too high",
        "nft-nat44",
        Measure::Throughput,
        100_000,
    );
    let hasty = Test {
        stateful: hasty.stateful.map(|s| Stateful {
            rate: FrameRate(380_000),
            ..s
        }),
        ..hasty
    };
    let part = |first, last| {
        let range = ValueRange {
            first,
            last,
            order: ValueOrder::Pseudorandom,
        };
        Some(AddressPart {
            range,
            ipv4_offset: AddressPart::IPV4_OFFSET,
            ipv6_offset: AddressPart::IPV6_OFFSET,
        })
    };
    let mut pdv = two_phases(
        "pdv",
        "nftables, PDV",
        "nft-nat44",
        Measure::Pdv(pdv),
        100_000,
    );
    (pdv.traffic.left_addresses, pdv.traffic.right_addresses) = (part(2, 1001), part(2, 11));
    pdv.stateful
        .iter_mut()
        .for_each(|s| s.responder = ValueOrder::Increasing);
    vec![
        two_phases(
            "through",
            "nftables, phase 2",
            "nft-nat44",
            Measure::Throughput,
            100_000,
        ),
        hasty,
        pdv,
    ]
}

fn series(dut: &str) -> Vec<Test> {
    let short = if dut == "nft-nat44" { "nft" } else { "ipt" };
    let step = |kind: &str, measure: &Measure, by, at: u64| {
        let name = format!("{kind}-{short}");
        let series = Some(Series {
            name: name.clone(),
            by,
            at: at as f64,
            device: None,
        });
        let connections = if by == SeriesBy::Connections {
            at
        } else {
            100_000
        };
        let title = format!("{short}, {kind} {at}");
        let test = two_phases(
            &format!("{name}.{at}"),
            &title,
            dut,
            measure.clone(),
            connections,
        );
        let table_size = (by == SeriesBy::TableSize).then_some(at);
        Test {
            series,
            stateful: test.stateful.map(|s| Stateful { table_size, ..s }),
            ..test
        }
    };
    let numbers = [1_000, 10_000, 100_000];
    let rates = numbers.map(|n| {
        step(
            "opening",
            &Measure::EstablishmentRate,
            SeriesBy::Connections,
            n,
        )
    });
    let throughputs =
        numbers.map(|n| step("flows", &Measure::Throughput, SeriesBy::Connections, n));
    let sizes = [1 << 17, 1 << 18, 1 << 20]
        .map(|n| step("size", &Measure::EstablishmentRate, SeriesBy::TableSize, n));
    rates.into_iter().chain(throughputs).chain(sizes).collect()
}

/// Performs a trial on a gateway that opens fewer connections per second the more there are, and that near its limit loses the reverse direction of
/// some.
fn perform(test: &Test, size: FrameSize, repetition: u32, spec: &TrialSpec) -> TrialResult {
    let noise = 1.0 + f64::from(repetition * 7 % 5) / 100.0;
    let speed = if test.dut == "nft-nat44" { 1.0 } else { 0.6 } * noise;
    let stateful = test.stateful.expect("two phases");
    let many = (spec.opens().map_or(1, |o| o.connections) as f64 / 1_000.0).log10();
    let crowded = (stateful.table_size.unwrap_or(TABLE) as f64 / TABLE as f64).log10();
    let opens = (230_000.0 - 9_000.0 * many + 12_000.0 * crowded) * speed;
    let forwards = (320_000.0 - 20_000.0 * many) * speed * if size.0 > 1000 { 0.2 } else { 1.0 };
    let half_open = if spec.rate.0 as f64 > opens * 0.985 {
        3
    } else {
        0
    };
    let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(forwards as u64), 1)
        .with_connections(
            FrameRate(opens as u64),
            stateful.table_size.unwrap_or(TABLE),
        )
        .with_tear_down(FrameRate((1_900_000.0 * speed) as u64))
        .with_half_open(half_open)
        .with_directions(test.directions);
    if test.measure.info().is_of_delay {
        dut = dut.with_delay(90_000, 20_000);
    }
    let Ok(result) = sixbench_method::trial::Measurer::measure(&mut dut, spec);
    result
}

/// Adds what the Responder saw, and which connections were lost.
fn told(test: &Test, result: &mut TrialResult) {
    let missing = result.not_received();
    let is_of_phase_1 = result.spec.kind.connections().is_some();
    let Some(connections) = result.phase_one_result_mut() else {
        return;
    };
    let seen = connections.established;
    let sources = seen / 90;
    connections.mapping = match test.dut.as_str() {
        "nft-nat44" => Mapping {
            seen,
            ports_preserved: seen,
            addresses: 1,
            sources,
            endpoint_independent: sources,
            ..Mapping::default()
        },
        _ => Mapping {
            seen,
            ports_preserved: seen * 3 / 10,
            addresses: 4,
            sources,
            endpoint_independent: sources / 10,
            address_and_port_dependent: sources - sources / 10,
            collisions: u64::from(connections.lost() > 20),
            ..Mapping::default()
        },
    };
    connections.counted_after = connections.counted;
    let kept = test.stateful.map_or(u64::MAX, |s| s.state_table);
    connections.state_table = kept.min(connections.offered);
    let how = if connections.lost() > 0 {
        "its frame did not arrive"
    } else {
        "the Responder's frame did not come back"
    };
    let example = |i: u64| {
        format!(
            "connection {}, 10.0.0.2:{} to 198.18.0.2:{}: {how}",
            41_366 + i,
            15_840 + 31 * i,
            81 + i
        )
    };
    let named = if is_of_phase_1 {
        missing
    } else {
        connections.lost()
    };
    connections.examples = (0..named.min(5)).map(example).collect();
}

/// Returns the table, which fills at R and stays level afterwards, and why connections were lost.
fn watched(result: &TrialResult) -> Watch {
    let mut watch = watch((result.spec.rate.0 / 1000).min(900) as u16);
    let Some(connections) = result.phase_one_result() else {
        return watch;
    };
    let fill_s = connections.offered as f64 / connections.rate.0.max(1) as f64;
    watch.interval_ns = ((fill_s * 1e9 / 8.0) as u64).max(1);
    let full = connections.established;
    watch.connections = (0..20).map(|i| (full * i / 8).min(full)).collect();
    if connections.torn_down_ns.is_some() {
        watch.connections.extend([full / 3, 0, 0]);
    }
    let of_table = |way: &str, count| Drops {
        place: DropPlace::Conntrack,
        way: way.to_owned(),
        samples: vec![count],
    };
    let is_full =
        connections.established < connections.offered && connections.established.is_power_of_two();
    watch.drops = match connections.lost() {
        0 if result.not_received() > 0 && result.spec.phase_one.is_none() => {
            vec![of_table("early_drop", result.not_received())]
        }
        0 => vec![],
        lost if is_full => vec![of_table("drop", lost)],
        lost => vec![of_table("insert_failed", lost)],
    };
    watch
}
