//! What vectors need to know of a device: who is who, and what the device does to the hop limit.

use crate::frame::Side;
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
    const NAMES: [(Self, &'static str); 16] = [
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

/// The properties of a device that serves subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscriberSetting {
    /// The side on which the subscribers are.
    pub side: Side,
    /// The hop limit or TTL that the device writes into outer headers, or `None` if it does not encapsulate.
    pub outer_hop_limit: Option<u8>,
    /// The first and the last port of the first range of the subscriber's port set, or `None` if it has every port.
    pub ports: Option<(u16, u16)>,
}

/// The port of a subscriber that has every port.
const ANY_PORT: u16 = 4096;

impl SubscriberSetting {
    /// Returns the first port of the subscriber's first range.
    pub fn first_port(&self) -> u16 {
        self.ports.map_or(ANY_PORT, |(first, _)| first)
    }
}

/// The properties of a device that vectors refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSetting {
    /// The addresses of the roles; a role that the device does not have is absent.
    pub roles: Vec<RoleAddresses>,
    /// The amount by which the hop limit is lowered from the IPv4 side to the IPv6 side.
    pub hops_from_ipv4: u8,
    /// The amount by which the hop limit is lowered from the IPv6 side to the IPv4 side.
    pub hops_from_ipv6: u8,
    /// The MTU of the link on the IPv4 side, in octets.
    pub mtu4: u16,
    /// The MTU of the link on the IPv6 side, in octets.
    pub mtu6: u16,
    /// The properties that a device has if it serves subscribers, by tunnels or by rules of ports.
    pub subscribers: Option<SubscriberSetting>,
}

impl DeviceSetting {
    /// Returns the address of a role in a family.
    pub fn address(&self, role: Role, family: Side) -> Option<IpAddr> {
        let found = self.roles.iter().find(|known| known.role == role)?;
        match family {
            Side::Ipv4 => found.ipv4.map(IpAddr::V4),
            Side::Ipv6 => found.ipv6.map(IpAddr::V6),
        }
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
            Side::Ipv4 => self.hops_from_ipv4,
            Side::Ipv6 => self.hops_from_ipv6,
        }
    }

    /// Returns the text of a control frame that is sent on a side: a UDP datagram that the device is known to forward. One of its ports is `number`.
    pub fn control_frame(&self, from: Side, number: u16) -> String {
        let Some(subscribers) = self.subscribers else {
            let (source, destination) = match from {
                Side::Ipv4 => ("host4", "host6"),
                Side::Ipv6 => ("host6", "host4"),
            };
            let layer = from.layer();
            return format!(
                "{from}: {layer}(src={source}, dst={destination}) / udp(sport={number}, dport=9) / payload(32)"
            );
        };
        let port = subscribers.first_port();
        if from != subscribers.side {
            let layer = from.layer();
            return format!(
                "{from}: {layer}(src=server, dst=subscriber) / udp(sport={number}, dport={port}) / payload(32)"
            );
        }
        let (outer, inner) = (from.layer(), from.other().layer());
        let headers = if subscribers.outer_hop_limit.is_some() {
            format!("{outer}(src=subscriber, dst=relay) / {inner}(src=customer, dst=server)")
        } else {
            format!("{outer}(src=subscriber, dst=server)")
        };
        format!("{from}: {headers} / udp(sport={port}, dport={number}) / payload(32)")
    }

    /// Returns the MTU of the link on this side, in octets.
    pub fn mtu(&self, side: Side) -> u16 {
        match side {
            Side::Ipv4 => self.mtu4,
            Side::Ipv6 => self.mtu6,
        }
    }
}
