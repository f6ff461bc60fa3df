//! Explicit Congestion Notification in tunnels: the tables of RFC 6040 section 4.

use super::fault::Fault;

const NOT_ECT: u8 = 0;
const ECT_1: u8 = 1;
const ECT_0: u8 = 2;
const CE: u8 = 3;

/// Returns the ECN field of the tunnel header for that of the packet (section 4.1, normal mode).
pub(super) fn at_ingress(inner: u8, fault: Option<Fault>) -> u8 {
    match (inner, fault) {
        (CE, Some(Fault::EncapCeHidden)) => ECT_0,
        (ECT_0, Some(Fault::EncapEctExchanged)) => ECT_1,
        (ECT_1, Some(Fault::EncapEctExchanged)) => ECT_0,
        _ => inner,
    }
}

/// Returns the ECN field of a packet that leaves the tunnel, or `None` if it is dropped (section 4.2, figure 4).
pub(super) fn at_egress(inner: u8, outer: u8, fault: Option<Fault>) -> Option<u8> {
    match (inner, outer, fault) {
        (_, _, Some(Fault::DecapEcnReplaced)) => return Some(outer),
        (NOT_ECT, CE, Some(Fault::DecapEcnIgnored)) => return Some(inner),
        (_, _, Some(Fault::DecapEcnIgnored)) if inner != NOT_ECT => return Some(inner),
        (NOT_ECT, ECT_0 | ECT_1, Some(Fault::DecapEcnForced)) => return Some(outer),
        (NOT_ECT, CE, Some(Fault::DecapCeCleared)) => return Some(NOT_ECT),
        (ECT_0, ECT_1, Some(Fault::DecapEctEqual)) => return Some(ECT_0),
        _ => {}
    }
    match (inner, outer) {
        (NOT_ECT, CE) => None,
        (NOT_ECT, _) => Some(NOT_ECT),
        (CE, _) | (_, CE) => Some(CE),
        (ECT_1, _) | (_, ECT_1) => Some(ECT_1),
        _ => Some(ECT_0),
    }
}
