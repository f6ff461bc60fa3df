//! A series of tests that differ in one property.

use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tests that differ in one thing only, written as one test with a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Series {
    /// Name of the test they were written as.
    pub name: String,
    /// The property in which the steps differ.
    pub by: SeriesBy,
    /// This step's place on the axis: per cent, flows, cores.
    pub at: f64,
    /// The device, or its machine, that the number of cores is of, where the steps differ in the cores of one device of a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl Bounded for Series {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[("at", NumberBound::ANY)],
        ..TableBounds::NONE
    };
}

/// The property in which the steps of a series differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeriesBy {
    /// Native IPv6 background traffic, per cent of all frames (RFC 8219 section 5.3).
    Background,
    /// Network flows (RFC 8219 section 10).
    Flows,
    /// The DUT's cores.
    Cores,
    /// Subscribers, or clients, played by the tester.
    Subscribers,
    /// Connections of phase 1 (RFC 9693).
    Connections,
    /// Entries of the DUT's connection tracking table.
    TableSize,
    /// Filter conditions of the device (RFC 2544 section 11.4).
    Filters,
    /// Broadcast frames in place of test frames, per cent (RFC 2544 section 11.1).
    Broadcast,
    /// Frames of each burst of the load (RFC 2544 section 21), 1 for frames that are sent each at its own time.
    Burst,
    /// Queries for names that a DNS server has resolved before, per cent (RFC 8219 section 9.2).
    Cached,
    /// Names that have an AAAA record of their own, per cent (RFC 8219 section 9.2).
    WithAaaa,
}
