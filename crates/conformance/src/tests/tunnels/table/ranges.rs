//! Rigs of border relays whose subscribers have port sets of several ranges.

use super::{RigRow, rig};
use crate::tests::tunnels::fault::Fault;
use crate::tests::tunnels::network::Technology;

const MAP_E: &[Technology] = &[Technology::MapE];
const MAP_T: &[Technology] = &[Technology::MapT];

pub(super) const RIGS: &[RigRow] = &[
    rig(MAP_E, Fault::EndCached, &["map-e-range-down-neighbour"]),
    rig(
        MAP_E,
        Fault::OneRange,
        &[
            "map-e-range-down",
            "map-e-range-down-last",
            "map-e-range-down-neighbour",
            "map-e-range-up",
            "map-e-range-up-last",
        ],
    ),
    rig(
        MAP_E,
        Fault::LastRangeLost,
        &["map-e-range-down-last", "map-e-range-up-last"],
    ),
    rig(
        MAP_E,
        Fault::ExcludedTaken,
        &["map-e-range-down-excluded", "map-e-range-spoofed-excluded"],
    ),
    rig(MAP_E, Fault::PortUnchecked, &["map-e-range-spoofed-*"]),
    rig(MAP_T, Fault::EndCached, &["map-t-range-down-neighbour"]),
    rig(
        MAP_T,
        Fault::OneRange,
        &[
            "map-t-range-down",
            "map-t-range-down-last",
            "map-t-range-down-neighbour",
            "map-t-range-up",
            "map-t-range-up-last",
        ],
    ),
    rig(
        MAP_T,
        Fault::LastRangeLost,
        &["map-t-range-down-last", "map-t-range-up-last"],
    ),
    rig(
        MAP_T,
        Fault::ExcludedTaken,
        &["map-t-range-down-excluded", "map-t-range-spoofed-excluded"],
    ),
    rig(MAP_T, Fault::PortUnchecked, &["map-t-range-spoofed-*"]),
];
