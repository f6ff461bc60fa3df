//! Frames that do not belong to the trial.

use sixbench_wire::ethernet::{EtherType, EthernetView};
use sixbench_wire::{IcmpErrorView, IpVersion, Ipv4View, Ipv6View, Tag, protocol};
use std::net::IpAddr;

/// Kinds of foreign frames that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignFrame {
    /// An error of ICMP or ICMPv6.
    IcmpError(ReceivedError),
    /// Any other message of ICMP or ICMPv6.
    Icmp,
    /// A part of a datagram.
    Fragment,
    /// Anything else.
    Other,
}

/// The fields of an ICMP error that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedError {
    pub(crate) version: IpVersion,
    pub(crate) kind: u8,
    pub(crate) code: u8,
    /// The MTU or the pointer.
    pub(crate) value: Option<u32>,
    pub(crate) source: IpAddr,
    pub(crate) is_checksum_right: bool,
    /// The tag of the test frame that it quotes.
    pub(crate) quoted: Option<Tag>,
}

/// Returns the kind of a foreign frame.
#[cold]
pub(crate) fn foreign_frame(frame: &[u8]) -> ForeignFrame {
    let Ok(ethernet) = EthernetView::new(frame) else {
        return ForeignFrame::Other;
    };
    match ethernet.ether_type() {
        EtherType::IPV4 => match Ipv4View::new(ethernet.payload()) {
            Ok(ip) if ip.is_fragment() => ForeignFrame::Fragment,
            Ok(ip) if ip.protocol() == protocol::ICMP => {
                icmp(IpVersion::V4, ip.payload(), ip.src().into(), 0)
            }
            _ => ForeignFrame::Other,
        },
        EtherType::IPV6 => match Ipv6View::new(ethernet.payload()) {
            Ok(ip) if ip.next_header() == protocol::IPV6_FRAGMENT => ForeignFrame::Fragment,
            Ok(ip) if ip.next_header() == protocol::ICMPV6 => icmp(
                IpVersion::V6,
                ip.payload(),
                ip.src().into(),
                ip.pseudo_header(),
            ),
            _ => ForeignFrame::Other,
        },
        _ => ForeignFrame::Other,
    }
}

/// Returns the kind of a message of ICMP or ICMPv6, in a datagram from `source`.
fn icmp(version: IpVersion, message: &[u8], source: IpAddr, pseudo_header: u64) -> ForeignFrame {
    let Ok(error) = IcmpErrorView::new(version, message) else {
        return ForeignFrame::Icmp;
    };
    ForeignFrame::IcmpError(ReceivedError {
        version,
        kind: error.kind(),
        code: error.code(),
        value: error.mtu().or(error.pointer()),
        source,
        is_checksum_right: error.is_checksum_right(pseudo_header),
        quoted: error.quoted_tag(),
    })
}
