//! The hot path: a test frame that is built once and patched each time it is sent.
//!
//! Patching writes the ports, the sequence number, the time and, where they vary, 32 bits of either address. The UDP checksum (and the IPv4
//! header checksum) is updated by adding the new words to a partial sum that was computed with the template (RFC 1624). Patching never allocates
//! and never reads the frame.

use std::net::IpAddr;

use crate::{EchoHeader, EchoKind, IpVersion, MacAddress, UdpHeader, WireError};
use crate::{checksum, ethernet, ipv4, ipv6, protocol, tag, udp};

mod arrival;
mod blank;
mod outer;
mod plain;
mod tunnel;

use blank::Blank;
pub use blank::{part_of, with_part};
use outer::OuterPatch;
pub use outer::{OuterHeader, address_of, bits};
pub use plain::{AddressesThatVary, PlainArrival, PlainPatch};
pub use tunnel::{TunnelArrival, TunnelPatch};

/// Octets of the shortest IPv4 test frame, without FCS: 64 with it, RFC 2544's smallest.
pub const LEAST_IPV4: usize = UDP_AT_IPV4 + TAIL_LEN;
/// Octets of the shortest IPv6 test frame, without FCS: 84 with it, RFC 8219's smallest.
pub const LEAST_IPV6: usize = UDP_AT_IPV6 + TAIL_LEN;
// Test frames are never so short that Ethernet pads them, so any octet behind a datagram of the right length is an error.
const _: () = assert!(LEAST_IPV4 >= ethernet::MINIMUM_LEN && LEAST_IPV6 >= ethernet::MINIMUM_LEN);
/// The octet of an IPv4 address at which its variable 32 bits begin: they are the whole address.
pub const VARIABLE_AT_IPV4: usize = 0;
/// The octet of an IPv6 address at which its variable 32 bits begin by default: they end with bits 96 to 111, which
/// draft-lencse-bmwg-multiple-ip-addresses allows to vary.
pub const VARIABLE_AT_IPV6: usize = 10;

const UDP_AT_IPV4: usize = ethernet::HEADER_LEN + ipv4::HEADER_LEN;
const UDP_AT_IPV6: usize = ethernet::HEADER_LEN + ipv6::HEADER_LEN;
/// UDP header and tag.
const TAIL_LEN: usize = udp::HEADER_LEN + tag::LEN;

/// The frame's offset of the IPv4 header checksum, and of both addresses.
const IPV4_CHECKSUM_AT: usize = ethernet::HEADER_LEN + 10;
const IPV4_SOURCE_AT: usize = ethernet::HEADER_LEN + 12;
const IPV4_DESTINATION_AT: usize = ethernet::HEADER_LEN + 16;
const IPV6_SOURCE_AT: usize = ethernet::HEADER_LEN + 8;
const IPV6_DESTINATION_AT: usize = ethernet::HEADER_LEN + 24;

/// The test frames of one stream: everything that stays the same from frame to frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The Ethernet source.
    pub src_mac: MacAddress,
    /// The Ethernet destination.
    pub dst_mac: MacAddress,
    /// The source address.
    pub src: IpAddr,
    /// The destination address, of the same IP version.
    pub dst: IpAddr,
    /// The hop limit, or time to live.
    pub hop_limit: u8,
    /// The frame's length in octets, with the Ethernet header and without the frame check sequence.
    pub frame_octets: usize,
    /// The tag's stream.
    pub stream: u8,
    /// The octet of source and destination address at which the variable 32 bits begin; even, since checksums add 16-bit words.
    pub variable_at: (usize, usize),
    /// The kind of datagram.
    pub transport: Transport,
    /// The outer header, if the datagram is encapsulated. It is included in `frame_octets`.
    pub outer: Option<OuterHeader>,
}

/// The kind of a test datagram. Both kinds have 8 octets before the tag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transport {
    /// A UDP datagram (RFC 8219 section 5.3).
    #[default]
    Udp,
    /// An echo of ICMP (RFC 792) or ICMPv6 (RFC 4443 section 4), as the version of the datagram is. Its identifier and sequence number take the
    /// places of the source and destination port of a [`Variable`].
    Echo(EchoKind),
}

impl Transport {
    /// Returns the IP protocol number in datagrams of this version.
    pub const fn protocol(self, version: IpVersion) -> u8 {
        match (self, version) {
            (Self::Udp, _) => protocol::UDP,
            (Self::Echo(_), IpVersion::V4) => protocol::ICMP,
            (Self::Echo(_), IpVersion::V6) => protocol::ICMPV6,
        }
    }

    /// Returns whether the checksum includes the addresses, in a pseudo-header: that of ICMP over IPv4 does not (RFC 792).
    pub const fn has_pseudo_header(self, version: IpVersion) -> bool {
        !matches!((self, version), (Self::Echo(_), IpVersion::V4))
    }
}

/// One end of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatagramEnd {
    /// The end that sends it.
    Source,
    /// The end that is to receive it.
    Destination,
}

/// A subscriber's addresses, which replace the described ones, as bits; an IPv4 address is the low 32. Where a whole address of the datagram
/// itself varies, the described address must be all zeros, and so must its variable 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriberAddresses {
    /// The end of the stream at which the subscriber is.
    pub end: DatagramEnd,
    /// The address in the datagram itself.
    pub inner: Option<u128>,
    /// The address in the outer header.
    pub outer: Option<u128>,
}

impl Description {
    /// Returns the default octets at which the variable 32 bits of the source and destination address of this version begin.
    pub const fn usual_variable_at(version: IpVersion) -> (usize, usize) {
        match version {
            IpVersion::V4 => (VARIABLE_AT_IPV4, VARIABLE_AT_IPV4),
            IpVersion::V6 => (VARIABLE_AT_IPV6, VARIABLE_AT_IPV6),
        }
    }
}

/// The fields that change from frame to frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Variable {
    /// The sender's UDP port.
    pub source_port: u16,
    /// The receiver's UDP port.
    pub destination_port: u16,
    /// The tag's sequence number; its bits beyond [`tag::MAX_SEQUENCE`] are lost.
    pub sequence: u64,
    /// The tag's time.
    pub time: StampedTime,
    /// The variable 32 bits of source and destination address; `None` leaves the template's own.
    pub addresses: Option<(u32, u32)>,
    /// The subscriber's own addresses, if the stream has many subscribers.
    pub subscriber: Option<SubscriberAddresses>,
}

impl Variable {
    /// Returns the whole address of the datagram at the subscriber's end.
    #[inline(always)]
    fn inner(&self) -> Option<(DatagramEnd, u128)> {
        self.subscriber
            .and_then(|subscriber| Some((subscriber.end, subscriber.inner?)))
    }

    #[inline]
    fn outer(&self) -> Option<(DatagramEnd, u128)> {
        self.subscriber
            .and_then(|subscriber| Some((subscriber.end, subscriber.outer?)))
    }
}

/// A time of sending with its partial sum, so that it is folded only once for a batch of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StampedTime {
    time_ns: u64,
    sum: u16,
}

impl StampedTime {
    /// Stamps a time, in nanoseconds of the tester's clock.
    #[inline]
    pub const fn new(time_ns: u64) -> Self {
        Self {
            time_ns,
            sum: checksum::fold(time_ns),
        }
    }

    /// Returns the time, in nanoseconds of the tester's clock.
    #[inline]
    pub const fn time_ns(&self) -> u64 {
        self.time_ns
    }
}

/// A frame built once, and the values needed to patch it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    octets: Box<[u8]>,
    description: Description,
    version: IpVersion,
    /// The variable parts of the described addresses, and their positions in the frame.
    own_parts: (u32, u32),
    parts_at: (usize, usize),
    /// Octets of the UDP datagram.
    udp_len: u16,
    /// The partial sums of the datagram (with pseudo-header) and the IPv4 header, without the variable words.
    udp_sum: u64,
    header_sum: u64,
    /// The patch of the outer header of an encapsulated stream.
    outer: Option<OuterPatch>,
    /// Octets of the outer header, by which the datagram is further back than in a plain frame.
    shift: usize,
}

impl Template {
    /// Builds the frame, with all variable fields zero.
    ///
    /// # Errors
    /// Addresses of different IP versions, or a frame too short for headers and tag (60 octets over
    /// IPv4, 80 over IPv6) or too long for the IP length field; variable parts at an odd octet or beyond the address.
    pub fn new(description: &Description) -> Result<Self, WireError> {
        let blank = Blank::build(description)?;
        let mut template = Self {
            description: description.clone(),
            version: blank.version,
            own_parts: blank.own_parts,
            parts_at: parts_at(blank.version, description.variable_at),
            udp_len: blank.udp_len,
            udp_sum: blank.udp_sum,
            header_sum: blank.header_sum,
            outer: blank.outer,
            shift: description.outer.map_or(0, |outer| outer.octets()),
            octets: blank.octets,
        };
        template.octets = template.patched(&Variable::default());
        Ok(template)
    }

    /// Returns the template of frames with another Ethernet destination and type, and all else the same.
    #[must_use]
    pub fn with_ethernet(mut self, destination: MacAddress, kind: ethernet::EtherType) -> Self {
        self.octets[..6].copy_from_slice(&destination.0);
        self.octets[ethernet::ADDRESSES_LEN..ethernet::HEADER_LEN]
            .copy_from_slice(&kind.0.to_be_bytes());
        self
    }

    /// Rewrites the variable fields of a frame that holds this template's octets, perhaps patched before.
    ///
    /// # Panics
    /// If `frame` is shorter than [`LEAST_IPV4`] or [`LEAST_IPV6`] octets, so that it must belong to another template.
    #[inline]
    pub fn patch(&self, frame: &mut [u8], variable: &Variable) {
        if let Some(outer) = &self.outer {
            outer.patch(frame, variable.outer());
        }
        // The datagram has the offsets of a plain frame whose Ethernet header overlaps the end of the outer header.
        let frame = &mut frame[self.shift..];
        let parts = variable.addresses.unwrap_or(self.own_parts);
        let checksum = self.udp_checksum(variable, parts);
        match self.version {
            IpVersion::V4 => {
                let frame = frame.first_chunk_mut::<LEAST_IPV4>().expect(TOO_SHORT);
                self.patch_ipv4_header(frame, variable, parts);
                self.patch_tail::<UDP_AT_IPV4>(frame, variable, checksum);
            }
            IpVersion::V6 => {
                let frame = frame.first_chunk_mut::<LEAST_IPV6>().expect(TOO_SHORT);
                put(frame, self.parts_at.0, parts.0.to_be_bytes());
                put(frame, self.parts_at.1, parts.1.to_be_bytes());
                match variable.inner() {
                    Some((DatagramEnd::Source, address)) => {
                        put(frame, IPV6_SOURCE_AT, address.to_be_bytes());
                    }
                    Some((DatagramEnd::Destination, address)) => {
                        put(frame, IPV6_DESTINATION_AT, address.to_be_bytes());
                    }
                    None => {}
                }
                self.patch_tail::<UDP_AT_IPV6>(frame, variable, checksum);
            }
        }
    }

    /// Returns the frame with all variable fields zero and the described addresses.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Returns a new, patched frame. It allocates, so it is not for the send path.
    pub fn patched(&self, variable: &Variable) -> Box<[u8]> {
        let mut frame = self.octets.clone();
        self.patch(&mut frame, variable);
        frame
    }

    /// Returns the description that the template was made from.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the IP version of the frame.
    #[inline]
    pub fn ip_version(&self) -> IpVersion {
        self.version
    }

    /// Returns the variable 32 bits of the described source and destination address, which a [`Variable`] repeats for the side that stays as
    /// described while the other one varies.
    #[inline]
    pub fn own_parts(&self) -> (u32, u32) {
        self.own_parts
    }

    /// Returns the described source address.
    pub fn src(&self) -> IpAddr {
        self.description.src
    }

    /// Returns the described destination address.
    pub fn dst(&self) -> IpAddr {
        self.description.dst
    }

    /// Returns the frame's length in octets, without frame check sequence.
    #[inline]
    pub fn frame_octets(&self) -> usize {
        self.octets.len()
    }

    /// Returns the source and destination address of a frame patched with `variable`.
    pub fn addresses(&self, variable: &Variable) -> (IpAddr, IpAddr) {
        let (source, destination) = variable.addresses.unwrap_or(self.own_parts);
        let at = self.description.variable_at;
        match variable.inner() {
            None => (
                with_part(self.src(), at.0, source),
                with_part(self.dst(), at.1, destination),
            ),
            Some((DatagramEnd::Source, own)) => (
                address_of(self.version, own),
                with_part(self.dst(), at.1, destination),
            ),
            Some((DatagramEnd::Destination, own)) => (
                with_part(self.src(), at.0, source),
                address_of(self.version, own),
            ),
        }
    }

    /// Returns the source and destination address of the outer header of a frame patched with `variable`, if it is encapsulated.
    pub fn outer_addresses(&self, variable: &Variable) -> Option<(IpAddr, IpAddr)> {
        let version = self.description.outer?.version();
        let (source, destination) = self.outer.as_ref()?.addresses(variable.outer());
        Some((
            address_of(version, source),
            address_of(version, destination),
        ))
    }

    /// Returns the UDP checksum of a frame patched with `variable`, so that a receiver can judge a translated frame without summing it.
    #[inline]
    pub fn expected_udp_checksum(&self, variable: &Variable) -> u16 {
        self.udp_checksum(variable, variable.addresses.unwrap_or(self.own_parts))
    }

    #[inline]
    fn udp_checksum(&self, variable: &Variable, parts: (u32, u32)) -> u16 {
        let ports = sum_of((variable.source_port, variable.destination_port));
        // The stream shares a word with the upper 8 of the 40 bits; it is already in `udp_sum`.
        let tag = (variable.sequence & tag::MAX_SEQUENCE) + u64::from(variable.time.sum);
        let own = variable
            .inner()
            .map_or(0, |(_, address)| outer::sum_of(address));
        let (carried, addresses) = (self.udp_sum + ports + tag, sum_of(parts) + own);
        match (self.description.transport, self.version) {
            (Transport::Udp, _) => checksum::finish_udp(carried + addresses),
            // Only UDP has a value that means "no checksum" and must be avoided.
            (Transport::Echo(_), IpVersion::V4) => checksum::finish(carried),
            (Transport::Echo(_), IpVersion::V6) => checksum::finish(carried + addresses),
        }
    }

    #[inline]
    fn patch_ipv4_header(
        &self,
        frame: &mut [u8; LEAST_IPV4],
        variable: &Variable,
        parts: (u32, u32),
    ) {
        let own = variable.inner();
        let own_sum = own.map_or(0, |(_, address)| outer::sum_of(address));
        let checksum = checksum::finish(self.header_sum + sum_of(parts) + own_sum);
        put(frame, IPV4_CHECKSUM_AT, checksum.to_be_bytes());
        put(frame, self.parts_at.0, parts.0.to_be_bytes());
        put(frame, self.parts_at.1, parts.1.to_be_bytes());
        match own {
            Some((DatagramEnd::Source, address)) => {
                put(frame, IPV4_SOURCE_AT, (address as u32).to_be_bytes());
            }
            Some((DatagramEnd::Destination, address)) => {
                put(frame, IPV4_DESTINATION_AT, (address as u32).to_be_bytes());
            }
            None => {}
        }
    }

    /// Writes the UDP or echo header, and the tag, as three words.
    #[inline]
    fn patch_tail<const UDP_AT: usize>(
        &self,
        frame: &mut [u8],
        variable: &Variable,
        checksum: u16,
    ) {
        let (first, second) = (variable.source_port, variable.destination_port);
        let header = match self.description.transport {
            Transport::Udp => UdpHeader {
                source_port: first,
                destination_port: second,
                length: self.udp_len,
                checksum,
            }
            .to_octets(),
            Transport::Echo(kind) => EchoHeader {
                kind,
                version: self.version,
                checksum,
                identifier: first,
                sequence: second,
            }
            .to_octets(),
        };
        let tag_at = UDP_AT + udp::HEADER_LEN;
        let middle = tag::middle(self.description.stream, variable.sequence);
        put(frame, UDP_AT, header);
        put(frame, tag_at + 2, middle.to_be_bytes());
        put(frame, tag_at + 10, variable.time.time_ns.to_be_bytes());
    }
}

fn parts_at(version: IpVersion, at: (usize, usize)) -> (usize, usize) {
    match version {
        IpVersion::V4 => (IPV4_SOURCE_AT + at.0, IPV4_DESTINATION_AT + at.1),
        IpVersion::V6 => (IPV6_SOURCE_AT + at.0, IPV6_DESTINATION_AT + at.1),
    }
}

const TOO_SHORT: &str = "a frame to be patched holds at least its template's headers and tag";

#[inline]
fn put<const N: usize>(frame: &mut [u8], at: usize, octets: [u8; N]) {
    frame[at..at + N].copy_from_slice(&octets);
}

/// Returns the partial sum of two fields.
#[inline]
fn sum_of<T: Into<u64>>(fields: (T, T)) -> u64 {
    fields.0.into() + fields.1.into()
}

#[cfg(test)]
mod tests;
