//! The outer header of an encapsulated test datagram: 6-in-4 (RFC 4213, RFC 3056, RFC 5969) or 4-in-6 (RFC 2473, RFC 6333, RFC 7596, RFC 7597).
//! An outer IPv6 header has no checksum; that of an outer IPv4 header depends on its addresses.

use std::net::IpAddr;

use super::{DatagramEnd, put};
use crate::ethernet::{self, EtherType, EthernetHeader};
use crate::octets::be16;
use crate::{IpVersion, Ipv4Header, Ipv6Header, MacAddress, WireError};
use crate::{checksum, ipv4, ipv6, protocol};

/// The outer header of an encapsulated stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterHeader {
    /// The sending end of the tunnel.
    pub src: IpAddr,
    /// The receiving end of the tunnel, of the same IP version.
    pub dst: IpAddr,
    /// The hop limit, or time to live.
    pub hop_limit: u8,
}

impl OuterHeader {
    /// Returns the IP version of the outer header.
    pub fn version(&self) -> IpVersion {
        IpVersion::of(self.src)
    }

    /// Returns the octets of the outer header.
    pub fn octets(&self) -> usize {
        match self.version() {
            IpVersion::V4 => ipv4::HEADER_LEN,
            IpVersion::V6 => ipv6::HEADER_LEN,
        }
    }
}

/// The offset of the checksum within an IPv4 header.
const CHECKSUM_AT: usize = 10;

/// The values needed to patch an outer header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OuterPatch {
    version: IpVersion,
    /// The partial sum of an IPv4 header without its addresses.
    header_sum: u64,
    own: (u128, u128),
}

impl OuterPatch {
    /// Puts the outer header in front of the datagram that `frame` carries.
    pub(super) fn wrap(
        outer: &OuterHeader,
        macs: (MacAddress, MacAddress),
        inner: IpVersion,
        frame: &[u8],
    ) -> Result<(Self, Box<[u8]>), WireError> {
        if outer.version() != IpVersion::of(outer.dst) {
            return Err(WireError::MixedFamilies {
                source_address: outer.src,
                destination: outer.dst,
            });
        }
        let datagram = &frame[ethernet::HEADER_LEN..];
        let mut octets = vec![0; outer.octets()];
        emit(outer, inner, datagram.len(), &mut octets)?;
        let version = outer.version();
        let header_sum = match version {
            // The partial sum of the header is the complement of its checksum.
            IpVersion::V4 => u64::from(!be16(&octets, CHECKSUM_AT)),
            IpVersion::V6 => 0,
        };
        let own = (bits(outer.src), bits(outer.dst));
        // The partial sum without the addresses is the whole sum plus their complements. It has no meaning for IPv6, whose header has no checksum.
        let header_sum = header_sum + u64::from(!checksum::fold(sum_of(own.0) + sum_of(own.1)));
        Ok((
            Self {
                version,
                header_sum,
                own,
            },
            ethernet_frame(macs, version, &[&octets, datagram]),
        ))
    }

    /// Writes the outer addresses; `at` is the end whose address is not as described.
    #[inline]
    pub(super) fn patch(&self, frame: &mut [u8], at: Option<(DatagramEnd, u128)>) {
        let (source, destination) = self.addresses(at);
        let start = ethernet::HEADER_LEN;
        match self.version {
            IpVersion::V4 => {
                let checksum =
                    checksum::finish(self.header_sum + sum_of(source) + sum_of(destination));
                put(frame, start + CHECKSUM_AT, checksum.to_be_bytes());
                put(frame, start + 12, (source as u32).to_be_bytes());
                put(frame, start + 16, (destination as u32).to_be_bytes());
            }
            IpVersion::V6 => {
                put(frame, start + 8, source.to_be_bytes());
                put(frame, start + 24, destination.to_be_bytes());
            }
        }
    }

    /// Returns the IP version of the outer header.
    #[inline]
    pub(super) fn version(&self) -> IpVersion {
        self.version
    }

    /// Returns the partial sum of an IPv4 header without its addresses.
    #[inline]
    pub(super) fn header_sum(&self) -> u64 {
        self.header_sum
    }

    /// Returns the source and destination address.
    #[inline]
    pub(super) fn addresses(&self, at: Option<(DatagramEnd, u128)>) -> (u128, u128) {
        match at {
            None => self.own,
            Some((DatagramEnd::Source, bits)) => (bits, self.own.1),
            Some((DatagramEnd::Destination, bits)) => (self.own.0, bits),
        }
    }
}

/// Returns a frame from the first to the second hardware address, with the parts of an IP datagram one after the other.
fn ethernet_frame(
    macs: (MacAddress, MacAddress),
    version: IpVersion,
    datagram: &[&[u8]],
) -> Box<[u8]> {
    let ether_type = match version {
        IpVersion::V4 => EtherType::IPV4,
        IpVersion::V6 => EtherType::IPV6,
    };
    let mut frame = vec![0; ethernet::HEADER_LEN];
    EthernetHeader {
        src: macs.0,
        dst: macs.1,
        ether_type,
    }
    .emit(&mut frame);
    frame.extend(datagram.concat());
    frame.into()
}

fn emit(
    outer: &OuterHeader,
    inner: IpVersion,
    payload: usize,
    header: &mut [u8],
) -> Result<(), WireError> {
    // The 16 bits of IPv4's total length count the header too, those of IPv6's payload length do not.
    let most = usize::from(u16::MAX)
        - if outer.src.is_ipv4() {
            ipv4::HEADER_LEN
        } else {
            0
        };
    if payload > most {
        let headers = ethernet::HEADER_LEN + outer.octets();
        return Err(WireError::FrameLength {
            version: outer.version(),
            octets: headers + payload,
            least: 0,
            most: headers + most,
        });
    }
    let protocol = if inner == IpVersion::V4 {
        protocol::IPV4
    } else {
        protocol::IPV6
    };
    match (outer.src, outer.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => Ipv4Header {
            dscp: 0,
            identification: 0,
            // RFC 4213 section 3.2: the tunnel itself does not fragment.
            dont_fragment: true,
            ttl: outer.hop_limit,
            protocol,
            payload_len: payload as u16,
            src,
            dst,
        }
        .emit(header),
        (IpAddr::V6(src), IpAddr::V6(dst)) => Ipv6Header {
            traffic_class: 0,
            flow_label: 0,
            payload_len: payload as u16,
            next_header: protocol,
            hop_limit: outer.hop_limit,
            src,
            dst,
        }
        .emit(header),
        _ => unreachable!("one version was checked"),
    }
    Ok(())
}

/// Returns an address as bits, an IPv4 address in the low 32.
pub fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Returns the address of these bits.
pub fn address_of(version: IpVersion, bits: u128) -> IpAddr {
    match version {
        IpVersion::V4 => std::net::Ipv4Addr::from_bits(bits as u32).into(),
        IpVersion::V6 => std::net::Ipv6Addr::from_bits(bits).into(),
    }
}

/// Returns the partial sum of an address, whose 32-bit words are their own partial sums.
#[inline]
pub(super) const fn sum_of(bits: u128) -> u64 {
    const LOW: u128 = 0xffff_ffff;
    (bits >> 96) as u64
        + (bits >> 64 & LOW) as u64
        + (bits >> 32 & LOW) as u64
        + (bits & LOW) as u64
}
