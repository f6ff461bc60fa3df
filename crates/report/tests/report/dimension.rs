//! The number of subscribers that the gateways of a run can serve, as users read it.

use crate::sample::Sample;
use sixbench_method::dimension::{Assumed, Imix, SubscriberTraffic, dimension};
use sixbench_report::dimension::{coverage, coverage_json, describe, json};

fn assumed<T>(value: T) -> Assumed<T> {
    Assumed { value, source: "a figure of this test".to_owned() }
}

fn traffic() -> SubscriberTraffic {
    let imix = || assumed(Imix::read("84:7, 594:4, 1518:1").expect("a mix"));
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

fn text(sample: &Sample, width: usize) -> String {
    let input = sample.input();
    let devices = dimension(&traffic(), input.plan, input.records, input.outcomes, input.facts);
    describe(&traffic(), input.plan, &devices, width)
}

#[test]
fn the_subscribers_of_stateful_gateways() {
    let sample = Sample::of_stateful_gateways();
    insta::assert_snapshot!("dimension", text(&sample, 100));
    insta::assert_snapshot!("dimension-narrow", text(&Sample::of_stateful_gateways().only(&["rate", "table", "through"]), 50));
    let input = sample.input();
    let devices = dimension(&traffic(), input.plan, input.records, input.outcomes, input.facts);
    let json = serde_json::to_string_pretty(&json(&traffic(), &devices)).expect("JSON");
    assert!(!json.contains("inf") && !json.contains('\u{a0}'), "{json}");
    insta::assert_snapshot!("dimension-json", json);
}

#[test]
fn a_plan_says_which_limits_it_would_tell() {
    let sample = Sample::of_stateful_gateways();
    insta::assert_snapshot!("dimension-plan", coverage(&traffic(), sample.input().plan, 100));
    let json = coverage_json(&traffic(), Sample::of_stateful_gateways().only(&["through"]).input().plan);
    assert_eq!(json["devices"][0]["missing"], serde_json::json!(["new-connections", "held-connections"]));
}

#[test]
fn a_plan_without_any_of_its_tests_says_what_it_takes() {
    let sample = Sample::of_stateful_gateways().only(&["hasty"]);
    let text = coverage(&traffic(), sample.input().plan, 80);
    assert!(text.contains("see the plan isp") || text.contains("this plan tells"), "{text}");
}
