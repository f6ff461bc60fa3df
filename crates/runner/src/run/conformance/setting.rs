//! What vectors need to know of a device, from its recipe.

use super::role_addresses::of_both;
use super::subscribers;
use crate::error::RunError;
use crate::profile::translator::Translator;
use sixbench_conformance::frame::Side;
use sixbench_conformance::{DeviceSetting, Role, RoleAddresses};
use sixbench_testbed::Recipe;
use sixbench_testbed::recipe::RecipeLink;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses within the ranges for documentation. Of each family, the first one to which a recipe has no route is outside of its networks.
const OUTSIDE: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, 77)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 77)),
    IpAddr::V6(Ipv6Addr::new(0x3fff, 0xfff, 0, 0, 0, 0, 0, 0x77)),
];

/// Host numbers that are tried for an address without a mapping.
const HOST_NUMBERS: [u8; 4] = [77, 177, 97, 199];

/// A device between a link with IPv4 and one with IPv6, and which of its links is which.
pub(super) struct FamilySides<'r> {
    pub(super) recipe: &'r Recipe,
    /// True if the left link carries IPv6.
    pub(super) is_left_ipv6: bool,
}

impl<'r> FamilySides<'r> {
    /// Returns the sides of a device that translates between IPv4 and IPv6, or carries the one in tunnels through the other.
    ///
    /// # Errors
    /// Both links carry the same version of IP, or it is a device of subscribers whose recipe has none at its left end, such as a customer edge.
    pub(super) fn of_recipe(recipe: &'r Recipe) -> Result<Self, RunError> {
        let (left, right) = (recipe.foreground.left, recipe.foreground.right);
        let is_left_ipv6 = left.outermost().0.is_ipv6();
        let has_subscribers = recipe.subscribers.is_some() && right.outer.is_none();
        let is_other = subscribers::are_served_by(recipe.technology) && !has_subscribers;
        if is_other || is_left_ipv6 == right.outermost().0.is_ipv6() {
            return Err(RunError::NoVectors {
                recipe: recipe.name.clone(),
            });
        }
        Ok(Self {
            recipe,
            is_left_ipv6,
        })
    }

    /// Returns the sides of the left and the right link.
    pub(super) fn sides(&self) -> [Side; 2] {
        if self.is_left_ipv6 {
            [Side::Ipv6, Side::Ipv4]
        } else {
            [Side::Ipv4, Side::Ipv6]
        }
    }

    pub(super) fn link(&self, side: Side) -> &'r RecipeLink {
        if (side == Side::Ipv6) == self.is_left_ipv6 {
            &self.recipe.left
        } else {
            &self.recipe.right
        }
    }

    /// Returns the addresses of the roles, and what the device does to the hop limit. `mtu` is that of both links, in octets.
    ///
    /// # Errors
    /// The recipe's translation is wrong.
    pub(super) fn setting(&self, mtu: u16) -> Result<DeviceSetting, RunError> {
        let traffic = &self.recipe.foreground;
        let (forward, reverse) = (traffic.hops, traffic.hops_in_reverse());
        let (hops_from_ipv6, hops_from_ipv4) = if self.is_left_ipv6 {
            (forward, reverse)
        } else {
            (reverse, forward)
        };
        let served = subscribers::served(self)?;
        let mut roles = match &served {
            Some(served) => served.roles.clone(),
            None => self.hosts(),
        };
        roles.extend(self.of_device());
        roles.extend(self.unmapped(&roles)?);
        Ok(DeviceSetting {
            roles,
            hops_from_ipv4,
            hops_from_ipv6,
            mtu4: mtu,
            mtu6: mtu,
            subscribers: served.map(|served| served.setting),
        })
    }

    /// Returns the hosts on either side of a translator.
    fn hosts(&self) -> Vec<RoleAddresses> {
        let traffic = &self.recipe.foreground;
        // The left host is the source of a forward datagram, and the right host its destination.
        let left_host = [traffic.left.source, traffic.right.source];
        let right_host = [traffic.left.destination, traffic.right.destination];
        let (host6, host4) = if self.is_left_ipv6 {
            (left_host, right_host)
        } else {
            (right_host, left_host)
        };
        vec![of_both(Role::Host4, host4), of_both(Role::Host6, host6)]
    }

    fn translator(&self) -> Result<Translator, RunError> {
        let section = self.recipe.translation.clone().unwrap_or_default();
        Translator::new(&section).map_err(|error| RunError::Translation {
            recipe: self.recipe.name.clone(),
            error,
        })
    }

    fn of_device(&self) -> Vec<RoleAddresses> {
        [(Role::Dut4, Side::Ipv4), (Role::Dut6, Side::Ipv6)]
            .into_iter()
            .filter_map(|(role, side)| {
                let own = self
                    .link(side)
                    .dut
                    .iter()
                    .map(|prefix| prefix.addr())
                    .find(|address| is_of(*address, side));
                Some(of_both(role, [own?; 2]))
            })
            .collect()
    }

    /// Returns the roles whose addresses have no mapping. A role is left out if every address has a mapping, as behind a prefix, or if the role next to
    /// which its address lies is unknown.
    fn unmapped(&self, known: &[RoleAddresses]) -> Result<Vec<RoleAddresses>, RunError> {
        let translator = self.translator()?;
        let host6 = address_in(known, Role::Host6).and_then(|host6| host6.ipv4);
        let host4 = address_in(known, Role::Host4).and_then(|host4| host4.ipv6);
        let near = [
            (Role::Router4, self.tester_on(Side::Ipv4)),
            (Role::Router6, self.tester_on(Side::Ipv6)),
            (Role::Unmapped4, host6.map(IpAddr::V4)),
            (Role::Unmapped6, host4.map(IpAddr::V6)),
        ];
        let near = near.into_iter().filter_map(|(role, address)| {
            Some((
                role,
                neighbours_of(address?)
                    .find(|near| !translator.has_mapping(*near) && is_free(known, *near))?,
            ))
        });
        let outside = [
            (Role::Outside4, self.outside(Side::Ipv4)),
            (Role::Outside6, self.outside(Side::Ipv6)),
        ];
        let outside = outside
            .into_iter()
            .filter_map(|(role, address)| Some((role, address?)))
            .filter(|(_, address)| !translator.has_mapping(*address));
        let unmapped = near.chain(outside);
        Ok(unmapped
            .map(|(role, address)| of_both(role, [address; 2]))
            .collect())
    }

    /// Returns an address that is in none of the recipe's networks.
    fn outside(&self, side: Side) -> Option<IpAddr> {
        let links = [&self.recipe.left, &self.recipe.right];
        let networks: Vec<_> = links
            .iter()
            .flat_map(|link| link.dut.iter().chain(&link.routes))
            .collect();
        OUTSIDE.into_iter().find(|address| {
            is_of(*address, side) && !networks.iter().any(|network| network.contains(address))
        })
    }

    /// Returns the tester's first address on the link of a side, in the family of that side.
    fn tester_on(&self, side: Side) -> Option<IpAddr> {
        self.link(side)
            .tester
            .iter()
            .copied()
            .find(|address| is_of(*address, side))
    }
}

fn address_in(known: &[RoleAddresses], role: Role) -> Option<&RoleAddresses> {
    known.iter().find(|known| known.role == role)
}

/// Returns whether no role has an address yet.
fn is_free(known: &[RoleAddresses], address: IpAddr) -> bool {
    known.iter().all(|role| match address {
        IpAddr::V4(address) => role.ipv4 != Some(address),
        IpAddr::V6(address) => role.ipv6 != Some(address),
    })
}

fn is_of(address: IpAddr, side: Side) -> bool {
    address.is_ipv4() == (side == Side::Ipv4)
}

/// Returns other addresses that differ from one only in the last octet.
pub(super) fn neighbours_of(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let numbered = HOST_NUMBERS.into_iter().map(move |number| match address {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            Ipv4Addr::new(a, b, c, number).into()
        }
        IpAddr::V6(address) => {
            let mut octets = address.octets();
            octets[15] = number;
            Ipv6Addr::from(octets).into()
        }
    });
    numbered.filter(move |near| *near != address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_testbed::Library;

    fn setting(name: &str) -> Result<DeviceSetting, RunError> {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        FamilySides::of_recipe(library.get(name).expect("the recipe"))?.setting(1500)
    }

    fn address(setting: &DeviceSetting, role: Role, family: Side) -> Option<String> {
        setting
            .address(role, family)
            .map(|address| address.to_string())
    }

    #[test]
    fn an_address_is_not_its_own_neighbour() {
        let neighbours = |address: &str| -> Vec<String> {
            neighbours_of(address.parse().expect("an address"))
                .map(|near| near.to_string())
                .collect()
        };
        assert_eq!(
            neighbours("192.0.2.77"),
            ["192.0.2.177", "192.0.2.97", "192.0.2.199"]
        );
        assert_eq!(neighbours("2001:db8::1").len(), 4);
    }

    #[test]
    fn the_hosts_of_a_translator_have_an_address_on_either_side_whichever_is_left() {
        let six_left = setting("tayga-siit").expect("a setting");
        assert_eq!(
            address(&six_left, Role::Host4, Side::Ipv4).as_deref(),
            Some("198.19.0.2")
        );
        assert_eq!(
            address(&six_left, Role::Host4, Side::Ipv6).as_deref(),
            Some("2001:2:0:1::2")
        );
        assert_eq!(
            address(&six_left, Role::Host6, Side::Ipv4).as_deref(),
            Some("198.18.0.2")
        );
        assert_eq!(
            address(&six_left, Role::Dut6, Side::Ipv6).as_deref(),
            Some("2001:2::1")
        );
        let four_left = setting("tayga-siit-46").expect("a setting");
        for role in [Role::Host4, Role::Host6] {
            for family in [Side::Ipv4, Side::Ipv6] {
                assert!(
                    four_left.address(role, family).is_some(),
                    "{role:?} {family}"
                );
            }
        }
    }

    #[test]
    fn unmapped_addresses_have_no_mapping_and_are_absent_where_all_have_one() {
        let listed = setting("tayga-siit").expect("a setting");
        assert_eq!(
            address(&listed, Role::Unmapped4, Side::Ipv4).as_deref(),
            Some("198.18.0.77")
        );
        assert_eq!(
            address(&listed, Role::Unmapped6, Side::Ipv6).as_deref(),
            Some("2001:2:0:1::4d")
        );
        assert_eq!(address(&listed, Role::Unmapped4, Side::Ipv6), None);
        let prefix = setting("tayga-siit-prefix").expect("a setting");
        assert_eq!(address(&prefix, Role::Unmapped4, Side::Ipv4), None);
    }

    #[test]
    fn an_address_outside_is_in_no_network_of_the_recipe() {
        let relay = setting("linux-ip6tnl-lw4o6").expect("a setting");
        assert_eq!(
            address(&relay, Role::Outside4, Side::Ipv4).as_deref(),
            Some("198.51.100.77"),
            "203.0.113.0/24 is the network of its server"
        );
        let listed = setting("tayga-siit").expect("a setting");
        assert_eq!(
            address(&listed, Role::Outside4, Side::Ipv4).as_deref(),
            Some("203.0.113.77")
        );
    }

    #[test]
    fn a_router_has_no_sides_of_different_versions() {
        let error = setting("linux-ipv4").expect_err("refused").to_string();
        assert!(
            error.starts_with("there are no vectors for linux-ipv4"),
            "{error}"
        );
    }
}
