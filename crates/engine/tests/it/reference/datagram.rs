//! Datagrams as the reference devices see them: parsed and built octet by octet, with every checksum summed from scratch.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 in the payload.
pub(crate) const IPV4: u8 = 4;
/// IPv6 in the payload.
pub(crate) const IPV6: u8 = 41;
/// UDP in the payload.
pub(crate) const UDP: u8 = 17;
/// ICMP in the payload.
pub(crate) const ICMP: u8 = 1;
/// ICMPv6 in the payload.
pub(crate) const ICMPV6: u8 = 58;

const DONT_FRAGMENT: u16 = 0x4000;

/// An IP datagram with whole header fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) hops: u8,
    pub(crate) protocol: u8,
    /// Flags and fragment offset of IPv4.
    pub(crate) flags: u16,
    pub(crate) payload: Vec<u8>,
}

fn word(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

fn octets_of(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// Returns the sum of RFC 1071 over all octets, padded with a zero if their number is odd; not complemented.
fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts
        .iter()
        .flat_map(|part| part.chunks(2))
        .map(|pair| [pair[0], pair.get(1).copied().unwrap_or(0)]);
    let mut sum: u64 = words.map(|pair| u64::from(u16::from_be_bytes(pair))).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

impl Datagram {
    /// Parses the datagram of a frame.
    ///
    /// # Panics
    /// If anything in it is not as expected.
    pub(crate) fn of_frame(frame: &[u8]) -> Self {
        let datagram = Self::read(&frame[14..]);
        assert_eq!(word(frame, 12), datagram.ether_type());
        datagram
    }

    /// Parses a datagram.
    ///
    /// # Panics
    /// If a length or a checksum is wrong, or a field is set that is not set in test frames.
    pub(crate) fn read(octets: &[u8]) -> Self {
        match octets[0] {
            0x45 => Self::read_ipv4(octets),
            0x60 => Self::read_ipv6(octets),
            other => panic!("neither IPv4 without options nor IPv6: {other:#x}"),
        }
    }

    fn read_ipv4(octets: &[u8]) -> Self {
        assert_eq!(usize::from(word(octets, 2)), octets.len(), "total length");
        assert_eq!(sum(&[&octets[..20]]), 0xffff, "header checksum");
        assert_eq!((octets[1], word(octets, 6)), (0, DONT_FRAGMENT));
        let address = |at: usize| {
            Ipv4Addr::new(octets[at], octets[at + 1], octets[at + 2], octets[at + 3]).into()
        };
        let (hops, protocol, payload) = (octets[8], octets[9], octets[20..].to_vec());
        Self {
            source: address(12),
            destination: address(16),
            hops,
            protocol,
            flags: word(octets, 6),
            payload,
        }
        .checked()
    }

    fn read_ipv6(octets: &[u8]) -> Self {
        assert_eq!(octets[1..4], [0, 0, 0], "traffic class and flow label");
        assert_eq!(
            usize::from(word(octets, 4)),
            octets.len() - 40,
            "payload length"
        );
        let address = |at: usize| {
            Ipv6Addr::from(<[u8; 16]>::try_from(&octets[at..at + 16]).expect("16 octets")).into()
        };
        let (hops, protocol, payload) = (octets[7], octets[6], octets[40..].to_vec());
        Self {
            source: address(8),
            destination: address(24),
            hops,
            protocol,
            flags: 0,
            payload,
        }
        .checked()
    }

    fn checked(self) -> Self {
        if self.protocol == UDP {
            assert_eq!(
                usize::from(word(&self.payload, 4)),
                self.payload.len(),
                "UDP length"
            );
        }
        if matches!(self.protocol, UDP | ICMP | ICMPV6) {
            assert_eq!(
                self.transport_sum(),
                0xffff,
                "checksum of protocol {}",
                self.protocol
            );
        }
        self
    }

    /// Returns the sum over pseudo-header and payload; ICMP has no pseudo-header.
    fn transport_sum(&self) -> u16 {
        if self.protocol == ICMP {
            return sum(&[&self.payload]);
        }
        let length = (self.payload.len() as u16).to_be_bytes();
        sum(&[
            &octets_of(self.source),
            &octets_of(self.destination),
            &length,
            &[0, self.protocol],
            &self.payload,
        ])
    }

    /// Returns the datagram as octets, with the header's checksum.
    pub(crate) fn octets(&self) -> Vec<u8> {
        let (source, destination) = (octets_of(self.source), octets_of(self.destination));
        let length = self.payload.len() as u16;
        if self.source.is_ipv6() {
            let fixed = [
                0x60,
                0,
                0,
                0,
                (length >> 8) as u8,
                length as u8,
                self.protocol,
                self.hops,
            ];
            return [&fixed, &source[..], &destination, &self.payload].concat();
        }
        let (length, flags) = ((length + 20).to_be_bytes(), self.flags.to_be_bytes());
        let fixed = [
            0x45,
            0,
            length[0],
            length[1],
            0,
            0,
            flags[0],
            flags[1],
            self.hops,
            self.protocol,
            0,
            0,
        ];
        let mut octets = [&fixed, &source[..], &destination, &self.payload].concat();
        let checksum = !sum(&[&octets[..20]]);
        octets[10..12].copy_from_slice(&checksum.to_be_bytes());
        octets
    }

    /// Returns the EtherType of a frame that carries it.
    pub(crate) fn ether_type(&self) -> u16 {
        if self.source.is_ipv4() {
            0x0800
        } else {
            0x86dd
        }
    }

    /// Returns the source port.
    pub(crate) fn source_port(&self) -> u16 {
        word(&self.payload, 0)
    }

    /// Returns the destination port.
    pub(crate) fn destination_port(&self) -> u16 {
        word(&self.payload, 2)
    }

    /// Returns the datagram with another source port; it must then be sealed.
    pub(crate) fn with_source_port(mut self, port: u16) -> Self {
        self.payload[..2].copy_from_slice(&port.to_be_bytes());
        self
    }

    /// Returns the datagram with another destination port; it must then be sealed.
    pub(crate) fn with_destination_port(mut self, port: u16) -> Self {
        self.payload[2..4].copy_from_slice(&port.to_be_bytes());
        self
    }

    /// Returns the datagram with the UDP, ICMP or ICMPv6 checksum for its addresses, ports and payload.
    pub(crate) fn sealed(mut self) -> Self {
        let at = if self.protocol == UDP { 6 } else { 2 };
        self.payload[at..at + 2].fill(0);
        let checksum = match !self.transport_sum() {
            0 if self.protocol == UDP => 0xffff,
            checksum => checksum,
        };
        self.payload[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        self
    }

    /// Returns the datagram after one forwarding.
    pub(crate) fn hop(self) -> Self {
        Self {
            hops: self.hops - 1,
            ..self
        }
    }

    /// Returns the datagram encapsulated in an outer header.
    pub(crate) fn within(
        &self,
        source: impl Into<IpAddr>,
        destination: impl Into<IpAddr>,
        hops: u8,
    ) -> Self {
        let protocol = if self.source.is_ipv4() { IPV4 } else { IPV6 };
        let (source, destination) = (source.into(), destination.into());
        let flags = if source.is_ipv4() { DONT_FRAGMENT } else { 0 };
        Self {
            source,
            destination,
            hops,
            protocol,
            flags,
            payload: self.octets(),
        }
    }

    /// Returns the inner datagram, if it is IP.
    pub(crate) fn inside(&self) -> Option<Self> {
        matches!(self.protocol, IPV4 | IPV6).then(|| Self::read(&self.payload))
    }

    /// Returns the translated datagram (RFC 7915), with a lower hop limit; a datagram of up to 1260 octets may be fragmented on its way through IPv4.
    pub(crate) fn translated(
        self,
        source: impl Into<IpAddr>,
        destination: impl Into<IpAddr>,
    ) -> Self {
        Self {
            source: source.into(),
            destination: destination.into(),
            flags: 0,
            ..self.hop()
        }
        .with_translated_type()
        .sealed()
    }

    /// Returns the datagram with the protocol and type of an echo in the other version (RFC 7915 sections 4.2 and 5.2).
    fn with_translated_type(mut self) -> Self {
        let (protocol, kind) = match (self.protocol, self.payload[0]) {
            (ICMP, 8) => (ICMPV6, 128),
            (ICMP, 0) => (ICMPV6, 129),
            (ICMPV6, 128) => (ICMP, 8),
            (ICMPV6, 129) => (ICMP, 0),
            (ICMP | ICMPV6, other) => panic!("no echo: type {other}"),
            _ => return self,
        };
        (self.protocol, self.payload[0]) = (protocol, kind);
        self
    }

    /// Returns the source, if it is IPv4.
    pub(crate) fn source4(&self) -> Option<Ipv4Addr> {
        if let IpAddr::V4(address) = self.source {
            Some(address)
        } else {
            None
        }
    }

    /// Returns the destination, if it is IPv4.
    pub(crate) fn destination4(&self) -> Option<Ipv4Addr> {
        if let IpAddr::V4(address) = self.destination {
            Some(address)
        } else {
            None
        }
    }

    /// Returns the source, if it is IPv6.
    pub(crate) fn source6(&self) -> Option<Ipv6Addr> {
        if let IpAddr::V6(address) = self.source {
            Some(address)
        } else {
            None
        }
    }

    /// Returns the destination, if it is IPv6.
    pub(crate) fn destination6(&self) -> Option<Ipv6Addr> {
        if let IpAddr::V6(address) = self.destination {
            Some(address)
        } else {
            None
        }
    }
}
