//! The measures of RFC 9693 find the true values of a simulated gateway.

use super::*;
use crate::trial::PhaseOne;

/// Returns a plan for a test with 100,000 connections, opened at 50,000/s.
fn stateful_plan(measure: Measure) -> Plan {
    let mut plan = plan(measure);
    plan.tests[0].stateful = Some(Stateful::new(100_000, FrameRate(50_000), SECOND_NS / 10));
    plan
}

fn gateway(opens: u64, table: u64) -> SimulatedDut {
    dut(400_000).with_connections(FrameRate(opens), table)
}

fn lower(outcome: &Outcome) -> u64 {
    outcome.throughput().expect("a rate").0
}

#[test]
fn the_establishment_rate_is_found_and_every_passing_trial_was_validated() {
    let (specs, outcome) = repeat(
        &stateful_plan(Measure::EstablishmentRate),
        &[],
        &mut gateway(123_456, 1_000_000),
    );
    assert!(
        (123_000..=123_456).contains(&lower(&outcome)),
        "{outcome:?}"
    );
    assert_eq!(outcome.brackets[0].limit, Limit::Dut);
    let validated = |spec: &TrialSpec| matches!(spec.kind, TrialKind::Establish { connections: 100_000, validation } if validation.0 == spec.rate.0 / 2);
    assert!(specs.iter().all(validated), "{specs:?}");
}

#[test]
fn a_connection_that_fails_its_validation_is_no_connection() {
    let plan = stateful_plan(Measure::EstablishmentRate);
    let (_, outcome) = repeat(
        &plan,
        &[],
        &mut gateway(123_456, 1_000_000).with_half_open(1),
    );
    assert_eq!(
        (outcome.throughput(), outcome.brackets[0].limit),
        (None, Limit::Dut)
    );
}

#[test]
fn a_later_repetition_starts_near_the_rate_of_the_first() {
    let plan = stateful_plan(Measure::EstablishmentRate);
    let mut dut = gateway(123_456, 1_000_000);
    let (cold, first) = repeat(&plan, &[], &mut dut);
    let (warm, second) = repeat(&plan, &[first], &mut dut);
    assert!(warm.len() < cold.len(), "{} {}", warm.len(), cold.len());
    assert!((123_000..=123_456).contains(&lower(&second)));
}

#[test]
fn the_throughput_of_phase_2_is_found_with_phase_1_before_every_trial() {
    let (specs, outcome) = repeat(
        &stateful_plan(Measure::Throughput),
        &[],
        &mut gateway(60_000, 100_000),
    );
    assert!(
        (399_000..=400_000).contains(&lower(&outcome)),
        "{outcome:?}"
    );
    let phase_one = Some(PhaseOne {
        connections: 100_000,
        rate: FrameRate(50_000),
    });
    assert!(
        specs
            .iter()
            .all(|spec| spec.phase_one == phase_one && spec.kind == TrialKind::Constant)
    );
}

#[test]
fn a_phase_1_that_lost_frames_never_flows_into_phase_2() {
    for gateway in [gateway(49_999, 100_000), gateway(60_000, 99_999)] {
        let (specs, outcome) = repeat(
            &stateful_plan(Measure::Throughput),
            &[],
            &mut gateway.clone(),
        );
        assert_eq!(
            (outcome.throughput(), outcome.brackets[0].limit),
            (None, Limit::Tester)
        );
        assert_eq!(outcome.invalid as usize, specs.len());
        let pdv = PdvStream {
            load: Load::Rate(FrameRate(1_000)),
            duration_ns: SECOND_NS,
        };
        let (_, outcome) = repeat(
            &stateful_plan(Measure::Pdv(pdv)),
            &[],
            &mut gateway.with_delay(1, 1),
        );
        assert!(outcome.values.is_empty(), "{outcome:?}");
    }
}

#[test]
fn every_measure_of_phase_2_opens_the_connections_first() {
    let pdv = PdvStream {
        load: Load::Rate(FrameRate(1_000)),
        duration_ns: SECOND_NS,
    };
    let (load, duration_ns) = (pdv.load, pdv.duration_ns);
    let all = [
        Measure::FrameLossRate(LossScan {
            rates: vec![FrameRate(1_000)],
            until_lossless: false,
        }),
        Measure::Latency(Latency {
            load,
            duration_ns: 2 * SECOND_NS,
            tag_after_ns: SECOND_NS,
            tagged: 10,
        }),
        Measure::Pdv(pdv),
        Measure::Ipdv(IpdvStream { load, duration_ns }),
        Measure::BackToBack(BackToBack {
            rate: FrameRate(1_000_000),
            longest_ns: SECOND_NS,
            step_frames: 10,
        }),
        Measure::Recovery(Recovery {
            overload: 1.1,
            duration_ns: SECOND_NS,
            after_ns: SECOND_NS,
        }),
        Measure::Reset(Reset {
            load,
            before_ns: SECOND_NS,
            after_ns: SECOND_NS,
        }),
    ];
    for measure in all {
        let name = measure.name();
        let (specs, _) = repeat(
            &stateful_plan(measure),
            &[],
            &mut gateway(60_000, 100_000).with_delay(1, 1),
        );
        assert!(
            !specs.is_empty() && specs.iter().all(|spec| spec.phase_one.is_some()),
            "{name}: {specs:?}"
        );
    }
}

#[test]
fn the_tear_down_rate_is_connections_over_the_time_of_their_deletion() {
    let mut dut = gateway(60_000, 100_000).with_tear_down(FrameRate(250_000));
    let (specs, outcome) = repeat(&stateful_plan(Measure::TearDownRate), &[], &mut dut);
    assert_eq!(specs.len(), 1);
    assert_eq!(values(&outcome, Quantity::TearDownRate), [250_000.0]);
}

#[test]
fn a_tear_down_of_connections_that_were_never_opened_says_nothing() {
    let (specs, outcome) = repeat(
        &stateful_plan(Measure::TearDownRate),
        &[],
        &mut gateway(60_000, 99_999),
    );
    assert_eq!((specs.len(), outcome.values.len()), (3, 0));
}

fn capacity(most: u64, error: u64) -> Measure {
    Measure::TableCapacity(Capacity {
        start: 10_000,
        most,
        exponential_share: 0.2,
        binary_share: 0.5,
        error,
    })
}

#[test]
fn the_capacity_of_the_table_is_known_to_the_error_asked_for() {
    for table in [10_000, 10_001, 65_536, 123_457, 262_144] {
        let (_, outcome) = repeat(
            &stateful_plan(capacity(1_000_000, 64)),
            &[],
            &mut gateway(200_000, table),
        );
        let found = values(&outcome, Quantity::TableCapacity);
        assert!(
            found.len() == 1 && (table - 64..=table).contains(&(found[0] as u64)),
            "{table}: {found:?}"
        );
        let held = values(&outcome, Quantity::ConnectionsHeld);
        assert_eq!(held.last(), found.first(), "every step on the way is told");
    }
}

#[test]
fn a_table_larger_than_the_plan_looks_is_at_least_that() {
    let (specs, outcome) = repeat(
        &stateful_plan(capacity(50_000, 64)),
        &[],
        &mut gateway(200_000, 1 << 40),
    );
    let found: Vec<_> = outcome
        .values
        .iter()
        .filter(|v| v.quantity == Quantity::TableCapacity)
        .collect();
    assert!(
        matches!(found[..], [Value { is_at_least: true, .. }] if found[0].value == 50_000.0),
        "{found:?}"
    );
    let numbers: Vec<_> = specs
        .iter()
        .filter_map(|spec| spec.kind.connections())
        .collect();
    assert!(numbers.is_sorted() && numbers.contains(&40_000));
}

#[test]
fn a_table_smaller_than_the_first_step_is_looked_for_below_it() {
    let (specs, outcome) = repeat(
        &stateful_plan(capacity(50_000, 64)),
        &[],
        &mut gateway(200_000, 3_333),
    );
    let found = values(&outcome, Quantity::TableCapacity);
    assert!(
        found.len() == 1 && (3_333 - 64..=3_333).contains(&(found[0] as u64)),
        "{found:?}"
    );
    assert!(specs.iter().all(|spec| {
        spec.kind
            .connections()
            .is_some_and(|connections| connections <= 10_000)
    }));
}

#[test]
fn a_gateway_that_holds_nothing_has_no_capacity() {
    let (_, outcome) = repeat(
        &stateful_plan(capacity(50_000, 64)),
        &[],
        &mut gateway(200_000, 0),
    );
    assert!(values(&outcome, Quantity::TableCapacity).is_empty());
}

#[test]
fn replaying_the_trials_finds_the_same_capacity() {
    let plan = stateful_plan(capacity(1_000_000, 1_000));
    let mut dut = gateway(200_000, 77_777);
    let point = plan.tests[0].points().next().unwrap();
    let mut records = Vec::new();
    let mut procedure = crate::replay::resume(&plan, &point, 1, &records)
        .expect("a beginning")
        .procedure;
    while let Some(spec) = procedure.next_trial() {
        let Ok(result) = dut.measure(&spec);
        procedure.learn(&result);
        let (point, trial) = (point.clone(), records.len() as u32 + 1);
        let format = crate::record::FORMAT;
        records.push(crate::record::TrialRecord {
            format,
            point,
            repetition: 1,
            trial,
            load: None,
            started: String::new(),
            result,
            watch: None,
        });
    }
    assert_eq!(
        outcomes(&plan, &records)[0].values,
        procedure.findings().values
    );
}

fn tcp() -> Tcp {
    let close = crate::trial::tcp::Close::ServerFirst;
    Tcp {
        object_octets: 64,
        time_limit_ns: SECOND_NS,
        close,
        server_ports: (80, 80),
    }
}

#[test]
fn the_tcp_establishment_rate_is_searched_in_trials_of_connections() {
    let (specs, outcome) = repeat(
        &plan(Measure::TcpEstablishmentRate(tcp())),
        &[],
        &mut dut(12_345),
    );
    assert!((12_300..=12_345).contains(&lower(&outcome)), "{outcome:?}");
    assert!(
        specs
            .iter()
            .all(|spec| spec.kind == TrialKind::TcpRate && spec.phase_one.is_none())
    );
}

#[test]
fn the_tcp_capacity_is_known_to_the_error_asked_for() {
    let capacity = |most| {
        Measure::TcpCapacity(TcpCapacity {
            tcp: tcp(),
            start: 1_000,
            most,
            error: 10,
            rate: FrameRate(5_000),
        })
    };
    for table in [20, 999, 1_000, 1_001, 8_192, 123_456] {
        let (_, outcome) = repeat(&plan(capacity(1_000_000)), &[], &mut gateway(1, table));
        let found = values(&outcome, Quantity::TcpConnections);
        assert!(
            found.len() == 1 && (table - 10..=table).contains(&(found[0] as u64)),
            "{table}: {found:?}"
        );
    }
    let (_, outcome) = repeat(&plan(capacity(5_000)), &[], &mut gateway(1, 1 << 40));
    assert!(
        matches!(outcome.values[..], [Value { is_at_least: true, value, .. }] if value == 5_000.0),
        "{outcome:?}"
    );
}
