//! The addresses in the networks of the references.

use super::fault::Fault;
use crate::setting::PortRanges;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Technology {
    SixToFour,
    SixRd,
    LwAftr,
    MapE,
    DsLite,
    MapT,
}

impl Technology {
    pub(crate) const ALL: [Self; 6] = [
        Self::SixToFour,
        Self::SixRd,
        Self::LwAftr,
        Self::MapE,
        Self::DsLite,
        Self::MapT,
    ];

    /// Returns its name in recipes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SixToFour => "6to4",
            Self::SixRd => "6rd",
            Self::LwAftr => "lw4o6",
            Self::MapE => "map-e",
            Self::DsLite => "ds-lite",
            Self::MapT => "map-t",
        }
    }

    /// Returns true if IPv6 is carried in IPv4.
    pub(crate) fn is_six_in_four(self) -> bool {
        matches!(self, Self::SixToFour | Self::SixRd)
    }
}

/// The first and the last port of a subscriber's first range.
pub(crate) type Ports = (u16, u16);

/// A subscriber, with both of its addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Customer {
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
    pub(crate) ports: Ports,
}

/// The addresses of one device and of those around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) technology: Technology,
    /// The ranges of a port set, if it has several (RFC 7597 section 5.1).
    pub(crate) ranges: Option<PortRanges>,
    pub(crate) subscriber: Customer,
    pub(crate) neighbour: Customer,
    pub(crate) relay: IpAddr,
    /// The server, as either side calls it.
    pub(crate) server: (Ipv4Addr, Ipv6Addr),
    /// The device's own addresses on its links.
    pub(crate) own: (Ipv4Addr, Ipv6Addr),
}

/// The address of the NAT.
pub(crate) const PUBLIC: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 9);
/// The AFTR's well-known address (RFC 6333 section 6.5).
pub(crate) const WELL_KNOWN: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 1);
/// The MTU of all links.
pub(crate) const MTU: u32 = 1500;
const ALL_PORTS: Ports = (1, u16::MAX);

fn six(text: &str) -> Ipv6Addr {
    text.parse().expect("an address")
}

impl Network {
    pub(crate) fn of_technology(technology: Technology) -> Self {
        let sites = |first: &str, second: &str| {
            let site = |last, v6| Customer {
                v4: Ipv4Addr::new(198, 18, 128, last),
                v6: six(v6),
                ports: ALL_PORTS,
            };
            (site(2, first), site(3, second))
        };
        let shared = |number, ports| Customer {
            v4: Ipv4Addr::new(192, 0, 2, 1),
            v6: Ipv6Addr::new(0x2001, 0xdb8, 0xb4, number, 0, 0, 0, 1),
            ports,
        };
        let (subscriber, neighbour) = match technology {
            Technology::SixToFour => sites("2002:c612:8002::1", "2002:c612:8003::1"),
            Technology::SixRd => sites("2001:db8:8002::1", "2001:db8:8003::1"),
            Technology::LwAftr | Technology::MapE | Technology::MapT => {
                (shared(1, (4096, 8191)), shared(2, (8192, 12287)))
            }
            Technology::DsLite => (shared(1, ALL_PORTS), shared(2, ALL_PORTS)),
        };
        let relay: IpAddr = if technology.is_six_in_four() {
            Ipv4Addr::new(198, 18, 0, 1).into()
        } else {
            six("2001:db8:100::1").into()
        };
        let server = (Ipv4Addr::new(203, 0, 113, 56), six("64:ff9b::cb00:7138"));
        let own = (Ipv4Addr::new(203, 0, 113, 2), six("2001:db8:100::fe"));
        Self {
            technology,
            ranges: None,
            subscriber,
            neighbour,
            relay,
            server,
            own,
        }
    }

    /// Returns the network with port sets of three ranges: two offset bits, and a PSID of three bits.
    pub(crate) fn with_ranges(self) -> Self {
        const INTERVAL: u16 = 1 << 14;
        let first = |psid: u16| INTERVAL + (psid << 11);
        let of = |customer: Customer, psid| Customer {
            ports: (first(psid), first(psid + 1) - 1),
            ..customer
        };
        Self {
            ranges: Some(PortRanges {
                interval: INTERVAL,
                to_last: 2 * INTERVAL,
            }),
            subscriber: of(self.subscriber, 2),
            neighbour: of(self.neighbour, 3),
            ..self
        }
    }

    /// Returns the port of the first range at the same place as a port of any range; `None` of a port that no set has.
    pub(super) fn in_first_range(&self, port: u16, fault: Option<Fault>) -> Option<u16> {
        let Some(PortRanges { interval, .. }) = self.ranges else {
            return Some(port);
        };
        match port / interval {
            0 if fault != Some(Fault::ExcludedTaken) => None,
            2.. if fault == Some(Fault::OneRange) => None,
            3 if fault == Some(Fault::LastRangeLost) => None,
            _ => Some(interval + port % interval),
        }
    }

    /// Returns the subscribers.
    pub(crate) fn customers(&self) -> [Customer; 2] {
        [self.subscriber, self.neighbour]
    }

    /// Returns the device's end of the tunnels in IPv4.
    pub(super) fn relay_4(&self) -> Ipv4Addr {
        match self.relay {
            IpAddr::V4(relay) => relay,
            IpAddr::V6(_) => self.own.0,
        }
    }

    /// Returns the device's end of the tunnels in IPv6.
    pub(super) fn relay_6(&self) -> Ipv6Addr {
        match self.relay {
            IpAddr::V6(relay) => relay,
            IpAddr::V4(_) => self.own.1,
        }
    }
}
