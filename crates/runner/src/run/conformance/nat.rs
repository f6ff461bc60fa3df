//! What vectors need to know of a stateful device, from its recipe.

use crate::error::RunError;
use crate::profile::translator::Translator;
use sixbench_conformance::frame::Side;
use sixbench_conformance::{DeviceSetting, Role, RoleAddresses};
use sixbench_testbed::Recipe;
use sixbench_testbed::recipe::{DeviceSide, RecipeLink, StateSection};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The number of a pool's addresses that vectors know: of a larger pool, the first ones.
const POOL_ADDRESSES: u32 = 256;

/// A stateful device, and which of its links is the inside.
pub(super) struct NatSides<'r> {
    recipe: &'r Recipe,
    state: &'r StateSection,
}

/// The source and the destination of a datagram from the inside to the outside, as each link has them.
struct OutboundAddresses {
    inside: [IpAddr; 2],
    outside: [IpAddr; 2],
}

impl<'r> NatSides<'r> {
    /// Returns the sides of a stateful device; `None` if the recipe is of another kind.
    pub(super) fn of_recipe(recipe: &'r Recipe) -> Option<Self> {
        let state = recipe.state.as_ref()?;
        Some(Self { recipe, state })
    }

    /// Returns the sides of the left and the right link.
    pub(super) fn sides(&self) -> [Side; 2] {
        match self.state.initiator {
            DeviceSide::Left => [Side::Inside, Side::Outside],
            DeviceSide::Right => [Side::Outside, Side::Inside],
        }
    }

    pub(super) fn link(&self, side: Side) -> &'r RecipeLink {
        let [left, _] = self.sides();
        if side == left {
            &self.recipe.left
        } else {
            &self.recipe.right
        }
    }

    fn outbound(&self) -> OutboundAddresses {
        let traffic = &self.recipe.foreground;
        match self.state.initiator {
            DeviceSide::Left => OutboundAddresses {
                inside: [traffic.left.source, traffic.left.destination],
                outside: [traffic.right.source, traffic.right.destination],
            },
            DeviceSide::Right => OutboundAddresses {
                inside: [traffic.right.destination, traffic.right.source],
                outside: [traffic.left.destination, traffic.left.source],
            },
        }
    }

    /// Returns the addresses of the roles, and what the device does to the hop limit. `mtu` is that of both links, in octets.
    ///
    /// # Errors
    /// The recipe's translation is wrong.
    pub(super) fn setting(&self, mtu: u16) -> Result<DeviceSetting, RunError> {
        let section = self.recipe.translation.clone().unwrap_or_default();
        let translator = Translator::new(&section).map_err(|error| RunError::Translation {
            recipe: self.recipe.name.clone(),
            error,
        })?;
        let outbound = self.outbound();
        let ([inside, outside_in], [_, outside]) = (outbound.inside, outbound.outside);
        let mut roles = vec![
            role(Role::Inside, [inside; 2]),
            role(Role::Outside, [outside_in, outside]),
        ];
        if let Some(second) = second_host(self.link(Side::Inside), inside) {
            roles.push(role(Role::Inside2, [second; 2]));
        }
        if let Some(second) = second_host(self.link(Side::Outside), outside) {
            roles.push(role(Role::Outside2, in_both(second, &translator)));
        }
        for address in pool_of(self.state) {
            roles.push(role(Role::Pool, in_both(address, &translator)));
        }
        roles.extend(self.of_device(Role::NatInside, Side::Inside, inside));
        roles.extend(self.of_device(Role::NatOutside, Side::Outside, outside));
        let traffic = &self.recipe.foreground;
        let (forward, reverse) = (traffic.hops, traffic.hops_in_reverse());
        let (outwards, inwards) = match self.state.initiator {
            DeviceSide::Left => (forward, reverse),
            DeviceSide::Right => (reverse, forward),
        };
        Ok(DeviceSetting {
            roles,
            hops_from_ipv4: inwards,
            hops_from_ipv6: outwards,
            mtu4: mtu,
            mtu6: mtu,
            subscribers: None,
        })
    }

    /// Returns the device's own address on a link, of the same family as a host there.
    fn of_device(&self, name: Role, side: Side, host: IpAddr) -> Option<RoleAddresses> {
        let own = self.link(side).dut.iter().map(|prefix| prefix.addr());
        let found = own.into_iter().find(|own| own.is_ipv4() == host.is_ipv4());
        found.map(|address| role(name, [address; 2]))
    }
}

/// Returns the first addresses of the pool of a stateful device.
pub(super) fn pool_of(state: &StateSection) -> Vec<IpAddr> {
    let ends = state.pool.iter().map(|pool| pool.ends());
    let all = ends.flat_map(|(first, last)| {
        (0..POOL_ADDRESSES)
            .map(move |number| plus(first, number))
            .take_while(move |address| *address <= last)
    });
    all.take(POOL_ADDRESSES as usize).collect()
}

fn role(role: Role, addresses: [IpAddr; 2]) -> RoleAddresses {
    super::role_addresses::of_both(role, addresses)
}

/// Returns an address of the outside with its form inside: itself, or the one that a translator gives it.
pub(super) fn in_both(address: IpAddr, translator: &Translator) -> [IpAddr; 2] {
    [address, translator.translate(address).unwrap_or(address)]
}

fn plus(address: IpAddr, number: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            IpAddr::V4(Ipv4Addr::from(u32::from(address).saturating_add(number)))
        }
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(
            u128::from(address).saturating_add(number.into()),
        )),
    }
}

/// Returns another host beside one: behind the tester, not on its link, so that the device asks for no neighbour that is not there.
fn second_host(link: &RecipeLink, host: IpAddr) -> Option<IpAddr> {
    let on_link = link.dut.iter().find(|prefix| prefix.contains(&host))?;
    let from_end = u32::from(on_link.max_prefix_len() - on_link.prefix_len());
    let second = with_bit_changed(host, from_end)?;
    let is_routed = link.routes.iter().any(|route| route.contains(&second));
    is_routed.then_some(second)
}

/// Returns the address beside one, which differs in the last bit.
pub(super) fn second_of(host: IpAddr) -> IpAddr {
    with_bit_changed(host, 0).unwrap_or(host)
}

fn with_bit_changed(host: IpAddr, from_end: u32) -> Option<IpAddr> {
    Some(match host {
        IpAddr::V4(address) => {
            Ipv4Addr::from(u32::from(address) ^ 1u32.checked_shl(from_end)?).into()
        }
        IpAddr::V6(address) => {
            Ipv6Addr::from(u128::from(address) ^ 1u128.checked_shl(from_end)?).into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_testbed::Library;

    fn setting(name: &str) -> DeviceSetting {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let recipe = library.get(name).expect("the recipe");
        NatSides::of_recipe(recipe)
            .expect("stateful")
            .setting(1500)
            .expect("a setting")
    }

    fn address(setting: &DeviceSetting, role: Role, family: Side) -> Option<String> {
        setting
            .address(role, family)
            .map(|address| address.to_string())
    }

    #[test]
    fn the_hosts_of_a_nat44_are_two_on_either_side() {
        let setting = setting("nft-nat44");
        let of = |role| address(&setting, role, Side::Ipv4);
        assert_eq!(of(Role::Inside).as_deref(), Some("10.0.0.2"));
        assert_eq!(of(Role::Inside2).as_deref(), Some("10.0.0.6"));
        assert_eq!(of(Role::Outside).as_deref(), Some("198.18.0.2"));
        assert_eq!(of(Role::Outside2).as_deref(), Some("198.18.0.6"));
        assert_eq!(of(Role::Pool).as_deref(), Some("198.19.0.1"));
        assert_eq!(of(Role::NatInside).as_deref(), Some("10.0.0.1"));
        assert_eq!(address(&setting, Role::Inside, Side::Ipv6), None);
    }

    #[test]
    fn what_is_outside_of_a_nat64_has_an_ipv6_address_inside() {
        let setting = setting("tayga-nat64");
        let six = |role| address(&setting, role, Side::Ipv6);
        assert_eq!(six(Role::Inside2).as_deref(), Some("2001:2::1:2"));
        assert_eq!(
            six(Role::Outside2).as_deref(),
            Some("2001:2:0:6464::c612:6")
        );
        assert_eq!(six(Role::Pool).as_deref(), Some("2001:2:0:6464::c613:1"));
        assert_eq!(
            address(&setting, Role::Pool, Side::Ipv4).as_deref(),
            Some("198.19.0.1")
        );
        assert_eq!(address(&setting, Role::Inside, Side::Ipv4), None);
        assert_eq!((setting.hops_from_ipv4, setting.hops_from_ipv6), (3, 3));
    }
}
