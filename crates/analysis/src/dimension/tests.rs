//! Hand-calculated numbers of subscribers, and properties that hold for any measurement.

use super::traffic::tests::{assumed, plain};
use super::*;
use proptest::prelude::*;
use sixbench_method::fixtures::outcome;
use sixbench_method::measures::{Measure, Quantity, Value};
use sixbench_method::plan::{Capacity, Profile, Stateful, Test};
use sixbench_method::record::{DutFacts, LinkKind};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{
    Bracket, CapacityEstimate, Limit, RepetitionStart, SearchMethod, SearchSettings,
};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::{Direction, Directions, FrameRate, FrameSize, LossRatio, Share};
use sixbench_method::trial::TrialSettings;

fn plan(tests: Vec<Test>) -> Plan {
    let trial = TrialSettings {
        duration_ns: 1,
        residual_ns: 0,
        rest_ns: 0,
        frame_timeout_ns: 0,
        stall_ns: 1,
    };
    let search = SearchSettings {
        method: SearchMethod::Binary,
        minimum: FrameRate(1_000),
        maximum: FrameRate(2_000_000),
        width: 0.01,
        goals: vec![LossRatio::ZERO],
        max_invalid: 3,
        start: RepetitionStart::Cold,
        estimate: CapacityEstimate::Bounded,
        certainty: None,
    };
    Plan::new("p", Profile::Smoke, trial, search, tests)
}

/// Returns a plan that measures throughput, establishment rate and table capacity of one gateway, with three repetitions of each.
fn gateway() -> Plan {
    let stateful = Some(Stateful::new(1000, FrameRate(1000), 1));
    let settings = Capacity {
        start: 1,
        most: 1_000_000,
        exponential_share: 0.1,
        binary_share: 0.5,
        error: 1,
    };
    let of = |name: &str, measure| Test {
        measure,
        stateful,
        frame_sizes: vec![FrameSize(100)],
        repetitions: Repetition::Fixed(3),
        ..Test::new(name, "nat64")
    };
    plan(vec![
        of("frames", Measure::Throughput),
        of("new", Measure::EstablishmentRate),
        of("held", Measure::TableCapacity(settings)),
    ])
}

fn searched(test: &str, size: u16, rates: &[u64], limit: Limit) -> Vec<Outcome> {
    let bracket = |rate: u64| Bracket {
        goal: LossRatio::ZERO,
        lower: (rate > 0).then_some(FrameRate(rate)),
        upper: None,
        limit,
        exceed_ratio: 0.0,
        conditional_throughput: None,
    };
    rates
        .iter()
        .zip(1..)
        .map(|(&rate, i)| Outcome {
            brackets: vec![bracket(rate)],
            ..outcome(test, size, i)
        })
        .collect()
}

fn held(connections: f64) -> Vec<Outcome> {
    let (quantity, direction, load) = (Quantity::TableCapacity, Direction::Forward, FrameRate(1));
    let value = Value {
        quantity,
        direction,
        load,
        value: connections,
        is_at_least: false,
        is_at_most: false,
    };
    (1..=3)
        .map(|i| Outcome {
            values: vec![value],
            ..outcome("held", 100, i)
        })
        .collect()
}

fn found(frames: &[u64], new: &[u64], table: Option<f64>) -> Vec<Outcome> {
    let mut all = searched("frames", 100, frames, Limit::Dut);
    all.extend(searched("new", 100, new, Limit::Dut));
    all.extend(table.map(held).unwrap_or_default());
    all
}

/// Returns facts in which the devices of these tests are gateways.
fn facts() -> Facts {
    let gateway = DutFacts {
        technology: "stateful NAT64".to_owned(),
        links: LinkKind::Virtual,
        ..DutFacts::default()
    };
    Facts {
        duts: ["nat64", "siit"]
            .map(|name| (name.to_owned(), gateway.clone()))
            .into(),
        ..Facts::default()
    }
}

fn numbers(traffic: &SubscriberTraffic, outcomes: &[Outcome]) -> Vec<(SubscriberLimit, f64)> {
    let (plan, facts) = (gateway(), facts());
    let devices = dimension(traffic, &plan, &[], outcomes, &facts).gateways;
    assert_eq!(devices.len(), 1);
    devices[0]
        .limits
        .iter()
        .map(|limit| (limit.limit, limit.subscribers.value.round()))
        .collect()
}

fn carried(traffic: &SubscriberTraffic, outcomes: &[Outcome]) -> Estimate {
    dimension(traffic, &gateway(), &[], outcomes, &facts()).gateways[0]
        .carried()
        .expect("a number")
}

#[test]
fn short_trials_at_the_start_of_a_search_speak_against_no_planning() {
    let plan = sixbench_method::fixtures::plan(SearchMethod::Mlrsearch, &[0.0]);
    let full_ns = plan.trial.duration_ns;
    let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(1_000_000), 1);
    let (records, outcomes) = sixbench_method::fixtures::live(&plan, &mut dut);
    let first_ns = records[0].result.spec.duration_ns;
    assert!(first_ns < full_ns, "{first_ns}");
    let gateway = DutFacts {
        technology: "stateful NAT64".to_owned(),
        ..DutFacts::default()
    };
    let facts = Facts {
        duts: [(plan.tests[0].dut.clone(), gateway)].into(),
        ..Facts::default()
    };
    let found = dimension(&plain(), &plan, &records, &outcomes, &facts);
    assert_eq!(found.caveats.shortest_trial_ns, Some(full_ns));
}

/// A subscriber of `plain` receives 500 frames/s, sends 50, opens one connection per second and holds 100.
#[test]
fn each_limit_is_what_was_measured_less_the_reserve_over_what_a_subscriber_takes() {
    let outcomes = found(&[100_000; 3], &[1_000; 3], Some(20_000.0));
    let expected = [
        (SubscriberLimit::Downstream, 140.0),      // 100,000 * 0.7 / 500
        (SubscriberLimit::HeldConnections, 140.0), // 20,000 * 0.7 / 100
        (SubscriberLimit::NewConnections, 700.0),  // 1,000 * 0.7 / 1
        (SubscriberLimit::Upstream, 1400.0),       // 100,000 * 0.7 / 50
    ];
    assert_eq!(numbers(&plain(), &outcomes), expected);
}

#[test]
fn frames_and_new_connections_share_the_processors_unless_the_profile_says_otherwise() {
    let outcomes = found(&[100_000; 3], &[200; 3], Some(1e6));
    // The limit is 140 subscribers by frames and 140 by new connections, so half of each together.
    assert_eq!(carried(&plain(), &outcomes).value.round(), 70.0);
    let apart = SubscriberTraffic {
        shared_processor: assumed(false),
        ..plain()
    };
    assert_eq!(carried(&apart, &outcomes).value.round(), 140.0);
}

#[test]
fn the_interval_is_that_of_the_repetitions() {
    let outcomes = found(&[90_000, 100_000, 120_000], &[1_000_000; 3], Some(1e9));
    let apart = SubscriberTraffic {
        shared_processor: assumed(false),
        ..plain()
    };
    let found = carried(&apart, &outcomes);
    assert_eq!(
        (
            found.low.round(),
            found.value.round(),
            found.high.round(),
            found.n
        ),
        (126.0, 140.0, 168.0, 3)
    );
}

#[test]
fn what_the_tester_cut_off_makes_a_lower_bound() {
    let mut outcomes = searched("frames", 100, &[100_000; 3], Limit::Tester);
    outcomes.extend(searched("new", 100, &[1_000; 3], Limit::Dut));
    assert!(carried(&plain(), &outcomes).is_at_least);
    assert!(!carried(&plain(), &found(&[100_000; 3], &[1_000; 3], None)).is_at_least);
}

#[test]
fn a_device_that_passes_nothing_carries_nobody() {
    assert_eq!(
        carried(&plain(), &found(&[0; 3], &[1_000; 3], None)).value,
        0.0
    );
    assert_eq!(
        carried(&plain(), &found(&[100_000; 3], &[0; 3], None)).value,
        0.0
    );
}

#[test]
fn what_was_not_measured_is_named_with_the_points_that_should_have_told_it() {
    let (plan, facts) = (gateway(), facts());
    let outcomes = found(&[100_000; 3], &[1_000; 3], None);
    let devices = dimension(&plain(), &plan, &[], &outcomes, &facts).gateways;
    let missing: Vec<(SubscriberLimit, usize)> = devices[0]
        .missing
        .iter()
        .map(|m| (m.limit, m.points.len()))
        .collect();
    assert_eq!(missing, [(SubscriberLimit::HeldConnections, 1)]);
    let only_frames = Plan {
        tests: plan.tests[..1].to_vec(),
        ..plan.clone()
    };
    let devices = dimension(&plain(), &only_frames, &[], &outcomes, &facts).gateways;
    let missing: Vec<(SubscriberLimit, usize)> = devices[0]
        .missing
        .iter()
        .map(|m| (m.limit, m.points.len()))
        .collect();
    assert_eq!(
        missing,
        [
            (SubscriberLimit::NewConnections, 0),
            (SubscriberLimit::HeldConnections, 0)
        ]
    );
    let nothing = dimension(&plain(), &plan, &[], &[], &facts).gateways;
    assert!(nothing[0].carried().is_none() && nothing[0].missing.len() == 3);
}

#[test]
fn a_device_without_connections_is_stateless_and_lacks_none() {
    let stateless = plan(vec![Test {
        frame_sizes: vec![FrameSize(100)],
        ..Test::new("frames", "siit")
    }]);
    let outcomes = searched("frames", 100, &[100_000; 3], Limit::Dut);
    let facts = facts();
    let devices = dimension(&plain(), &stateless, &[], &outcomes, &facts).gateways;
    assert!(devices[0].missing.is_empty());
    assert_eq!(
        devices[0].carried().map(|found| found.value.round()),
        Some(140.0)
    );
}

#[test]
fn background_traffic_and_single_directions_tell_nothing_of_a_device() {
    let of = |name: &str| Test {
        frame_sizes: vec![FrameSize(100)],
        ..Test::new(name, "siit")
    };
    let mixed = Test {
        foreground: Share {
            foreground: 9,
            of: 10,
        },
        ..of("mixed")
    };
    let forward = Test {
        directions: Directions::Forward,
        ..of("forward")
    };
    let latency = Test {
        measure: Measure::TearDownRate,
        ..of("other")
    };
    assert!(TestedDevice::all(&plan(vec![mixed, forward, latency])).is_empty());
    let cores = |cores| Test {
        cores: Some(cores),
        ..of(&format!("cores{cores}"))
    };
    assert_eq!(
        TestedDevice::all(&plan(vec![cores(1), cores(2), of("all")])).len(),
        3,
        "each number of cores is a device"
    );
}

#[test]
fn a_device_that_shares_no_addresses_gets_no_number_and_is_named_once() {
    let mut facts = facts();
    facts.duts.entry("nat64".to_owned()).or_default().technology = "wire".to_owned();
    let mut plan = gateway();
    plan.tests.push(Test {
        cores: Some(1),
        name: "again".to_owned(),
        ..plan.tests[0].clone()
    });
    let estimates = dimension(
        &plain(),
        &plan,
        &[],
        &found(&[100_000; 3], &[1_000; 3], None),
        &facts,
    );
    let technology = |technology: &str| Some(technology.to_owned());
    assert!(estimates.gateways.is_empty());
    let of_wire = LeftOutDevice {
        dut: "nat64".to_owned(),
        technology: technology("wire"),
    };
    assert!(
        estimates.left_out.contains(&of_wire) && estimates.left_out.len() == 1,
        "{:?}",
        estimates.left_out
    );
    facts.duts.clear();
    let unknown = dimension(&plain(), &plan, &[], &[], &facts);
    assert!(
        unknown.gateways.is_empty() && unknown.left_out[0].technology.is_none(),
        "what it is was not recorded"
    );
}

#[test]
fn no_number_follows_where_most_octets_of_the_mix_are_of_sizes_that_were_not_measured() {
    let outcomes = found(&[100_000; 3], &[1_000; 3], Some(20_000.0));
    let of = |downstream: &str| {
        let imix = assumed(Imix::read(downstream).expect("a mix"));
        let traffic = SubscriberTraffic {
            downstream_imix: imix,
            ..plain()
        };
        let (plan, facts) = (gateway(), facts());
        let devices = dimension(&traffic, &plan, &[], &outcomes, &facts).gateways;
        (
            devices[0].carried().is_some(),
            devices[0].gaps.clone(),
            devices[0].missing.len(),
        )
    };
    // 1,500 of 3,000 octets are in frames of 100 octets.
    assert_eq!(of("100:15, 1500:1"), (true, vec![], 0));
    let (limit, missing) = (SubscriberLimit::Downstream, vec![FrameSize(1500)]);
    assert_eq!(
        of("100:5, 1500:1"),
        (
            false,
            vec![MixGap {
                limit,
                measured_share: 0.25,
                missing
            }],
            0
        )
    );
}

#[test]
fn addresses_follow_from_the_connections_that_are_held() {
    // With 100 connections each, 645.12 subscribers use up one address.
    assert_eq!(
        [0.0, 645.0, 646.0, 1291.0].map(|n| Dimensioning::addresses(&plain(), n)),
        [0.0, 1.0, 2.0, 3.0]
    );
}

proptest! {
    #[test]
    fn more_reserve_growth_or_less_native_traffic_means_fewer_subscribers(
        frames in 2_000u64..1_000_000, new in 100u64..100_000, table in 1_000f64..1e6,
        reserve in 0.0f64..0.8, native in 0.0f64..0.8, growth in 0.0f64..0.5,
    ) {
        let of = |reserve, native, growth| SubscriberTraffic {
            reserve: assumed(reserve), native_ipv6: assumed(native), growth: assumed(growth), years: assumed(3.0), ..plain()
        };
        let outcomes = found(&[frames; 3], &[new; 3], Some(table));
        let number = |traffic| carried(&traffic, &outcomes).value;
        let usual = number(of(reserve, native, growth));
        prop_assert!(number(of(reserve + 0.1, native, growth)) < usual);
        prop_assert!(number(of(reserve, native + 0.1, growth)) > usual);
        prop_assert!(number(of(reserve, native, growth + 0.1)) < usual);
    }

    #[test]
    fn the_number_never_falls_with_any_capacity_and_never_exceeds_one_limit_alone(
        frames in 2_000u64..1_000_000, new in 100u64..100_000, table in 1_000f64..1e6, more in 1.0f64..3.0,
    ) {
        let scaled = |value: u64| (value as f64 * more) as u64;
        let of = |frames: u64, new: u64, table: f64| carried(&plain(), &found(&[frames; 3], &[new; 3], Some(table))).value;
        let usual = of(frames, new, table);
        for wider in [of(scaled(frames), new, table), of(frames, scaled(new), table), of(frames, new, table * more)] {
            prop_assert!(wider >= usual - 1e-9);
        }
        let least = numbers(&plain(), &found(&[frames; 3], &[new; 3], Some(table)))[0].1;
        prop_assert!(usual <= least + 0.5);
    }
}
