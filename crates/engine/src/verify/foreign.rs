//! Frames that do not belong to the trial.

use sixbench_wire::ethernet::{EtherType, EthernetView};
use sixbench_wire::{Ipv4View, Ipv6View, protocol};

/// Kinds of foreign frames that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignFrame {
    /// ICMP or ICMPv6.
    Icmp,
    /// A part of a datagram.
    Fragment,
    /// Anything else.
    Other,
}

/// Returns the kind of a foreign frame.
#[cold]
pub(crate) fn foreign_frame(frame: &[u8]) -> ForeignFrame {
    let Ok(ethernet) = EthernetView::new(frame) else { return ForeignFrame::Other };
    match ethernet.ether_type() {
        EtherType::IPV4 => match Ipv4View::new(ethernet.payload()) {
            Ok(ip) if ip.is_fragment() => ForeignFrame::Fragment,
            Ok(ip) if ip.protocol() == protocol::ICMP => ForeignFrame::Icmp,
            _ => ForeignFrame::Other,
        },
        EtherType::IPV6 => match Ipv6View::new(ethernet.payload()).map(|ip| ip.next_header()) {
            Ok(protocol::IPV6_FRAGMENT) => ForeignFrame::Fragment,
            Ok(protocol::ICMPV6) => ForeignFrame::Icmp,
            _ => ForeignFrame::Other,
        },
        _ => ForeignFrame::Other,
    }
}
