//! A lwAFTR (RFC 7596), a border relay of MAP-E (RFC 7597) or an AFTR (RFC 6333) in memory, with the tunnels of RFC 2473. A table has its subscribers.

use super::bindings::{Bindings, Translated};
use super::datagrams::{IPV4, class, error, header_6, hops, seal, set_class, set_hops, v4};
use super::ecn;
use super::fault::Fault;
use super::network::{Customer, MTU, Network, Technology, WELL_KNOWN};
use super::ports::{Known, ports_of};
use super::reassembly::Reassembly;
use crate::frame::Side;
use crate::tests::rigs::reference::datagram::{
    Fragment, ICMP, ICMPV6, TCP, UDP, V4, V6, set_word, word,
};
use crate::tests::rigs::reference::translator::Sent;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

/// Octets of the tunnel header.
const HEADER: u32 = 40;
/// The type of ICMPv6 for an unreachable destination, and its code for a source address that failed ingress or egress policy.
const POLICY: (u8, u8) = (1, 5);

/// The device.
pub(super) struct Softwires {
    network: Network,
    fault: Option<Fault>,
    fragments: Reassembly,
    outside: Reassembly,
    path_mtus: BTreeMap<Ipv6Addr, u32>,
    bindings: Bindings,
}

fn one(side: Side, octets: Vec<u8>) -> Vec<Sent> {
    vec![Sent { side, octets }]
}

impl Softwires {
    pub(super) fn new(network: Network, fault: Option<Fault>) -> Self {
        Self {
            network,
            fault,
            fragments: Reassembly::default(),
            outside: Reassembly::default(),
            path_mtus: BTreeMap::new(),
            bindings: Bindings::new(network.own.0, fault),
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn is_nat(&self) -> bool {
        self.network.technology == Technology::DsLite
    }

    pub(super) fn received(&mut self, side: Side, octets: &[u8]) -> Vec<Sent> {
        match side {
            Side::Ipv4 => self.enters(octets),
            Side::Ipv6 => self.leaves(octets),
            Side::Inside | Side::Outside => Vec::new(),
        }
    }

    fn enters(&mut self, octets: &[u8]) -> Vec<Sent> {
        let Some(packet) = V4::parse(octets) else {
            return Vec::new();
        };
        if self.has(Fault::EncapDropped) {
            return Vec::new();
        }
        let is_part = packet.is_fragment();
        if is_part && self.has(Fault::FragmentsDropped) {
            return Vec::new();
        }
        let source = packet.source.into();
        let whole = self
            .outside
            .whole(source, Some(packet.fragment), &packet.data, self.fault);
        let Some(data) = whole else {
            return Vec::new();
        };
        let mut whole = packet.clone();
        (whole.total, whole.data) = (20 + data.len() as u16, data);
        (whole.fragment.more, whole.fragment.offset) = (false, 0);
        if self.is_nat() {
            let octets = whole.octets();
            let translated = self.bindings.translate_inward(&octets);
            return self.leaving(translated, &octets);
        }
        match self.owner(&whole, Known::Destination) {
            Some(owner) => self.encapsulated(owner, whole.octets()),
            None => Vec::new(),
        }
    }

    /// Returns what leaves of what the NAT has translated. An error about the size of a datagram quotes what came, not what the NAT made of it.
    fn leaving(&mut self, translated: Vec<Translated>, came: &[u8]) -> Vec<Sent> {
        let mut leaving = Vec::new();
        for translated in translated {
            let (end, mut inner) = match translated {
                Translated::Outside(octets) => {
                    leaving.extend(one(Side::Ipv4, octets));
                    continue;
                }
                Translated::Tunnel(end, inner) => (end, inner),
            };
            if self.too_big_for(end, &inner).is_some() && came[16..20] != inner[16..20] {
                inner = came.to_vec();
            } else {
                // The NAT has lowered the TTL, and so does the tunnel.
                let hops = hops(&inner) + 1;
                set_hops(&mut inner, hops);
            }
            let mut customers = self.network.customers().into_iter();
            let owner = customers.find(|customer| customer.v6 == end);
            leaving.extend(owner.map_or_else(Vec::new, |owner| self.encapsulated(owner, inner)));
        }
        leaving
    }

    /// Returns the subscriber with the address and port of a packet.
    fn owner(&self, packet: &V4, known: Known) -> Option<Customer> {
        let address = match known {
            Known::Destination => packet.destination,
            Known::Source => packet.source,
        };
        let customers = self.network.customers();
        let mut at_address = customers
            .into_iter()
            .filter(|customer| customer.v4 == address);
        if self.has(Fault::OnlyUdp) && packet.protocol != UDP
            || self.has(Fault::IcmpDropped) && packet.protocol == ICMP
        {
            return None;
        }
        if self.has(Fault::IcmpToFirst) && packet.protocol == ICMP {
            return at_address.next();
        }
        let is_other =
            packet.protocol == ICMP && !matches!(packet.data.first(), Some(0 | 3 | 8 | 11));
        if self.has(Fault::OtherIcmpPassed) && is_other {
            return at_address.next();
        }
        if self.has(Fault::ErrorsDropped) && matches!(packet.data.first(), Some(3 | 11)) {
            return None;
        }
        let port = ports_of(packet, known)?;
        at_address.find(|customer| self.is_in_set(*customer, port))
    }

    fn is_in_set(&self, customer: Customer, port: u16) -> bool {
        let (first, last) = customer.ports;
        let first = if self.has(Fault::PortBelowTaken) {
            first - 1
        } else {
            first
        };
        let last = if self.has(Fault::LastPortLost) {
            last - 1
        } else {
            last
        };
        let in_first = self.network.in_first_range(port, self.fault);
        in_first.is_some_and(|port| (first..=last).contains(&port))
    }

    fn encapsulated(&mut self, owner: Customer, mut inner: Vec<u8>) -> Vec<Sent> {
        let own = IpAddr::from(self.network.own.0);
        if hops(&inner) <= 1 {
            if self.has(Fault::NoTimeExceeded) {
                return Vec::new();
            }
            return one(Side::Ipv4, error(own, 11, 0, 0, &inner));
        }
        if let Some(told) = self.too_big_for(owner.v6, &inner) {
            return one(Side::Ipv4, error(own, 3, 4, told, &inner));
        }
        let mtu = self.path_mtu(owner.v6);
        if !self.has(Fault::EncapHopsKept) {
            let hops = hops(&inner) - 1;
            set_hops(&mut inner, hops);
        }
        self.with_header(owner.v6, inner, mtu)
    }

    /// Returns the MTU to tell if a packet is too big for a tunnel and must not be fragmented.
    fn too_big_for(&self, end: Ipv6Addr, inner: &[u8]) -> Option<u32> {
        let mtu = self.path_mtu(end);
        let is_df = inner[6] & 0x40 != 0 || self.has(Fault::ErrorWithoutDf);
        let is_told = inner.len() as u32 + HEADER > mtu && is_df && !self.has(Fault::DfIgnored);
        let told = if self.has(Fault::TooBigNotReduced) {
            mtu
        } else {
            mtu - HEADER
        };
        is_told.then_some(told)
    }

    fn path_mtu(&self, end: Ipv6Addr) -> u32 {
        let learnt = self.path_mtus.get(&end).copied();
        let mtu = learnt
            .filter(|_| !self.has(Fault::MtuIgnored))
            .unwrap_or(MTU);
        if self.has(Fault::MtuOneTooSmall) {
            mtu - 1
        } else {
            mtu
        }
    }

    /// Returns the tunnel packets for a packet. Traffic classes are carried over (RFC 6333 section 7.1).
    fn with_header(&self, end: Ipv6Addr, mut inner: Vec<u8>, mtu: u32) -> Vec<Sent> {
        let inside = class(&inner);
        let ecn = ecn::at_ingress(inside & 3, self.fault);
        let outside = match self.fault {
            Some(Fault::OuterClassZero) => ecn,
            _ => inside & 0xfc | ecn,
        };
        match self.fault {
            Some(Fault::InnerFlagsCleared) => {
                inner[4..8].fill(0);
                seal(&mut inner);
            }
            Some(Fault::InnerClassCleared) => set_class(&mut inner, 0),
            _ => {}
        }
        let from = if self.has(Fault::SourceOfLink) {
            self.network.own.1
        } else {
            self.network.relay_6()
        };
        let end = if self.has(Fault::EndCached) {
            self.network.subscriber.v6
        } else {
            end
        };
        if inner.len() as u32 + HEADER > mtu && self.has(Fault::FragmentedInside) {
            return self.divided_inside(from, end, &inner);
        }
        let mut outer = header_6(from, end, IPV4, outside, &inner);
        if self.has(Fault::OuterHopsCopied) {
            set_hops(&mut outer, hops(&inner));
        }
        divided(outer, mtu)
    }

    /// Returns the two parts of a packet that is fragmented before it is encapsulated.
    fn divided_inside(&self, from: Ipv6Addr, end: Ipv6Addr, inner: &[u8]) -> Vec<Sent> {
        let Some(packet) = V4::parse(inner) else {
            return Vec::new();
        };
        let (first, second) = packet.data.split_at(1400);
        let part = |data: &[u8], offset, more| {
            let mut part = packet.clone();
            (part.data, part.total) = (data.to_vec(), 20 + data.len() as u16);
            (part.fragment.offset, part.fragment.more) = (offset, more);
            Sent {
                side: Side::Ipv6,
                octets: header_6(from, end, IPV4, 0, &part.octets()),
            }
        };
        vec![part(first, 0, true), part(second, 1400, false)]
    }

    fn leaves(&mut self, octets: &[u8]) -> Vec<Sent> {
        let Some(outer) = V6::parse(octets) else {
            return Vec::new();
        };
        let has_extensions = octets[6] != outer.protocol && outer.fragment.is_none();
        let limit_is_zero = octets[6] == 60 && octets[42..45] == [4, 1, 0];
        if outer.destination != self.network.relay_6()
            || self.has(Fault::DecapDropped)
            || self.has(Fault::ExtensionsDropped) && has_extensions
            || self.has(Fault::LimitChecked) && limit_is_zero
            || self.has(Fault::OuterHopsChecked) && outer.hops == 1
        {
            return Vec::new();
        }
        match outer.protocol {
            ICMPV6 => self.error_from_inside(&outer),
            IPV4 => self.decapsulated(&outer, octets),
            _ => Vec::new(),
        }
    }

    fn decapsulated(&mut self, outer: &V6, octets: &[u8]) -> Vec<Sent> {
        let source = outer.source.into();
        let whole = self
            .fragments
            .whole(source, outer.fragment, &outer.data, self.fault);
        let Some(inner) = whole else {
            return Vec::new();
        };
        let Some(packet) = V4::parse(&inner) else {
            return Vec::new();
        };
        if inner.len() + 40 > 1280 && self.has(Fault::LargeDropped) {
            return Vec::new();
        }
        let Some(sender) = self.sender(outer.source, &packet) else {
            return self.discarded(octets);
        };
        self.opened(outer, inner, sender)
    }

    /// Returns the subscriber that sent a packet through its tunnel, if the packet is its own.
    fn sender(&self, end: Ipv6Addr, packet: &V4) -> Option<Customer> {
        let customers = self.network.customers();
        let by_end = customers.into_iter().find(|customer| customer.v6 == end);
        if self.is_nat() {
            let is_second = end == self.network.neighbour.v6;
            return by_end.filter(|_| !(is_second && self.has(Fault::OverlappingDropped)));
        }
        let customer = if self.has(Fault::TunnelUnchecked) {
            by_end
                .or(Some(self.network.subscriber))
                .map(|_| self.network.subscriber)
        } else {
            by_end
        }?;
        if packet.source != customer.v4 {
            return self.has(Fault::AddressUnchecked).then_some(customer);
        }
        let is_unchecked = match packet.protocol {
            TCP => self.has(Fault::TcpPortUnchecked),
            ICMP => self.has(Fault::IdentifierUnchecked),
            _ => false,
        };
        if self.has(Fault::OnlyUdp) && packet.protocol != UDP {
            return None;
        }
        let port = ports_of(packet, Known::Source)?;
        let is_own = self.is_in_set(customer, port);
        (is_own || is_unchecked || self.has(Fault::PortUnchecked)).then_some(customer)
    }

    /// Returns the error about a packet that is not its sender's. Only RFC 7596 section 6.2 allows one.
    fn discarded(&self, octets: &[u8]) -> Vec<Sent> {
        if !self.has(Fault::DiscardTold) {
            return Vec::new();
        }
        let own = IpAddr::from(self.network.relay_6());
        one(Side::Ipv6, error(own, POLICY.0, POLICY.1, 0, octets))
    }

    fn opened(&mut self, outer: &V6, mut inner: Vec<u8>, sender: Customer) -> Vec<Sent> {
        let inside = class(&inner);
        let Some(ecn) = ecn::at_egress(inside & 3, outer.class & 3, self.fault) else {
            return Vec::new();
        };
        // RFC 6333 section 7.1: what the tunnel header has is carried over.
        let kept = if self.has(Fault::InnerClassKept) {
            inside
        } else {
            outer.class
        };
        set_class(&mut inner, kept & 0xfc | ecn);
        if self.has(Fault::InnerHopsFromOuter) {
            set_hops(&mut inner, outer.hops);
        }
        if hops(&inner) <= 1 {
            if self.has(Fault::NoTimeExceeded) {
                return Vec::new();
            }
            let own = match self.fault {
                Some(Fault::ErrorFromLink) => self.network.own.0,
                _ => WELL_KNOWN,
            };
            let expired = error(own.into(), 11, 0, 0, &inner);
            return self.with_header(sender.v6, expired, MTU);
        }
        if self.is_nat() {
            return self.opened_to_nat(inner, sender);
        }
        let to = v4(&inner, 16);
        if self
            .network
            .customers()
            .iter()
            .any(|customer| customer.v4 == to)
        {
            return self.hairpinned(inner);
        }
        if !self.has(Fault::DecapHopsKept) {
            let hops = hops(&inner) - 1;
            set_hops(&mut inner, hops);
        }
        one(Side::Ipv4, inner)
    }

    /// Returns what leaves of a packet from a tunnel that the NAT translates. The NAT lowers the TTL.
    fn opened_to_nat(&mut self, mut inner: Vec<u8>, sender: Customer) -> Vec<Sent> {
        if self.has(Fault::DecapHopsKept) {
            let hops = hops(&inner) + 1;
            set_hops(&mut inner, hops);
        }
        if self.has(Fault::SourceKept) {
            let hops = hops(&inner) - 1;
            set_hops(&mut inner, hops);
            return one(Side::Ipv4, inner);
        }
        let tcp_sum = (inner[9] == TCP).then(|| word(&inner, 36));
        let translated = self.bindings.translate_outward(sender.v6, &inner);
        let mut leaving = self.leaving(translated, &inner);
        if let Some(before) = tcp_sum.filter(|_| self.has(Fault::TcpSumKept)) {
            for sent in &mut leaving {
                set_word(&mut sent.octets, 36, before);
            }
        }
        leaving
    }

    fn hairpinned(&mut self, inner: Vec<u8>) -> Vec<Sent> {
        let packet = V4::parse(&inner);
        let owner = packet.and_then(|packet| self.owner(&packet, Known::Destination));
        match owner.filter(|_| !self.has(Fault::NoHairpin)) {
            Some(owner) => self.encapsulated(owner, inner),
            None => Vec::new(),
        }
    }

    /// Relays an error about a tunnel packet to the source of the packet in it (RFC 2473 section 8.3).
    fn error_from_inside(&mut self, outer: &V6) -> Vec<Sent> {
        let Some(about) = outer.data.get(8..).and_then(V6::parse) else {
            return Vec::new();
        };
        if about.data.len() < 20 {
            return Vec::new();
        }
        let own = IpAddr::from(self.network.own.0);
        let is_df = about.data[6] & 0x40 != 0;
        if outer.data[0] == 2 {
            let mtu = u32::from(word(&outer.data, 6));
            self.path_mtus.insert(about.destination, mtu);
            if !is_df && !self.has(Fault::ErrorWithoutDf) {
                return Vec::new();
            }
            let told = if self.has(Fault::TooBigNotReduced) {
                mtu
            } else {
                mtu - HEADER
            };
            return one(Side::Ipv4, error(own, 3, 4, told, &about.data));
        }
        if self.has(Fault::ErrorsIgnored) {
            return Vec::new();
        }
        let code = u8::from(!self.has(Fault::ErrorCodeWrong));
        one(Side::Ipv4, error(own, 3, code, 0, &about.data))
    }
}

/// Returns a tunnel packet, in fragments if it is larger than the path MTU.
fn divided(outer: Vec<u8>, mtu: u32) -> Vec<Sent> {
    if outer.len() as u32 <= mtu {
        return one(Side::Ipv6, outer);
    }
    let Some(packet) = V6::parse(&outer) else {
        return Vec::new();
    };
    let most = (mtu as usize - 48) / 8 * 8;
    let parts = packet.data.chunks(most).enumerate().map(|(number, data)| {
        let mut part = packet.clone();
        (part.data, part.length) = (data.to_vec(), data.len() as u16);
        part.fragment = Some(Fragment {
            id: 7,
            offset: (number * most) as u16,
            more: (number + 1) * most < packet.data.len(),
        });
        Sent {
            side: Side::Ipv6,
            octets: part.octets(),
        }
    });
    parts.collect()
}
