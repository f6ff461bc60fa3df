//! The fields of a received frame, before they are verified.

use crate::frames::stateful::{Mapped, mapped};
use sixbench_wire::ethernet::{self, EtherType, EthernetView};
use sixbench_wire::template::Transport;
use sixbench_wire::{EchoView, IpVersion, Ipv4View, Ipv6View, UdpView, ipv6, protocol};
use std::net::IpAddr;

/// The fields of an IP header of either version.
pub(super) struct Header {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) traffic_class: u8,
    pub(super) flow_label: u32,
    pub(super) hop_limit: u8,
    /// The first flag of IPv4, which must be zero (RFC 791 section 3.1); false for IPv6.
    pub(super) has_reserved_flag: bool,
    pub(super) is_fragment: bool,
    /// The identification of IPv4, with the flag after it; zero and false for IPv6.
    pub(super) identification: u16,
    pub(super) dont_fragment: bool,
    /// Octets of header and payload, according to the header's length field.
    pub(super) octets: usize,
    pub(super) is_checksum_right: bool,
}

/// The content of the datagram: a UDP or echo header, and the payload.
pub(super) struct DatagramContent<'a> {
    pub(super) transport: Transport,
    /// The version of which the datagram carries a message according to its protocol number, and an echo's type; `None` if the two differ.
    pub(super) echo_version: Option<IpVersion>,
    /// The ports; for an echo, its identifier and sequence number.
    pub(super) ports: (u16, u16),
    /// The length field; an echo has none.
    pub(super) udp_length: Option<u16>,
    pub(super) checksum: u16,
    pub(super) payload: &'a [u8],
}

/// A test datagram, with the outer header if it is encapsulated.
pub(super) struct ParsedDatagram<'a> {
    pub(super) ip: Header,
    pub(super) outer: Option<Header>,
    pub(super) carried: DatagramContent<'a>,
    /// The whole frame as it arrived.
    pub(super) ethernet: EthernetView<'a>,
    /// The VLAN of its tag.
    pub(super) vlan: Option<u16>,
    /// Its octets without the VLAN tag.
    untagged_octets: usize,
}

impl<'a> ParsedDatagram<'a> {
    /// Parses a frame; `None` if it is neither a UDP datagram nor an echo, nor one of these encapsulated once.
    #[inline]
    pub(super) fn read(frame: &'a [u8]) -> Option<Self> {
        let ethernet = EthernetView::new(frame).ok()?;
        let untagged = ethernet.untagged();
        let (ip, protocol, payload) = match untagged.ether_type {
            EtherType::IPV4 => read_ipv4(untagged.payload)?,
            EtherType::IPV6 => read_ipv6(untagged.payload)?,
            _ => return None,
        };
        let inner = match protocol {
            protocol::IPV4 => Some(read_ipv4(payload)?),
            protocol::IPV6 => Some(read_ipv6(payload)?),
            _ => None,
        };
        let (ip, outer, protocol, payload) = match inner {
            Some((inner, protocol, payload)) => (inner, Some(ip), protocol, payload),
            None => (ip, None, protocol, payload),
        };
        let untagged_octets = ethernet::HEADER_LEN + untagged.payload.len();
        Some(Self {
            ip,
            outer,
            carried: carried(protocol, payload)?,
            ethernet,
            vlan: untagged.vlan,
            untagged_octets,
        })
    }

    /// Returns the octets after the end of the datagram that are not padding: only a frame below the minimum is padded, and only up to it.
    #[inline]
    pub(super) fn trailing_octets(&self) -> usize {
        self.untagged_octets
            .saturating_sub(self.frame_octets().max(ethernet::MINIMUM_LEN))
    }

    /// Returns whether those octets are all zero. Others may come from the device's memory (CVE-2003-0001).
    pub(super) fn trails_zeros(&self) -> bool {
        self.ethernet
            .payload()
            .iter()
            .rev()
            .take(self.trailing_octets())
            .all(|octet| *octet == 0)
    }

    /// Returns the octets of the Ethernet frame according to the length in its first IP header, without FCS.
    #[inline]
    pub(super) fn frame_octets(&self) -> usize {
        ethernet::HEADER_LEN + self.outer.as_ref().unwrap_or(&self.ip).octets
    }

    /// Returns the source as it is stored in a state table.
    #[inline]
    pub(super) fn mapped(&self) -> Mapped {
        mapped(self.ip.source, self.carried.ports.0)
    }
}

type ParsedIp<'a> = (Header, u8, &'a [u8]);

#[inline]
fn read_ipv4(octets: &[u8]) -> Option<ParsedIp<'_>> {
    let ip = Ipv4View::new(octets).ok()?;
    if ip.fragment_offset() != 0 {
        return None;
    }
    let header = Header {
        source: ip.src().into(),
        destination: ip.dst().into(),
        traffic_class: ip.dscp() << 2 | ip.ecn(),
        flow_label: 0,
        hop_limit: ip.ttl(),
        has_reserved_flag: ip.has_reserved_flag(),
        is_fragment: ip.is_fragment(),
        identification: ip.identification(),
        dont_fragment: ip.dont_fragment(),
        octets: usize::from(ip.total_len()),
        is_checksum_right: ip.is_checksum_right(),
    };
    Some((header, ip.protocol(), ip.payload()))
}

#[inline]
fn read_ipv6(octets: &[u8]) -> Option<ParsedIp<'_>> {
    let ip = Ipv6View::new(octets).ok()?;
    let header = Header {
        source: ip.src().into(),
        destination: ip.dst().into(),
        traffic_class: ip.traffic_class(),
        flow_label: ip.flow_label(),
        hop_limit: ip.hop_limit(),
        has_reserved_flag: false,
        is_fragment: false,
        identification: 0,
        dont_fragment: false,
        octets: ipv6::HEADER_LEN + usize::from(ip.payload_len()),
        is_checksum_right: true,
    };
    Some((header, ip.next_header(), ip.payload()))
}

#[inline]
fn carried(protocol: u8, payload: &[u8]) -> Option<DatagramContent<'_>> {
    match protocol {
        protocol::UDP => {
            let udp = UdpView::new(payload).ok()?;
            Some(DatagramContent {
                transport: Transport::Udp,
                echo_version: None,
                ports: (udp.source_port(), udp.destination_port()),
                udp_length: Some(udp.length()),
                checksum: udp.checksum(),
                payload: udp.payload(),
            })
        }
        protocol::ICMP | protocol::ICMPV6 => {
            let of_protocol = if protocol == protocol::ICMP {
                IpVersion::V4
            } else {
                IpVersion::V6
            };
            let echo = EchoView::new(payload, IpVersion::V4)
                .or_else(|_| EchoView::new(payload, IpVersion::V6))
                .ok()?;
            Some(DatagramContent {
                transport: Transport::Echo(echo.kind()),
                echo_version: Some(echo.version()).filter(|version| *version == of_protocol),
                ports: (echo.identifier(), echo.sequence()),
                udp_length: None,
                checksum: echo.checksum(),
                payload: echo.payload(),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an Ethernet frame with an empty UDP datagram over IPv4, of 42 octets.
    fn short() -> Vec<u8> {
        let mut frame = [&[2; 12][..], &[8, 0]].concat();
        frame.extend([
            0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, 2, 198, 19, 0, 2,
        ]);
        frame.extend([0, 7, 0, 7, 0, 8, 0, 0]);
        frame
    }

    #[test]
    fn padding_up_to_the_minimum_is_none_of_the_octets_after_the_datagram() {
        let trailing = |len: usize| {
            let mut frame = short();
            frame.resize(len, 0);
            ParsedDatagram::read(&frame)
                .expect("a datagram")
                .trailing_octets()
        };
        assert_eq!([42, 46, 60, 61, 64].map(trailing), [0, 0, 0, 1, 4]);
    }

    #[test]
    fn a_vlan_tag_does_not_count_as_padding() {
        let mut tagged = short();
        tagged.splice(12..12, [0x81, 0, 0, 5]);
        tagged.resize(64, 0);
        assert_eq!(
            ParsedDatagram::read(&tagged)
                .expect("a datagram")
                .trailing_octets(),
            0
        );
        tagged.push(0);
        assert_eq!(
            ParsedDatagram::read(&tagged)
                .expect("a datagram")
                .trailing_octets(),
            1
        );
    }
}
