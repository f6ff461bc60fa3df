//! What vectors need to know of a device: who is who, and what the device does to the hop limit.

use crate::frame::{LayerKind, Side};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A part in a vector, which has an address on either side of the device, or on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A host on the IPv4 side.
    Host4,
    /// A host on the IPv6 side.
    Host6,
    /// The device on its IPv4 side.
    Dut4,
    /// The device on its IPv6 side.
    Dut6,
    /// A router behind the tester's IPv4 side, without a mapping of its own.
    Router4,
    /// A router behind the tester's IPv6 side, without a mapping of its own.
    Router6,
    /// An IPv4 destination that the device translates in general, but has no mapping for.
    Unmapped4,
    /// An IPv6 destination that the device translates in general, but has no mapping for.
    Unmapped6,
    /// An IPv4 address to which the device has no route.
    Outside4,
    /// An IPv6 address to which the device has no route.
    Outside6,
    /// A host inside of a stateful device.
    Inside,
    /// A second host there.
    Inside2,
    /// A host outside of a stateful device.
    Outside,
    /// A second host there.
    Outside2,
    /// The first address to which a stateful device translates inside hosts.
    Pool,
    /// A stateful device on its inside.
    NatInside,
    /// A stateful device on its outside.
    NatOutside,
    /// A subscriber of an address-sharing or tunnel device: its end of the tunnel, or its address in the domain, in the outer family; its own address in the
    /// inner one, unless a NAT of the device gives it another.
    Subscriber,
    /// Another subscriber. Where subscribers share addresses, it has the subscriber's IPv4 address and the next port set.
    Neighbour,
    /// The source of the subscriber's datagrams inside its tunnel.
    Customer,
    /// The source of the subscriber's datagrams behind the device.
    Public,
    /// The device's end of the tunnels: a border relay, an AFTR, a 6to4 relay.
    Relay,
    /// A host behind the device, outside of the domain.
    Server,
}

impl Role {
    const NAMES: [(Self, &'static str); 23] = [
        (Self::Host4, "host4"),
        (Self::Host6, "host6"),
        (Self::Dut4, "dut4"),
        (Self::Dut6, "dut6"),
        (Self::Router4, "router4"),
        (Self::Router6, "router6"),
        (Self::Unmapped4, "unmapped4"),
        (Self::Unmapped6, "unmapped6"),
        (Self::Outside4, "outside4"),
        (Self::Outside6, "outside6"),
        (Self::Inside, "inside"),
        (Self::Inside2, "inside2"),
        (Self::Outside, "outside"),
        (Self::Outside2, "outside2"),
        (Self::Pool, "pool"),
        (Self::NatInside, "nat-in"),
        (Self::NatOutside, "nat-out"),
        (Self::Subscriber, "subscriber"),
        (Self::Neighbour, "neighbour"),
        (Self::Customer, "customer"),
        (Self::Public, "public"),
        (Self::Relay, "relay"),
        (Self::Server, "server"),
    ];

    /// Returns its name in the notation.
    pub fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(role, _)| *role == self)
            .map_or("", |(_, name)| name)
    }

    /// Returns the role of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(role, _)| *role)
    }
}

/// The addresses of a role: each is what it is called on that side of the device, or `None` if it is not known there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleAddresses {
    /// The role.
    pub role: Role,
    /// Its address in IPv4.
    pub ipv4: Option<Ipv4Addr>,
    /// Its address in IPv6.
    pub ipv6: Option<Ipv6Addr>,
}

/// The ranges of a port set that has several: they all have the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRanges {
    /// The distance from one range to the next one.
    pub interval: u16,
    /// The distance from the first range to the last one.
    pub to_last: u16,
}

/// The properties of a device that serves subscribers, or of one that is a subscriber itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscriberSetting {
    /// The side on which the subscribers are; of a subscriber, its own network.
    pub side: Side,
    /// True if the device is the subscriber: a customer edge, or the router of a site.
    pub is_edge: bool,
    /// The hop limit or TTL that the device writes into outer headers, or `None` if it does not encapsulate.
    pub outer_hop_limit: Option<u8>,
    /// The first and the last port of the first range of the subscriber's port set, or `None` if it has every port.
    pub ports: Option<(u16, u16)>,
    /// The ranges of the port set, or `None` if it has only one.
    pub ranges: Option<PortRanges>,
}

/// The port of a subscriber that has every port.
const ANY_PORT: u16 = 4096;

impl SubscriberSetting {
    /// Returns the first port of the subscriber's first range.
    pub fn first_port(&self) -> u16 {
        self.ports.map_or(ANY_PORT, |(first, _)| first)
    }

    fn control_frame(&self, from: Side, number: u16) -> String {
        let port = self.first_port();
        let is_ipv6 = from == Side::Ipv6;
        let outer = layer_name(is_ipv6);
        if self.is_edge {
            return self.edge_control_frame(from, number);
        }
        if from != self.side {
            return format!(
                "{from}: {outer}(src=server, dst=subscriber) / udp(sport={number}, dport={port}) / payload(32)"
            );
        }
        let headers = if self.outer_hop_limit.is_some() {
            let inner = layer_name(!is_ipv6);
            format!("{outer}(src=subscriber, dst=relay) / {inner}(src=customer, dst=server)")
        } else {
            format!("{outer}(src=subscriber, dst=server)")
        };
        format!("{from}: {headers} / udp(sport={port}, dport={number}) / payload(32)")
    }

    /// Returns the control frame between a host of a site and a server. From the server, it comes through the relay's tunnel.
    fn edge_control_frame(&self, from: Side, number: u16) -> String {
        let outer = layer_name(from == Side::Ipv6);
        let headers = if from == self.side {
            format!("{outer}(src=subscriber, dst=server)")
        } else {
            let inner = layer_name(from != Side::Ipv6);
            format!("{outer}(src=relay, dst=subscriber) / {inner}(src=server, dst=subscriber)")
        };
        format!("{from}: {headers} / udp(sport={number}, dport={number}) / payload(32)")
    }

    /// Returns true for a port of the subscriber's set.
    pub fn has_port(&self, port: u16) -> bool {
        let Some((first, last)) = self.ports else {
            return true;
        };
        let offsets = self.ranges.map_or_else(Vec::new, |ranges| {
            (ranges.interval..=ranges.to_last)
                .step_by(ranges.interval.into())
                .collect()
        });
        let mut offsets = offsets.into_iter().chain([0]);
        offsets.any(|offset| (first + offset..=last + offset).contains(&port))
    }
}

/// The source port of all control frames while the pool of a stateful device is small: they take one of its ports.
const SMALL_POOL_SOURCE: u16 = 19_999;
/// Their destination port, which vectors of UDP use as well: some devices give a port to two hosts if their destinations differ (RFC 7857 section 3).
pub const SMALL_POOL_DESTINATION: u16 = 7001;

/// The properties of a device that vectors refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSetting {
    /// The addresses of the roles; a role that the device does not have is absent.
    pub roles: Vec<RoleAddresses>,
    /// The amount by which the hop limit is lowered from the IPv4 side to the IPv6 side, or from the outside to the inside.
    pub hops_from_ipv4: u8,
    /// The amount by which the hop limit is lowered from the IPv6 side to the IPv4 side, or from the inside to the outside.
    pub hops_from_ipv6: u8,
    /// The MTU of the link on the IPv4 side or the outside, in octets.
    pub mtu4: u16,
    /// The MTU of the link on the IPv6 side or the inside, in octets.
    pub mtu6: u16,
    /// The properties that a device has if it serves subscribers, by tunnels or by rules of ports.
    pub subscribers: Option<SubscriberSetting>,
}

impl DeviceSetting {
    /// Returns the address of a role in the family of a side; `None` of a side that is named by who may open connections.
    pub fn address(&self, role: Role, family: Side) -> Option<IpAddr> {
        let found = self.roles.iter().find(|known| known.role == role)?;
        match family {
            Side::Ipv4 => found.ipv4.map(IpAddr::V4),
            Side::Ipv6 => found.ipv6.map(IpAddr::V6),
            Side::Inside | Side::Outside => None,
        }
    }

    /// Returns the address of the other family that belongs to the same role.
    pub fn counterpart(&self, address: IpAddr) -> Option<IpAddr> {
        let of_role = |known: &RoleAddresses| match address {
            IpAddr::V4(address) if known.ipv4 == Some(address) => known.ipv6.map(IpAddr::V6),
            IpAddr::V6(address) if known.ipv6 == Some(address) => known.ipv4.map(IpAddr::V4),
            _ => None,
        };
        self.roles.iter().find_map(of_role)
    }

    /// Returns true for an address to which a stateful device may translate inside hosts: of its pool, or its own outside.
    pub fn is_external(&self, address: IpAddr) -> bool {
        let external = self
            .roles
            .iter()
            .filter(|known| matches!(known.role, Role::Pool | Role::NatOutside));
        external
            .into_iter()
            .any(|known| known.ipv4.map(IpAddr::V4) == Some(address))
    }

    /// Returns true for a port to which the NAT of an edge may translate. A device that is no edge may take any.
    pub(crate) fn is_in_port_set(&self, port: u128) -> bool {
        self.subscribers
            .is_none_or(|served| u16::try_from(port).is_ok_and(|port| served.has_port(port)))
    }

    /// Returns the name of the role that has an address.
    pub fn role_at(&self, address: IpAddr) -> Option<Role> {
        let known = self.roles.iter().find(|known| {
            known.ipv4.map(IpAddr::V4) == Some(address)
                || known.ipv6.map(IpAddr::V6) == Some(address)
        });
        known.map(|known| known.role)
    }

    /// Returns the amount by which the hop limit of a frame is lowered that is sent on this side.
    pub fn hops_from(&self, side: Side) -> u8 {
        match side {
            Side::Ipv4 | Side::Outside => self.hops_from_ipv4,
            Side::Ipv6 | Side::Inside => self.hops_from_ipv6,
        }
    }

    /// Returns the side from which connections through a stateful device are opened.
    pub fn opening_side(&self) -> Side {
        self.subscribers.map_or(Side::Inside, |served| served.side)
    }

    /// Returns the text of a control frame for a side: a UDP datagram that the device is known to forward. One of its ports is `number`. For either side of
    /// a NAT it is sent on the inside, as the outside cannot open a connection.
    pub fn control_frame(&self, from: Side, number: u16) -> String {
        match (from, &self.subscribers) {
            (Side::Inside | Side::Outside, _) => self.nat_control_frame([number; 2]),
            (Side::Ipv4 | Side::Ipv6, Some(served)) => served.control_frame(from, number),
            (Side::Ipv4, None) => {
                format!(
                    "4: ipv4(src=host4, dst=host6) / udp(sport={number}, dport=9) / payload(32)"
                )
            }
            (Side::Ipv6, None) => {
                format!(
                    "6: ipv6(src=host6, dst=host4) / udp(sport={number}, dport=9) / payload(32)"
                )
            }
        }
    }

    /// Returns the text of the control frame that is sent from the inside of a device with a small pool. It is always the same one.
    pub fn small_pool_control_frame(&self) -> String {
        self.nat_control_frame([SMALL_POOL_SOURCE, SMALL_POOL_DESTINATION])
    }

    /// A stateful device may change the source port, so usually both ports are the number. What the outside sends passes only after it.
    fn nat_control_frame(&self, [source, destination]: [u16; 2]) -> String {
        let is_inside6 = self.address(Role::Inside, Side::Ipv6).is_some();
        format!(
            "in: {}(src=inside, dst=outside) / udp(sport={source}, dport={destination}) / payload(32)",
            layer_name(is_inside6)
        )
    }

    /// Returns the MTU of the link on this side, in octets.
    pub fn mtu(&self, side: Side) -> u16 {
        match side {
            Side::Ipv4 | Side::Outside => self.mtu4,
            Side::Ipv6 | Side::Inside => self.mtu6,
        }
    }
}

/// Returns the name of an IP header in the notation.
fn layer_name(is_ipv6: bool) -> &'static str {
    if is_ipv6 {
        LayerKind::Ipv6.name()
    } else {
        LayerKind::Ipv4.name()
    }
}
