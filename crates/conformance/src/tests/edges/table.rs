//! The rigs of edges, and which vectors each of them fails.

use super::edge::EdgeFault;
use super::site::SiteFault;
use crate::tests::nat::reference::fault::Fault as NatFault;
use crate::tests::nat::reference::nat::Filtering;
use crate::tests::nat::table::RigRow;

/// A rig of a device whose filtering is Address-Dependent, as the RFCs recommend.
const fn rig<F>(fault: F, fails: &'static [&'static str]) -> RigRow<F> {
    RigRow {
        fault,
        filtering: Filtering::AddressDependent,
        fails,
    }
}

/// A rig of an edge whose NAT has a fault.
const fn nat(fault: NatFault, fails: &'static [&'static str]) -> RigRow<EdgeFault> {
    rig(EdgeFault::Nat(fault), fails)
}

pub(super) const MAP_E_RIGS: &[RigRow<EdgeFault>] = &[
    rig(EdgeFault::OutboundDropped, &["map-e-edge-up*"]),
    rig(EdgeFault::PortsUnrestricted, &["map-e-edge-up*"]),
    rig(EdgeFault::SourceUnchecked, &["map-e-edge-spoofed-tunnel"]),
    rig(
        EdgeFault::DestinationUnchecked,
        &["map-e-edge-down-other-address"],
    ),
    nat(
        NatFault::InboundDropped,
        &[
            "map-e-edge-down",
            "map-e-edge-down-echo",
            "map-e-edge-down-tcp",
        ],
    ),
    nat(
        NatFault::ChangedPortForgotten,
        &[
            "map-e-edge-down",
            "map-e-edge-down-echo",
            "map-e-edge-down-tcp",
            "map-e-edge-error",
        ],
    ),
    nat(NatFault::SynAckDropped, &["map-e-edge-down-tcp"]),
    nat(NatFault::ResponseDropped, &["map-e-edge-down-echo"]),
    nat(NatFault::QueryDropped, &["map-e-edge-up-echo"]),
    nat(NatFault::InnerNotReverted, &["map-e-edge-error"]),
    nat(
        NatFault::UnsolicitedForwarded,
        &["map-e-edge-down-unmapped", "map-e-edge-filter"],
    ),
    RigRow {
        fault: EdgeFault::Unfiltered,
        filtering: Filtering::EndpointIndependent,
        fails: &["map-e-edge-filter"],
    },
];

pub(super) const MAP_T_RIGS: &[RigRow<EdgeFault>] = &[
    rig(EdgeFault::OutboundDropped, &["map-t-edge-up*"]),
    rig(EdgeFault::PortsUnrestricted, &["map-t-edge-up*"]),
    rig(
        EdgeFault::SourceUnchecked,
        &["map-t-edge-down-other-source"],
    ),
    nat(
        NatFault::InboundDropped,
        &[
            "map-t-edge-down",
            "map-t-edge-down-echo",
            "map-t-edge-down-tcp",
            "map-t-edge-down-udp-sum-ffff",
        ],
    ),
    rig(EdgeFault::UdpSumZero, &["map-t-edge-down-udp-sum-ffff"]),
    nat(NatFault::SynAckDropped, &["map-t-edge-down-tcp"]),
    nat(NatFault::ResponseDropped, &["map-t-edge-down-echo"]),
    nat(NatFault::QueryDropped, &["map-t-edge-up-echo"]),
    nat(
        NatFault::UnsolicitedForwarded,
        &[
            "map-t-edge-down-other-port",
            "map-t-edge-down-unmapped",
            "map-t-edge-filter",
        ],
    ),
    RigRow {
        fault: EdgeFault::Unfiltered,
        filtering: Filtering::EndpointIndependent,
        fails: &["map-t-edge-filter"],
    },
];

pub(super) const SITE_RIGS: &[RigRow<SiteFault>] = &[
    rig(
        SiteFault::EncapDropped,
        &[
            "6to4-site-encap",
            "6to4-site-encap-df",
            "6to4-site-encap-neighbour",
        ],
    ),
    rig(
        SiteFault::DecapDropped,
        &["6to4-site-decap", "6to4-site-decap-neighbour"],
    ),
    rig(
        SiteFault::AlwaysToRelay,
        &[
            "6to4-site-encap-broadcast",
            "6to4-site-encap-loopback",
            "6to4-site-encap-multicast",
            "6to4-site-encap-neighbour",
            "6to4-site-encap-private-*",
        ],
    ),
    rig(SiteFault::OnlyFromRelay, &["6to4-site-decap-neighbour"]),
    rig(SiteFault::DfSet, &["6to4-site-encap-df"]),
    rig(
        SiteFault::EncapUnchecked,
        &[
            "6to4-site-encap-broadcast",
            "6to4-site-encap-loopback",
            "6to4-site-encap-multicast",
            "6to4-site-encap-private-*",
        ],
    ),
    rig(
        SiteFault::DecapUnchecked,
        &[
            "6to4-site-decap-broadcast",
            "6to4-site-decap-loopback",
            "6to4-site-decap-multicast",
            "6to4-site-decap-private-*",
        ],
    ),
];
