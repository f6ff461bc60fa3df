//! Sends requests and replies through kernel forwarding in namespaces with nftables rules: their drop counts and sixbench's loss counts must agree
//! exactly in each direction. These tests need root, and fail rather than skip without it.

use super::rigged_tests::{ONE_AT_A_TIME, counters, perform, recipe};
use sixbench_method::plan::{Measure, Payload, ResponseTime, Test, TrafficSettings};
use sixbench_method::record::Watch;
use sixbench_method::terms::{FrameRate, SECOND_NS};
use sixbench_method::trial::{TrialResult, TrialSpec};

/// Low enough for any queue on the way.
const RATE: FrameRate = FrameRate(1_000);
/// Sends requests through Linux forwarding for a second. Also returns the packet count of every nftables counter, in the order of the rules.
fn asked(payload: Payload, rules: &[&str]) -> (TrialResult, Watch, Vec<u64>) {
    let measure = Measure::ResponseTime(ResponseTime {
        rate_per_client: RATE,
        duration_ns: SECOND_NS,
        outstanding: None,
    });
    let traffic = TrafficSettings {
        payload,
        ..TrafficSettings::RFC_4814
    };
    let test = Test {
        measure,
        traffic,
        ..Test::new("asked", "linux-ipv6")
    };
    let look = |dut: &sixbench_testbed::Shell| dut.line("nft list ruleset").expect("rules");
    let (result, watch, listing) = perform(
        &recipe("linux-ipv6", rules),
        &test,
        &TrialSpec::response(RATE, SECOND_NS),
        look,
    );
    (result, watch, counters(&listing))
}

#[test]
fn every_request_through_linux_has_its_reply() {
    let _guard = ONE_AT_A_TIME.lock();
    for payload in [Payload::Udp, Payload::Echo] {
        let (result, watch, _) = asked(payload, &[]);
        let exchange = result.exchange().expect("an exchange");
        assert_eq!(
            (
                exchange.requested(),
                exchange.answered(),
                exchange.forwarded()
            ),
            (1_000, 1_000, 2_000),
            "{result:?}"
        );
        let time = exchange.time().expect("response times");
        let way = result.directions[0].delay.as_ref().expect("delays");
        assert!(
            time.min_ns > way.min_ns && time.mean_ns() > way.mean_ns(),
            "{time:?} {way:?}"
        );
        assert!(watch.dut_cores().next().is_some(), "{watch:?}");
    }
}

#[test]
fn requests_and_replies_that_rules_drop_are_told_apart_to_the_last_one() {
    let _guard = ONE_AT_A_TIME.lock();
    let rules = [
        "add chain netdev rig in { type filter hook ingress device left priority 0 ; }",
        "add rule netdev rig in icmpv6 type echo-request numgen inc mod 100 0 counter drop",
        "add chain netdev rig back { type filter hook ingress device right priority 0 ; }",
        "add rule netdev rig back icmpv6 type echo-reply numgen inc mod 50 0 counter drop",
    ];
    let (result, _, dropped) = asked(Payload::Echo, &rules);
    assert_eq!(dropped, [10, 20]);
    let [requests, replies] = &result.directions[..] else {
        panic!("two directions: {result:?}")
    };
    assert_eq!(
        (requests.offered, requests.received, requests.lost()),
        (1_000, 990, dropped[0])
    );
    assert_eq!(
        (
            replies.intended,
            replies.offered,
            replies.received,
            replies.lost()
        ),
        (990, 990, 970, dropped[1])
    );
    assert_eq!(
        result.exchange().expect("an exchange").unanswered(),
        dropped.iter().sum::<u64>()
    );
}
