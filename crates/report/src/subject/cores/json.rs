//! What `results.json` holds of series over the DUT's cores: the steps, the fitted laws, and how idle the devices were.

use crate::digest::Digest;
use crate::subject::cores::scaling::{ScaledStep, Scaling, scalings};
use crate::wording::bound::Bound;
use crate::wording::numbers::full_rate_unit;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_analysis::scaling::{Fit, NoFit};
use sixbench_method::bottleneck::{ChainBottleneck, Idleness};

#[derive(Serialize, JsonSchema)]
pub(crate) struct JsonScaling<'a> {
    series: &'a str,
    /// The device of a row, or its machine, whose cores these are, where those of the others do not differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores_of: Option<&'a str>,
    /// The frame size; `null` for DNS queries.
    frame_size: Option<u16>,
    /// The unit of rates and of λ.
    rate_unit: &'static str,
    steps: Vec<JsonScalingStep>,
    /// The fits over the steps that are not `open`.
    fits: Vec<Fit>,
    refusals: Vec<JsonRefusal>,
}

#[derive(Serialize, JsonSchema)]
struct JsonScalingStep {
    cores: u32,
    median: f64,
    minimum: f64,
    maximum: f64,
    n: usize,
    /// True if the rates may be higher in truth.
    open: bool,
    proportion: Option<f64>,
    speed_up: Option<f64>,
    efficiency: Option<f64>,
    /// The relation of `proportion` to the true one; `bound` is that of `speed_up` and `efficiency`.
    proportion_bound: &'static str,
    bound: &'static str,
    /// The idle time of each device at the found rate, in the order of the chain.
    idle: Vec<Idleness>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bottleneck: Option<JsonBottleneck>,
}

/// The first of `devices` is the bottleneck where `verdict` says so.
#[derive(Serialize, JsonSchema)]
struct JsonBottleneck {
    #[serde(flatten)]
    verdict: ChainBottleneck,
    devices: Vec<String>,
    words: String,
}

#[derive(Serialize, JsonSchema)]
struct JsonRefusal {
    #[serde(flatten)]
    why: NoFit,
    words: String,
}

pub(super) fn all<'a>(digest: &Digest<'a>) -> Vec<JsonScaling<'a>> {
    scalings(digest)
        .iter()
        .map(|scaling| one(digest, scaling))
        .collect()
}

fn one<'a>(digest: &Digest, scaling: &Scaling<'_, 'a>) -> JsonScaling<'a> {
    let fits = scaling.fits();
    let refusals = fits.iter().filter_map(|fit| fit.as_ref().err());
    JsonScaling {
        series: scaling.name,
        cores_of: scaling.device,
        frame_size: scaling.size.map(|size| size.0),
        rate_unit: full_rate_unit(scaling.measure),
        steps: (0..scaling.steps.len())
            .map(|place| step(digest, scaling, place))
            .collect(),
        fits: fits.iter().flatten().copied().collect(),
        refusals: refusals
            .map(|why| JsonRefusal {
                why: *why,
                words: why.to_string(),
            })
            .collect(),
    }
}

fn step(digest: &Digest, scaling: &Scaling, place: usize) -> JsonScalingStep {
    let scaled = &scaling.steps[place];
    let ScaledStep { step, is_open, .. } = scaled;
    JsonScalingStep {
        cores: step.cores.get(),
        median: step.summary.median,
        minimum: step.summary.min,
        maximum: step.summary.max,
        n: step.summary.n,
        open: *is_open,
        proportion: step.proportion,
        speed_up: step.speed_up,
        efficiency: step.efficiency,
        proportion_bound: bound_name(scaling.bound_of_proportion(place)),
        bound: bound_name(scaling.bound_to_first(place)),
        idle: scaled.idleness(digest),
        bottleneck: scaled.chain().map(|chain| JsonBottleneck {
            words: chain.to_string(),
            verdict: chain.weakest,
            devices: chain
                .devices
                .into_iter()
                .map(|device| device.device)
                .collect(),
        }),
    }
}

/// Returns the word for a bound in formats for machines.
fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Exact => "exact",
        Bound::AtLeast => "at-least",
        Bound::AtMost => "at-most",
        Bound::Unknown => "unknown",
    }
}
