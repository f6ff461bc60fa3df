//! The fields of `results.json` that subjects fill in.

use super::cores::json::JsonScaling;
use super::dns::json::JsonDns;
use super::requirements::json::JsonRequirements;
use super::stateful::json::JsonStateful;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::bottleneck::DeliveryRefusal;

/// The fields of a point.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct PointFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stateful: Option<JsonStateful>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dns: Option<JsonDns<'a>>,
    /// The requirements that the device meets and violates, in the last trial of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requirements: Option<JsonRequirements<'a>>,
    /// Why frames were not delivered, as the device says: ICMP errors and counters of its kernel, in the losing trial at the lowest load that had any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) refusals: Vec<DeliveryRefusal>,
}

/// The fields of the run.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct RunFields<'a> {
    /// The series over the DUT's cores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) core_scaling: Vec<JsonScaling<'a>>,
}
