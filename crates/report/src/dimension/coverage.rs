//! A preview, before a plan is run, of what it can show about the number of subscribers that its devices can serve.

use super::words::{measure_of, noun, word};
use super::{NARROWEST, assumptions, json};
use crate::numbers::enumerated;
use crate::wrapping::wrapped;
use serde_json::{Value, json};
use sixbench_method::dimension::{SubscriberLimit, SubscriberTraffic, TestedDevice};
use sixbench_method::plan::{Plan, Test};
use sixbench_method::terms::FrameSize;

/// The text for plans without a test that shows how many subscribers a device can serve.
pub(super) const NOTHING: &str = "No test tells how many subscribers a device carries: it takes throughput in both directions without background \
     traffic and, of a stateful device, establishment-rate and table-capacity; see the plan isp.";

/// Returns, for each device of a plan, the limits that its tests determine and those that they do not, for a terminal of `width` columns.
pub fn coverage(traffic: &SubscriberTraffic, plan: &Plan, width: usize) -> String {
    let width = width.max(NARROWEST);
    let devices = TestedDevice::all(plan);
    if devices.is_empty() {
        return wrapped(NOTHING, width);
    }
    let of =
        |device: &TestedDevice<'_>| sentences(traffic, device).iter().map(|s| wrapped(s, width)).collect::<String>() + "\n";
    devices.iter().map(of).collect::<String>() + &assumptions(traffic, width)
}

/// Does the same as [`coverage`], as JSON.
pub fn coverage_json(traffic: &SubscriberTraffic, plan: &Plan) -> Value {
    let of = |device: &TestedDevice<'_>| {
        let told = limits(device).into_iter().map(|(limit, tests)| (word(limit), names(tests)));
        let (told, missing): (Vec<_>, Vec<_>) = told.partition(|(_, tests)| !tests.is_empty());
        json!({
            "dut": device.dut,
            "cores": device.cores,
            "told": told.into_iter().map(|(limit, tests)| json!({ "limit": limit, "tests": tests })).collect::<Vec<_>>(),
            "missing": missing.into_iter().map(|(limit, _)| limit).collect::<Vec<_>>(),
            "sizes_not_measured": other_sizes(traffic, device),
        })
    };
    let devices: Vec<Value> = TestedDevice::all(plan).iter().map(of).collect();
    json!({ "traffic": json::traffic(traffic), "plan": plan.name, "devices": devices })
}

fn sentences(traffic: &SubscriberTraffic, device: &TestedDevice<'_>) -> Vec<String> {
    let dut = device.dut;
    let (told, missing): (Vec<_>, Vec<_>) = limits(device).into_iter().partition(|(_, tests)| !tests.is_empty());
    let told: Vec<String> =
        told.into_iter().map(|(limit, tests)| format!("{} ({})", noun(limit), names(tests).join(", "))).collect();
    let tells = match told.is_empty() {
        true => format!("Of {dut} this plan measures nothing that limits the subscribers."),
        false => format!("Of {dut} this plan tells how many subscribers it carries by {}.", enumerated(&told)),
    };
    let lacks = missing
        .into_iter()
        .map(|(limit, _)| format!("It does not tell of {}: add a test with measure = \"{}\".", noun(limit), measure_of(limit)));
    let sizes = other_sizes(traffic, device);
    let sizes = (!sizes.is_empty()).then(|| {
        format!(
            "The mix also has frames of {} octets: add them to `frame-sizes`, or their times are estimated.",
            enumerated(&sizes)
        )
    });
    [tells].into_iter().chain(lacks).chain(sizes).collect()
}

/// Returns each limit of a device with the tests that determine it; limits of connections only for a stateful device.
fn limits<'d, 'a>(device: &'d TestedDevice<'a>) -> Vec<(SubscriberLimit, &'d [&'a Test])> {
    let frames = [(SubscriberLimit::Downstream, &device.throughput[..]), (SubscriberLimit::Upstream, &device.throughput[..])];
    let connections = [
        (SubscriberLimit::NewConnections, &device.establishment[..]),
        (SubscriberLimit::HeldConnections, &device.capacity[..]),
    ];
    let is_stateful = device.is_stateful();
    frames.into_iter().chain(connections.into_iter().filter(move |_| is_stateful)).collect()
}

fn names<'a>(tests: &[&'a Test]) -> Vec<&'a str> {
    tests.iter().map(|test| test.name.as_str()).collect()
}

/// Returns the sizes in the mixes at which no throughput is measured.
fn other_sizes(traffic: &SubscriberTraffic, device: &TestedDevice<'_>) -> Vec<FrameSize> {
    let measured = device.sizes();
    let mixes = [&traffic.downstream_imix.value, &traffic.upstream_imix.value];
    let mut sizes: Vec<FrameSize> = mixes.iter().flat_map(|imix| imix.shares()).map(|(size, _)| size).collect();
    sizes.retain(|size| !device.throughput.is_empty() && !measured.contains(size));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
