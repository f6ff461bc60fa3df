//! The NAT of the reference AFTR, with a binding table that is extended by the source of the tunnel (RFC 6333 section 6.6). To the NAT, each host behind a
//! B4 element has an address of its own.

use super::fault::Fault;
use super::network::PUBLIC;
use crate::frame::Side;
use crate::tests::nat::ReferenceDevice;
use crate::tests::nat::reference::nat::{Filtering, Nat, NatSetting};
use crate::tests::nat::reference::packet::{End, Packet};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A host behind a B4 element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct B4Host {
    tunnel: Ipv6Addr,
    address: Ipv4Addr,
}

/// A datagram that leaves the NAT.
pub(super) enum Translated {
    /// To the outside.
    Outside(Vec<u8>),
    /// Into the tunnel to this B4 element.
    Tunnel(Ipv6Addr, Vec<u8>),
}

/// The NAT with its table.
pub(super) struct Bindings {
    nat: Nat,
    hosts: Vec<B4Host>,
    fault: Option<Fault>,
}

impl Bindings {
    pub(super) fn new(own_outside: Ipv4Addr, fault: Option<Fault>) -> Self {
        let nat_fault = match fault {
            Some(Fault::Nat(fault)) => Some(fault),
            _ => None,
        };
        let nat = Nat::new(NatSetting {
            pool: vec![PUBLIC],
            ports: None,
            own_inside: own_outside,
            own_outside,
            host: alias(0),
            filtering: Filtering::EndpointIndependent,
            fault: nat_fault,
        });
        Self {
            nat,
            hosts: Vec::new(),
            fault,
        }
    }

    /// Translates a datagram that came through a tunnel.
    pub(super) fn translate_outward(&mut self, tunnel: Ipv6Addr, octets: &[u8]) -> Vec<Translated> {
        let Some(mut packet) = Packet::parse(octets) else {
            return Vec::new();
        };
        let address = packet.address(End::Source);
        let host = B4Host { tunnel, address };
        let is_simple = self.fault == Some(Fault::TunnelForgotten);
        let is_known = |known: &B4Host| *known == host || is_simple && known.address == address;
        let at = self.hosts.iter().position(is_known);
        let at = at.unwrap_or_else(|| {
            self.hosts.push(host);
            self.hosts.len() - 1
        });
        rename(&mut packet, End::Source, alias(at));
        self.through_nat(Side::Inside, &packet.octets)
    }

    /// Translates a datagram from the outside.
    pub(super) fn translate_inward(&mut self, octets: &[u8]) -> Vec<Translated> {
        self.through_nat(Side::Outside, octets)
    }

    fn through_nat(&mut self, side: Side, octets: &[u8]) -> Vec<Translated> {
        let sent = self.nat.receive(side, octets);
        let translated = sent.into_iter().filter_map(|sent| {
            if sent.side == Side::Outside {
                return Some(Translated::Outside(sent.octets));
            }
            let mut packet = Packet::parse(&sent.octets)?;
            let to = packet.address(End::Destination);
            let at = (0..self.hosts.len()).find(|at| alias(*at) == to)?;
            let host = self.hosts[at];
            rename(&mut packet, End::Destination, host.address);
            Some(Translated::Tunnel(host.tunnel, packet.octets))
        });
        translated.collect()
    }
}

/// Returns the address that a host has for the NAT alone.
fn alias(at: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 200, 0, at as u8 + 1)
}

/// Gives an end of a packet another address, and in an error the other end of the packet in it, if that has the same.
fn rename(packet: &mut Packet, end: End, address: Ipv4Addr) {
    let before = packet.address(end);
    if packet.is_icmp_error()
        && let Some(mut embedded) = packet.embedded()
    {
        let other = match end {
            End::Source => End::Destination,
            End::Destination => End::Source,
        };
        if embedded.address(other) == before {
            embedded.set_address(other, address);
        }
        packet.set_embedded(&embedded);
    }
    packet.set_address(end, address);
}
