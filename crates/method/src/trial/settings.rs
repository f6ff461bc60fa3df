//! The settings that all trials of a plan have in common.

use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TrialSettings {
    /// Time of sending, nanoseconds. RFC 2544 section 24: at least 60 s.
    pub duration_ns: u64,
    /// The longest wait for residual frames, nanoseconds. RFC 2544 section 23: 2 s. Ends early once every frame is accounted for.
    pub residual_ns: u64,
    /// Rest between trials, nanoseconds. RFC 2544 section 23: at least 5 s.
    pub rest_ns: u64,
    /// A frame later than this is not received; 0: the end of the residual wait decides (RFC 2544).
    pub frame_timeout_ns: u64,
    /// A tester's thread away for longer than this has stalled, nanoseconds.
    pub stall_ns: u64,
}

impl TrialSettings {
    /// The shortest `duration` that a plan may set, nanoseconds.
    pub const SHORTEST_NS: u64 = 10_000_000;
}

impl Bounded for TrialSettings {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            (
                "duration-ns",
                NumberBound::TIME_NS.at_least(TrialSettings::SHORTEST_NS as f64),
            ),
            ("residual-ns", NumberBound::TIME_NS),
            ("rest-ns", NumberBound::TIME_NS),
            ("frame-timeout-ns", NumberBound::TIME_NS),
            ("stall-ns", NumberBound::TIME_NS.at_least(1.0)),
        ],
        ..TableBounds::NONE
    };
}
