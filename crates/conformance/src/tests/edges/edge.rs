//! A customer edge in memory: a NAT44 that is restricted to a port set, and behind it the encapsulation of MAP-E (RFC 7597) or the translation of MAP-T (RFC
//! 7599).

use crate::frame::Side;
use crate::tests::nat::ReferenceDevice;
use crate::tests::nat::reference::fault::Fault as NatFault;
use crate::tests::nat::reference::nat::{Filtering, Nat, NatSetting, Sent};
use crate::tests::nat::reference::packet::{End, Packet, UDP};
use crate::tests::nat::reference::table::PoolPorts;
use crate::tests::rigs::reference::datagram::{V6, set_word, word};
use crate::tests::rigs::reference::translator::{Links, Pair, Translator};
use crate::tests::tunnels::datagrams::{IPV4, header_6};
use std::net::{Ipv4Addr, Ipv6Addr};

const fn documentation(subnet: u16, host: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, subnet, 0, 0, 0, 0, host)
}

/// The host inside.
pub(super) const HOST: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 4);
/// The shared address of the edge, and its MAP address.
pub(super) const OWN: Pair = Pair {
    v4: Ipv4Addr::new(192, 0, 2, 8),
    v6: documentation(0xce, 0x1b),
};
/// Its port set.
pub(super) const PORTS: PoolPorts = PoolPorts(4096, 8191);
pub(super) const RELAY: Ipv6Addr = documentation(6, 1);
pub(super) const ROUTER: Ipv6Addr = documentation(6, 0x4d);
/// Two servers, with their representations in the prefix of the relay.
pub(super) const OUTSIDE: [Pair; 2] = [
    Pair {
        v4: Ipv4Addr::new(203, 0, 113, 56),
        v6: Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0xcb00, 0x7138),
    },
    Pair {
        v4: Ipv4Addr::new(203, 0, 113, 57),
        v6: Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0xcb00, 0x7139),
    },
];

/// The way into the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeKind {
    Tunnel,
    Translator,
}

/// A fault of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeFault {
    /// One of its NAT.
    Nat(NatFault),
    /// The NAT uses every port.
    PortsUnrestricted,
    /// What comes may be from any IPv6 address.
    SourceUnchecked,
    /// What leaves the tunnel may be for any IPv4 address.
    DestinationUnchecked,
    /// None in what it forwards: the filtering of its NAT is Endpoint-Independent.
    Unfiltered,
    /// A UDP checksum that comes out as zero is sent as zero.
    UdpSumZero,
    /// Nothing enters the domain.
    OutboundDropped,
}

/// The edge.
pub(super) struct Edge {
    kind: EdgeKind,
    nat: Nat,
    translator: Translator,
    fault: Option<EdgeFault>,
}

impl ReferenceDevice for Edge {
    fn pass(&mut self, time_ms: u64) -> Vec<Sent> {
        self.nat.pass(time_ms)
    }

    fn receive(&mut self, side: Side, octets: &[u8]) -> Vec<Sent> {
        match side {
            Side::Inside => self.through_nat(Side::Inside, octets),
            _ => self.receive_from_domain(octets),
        }
    }
}

impl Edge {
    pub(super) fn new(kind: EdgeKind, filtering: Filtering, fault: Option<EdgeFault>) -> Self {
        let nat_fault = match fault {
            Some(EdgeFault::Nat(fault)) => Some(fault),
            _ => None,
        };
        let ports = Some(PORTS).filter(|_| fault != Some(EdgeFault::PortsUnrestricted));
        let links = Links {
            mtu4: 1500,
            mtu6: 1500,
        };
        let own = Pair {
            v4: Ipv4Addr::new(192, 168, 0, 1),
            v6: documentation(6, 2),
        };
        let pairs = OUTSIDE.into_iter().chain([OWN]).collect();
        Self {
            kind,
            nat: Nat::new(NatSetting {
                pool: vec![OWN.v4],
                ports,
                own_inside: own.v4,
                own_outside: OWN.v4,
                host: HOST,
                filtering,
                fault: nat_fault,
            }),
            translator: Translator::new(pairs, own, links, None),
            fault,
        }
    }

    fn has(&self, fault: EdgeFault) -> bool {
        self.fault == Some(fault)
    }

    fn through_nat(&mut self, side: Side, octets: &[u8]) -> Vec<Sent> {
        let mut leaving = Vec::new();
        for sent in self.nat.receive(side, octets) {
            match sent.side {
                Side::Inside => leaving.push(self.with_udp_sum(sent)),
                _ => leaving.extend(self.send_to_domain(&sent.octets)),
            }
        }
        leaving
    }

    fn with_udp_sum(&self, mut sent: Sent) -> Sent {
        const CHECKSUM: usize = 26;
        let is_udp = sent.octets[9] == UDP;
        if is_udp && self.has(EdgeFault::UdpSumZero) && word(&sent.octets, CHECKSUM) == u16::MAX {
            set_word(&mut sent.octets, CHECKSUM, 0);
        }
        sent
    }

    fn send_to_domain(&mut self, octets: &[u8]) -> Vec<Sent> {
        let outside = |octets| Sent {
            side: Side::Outside,
            octets,
        };
        if self.has(EdgeFault::OutboundDropped) {
            return Vec::new();
        }
        if self.kind == EdgeKind::Tunnel {
            return vec![outside(header_6(OWN.v6, RELAY, IPV4, octets[1], octets))];
        }
        let translated = self.translator.receive(Side::Ipv4, octets).into_iter();
        let to_domain = translated.filter(|sent| sent.side == Side::Ipv6);
        to_domain.map(|sent| outside(sent.octets)).collect()
    }

    fn receive_from_domain(&mut self, octets: &[u8]) -> Vec<Sent> {
        let Some(packet) = V6::parse(octets).filter(|packet| packet.destination == OWN.v6) else {
            return Vec::new();
        };
        match self.kind {
            EdgeKind::Tunnel => self.decapsulated(&packet),
            EdgeKind::Translator => self.translated(&packet, octets),
        }
    }

    /// RFC 7597 section 8.1: the source, and then the destination of the packet inside.
    fn decapsulated(&mut self, outer: &V6) -> Vec<Sent> {
        let is_checked = outer.source == RELAY || self.has(EdgeFault::SourceUnchecked);
        let Some(inner) = Packet::parse(&outer.data).filter(|_| is_checked) else {
            return Vec::new();
        };
        if inner.address(End::Destination) == OWN.v4 {
            return self.through_nat(Side::Outside, &inner.octets);
        }
        if !self.has(EdgeFault::DestinationUnchecked) {
            return Vec::new();
        }
        vec![Sent {
            side: Side::Inside,
            octets: inner.octets,
        }]
    }

    /// RFC 7599 section 8.2: the source, and then the destination port.
    fn translated(&mut self, packet: &V6, octets: &[u8]) -> Vec<Sent> {
        let mut octets = octets.to_vec();
        if !OUTSIDE.iter().any(|pair| pair.v6 == packet.source) {
            if !self.has(EdgeFault::SourceUnchecked) {
                return Vec::new();
            }
            octets[8..24].copy_from_slice(&OUTSIDE[0].v6.octets());
        }
        let port = word(&packet.data, if packet.protocol == 58 { 4 } else { 2 });
        let is_in_set = (PORTS.0..=PORTS.1).contains(&port);
        let is_unchecked = self.has(EdgeFault::PortsUnrestricted)
            || self.has(EdgeFault::Nat(NatFault::UnsolicitedForwarded));
        if !is_in_set && !is_unchecked {
            return Vec::new();
        }
        let translated = self.translator.receive(Side::Ipv6, &octets);
        let mut leaving = Vec::new();
        for sent in translated
            .into_iter()
            .filter(|sent| sent.side == Side::Ipv4)
        {
            leaving.extend(self.through_nat(Side::Outside, &sent.octets));
        }
        leaving
    }
}
