//! Rigs of a border relay of MAP-T, which translates.

use super::{RigRow, rig};
use crate::tests::tunnels::fault::Fault;
use crate::tests::tunnels::network::Technology;

const MAP_T: &[Technology] = &[Technology::MapT];

pub(super) const RIGS: &[RigRow] = &[
    rig(
        MAP_T,
        Fault::EncapDropped,
        &["map-t-down-*", "map-t-echo-*"],
    ),
    rig(
        MAP_T,
        Fault::DecapDropped,
        &[
            "map-t-spoofed-port-above-told",
            "map-t-spoofed-port-below-told",
            "map-t-spoofed-tcp-port-told",
            "map-t-up-*",
        ],
    ),
    rig(
        MAP_T,
        Fault::EndCached,
        &["map-t-down-neighbour", "map-t-echo-neighbour"],
    ),
    rig(MAP_T, Fault::EncapHopsKept, &["map-t-down-ttl"]),
    rig(MAP_T, Fault::DecapHopsKept, &["map-t-up-hop-limit"]),
    rig(
        MAP_T,
        Fault::LastPortLost,
        &["map-t-down-last", "map-t-up-last"],
    ),
    rig(MAP_T, Fault::TcpPortUnchecked, &["map-t-spoofed-tcp-*"]),
    rig(
        MAP_T,
        Fault::OnlyUdp,
        &[
            "map-t-down-tcp",
            "map-t-echo-*",
            "map-t-spoofed-tcp-port-told",
            "map-t-up-echo",
            "map-t-up-tcp",
        ],
    ),
    rig(MAP_T, Fault::IcmpDropped, &["map-t-echo-*"]),
    rig(MAP_T, Fault::IcmpToFirst, &["map-t-echo-neighbour"]),
    rig(MAP_T, Fault::PortUnchecked, &["map-t-spoofed-*"]),
    rig(
        MAP_T,
        Fault::DiscardSilent,
        &[
            "map-t-spoofed-port-above-told",
            "map-t-spoofed-port-below-told",
            "map-t-spoofed-tcp-port-told",
        ],
    ),
    rig(MAP_T, Fault::UdpSumZero, &["map-t-down-udp-sum-ffff"]),
];
