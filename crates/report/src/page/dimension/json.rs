//! Dimensioning as one line of JSON.

use super::caveats;
use super::words::word;
use crate::findings::status;
use serde_json::{Value, json};
use sixbench_analysis::dimension::{
    CarryingLimit, Dimensioning, Estimate, MixGap, SubscriberEstimates, SubscriberTraffic,
};

/// Returns the number of subscribers of each gateway with every limit, caveat and assumption, with the keys of docs/RESULTS.md.
pub fn json(traffic: &SubscriberTraffic, estimates: &SubscriberEstimates<'_>) -> Value {
    json!({
        "traffic": self::traffic(traffic),
        "caveats": caveats::json(&estimates.caveats),
        "devices": estimates.gateways.iter().map(|device| of_device(traffic, device)).collect::<Vec<_>>(),
        "not_gateways": caveats::left_out_json(&estimates.left_out),
    })
}

/// Returns a traffic profile with the source of each figure, and the load of one subscriber.
pub(super) fn traffic(traffic: &SubscriberTraffic) -> Value {
    let assumptions = traffic.assumptions();
    let assumption = |one: &sixbench_analysis::dimension::PrintedAssumption| json!({ "key": one.key, "value": one.value, "source": one.source });
    json!({
        "name": traffic.name,
        "title": traffic.title,
        "assumptions": assumptions.iter().map(assumption).collect::<Vec<_>>(),
    })
}

fn of_device(traffic: &SubscriberTraffic, device: &Dimensioning<'_>) -> Value {
    let missing = device.missing.iter().map(|missing| {
        let points = missing.points.iter();
        let why =
            points.map(|p| json!({ "point": p.test.label(p.point.frame_size), "why": status::why(p).replace('\u{a0}', " ") }));
        json!({ "limit": word(missing.limit), "points": why.collect::<Vec<_>>() })
    });
    let addresses = device.carried().filter(|_| device.device.is_stateful());
    json!({
        "dut": device.device.dut,
        "cores": device.device.cores,
        "subscribers": device.carried().as_ref().map(estimate),
        "limited_first_by": device.limits.first().filter(|_| device.carried().is_some()).map(|first| word(first.limit)),
        "limits": device.limits.iter().map(of_limit).collect::<Vec<_>>(),
        "frames_and_new_connections": device.together.as_ref().map(estimate),
        "missing": missing.collect::<Vec<_>>(),
        "too_little_of_the_mix": device.gaps.iter().map(of_gap).collect::<Vec<_>>(),
        "public_ipv4_addresses": addresses.map(|carried| Dimensioning::addresses(traffic, carried.value)),
    })
}

fn of_gap(gap: &MixGap) -> Value {
    json!({ "limit": word(gap.limit), "measured_share_of_octets": gap.measured_share, "sizes_not_measured": gap.missing })
}

fn of_limit(limit: &CarryingLimit) -> Value {
    json!({
        "limit": word(limit.limit),
        "measured": estimate(&limit.measured),
        "of_a_subscriber": limit.of_a_subscriber,
        "subscribers": estimate(&limit.subscribers),
        "tests": limit.tests,
    })
}

fn estimate(of: &Estimate) -> Value {
    let high = (!of.is_at_least).then_some(of.high);
    json!({ "value": of.value, "low": of.low, "high": high, "is_at_least": of.is_at_least, "repetitions": of.n })
}
