//! A preview, before a plan is run, of what it can show about the number of subscribers that its devices can serve.

use super::words::{measure_of, noun, word};
use super::{NARROWEST, assumptions, caveats, json};
use crate::layout::wrapped;
use crate::wording::numbers::enumerated;
use serde_json::{Value, json};
use sixbench_analysis::dimension::{
    LeftOutDevice, SubscriberLimit, SubscriberTraffic, TestedDevice,
};
use sixbench_method::plan::Test;
use sixbench_method::terms::FrameSize;

/// The text for plans without a test that shows how many subscribers a device can serve.
pub(super) const NOTHING: &str = "No test here shows how many subscribers a device carries. That takes a gateway whose subscribers share addresses, its \
     throughput in both directions without background traffic and, if it is stateful, its establishment-rate and table-capacity. The plan isp has all of these.";

/// Returns, for each gateway of a plan, the limits that its tests determine and those that they do not, for a terminal of `width` columns; `others` are
/// the devices that are not gateways.
pub fn coverage(
    traffic: &SubscriberTraffic,
    devices: &[TestedDevice<'_>],
    others: &[LeftOutDevice],
    width: usize,
) -> String {
    let width = width.max(NARROWEST);
    let left_out = caveats::left_out(others)
        .map_or_else(String::new, |sentence| wrapped(&sentence, width) + "\n");
    if devices.is_empty() {
        return left_out + &wrapped(NOTHING, width);
    }
    let lines = |device: &TestedDevice<'_>| {
        sentences(traffic, device)
            .iter()
            .map(|s| wrapped(s, width))
            .collect::<String>()
            + "\n"
    };
    devices.iter().map(lines).collect::<String>() + &left_out + &assumptions(traffic, width)
}

/// Does the same as [`coverage`] for the plan `name`, as JSON.
pub fn coverage_json(
    traffic: &SubscriberTraffic,
    name: &str,
    devices: &[TestedDevice<'_>],
    others: &[LeftOutDevice],
) -> Value {
    let device_json = |device: &TestedDevice<'_>| {
        let told = limits(device)
            .into_iter()
            .map(|(limit, tests)| (word(limit), names(tests)));
        let (told, missing): (Vec<_>, Vec<_>) = told.partition(|(_, tests)| !tests.is_empty());
        json!({
            "dut": device.dut,
            "cores": device.cores,
            "told": told.into_iter().map(|(limit, tests)| json!({ "limit": limit, "tests": tests })).collect::<Vec<_>>(),
            "missing": missing.into_iter().map(|(limit, _)| limit).collect::<Vec<_>>(),
            "sizes_not_measured": other_sizes(traffic, device),
        })
    };
    let devices: Vec<Value> = devices.iter().map(device_json).collect();
    json!({
        "traffic": json::traffic(traffic),
        "plan": name,
        "devices": devices,
        "not_gateways": caveats::left_out_json(others),
    })
}

fn sentences(traffic: &SubscriberTraffic, device: &TestedDevice<'_>) -> Vec<String> {
    let dut = device.dut;
    let (told, missing): (Vec<_>, Vec<_>) = limits(device)
        .into_iter()
        .partition(|(_, tests)| !tests.is_empty());
    let told: Vec<String> = told
        .into_iter()
        .map(|(limit, tests)| format!("{} ({})", noun(limit), names(tests).join(", ")))
        .collect();
    let tells = if told.is_empty() {
        format!("For {dut}, this plan measures nothing that limits the subscribers.")
    } else {
        format!("For {dut}, this plan measures: {}.", enumerated(&told))
    };
    let lacks = missing.into_iter().map(|(limit, _)| {
        format!(
            "It does not measure {}: add a test with measure = \"{}\".",
            noun(limit),
            measure_of(limit)
        )
    });
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
    let frames = [
        (SubscriberLimit::Downstream, &device.throughput[..]),
        (SubscriberLimit::Upstream, &device.throughput[..]),
    ];
    let connections = [
        (SubscriberLimit::NewConnections, &device.establishment[..]),
        (SubscriberLimit::HeldConnections, &device.capacity[..]),
    ];
    let is_stateful = device.is_stateful();
    frames
        .into_iter()
        .chain(connections.into_iter().filter(move |_| is_stateful))
        .collect()
}

fn names<'a>(tests: &[&'a Test]) -> Vec<&'a str> {
    tests.iter().map(|test| test.name.as_str()).collect()
}

/// Returns the sizes in the mixes at which no throughput is measured.
fn other_sizes(traffic: &SubscriberTraffic, device: &TestedDevice<'_>) -> Vec<FrameSize> {
    let measured = device.sizes();
    let mixes = [&traffic.downstream_imix.value, &traffic.upstream_imix.value];
    let mut sizes: Vec<FrameSize> = mixes
        .iter()
        .flat_map(|imix| imix.shares())
        .map(|(size, _)| size)
        .collect();
    sizes.retain(|size| !device.throughput.is_empty() && !measured.contains(size));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
