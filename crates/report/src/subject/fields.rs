//! The fields of `results.json` that subjects fill in.

use super::conditions::{BroadcastTotals, BurstTotals};
use super::cores::json::JsonScaling;
use super::dns::json::JsonDns;
use super::ramp::totals::RampTotals;
use super::requirements::json::JsonRequirements;
use super::sequence::json::JsonSequence;
use super::sizes::totals::SizeTotals;
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
    /// Gaps, order and copies, in each direction that had any in the passing trial at the highest load or the losing one at the lowest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sequence: Vec<JsonSequence<'a>>,
    /// The frames of the ramps before the trials, in each direction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) ramps: Vec<RampTotals>,
    /// The frames of each size in each direction, where the trials have a mix of frame sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sizes: Vec<SizeTotals>,
    /// The broadcast frames of the trials in each direction, where they have some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) broadcasts: Vec<BroadcastTotals>,
    /// The bursts in which the trials left the tester in each direction, where their load has some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) bursts: Vec<BurstTotals>,
}

/// The fields of the run.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct RunFields<'a> {
    /// The series over the DUT's cores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) core_scaling: Vec<JsonScaling<'a>>,
}
