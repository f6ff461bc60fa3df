//! A border relay of MAP-T (RFC 7599) in memory: the subscriber follows from address and port, and the headers are translated as by RFC 7915.

use super::datagrams::error;
use super::fault::Fault;
use super::network::{Customer, Network};
use super::ports::{Known, ports_of};
use crate::frame::Side;
use crate::tests::rigs::reference::datagram::{ICMP, ICMPV6, TCP, UDP, V4, V6, word};
use crate::tests::rigs::reference::fault;
use crate::tests::rigs::reference::translator::{Links, Pair, Rig, Sent, Translator};

/// The border relay.
pub(super) struct MapT {
    pub(super) network: Network,
    pub(super) fault: Option<Fault>,
}

impl MapT {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(super) fn received(&self, side: Side, octets: &[u8]) -> Vec<Sent> {
        match side {
            Side::Ipv4 => self.enters(octets),
            Side::Ipv6 => self.leaves(octets),
            Side::Inside | Side::Outside => Vec::new(),
        }
    }

    fn enters(&self, octets: &[u8]) -> Vec<Sent> {
        let Some(packet) = V4::parse(octets) else {
            return Vec::new();
        };
        if self.has(Fault::EncapDropped)
            || self.has(Fault::IcmpDropped) && packet.protocol == ICMP
            || self.has(Fault::OnlyUdp) && packet.protocol != UDP
        {
            return Vec::new();
        }
        if self.has(Fault::IcmpToFirst) && packet.protocol == ICMP {
            return self.translated(self.network.subscriber, Side::Ipv4, octets);
        }
        let port = ports_of(&packet, Known::Destination);
        let owner = self
            .network
            .customers()
            .into_iter()
            .find(|customer| port.is_some_and(|port| self.is_in_set(*customer, port)));
        owner.map_or_else(Vec::new, |owner| {
            let owner = if self.has(Fault::EndCached) {
                self.network.subscriber
            } else {
                owner
            };
            self.translated(owner, Side::Ipv4, octets)
        })
    }

    fn leaves(&self, octets: &[u8]) -> Vec<Sent> {
        let Some(packet) = V6::parse(octets) else {
            return Vec::new();
        };
        let customers = self.network.customers();
        let sender = customers
            .into_iter()
            .find(|customer| customer.v6 == packet.source);
        let Some(sender) = sender.filter(|_| !self.has(Fault::DecapDropped)) else {
            return Vec::new();
        };
        let port = match packet.protocol {
            UDP | TCP => word(&packet.data, 0),
            ICMPV6 => word(&packet.data, 4),
            _ => return Vec::new(),
        };
        let is_unchecked = self.has(Fault::PortUnchecked)
            || packet.protocol == TCP && self.has(Fault::TcpPortUnchecked);
        if self.has(Fault::OnlyUdp) && packet.protocol != UDP {
            return Vec::new();
        }
        if self.is_in_set(sender, port) || is_unchecked {
            return self.translated(sender, Side::Ipv6, octets);
        }
        if self.has(Fault::DiscardSilent) {
            return Vec::new();
        }
        let told = error(self.network.own.1.into(), 1, 5, 0, octets);
        vec![Sent {
            side: Side::Ipv6,
            octets: told,
        }]
    }

    fn is_in_set(&self, customer: Customer, port: u16) -> bool {
        let (first, last) = customer.ports;
        let last = if self.has(Fault::LastPortLost) {
            last - 1
        } else {
            last
        };
        let in_first = self.network.in_first_range(port, self.fault);
        in_first.is_some_and(|port| (first..=last).contains(&port))
    }

    /// Returns a packet of one subscriber translated: to the translator the shared address is this subscriber's.
    fn translated(&self, customer: Customer, side: Side, octets: &[u8]) -> Vec<Sent> {
        let pair = |v4, v6| Pair { v4, v6 };
        let (server, own) = (self.network.server, self.network.own);
        let pairs = vec![pair(customer.v4, customer.v6), pair(server.0, server.1)];
        let links = Links {
            mtu4: 1500,
            mtu6: 1500,
        };
        let mut octets = octets.to_vec();
        let is_forward = side == Side::Ipv6;
        let kept = Fault::EncapHopsKept;
        if self.has(if is_forward {
            Fault::DecapHopsKept
        } else {
            kept
        }) {
            super::datagrams::set_hops(&mut octets, 34);
        }
        let rig = self.has(Fault::UdpSumZero).then_some(Rig {
            from: Side::Ipv4,
            fault: fault::Fault::UdpSumZero,
        });
        Translator::new(pairs, pair(own.0, own.1), links, rig).receive(side, &octets)
    }
}
