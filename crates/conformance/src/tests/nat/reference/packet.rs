//! An IPv4 packet whose fields are changed where they are, so that all else stays as it came, and its checksums follow (RFC 1624).

use crate::tests::rigs::reference::datagram::{adjusted, set_word, sum, word};
use std::net::Ipv4Addr;

pub(crate) const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// ICMP messages that contain the packet in error (RFC 792).
const ERRORS: [u8; 5] = [3, 4, 5, 11, 12];

/// A transport address; of an ICMP Query, its identifier is in the place of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) address: Ipv4Addr,
    pub(crate) port: u16,
}

/// The end of a packet that is read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Source,
    Destination,
}

/// A packet, whole or embedded in an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) octets: Vec<u8>,
}

impl Packet {
    /// Returns the packet of octets; `None` if they are too few, or no IPv4.
    pub(crate) fn parse(octets: &[u8]) -> Option<Self> {
        let header = 4 * usize::from(octets.first()? & 15);
        let is_ipv4 = octets[0] >> 4 == 4 && header >= 20 && octets.len() >= header;
        is_ipv4.then(|| Self {
            octets: octets.to_vec(),
        })
    }

    pub(crate) fn header(&self) -> usize {
        4 * usize::from(self.octets[0] & 15)
    }

    pub(crate) fn ttl(&self) -> u8 {
        self.octets[8]
    }

    pub(crate) fn protocol(&self) -> u8 {
        self.octets[9]
    }

    pub(crate) fn is_first_part(&self) -> bool {
        word(&self.octets, 6) & 0x1fff == 0
    }

    pub(crate) fn is_part(&self) -> bool {
        word(&self.octets, 6) & 0x3fff != 0
    }

    pub(crate) fn identification(&self) -> u16 {
        word(&self.octets, 4)
    }

    pub(crate) fn has_right_header_sum(&self) -> bool {
        sum(&[&self.octets[..self.header()]]) == 0xffff
    }

    fn address_at(end: End) -> usize {
        match end {
            End::Source => 12,
            End::Destination => 16,
        }
    }

    pub(crate) fn address(&self, end: End) -> Ipv4Addr {
        let at = Self::address_at(end);
        let octets = &self.octets[at..at + 4];
        Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3])
    }

    pub(crate) fn data(&self) -> &[u8] {
        &self.octets[self.header()..]
    }

    pub(crate) fn is_icmp_error(&self) -> bool {
        self.protocol() == ICMP
            && self
                .data()
                .first()
                .is_some_and(|kind| ERRORS.contains(kind))
    }

    /// Returns where the port of an end is, or the identifier of an ICMP Query.
    fn port_at(&self, end: End) -> Option<usize> {
        let at = match (self.protocol(), end) {
            (TCP | UDP, End::Source) => 0,
            (TCP | UDP, End::Destination) => 2,
            (ICMP, _) if !self.is_icmp_error() => 4,
            _ => return None,
        };
        (self.data().len() >= 8).then(|| self.header() + at)
    }

    /// Returns the transport address of an end; `None` of a protocol without ports.
    pub(crate) fn endpoint(&self, end: End) -> Option<Endpoint> {
        Some(Endpoint {
            address: self.address(end),
            port: word(&self.octets, self.port_at(end)?),
        })
    }

    /// Returns the flags of TCP.
    pub(crate) fn tcp_flags(&self) -> u8 {
        if self.protocol() == TCP {
            self.data().get(13).copied().unwrap_or(0)
        } else {
            0
        }
    }

    /// Returns where the checksum of what the packet carries is, and whether it covers the addresses.
    fn transport_sum(&self) -> Option<(usize, bool)> {
        let (at, covers) = match self.protocol() {
            UDP => (6, true),
            TCP => (16, true),
            ICMP => (2, false),
            _ => return None,
        };
        (self.data().len() >= at + 2).then(|| (self.header() + at, covers))
    }

    /// Gives an end another transport address.
    pub(crate) fn set_endpoint(&mut self, end: End, endpoint: Endpoint) {
        let new = endpoint.port.to_be_bytes();
        if self.is_first_part()
            && let Some(at) = self.port_at(end)
        {
            let old = [self.octets[at], self.octets[at + 1]];
            self.octets[at..at + 2].copy_from_slice(&new);
            self.adjust_transport(&old, &new, false);
        }
        self.set_address(end, endpoint.address);
    }

    /// Gives an end another address.
    pub(crate) fn set_address(&mut self, end: End, address: Ipv4Addr) {
        let at = Self::address_at(end);
        let (old, new) = (self.address(end).octets(), address.octets());
        self.octets[at..at + 4].copy_from_slice(&new);
        let header_sum = adjusted(word(&self.octets, 10), &[&old], &[&new]);
        set_word(&mut self.octets, 10, header_sum);
        if self.is_first_part() {
            self.adjust_transport(&old, &new, true);
        }
    }

    fn adjust_transport(&mut self, old: &[u8], new: &[u8], is_address: bool) {
        let Some((at, covers)) = self.transport_sum() else {
            return;
        };
        let before = word(&self.octets, at);
        let is_absent = self.protocol() == UDP && before == 0;
        if is_absent || is_address && !covers {
            return;
        }
        let after = adjusted(before, &[old], &[new]);
        let is_zero_udp = self.protocol() == UDP && after == 0;
        set_word(
            &mut self.octets,
            at,
            if is_zero_udp { 0xffff } else { after },
        );
    }

    pub(crate) fn lower_ttl(&mut self) {
        self.octets[8] -= 1;
        self.write_header_sum();
    }

    pub(crate) fn write_header_sum(&mut self) {
        let header = self.header();
        set_word(&mut self.octets, 10, 0);
        let right = !sum(&[&self.octets[..header]]);
        set_word(&mut self.octets, 10, right);
    }

    pub(crate) fn has_right_icmp_sum(&self) -> bool {
        sum(&[self.data()]) == 0xffff
    }

    /// Returns the packet in an error.
    pub(crate) fn embedded(&self) -> Option<Self> {
        Self::parse(self.data().get(8..)?)
    }

    /// Puts a packet into an error, in the place of another of the same length, and makes the checksum of the error right.
    pub(crate) fn set_embedded(&mut self, embedded: &Self) {
        let at = self.header();
        self.octets.truncate(at + 8);
        self.octets.extend(&embedded.octets);
        self.write_icmp_sum();
    }

    pub(crate) fn write_icmp_sum(&mut self) {
        let at = self.header();
        set_word(&mut self.octets, at + 2, 0);
        let right = !sum(&[&self.octets[at..]]);
        set_word(&mut self.octets, at + 2, right);
    }

    /// Returns the error of a device about this packet.
    pub(crate) fn error(&self, kind: u8, code: u8, from: Ipv4Addr) -> Self {
        let quoted = &self.octets[..self.octets.len().min(128)];
        let mut octets = vec![0x45, self.octets[1], 0, 0, 0, 0, 0, 0, 64, ICMP, 0, 0];
        octets.extend(from.octets());
        octets.extend(self.address(End::Source).octets());
        octets.extend([kind, code, 0, 0, 0, 0, 0, 0]);
        octets.extend(quoted);
        let total = octets.len() as u16;
        set_word(&mut octets, 2, total);
        let mut error = Self { octets };
        error.write_header_sum();
        error.write_icmp_sum();
        error
    }
}
