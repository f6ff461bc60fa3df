//! The number of subscribers that the gateways of a run can serve, as users read it.

use crate::sample::Sample;
use sixbench_analysis::dimension::{
    Assumption, Imix, SubscriberTraffic, TestedDevice, dimension, divided,
};
use sixbench_method::plan::Plan;
use sixbench_method::record::LinkKind;
use sixbench_report::dimension::{coverage, coverage_json, describe, json};

fn assumed<T>(value: T) -> Assumption<T> {
    Assumption {
        value,
        source: "a figure of this test".to_owned(),
    }
}

fn traffic() -> SubscriberTraffic {
    // 84 octets, the only size of the sample, make up most of it.
    let imix = || assumed(Imix::read("84:70, 594:4, 1518:1").expect("a mix"));
    SubscriberTraffic {
        name: "line".to_owned(),
        title: "A line".to_owned(),
        downstream: assumed(1_800_000),
        upstream: assumed(200_000),
        downstream_imix: imix(),
        upstream_imix: imix(),
        new_connections: assumed(0.4),
        connection_lifetime: assumed(300.0),
        held_connections: assumed(120.0),
        native_ipv6: assumed(0.5),
        growth: assumed(0.094),
        years: assumed(3.0),
        reserve: assumed(0.3),
        shared_processor: assumed(true),
    }
}

/// Returns the sample of stateful gateways with what facts of a run tell of them.
fn gateways() -> Sample {
    let mut sample = Sample::of_stateful_gateways();
    for dut in sample.facts.duts.values_mut() {
        (dut.technology, dut.links) = ("stateful NAT44".to_owned(), LinkKind::Virtual);
    }
    sample
}

fn text_of(sample: &Sample, traffic: &SubscriberTraffic, width: usize) -> String {
    let input = sample.input();
    let estimates = dimension(
        traffic,
        input.plan,
        input.records,
        input.outcomes,
        input.facts,
    );
    describe(traffic, input.plan, &estimates, width)
}

fn text(sample: &Sample, width: usize) -> String {
    text_of(sample, &traffic(), width)
}

fn all_gateways(plan: &Plan) -> Vec<TestedDevice<'_>> {
    divided(plan, |_| Some(("stateful NAT44".to_owned(), true))).0
}

#[test]
fn the_subscribers_of_stateful_gateways() {
    let sample = gateways();
    insta::assert_snapshot!("dimension", text(&sample, 100));
    insta::assert_snapshot!(
        "dimension-narrow",
        text(&gateways().only(&["rate", "table", "through"]), 50)
    );
    let input = sample.input();
    let devices = dimension(
        &traffic(),
        input.plan,
        input.records,
        input.outcomes,
        input.facts,
    );
    let json = serde_json::to_string_pretty(&json(&traffic(), &devices)).expect("JSON");
    assert!(!json.contains("inf") && !json.contains('\u{a0}'), "{json}");
    insta::assert_snapshot!("dimension-json", json);
}

#[test]
fn a_plan_says_which_limits_it_would_tell() {
    let sample = gateways();
    insta::assert_snapshot!(
        "dimension-plan",
        coverage(&traffic(), &all_gateways(sample.input().plan), &[], 100)
    );
    let sample = gateways().only(&["through"]);
    let json = coverage_json(
        &traffic(),
        "stateful",
        &all_gateways(sample.input().plan),
        &[],
    );
    assert_eq!(
        json["devices"][0]["missing"],
        serde_json::json!(["new-connections", "held-connections"])
    );
}

#[test]
fn a_plan_without_any_of_its_tests_says_what_it_takes() {
    let sample = gateways().only(&["hasty"]);
    let text = coverage(&traffic(), &all_gateways(sample.input().plan), &[], 80);
    assert!(
        text.contains("see the plan isp") || text.contains("this plan measures"),
        "{text}"
    );
}

#[test]
fn what_speaks_against_planning_comes_first_and_is_in_the_json() {
    let sample = gateways();
    let first = "Do not plan with these numbers: trust is low, trials lasted";
    assert!(
        text(&sample, 200).starts_with(first)
            && text(&sample, 200).contains("the links were virtual. `sixbench run isp")
    );
    let input = sample.input();
    let json = json(
        &traffic(),
        &dimension(
            &traffic(),
            input.plan,
            input.records,
            input.outcomes,
            input.facts,
        ),
    );
    assert_eq!(json["caveats"]["links"], serde_json::json!(["virtual"]));
    assert!(
        json["caveats"]["trust"]["level"].is_string()
            && json["caveats"]["shortest_trial_seconds"].is_number(),
        "{json}"
    );
}

#[test]
fn a_wire_gets_no_number_and_is_named() {
    let mut sample = gateways();
    sample
        .facts
        .duts
        .get_mut("nft-nat44")
        .expect("a device")
        .technology = "wire".to_owned();
    let text = text(&sample, 100);
    assert!(
        text.contains("Not a gateway for subscribers: nft-nat44.") && !text.contains("nft-nat44: "),
        "{text}"
    );
    let input = sample.input();
    let json = json(
        &traffic(),
        &dimension(
            &traffic(),
            input.plan,
            input.records,
            input.outcomes,
            input.facts,
        ),
    );
    assert_eq!(
        json["not_gateways"],
        serde_json::json!([{ "dut": "nft-nat44", "technology": "wire" }])
    );
}

#[test]
fn there_is_no_number_where_most_of_the_mix_was_not_measured() {
    let imix = || assumed(Imix::read("84:7, 594:4, 1518:1").expect("a mix"));
    let traffic = SubscriberTraffic {
        downstream_imix: imix(),
        upstream_imix: imix(),
        ..traffic()
    };
    let text = text_of(&gateways(), &traffic, 200);
    assert!(
        text.contains(
            "nft-nat44: number of subscribers not known: too little of the mix was measured."
        ),
        "{text}"
    );
    assert!(
        text.contains("Not measured: 594 and 1518 octets (frame-sizes).")
            && !text.contains("nft-nat44: at least"),
        "{text}"
    );
}
