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
}

impl Role {
    const NAMES: [(Self, &'static str); 17] = [
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

    /// Returns the MTU of the link on this side, in octets.
    pub fn mtu(&self, side: Side) -> u16 {
        match side {
            Side::Ipv4 | Side::Outside => self.mtu4,
            Side::Ipv6 | Side::Inside => self.mtu6,
        }
    }
}
