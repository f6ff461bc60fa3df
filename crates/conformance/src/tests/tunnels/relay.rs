//! A relay of 6to4 (RFC 3056, RFC 3964) or 6rd (RFC 5969) in memory, with the encapsulation of RFC 4213. It has a dynamic MTU (section 3.2.2).

use super::datagrams::{
    HOPS, IPV6, class, destination, error, header_4, hops, set_class, set_hops, v6,
};
use super::ecn;
use super::fault::Fault;
use super::network::{MTU, Network, Technology};
use super::reassembly::Reassembly;
use crate::frame::Side;
use crate::tests::rigs::reference::datagram::{ICMP, V4, word};
use crate::tests::rigs::reference::translator::Sent;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The smallest MTU of an IPv6 link.
const MINIMUM_MTU: u32 = 1280;

/// The relay.
pub(super) struct Relay {
    network: Network,
    fault: Option<Fault>,
    fragments: Reassembly,
    path_mtus: BTreeMap<Ipv4Addr, u32>,
}

fn to_4(octets: Vec<u8>) -> Sent {
    Sent {
        side: Side::Ipv4,
        octets,
    }
}

fn to_6(octets: Vec<u8>) -> Sent {
    Sent {
        side: Side::Ipv6,
        octets,
    }
}

/// Returns whether an address is none of those in RFC 3964 section 5.3.1, which has those of RFC 3056 section 9.
fn is_global_unicast(address: Ipv4Addr) -> bool {
    let [first, ..] = address.octets();
    let is_special = address.is_private() || address.is_loopback() || address.is_link_local();
    !(is_special || first == 0 || first >= 224)
}

/// Returns whether an address is none of those in RFC 3964 section 5.3.2, which has those of RFC 4213 section 3.6.
fn is_sane(address: Ipv6Addr) -> bool {
    let first = address.segments()[0];
    !(first == 0 || first & 0xffc0 == 0xfe80 || first & 0xffc0 == 0xfec0 || first >= 0xff00)
}

impl Relay {
    pub(super) fn new(network: Network, fault: Option<Fault>) -> Self {
        Self {
            network,
            fault,
            fragments: Reassembly::default(),
            path_mtus: BTreeMap::new(),
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn is_6to4(&self) -> bool {
        self.network.technology == Technology::SixToFour
    }

    /// Returns the IPv4 address in an address of the domain.
    fn embedded(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        let octets = address.octets();
        if self.is_6to4() {
            let is_6to4 = octets[..2] == [0x20, 0x02];
            return is_6to4.then(|| Ipv4Addr::new(octets[2], octets[3], octets[4], octets[5]));
        }
        // The first 16 bits are those of every customer: IPv4MaskLen is 16.
        let is_in_domain = octets[..4] == [0x20, 0x01, 0x0d, 0xb8];
        is_in_domain.then(|| Ipv4Addr::new(198, 18, octets[4], octets[5]))
    }

    pub(super) fn received(&mut self, side: Side, octets: &[u8]) -> Option<Sent> {
        match side {
            Side::Ipv6 => self.enters(octets),
            Side::Ipv4 => self.leaves(octets),
            Side::Inside | Side::Outside => None,
        }
    }

    fn enters(&mut self, octets: &[u8]) -> Option<Sent> {
        if self.has(Fault::EncapDropped) {
            return None;
        }
        let source = v6(octets, 8);
        if self.is_6to4()
            && self.embedded(source).is_some()
            && !self.has(Fault::EncapSourceUnchecked)
        {
            return None;
        }
        self.encapsulated(octets.to_vec())
    }

    /// Forwards a packet into the tunnel.
    fn encapsulated(&mut self, mut inner: Vec<u8>) -> Option<Sent> {
        let end = self.embedded(v6(&inner, 24))?;
        if !is_global_unicast(end) && !self.has(Fault::EmbeddedDestinationUnchecked) {
            return None;
        }
        let own = IpAddr::from(self.network.own.1);
        if hops(&inner) <= 1 {
            let expired = error(own, 3, 0, 0, &inner);
            return Some(to_6(expired)).filter(|_| !self.has(Fault::NoTimeExceeded));
        }
        let mtu = self.tunnel_mtu(end);
        if inner.len() as u32 > mtu {
            let told = if self.has(Fault::TooBigNotReduced) {
                mtu + 20
            } else {
                mtu
            };
            return Some(to_6(error(own, 2, 0, told, &inner)));
        }
        if !self.has(Fault::EncapHopsKept) {
            let hops = hops(&inner) - 1;
            set_hops(&mut inner, hops);
        }
        Some(to_4(self.with_header(end, inner)))
    }

    fn tunnel_mtu(&self, end: Ipv4Addr) -> u32 {
        if self.has(Fault::MtuBelowMinimum) {
            return 1232;
        }
        let path = self.path_mtus.get(&end).copied().unwrap_or(MTU);
        let mtu = (path - 20).max(MINIMUM_MTU);
        if self.has(Fault::MtuIgnored) {
            MTU + 20
        } else if self.has(Fault::MtuOneTooSmall) {
            mtu - 1
        } else {
            mtu
        }
    }

    fn with_header(&self, end: Ipv4Addr, mut inner: Vec<u8>) -> Vec<u8> {
        let inside = class(&inner);
        let ecn = ecn::at_ingress(inside & 3, self.fault);
        let mut outside = inside & 0xfc | ecn;
        match self.fault {
            Some(Fault::OuterClassInvented) => outside ^= 0x40,
            Some(Fault::InnerClassCleared) => {
                set_class(&mut inner, 0);
                (inner[1], inner[2], inner[3]) = (0, 0, 0);
            }
            _ => {}
        }
        let from = if self.has(Fault::SourceOfLink) {
            self.network.own.0
        } else {
            self.network.relay_4()
        };
        let end = if self.has(Fault::EndCached) {
            self.network.subscriber.v4
        } else {
            end
        };
        let mut outer = header_4(from, end, IPV6, outside, &inner);
        if self.has(Fault::OuterHopsCopied) {
            set_hops(&mut outer, hops(&inner));
        }
        if self.has(Fault::DfSet) {
            outer[6] |= 0x40;
            set_hops(&mut outer, HOPS);
        }
        outer
    }

    fn leaves(&mut self, octets: &[u8]) -> Option<Sent> {
        let outer = V4::parse(octets)?;
        if self.has(Fault::DecapDropped) || outer.destination != self.network.relay_4() {
            return None;
        }
        match outer.protocol {
            ICMP => self.error_from_inside(&outer),
            IPV6 => self.decapsulated(&outer),
            _ => None,
        }
    }

    fn decapsulated(&mut self, outer: &V4) -> Option<Sent> {
        if self.has(Fault::OuterHopsChecked) && outer.ttl == 1 {
            return None;
        }
        let source = outer.source.into();
        let mut inner =
            self.fragments
                .whole(source, Some(outer.fragment), &outer.data, self.fault)?;
        if inner.len() < 40 || inner[0] >> 4 != 6 {
            return None;
        }
        let length = 40 + usize::from(word(&inner, 4));
        if inner.len() < length || self.has(Fault::LargeDropped) && length > 1280 {
            return None;
        }
        if !self.has(Fault::PaddingKept) {
            inner.truncate(length);
        }
        if !self.is_from(outer.source, &inner) || !self.is_destination(&inner) {
            return None;
        }
        self.opened(outer, inner)
    }

    /// Returns whether the source of a packet is one that may come from this end of a tunnel.
    fn is_from(&self, end: Ipv4Addr, inner: &[u8]) -> bool {
        let source = v6(inner, 8);
        if !is_sane(source) {
            return self.has(Fault::InvalidSourcePassed);
        }
        let Some(site) = self.embedded(source) else {
            let is_for_site = self.is_6to4() && self.embedded(v6(inner, 24)).is_some();
            return is_for_site || self.has(Fault::NativeSourcePassed);
        };
        if !is_global_unicast(site) {
            return self.has(Fault::EmbeddedSourceUnchecked);
        }
        let is_near = site.octets()[..3] == end.octets()[..3];
        site == end
            || self.has(Fault::SourceUnchecked)
            || self.has(Fault::SourceNetworkChecked) && is_near
    }

    /// Returns whether the destination of a packet from a tunnel may be reached.
    fn is_destination(&self, inner: &[u8]) -> bool {
        let destination = v6(inner, 24);
        if !is_sane(destination) {
            return self.has(Fault::InvalidDestinationPassed);
        }
        let is_of_domain = self.embedded(destination).is_some();
        !is_of_domain || !self.is_6to4() || self.has(Fault::DestinationUnchecked)
    }

    /// Forwards a packet that was in a tunnel packet.
    fn opened(&mut self, outer: &V4, mut inner: Vec<u8>) -> Option<Sent> {
        let inside = class(&inner);
        let ecn = ecn::at_egress(inside & 3, outer.tos & 3, self.fault)?;
        set_class(&mut inner, inside & 0xfc | ecn);
        match self.fault {
            Some(Fault::InnerHeaderCleared) => (inner[1], inner[2], inner[3]) = (0, 0, 0),
            Some(Fault::InnerHopsFromOuter) => set_hops(&mut inner, outer.ttl),
            _ => {}
        }
        if hops(&inner) <= 1 {
            let own = IpAddr::from(self.network.own.1);
            let expired = error(own, 3, 0, 0, &inner);
            return self
                .encapsulated_error(expired)
                .filter(|_| !self.has(Fault::NoTimeExceeded));
        }
        if self.embedded(v6(&inner, 24)).is_some() {
            return self
                .encapsulated(inner)
                .filter(|_| !self.has(Fault::ReflectedDropped));
        }
        if !self.has(Fault::DecapHopsKept) {
            let hops = hops(&inner) - 1;
            set_hops(&mut inner, hops);
        }
        Some(to_6(inner))
    }

    fn encapsulated_error(&self, error: Vec<u8>) -> Option<Sent> {
        let IpAddr::V6(to) = destination(&error) else {
            return None;
        };
        Some(to_4(self.with_header(self.embedded(to)?, error)))
    }

    /// Learns from an error about a tunnel packet, or relays it (RFC 4213 section 3.4).
    fn error_from_inside(&mut self, outer: &V4) -> Option<Sent> {
        let (kind, code) = (*outer.data.first()?, *outer.data.get(1)?);
        let about = V4::parse(outer.data.get(8..)?)?;
        if (kind, code) == (3, 4) {
            let mtu = u32::from(word(&outer.data, 6));
            self.path_mtus.insert(about.destination, mtu);
            return None;
        }
        if self.has(Fault::ErrorForwarded) {
            return Some(to_6(about.data));
        }
        let code = if self.has(Fault::ErrorCodeWrong) {
            0
        } else {
            3
        };
        let told = error(self.network.own.1.into(), 1, code, 0, &about.data);
        Some(to_6(told))
    }
}
