//! The 6to4 router of a site in memory (RFC 3056): what does not go to a 6to4 address goes to the relay.

use crate::frame::Side;
use crate::judge::CameFrame;
use crate::tests::rigs::reference::datagram::{V4, V6};
use crate::tests::tunnels::datagrams::{IPV6, header_4, hops, set_hops};
use std::net::{Ipv4Addr, Ipv6Addr};

const fn six_to_four(address: Ipv4Addr) -> Ipv6Addr {
    let [a, b, c, d] = address.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1)
}

pub(super) const OWN: Ipv4Addr = Ipv4Addr::new(198, 18, 128, 1);
pub(super) const HOST: Ipv6Addr = six_to_four(OWN);
pub(super) const NEIGHBOUR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 77);
pub(super) const NEIGHBOUR_HOST: Ipv6Addr = six_to_four(NEIGHBOUR);
pub(super) const RELAY: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
pub(super) const SERVER: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0x8000, 0, 0, 0, 2);

/// A fault of a site's router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SiteFault {
    /// Nothing enters the tunnel.
    EncapDropped,
    /// Nothing leaves the tunnel.
    DecapDropped,
    /// Everything goes to the relay.
    AlwaysToRelay,
    /// Only the relay is believed.
    OnlyFromRelay,
    /// Don't Fragment is set in the outer header.
    DfSet,
    /// Addresses embedded in destinations may be any.
    EncapUnchecked,
    /// Addresses embedded in sources may be any.
    DecapUnchecked,
}

/// The router.
pub(super) struct Site {
    pub(super) fault: Option<SiteFault>,
}

/// Returns the IPv4 address in a 6to4 address.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [prefix, high, low, ..] = address.segments();
    let number = u32::from(high) << 16 | u32::from(low);
    (prefix == 0x2002).then(|| number.into())
}

/// Section 9: private, loopback, multicast and broadcast addresses are unacceptable.
fn is_acceptable(address: Ipv4Addr) -> bool {
    !(address.is_private()
        || address.is_loopback()
        || address.is_multicast()
        || address.is_broadcast())
}

impl Site {
    fn has(&self, fault: SiteFault) -> bool {
        self.fault == Some(fault)
    }

    pub(super) fn receive(&self, side: Side, octets: &[u8]) -> Option<CameFrame> {
        if side == Side::Ipv6 {
            self.encapsulated(octets)
        } else {
            self.decapsulated(octets)
        }
    }

    fn encapsulated(&self, octets: &[u8]) -> Option<CameFrame> {
        let packet = V6::parse(octets).filter(|_| !self.has(SiteFault::EncapDropped))?;
        let end = embedded(packet.destination).filter(|_| !self.has(SiteFault::AlwaysToRelay));
        let end = end.unwrap_or(RELAY);
        if !is_acceptable(end) && !self.has(SiteFault::EncapUnchecked) {
            return None;
        }
        let mut inner = octets.to_vec();
        let hops = hops(&inner) - 1;
        set_hops(&mut inner, hops);
        let outer = header_4(OWN, end, IPV6, 0, &inner);
        let mut outer = V4::parse(&outer)?;
        outer.df = self.has(SiteFault::DfSet);
        Some(CameFrame {
            side: Side::Ipv4,
            datagram: outer.octets(),
        })
    }

    fn decapsulated(&self, octets: &[u8]) -> Option<CameFrame> {
        let outer = V4::parse(octets).filter(|_| !self.has(SiteFault::DecapDropped))?;
        let packet = V6::parse(&outer.data)?;
        let is_refused = embedded(packet.source).is_some_and(|source| !is_acceptable(source));
        if is_refused && !self.has(SiteFault::DecapUnchecked)
            || outer.source != RELAY && self.has(SiteFault::OnlyFromRelay)
        {
            return None;
        }
        let mut inner = outer.data;
        let hops = hops(&inner) - 1;
        set_hops(&mut inner, hops);
        Some(CameFrame {
            side: Side::Ipv6,
            datagram: inner,
        })
    }
}
