//! What a template computes once, before its first frame is sent: the frame before it is patched, and the sums of its invariable fields.

use std::net::IpAddr;

use super::outer::OuterPatch;
use super::{Description, LEAST_IPV4, LEAST_IPV6, Transport, UDP_AT_IPV4, UDP_AT_IPV6};
use crate::ethernet::{self, EtherType, EthernetHeader};
use crate::octets::be32;
use crate::{
    EchoHeader, IpVersion, Ipv4Header, Ipv4View, Ipv6Header, Ipv6View, UdpHeader, WireError,
};
use crate::{checksum, ipv4, ipv6, tag, udp};

/// The longest frames, without FCS: IPv4's length field includes the header, IPv6's does not.
pub(super) const MOST_IPV4: usize = ethernet::HEADER_LEN + u16::MAX as usize;
pub(super) const MOST_IPV6: usize = UDP_AT_IPV6 + u16::MAX as usize;

/// A frame whose variable fields, address parts included, and UDP checksum are zero.
pub(super) struct Blank {
    pub(super) version: IpVersion,
    pub(super) octets: Box<[u8]>,
    /// The address parts that were set to zero.
    pub(super) own_parts: (u32, u32),
    pub(super) udp_len: u16,
    /// The partial sum of the datagram and pseudo-header.
    pub(super) udp_sum: u64,
    /// The partial sum of the IPv4 header without its checksum; 0 for IPv6.
    pub(super) header_sum: u64,
    pub(super) outer: Option<OuterPatch>,
}

impl Blank {
    pub(super) fn build(description: &Description) -> Result<Self, WireError> {
        let (src, dst) = (description.src, description.dst);
        let version = common_version(src, dst)?;
        let around = description.outer.map_or(0, |outer| outer.octets());
        let frame_octets = description.frame_octets.saturating_sub(around);
        check_length(version, frame_octets)?;
        let at = description.variable_at;
        check_offset(version, at.0)?;
        check_offset(version, at.1)?;
        let octets = emit(
            description,
            frame_octets,
            with_part(src, at.0, 0),
            with_part(dst, at.1, 0),
        );
        let (udp_sum, header_sum) = sums(
            version,
            description.transport,
            &octets[ethernet::HEADER_LEN..],
        )?;
        let udp_len = (octets.len() - udp_at(version)) as u16;
        let macs = (description.src_mac, description.dst_mac);
        let (outer, octets) = match &description.outer {
            Some(outer) => OuterPatch::wrap(outer, macs, version, &octets)
                .map(|(patch, octets)| (Some(patch), octets))?,
            None => (None, octets),
        };
        Ok(Self {
            version,
            own_parts: (part_of(src, at.0), part_of(dst, at.1)),
            udp_len,
            udp_sum,
            header_sum,
            octets,
            outer,
        })
    }
}

fn common_version(source_address: IpAddr, destination: IpAddr) -> Result<IpVersion, WireError> {
    let version = IpVersion::of(source_address);
    if version != IpVersion::of(destination) {
        return Err(WireError::MixedFamilies {
            source_address,
            destination,
        });
    }
    Ok(version)
}

fn check_length(version: IpVersion, octets: usize) -> Result<(), WireError> {
    let (least, most) = match version {
        IpVersion::V4 => (LEAST_IPV4, MOST_IPV4),
        IpVersion::V6 => (LEAST_IPV6, MOST_IPV6),
    };
    if !(least..=most).contains(&octets) {
        return Err(WireError::FrameLength {
            version,
            octets,
            least,
            most,
        });
    }
    Ok(())
}

/// Checks that 32 bits from this octet of an address on can vary: they must lie within it, and begin at an even octet, since checksums add 16-bit words.
fn check_offset(version: IpVersion, offset: usize) -> Result<(), WireError> {
    let most = match version {
        IpVersion::V4 => 0,
        IpVersion::V6 => 12,
    };
    if offset > most || !offset.is_multiple_of(2) {
        return Err(WireError::PartOffset {
            version,
            offset,
            most,
        });
    }
    Ok(())
}

fn udp_at(version: IpVersion) -> usize {
    match version {
        IpVersion::V4 => UDP_AT_IPV4,
        IpVersion::V6 => UDP_AT_IPV6,
    }
}

fn emit(description: &Description, frame_octets: usize, src: IpAddr, dst: IpAddr) -> Box<[u8]> {
    let mut frame = vec![0; frame_octets];
    let version = IpVersion::of(src);
    let header = EthernetHeader {
        dst: description.dst_mac,
        src: description.src_mac,
        ether_type: match version {
            IpVersion::V4 => EtherType::IPV4,
            IpVersion::V6 => EtherType::IPV6,
        },
    };
    header.emit(&mut frame);
    let (hop_limit, transport) = (description.hop_limit, description.transport);
    emit_ip(
        src,
        dst,
        hop_limit,
        transport.protocol(version),
        &mut frame[ethernet::HEADER_LEN..],
    );
    emit_transport(
        transport,
        version,
        description.stream,
        &mut frame[udp_at(version)..],
    );
    frame.into()
}

fn emit_ip(src: IpAddr, dst: IpAddr, hop_limit: u8, protocol: u8, datagram: &mut [u8]) {
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => Ipv4Header {
            dscp: 0,
            identification: 0,
            // Otherwise a translator would fragment IPv6 datagrams beyond 1280 octets (RFC 7915 section 4), and the identification would have to
            // differ from frame to frame (RFC 6864).
            dont_fragment: true,
            ttl: hop_limit,
            protocol,
            payload_len: (datagram.len() - ipv4::HEADER_LEN) as u16,
            src,
            dst,
        }
        .emit(datagram),
        (IpAddr::V6(src), IpAddr::V6(dst)) => Ipv6Header {
            traffic_class: 0,
            flow_label: 0,
            payload_len: (datagram.len() - ipv6::HEADER_LEN) as u16,
            next_header: protocol,
            hop_limit,
            src,
            dst,
        }
        .emit(datagram),
        _ => unreachable!("common_version() refused mixed families"),
    }
}

/// Writes the UDP length or echo type, the magic and stream, and the pattern; the rest stays zero.
fn emit_transport(transport: Transport, version: IpVersion, stream: u8, datagram: &mut [u8]) {
    let length = datagram.len() as u16;
    match transport {
        Transport::Udp => UdpHeader {
            source_port: 0,
            destination_port: 0,
            length,
            checksum: 0,
        }
        .emit(datagram),
        Transport::Echo(kind) => EchoHeader {
            kind,
            version,
            checksum: 0,
            identifier: 0,
            sequence: 0,
        }
        .emit(datagram),
    }
    let (tag, rest) = datagram[udp::HEADER_LEN..].split_at_mut(tag::LEN);
    tag::Tag {
        stream,
        sequence: 0,
        time_ns: 0,
    }
    .emit(tag);
    tag::fill_pattern(rest);
}

/// Returns the partial sums of UDP or the echo (with the pseudo-header, if it has one) and of the IPv4 header.
fn sums(
    version: IpVersion,
    transport: Transport,
    datagram: &[u8],
) -> Result<(u64, u64), WireError> {
    match version {
        IpVersion::V4 => {
            let ip = Ipv4View::new(datagram)?;
            // The emitted checksum is the complement of the sum.
            let header_sum = u64::from(!ip.header_checksum());
            let pseudo_header = if transport.has_pseudo_header(version) {
                ip.pseudo_header()
            } else {
                0
            };
            Ok((pseudo_header + checksum::sum(ip.payload()), header_sum))
        }
        IpVersion::V6 => {
            let ip = Ipv6View::new(datagram)?;
            Ok((ip.pseudo_header() + checksum::sum(ip.payload()), 0))
        }
    }
}

/// Returns the 32 bits of an address that begin at octet `at`.
///
/// # Panics
/// If the address has no such octets.
pub fn part_of(address: IpAddr, at: usize) -> u32 {
    match address {
        IpAddr::V4(address) => be32(&address.octets(), at),
        IpAddr::V6(address) => be32(&address.octets(), at),
    }
}

/// Returns the address with the 32 bits that begin at octet `at` replaced.
///
/// # Panics
/// If the address has no such octets.
pub fn with_part(address: IpAddr, at: usize, part: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::from(replaced(address.octets(), at, part)),
        IpAddr::V6(address) => IpAddr::from(replaced(address.octets(), at, part)),
    }
}

fn replaced<const N: usize>(mut octets: [u8; N], at: usize, part: u32) -> [u8; N] {
    octets[at..at + 4].copy_from_slice(&part.to_be_bytes());
    octets
}
