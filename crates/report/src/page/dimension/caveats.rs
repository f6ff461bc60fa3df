//! What speaks against planning with the numbers of a run, and which devices are left out, in words and as JSON.

use crate::wording::numbers::{enumerated, three_digits};
use serde_json::{Value, json};
use sixbench_analysis::dimension::{LeftOutDevice, PlanningCaveat, PlanningCaveats};
use sixbench_method::record::LinkKind;

/// Returns the line that stands before numbers that are not fit to plan with; `None` if they are.
pub(super) fn first_line(caveats: &PlanningCaveats) -> Option<String> {
    let reasons: Vec<String> = caveats.reasons().into_iter().map(sentence).collect();
    let line = format!(
        "Do not plan with these numbers: {}. `sixbench run isp --profile draft` on two machines gives numbers to plan with.",
        enumerated(&reasons)
    );
    (!reasons.is_empty()).then_some(line)
}

fn sentence(caveat: PlanningCaveat) -> String {
    match caveat {
        PlanningCaveat::LowTrust => "trust is low".to_owned(),
        PlanningCaveat::ShortTrials(duration_ns) => {
            format!("trials lasted {}\u{a0}s", seconds(duration_ns))
        }
        PlanningCaveat::VirtualLinks => "the links were virtual".to_owned(),
    }
}

fn seconds(duration_ns: u64) -> String {
    three_digits(duration_ns as f64 / 1e9)
}

/// Returns which devices get no number, since subscribers do not share addresses in them; `None` if there are none.
pub(super) fn left_out(devices: &[LeftOutDevice]) -> Option<String> {
    let name = |device: &LeftOutDevice| match device.technology {
        Some(_) => device.dut.clone(),
        None => format!("{} (its technology was not recorded)", device.dut),
    };
    let names: Vec<String> = devices.iter().map(name).collect();
    let noun = if names.len() == 1 {
        "Not a gateway"
    } else {
        "Not gateways"
    };
    (!names.is_empty()).then(|| format!("{noun} for subscribers: {}.", enumerated(&names)))
}

/// Returns the devices that get no number, with the keys of docs/RESULTS.md.
pub(super) fn left_out_json(devices: &[LeftOutDevice]) -> Value {
    devices
        .iter()
        .map(|device| json!({ "dut": device.dut, "technology": device.technology }))
        .collect()
}

/// Returns what speaks for and against planning with the numbers, with the keys of docs/RESULTS.md.
pub(super) fn json(caveats: &PlanningCaveats) -> Value {
    let reasons: Vec<String> = caveats
        .reasons()
        .into_iter()
        .map(|caveat| sentence(caveat).replace('\u{a0}', " "))
        .collect();
    json!({
        "trust": caveats.trust,
        "shortest_trial_seconds": caveats.shortest_trial_ns.map(|duration| duration as f64 / 1e9),
        "links": caveats.links.iter().collect::<Vec<&LinkKind>>(),
        "do_not_plan": reasons,
    })
}
