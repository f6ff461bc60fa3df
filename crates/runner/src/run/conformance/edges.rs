//! What vectors need to know of a customer edge of MAP, with its NAT, and of the 6to4 router of a site: one device at the other end of the tunnels or
//! of the translation.

use super::nat::{in_both, pool_of, second_of};
use super::role_addresses::of_both;
use super::setting::neighbours_of;
use super::subscribers;
use crate::error::RunError;
use crate::profile::translator::Translator;
use sixbench_conformance::frame::Side;
use sixbench_conformance::{DeviceSetting, Role, RoleAddresses, SubscriberSetting};
use sixbench_testbed::Recipe;
use sixbench_testbed::recipe::{RecipeLink, StateSection};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An edge. Its own network is on the left.
pub(super) struct EdgeSides<'r> {
    recipe: &'r Recipe,
}

/// Returns true for a device whose technology serves subscribers, and which is one: its tunnel or translation is on the right. A row of devices is none.
pub(super) fn is_edge(recipe: &Recipe) -> bool {
    let (left, right) = (recipe.foreground.left, recipe.foreground.right);
    let is_row = !recipe.parts.is_empty();
    let changes_family = left.outermost().0.is_ipv6() != right.outermost().0.is_ipv6();
    subscribers::are_served_by(recipe.technology)
        && recipe.subscribers.is_none()
        && changes_family
        && left.outer.is_none()
        && !is_row
}

impl<'r> EdgeSides<'r> {
    /// Returns the sides of an edge; `None` if the recipe is of another device.
    pub(super) fn of_recipe(recipe: &'r Recipe) -> Option<Self> {
        is_edge(recipe).then_some(Self { recipe })
    }

    /// Returns the sides of the left and the right link: of an edge with a NAT, the inside and the outside.
    pub(super) fn sides(&self) -> [Side; 2] {
        let is_left_ipv6 = self.recipe.foreground.left.source.is_ipv6();
        match (&self.recipe.state, is_left_ipv6) {
            (Some(_), _) => [Side::Inside, Side::Outside],
            (None, true) => [Side::Ipv6, Side::Ipv4],
            (None, false) => [Side::Ipv4, Side::Ipv6],
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

    /// Returns the addresses of the roles, and what the device does to the hop limit. `mtu` is that of both links, in octets.
    ///
    /// # Errors
    /// The recipe's translation is wrong.
    pub(super) fn setting(&self, mtu: u16) -> Result<DeviceSetting, RunError> {
        let traffic = &self.recipe.foreground;
        let [left, _] = self.sides();
        let (roles, ports) = match &self.recipe.state {
            Some(state) => {
                let ports = (state.pool_ports.first, state.pool_ports.last);
                (self.roles_of_nat(state)?, Some(ports))
            }
            None => (self.roles_of_site(), None),
        };
        let subscribers = SubscriberSetting {
            side: left,
            is_edge: true,
            outer_hop_limit: traffic.right.outer.map(|outer| outer.hop_limit),
            ports,
            ranges: None,
        };
        let (outwards, inwards) = (traffic.hops, traffic.hops_in_reverse());
        let is_left_ipv4 = left == Side::Ipv4;
        Ok(DeviceSetting {
            roles,
            hops_from_ipv4: if is_left_ipv4 { outwards } else { inwards },
            hops_from_ipv6: if is_left_ipv4 { inwards } else { outwards },
            mtu4: mtu,
            mtu6: mtu,
            subscribers: Some(subscribers),
        })
    }

    /// Returns the roles of an edge with a NAT. Servers outside have an address in IPv6 if it translates.
    fn roles_of_nat(&self, state: &StateSection) -> Result<Vec<RoleAddresses>, RunError> {
        let traffic = &self.recipe.foreground;
        let section = self.recipe.translation.clone().unwrap_or_default();
        let translator = Translator::new(&section).map_err(|error| RunError::Translation {
            recipe: self.recipe.name.clone(),
            error,
        })?;
        let (server, own) = (traffic.left.destination, traffic.right.source);
        let mut roles = vec![
            of_both(Role::Inside, [traffic.left.source; 2]),
            of_both(Role::Outside, [server, traffic.right.destination]),
            of_both(Role::Outside2, in_both(second_of(server), &translator)),
            of_both(Role::Subscriber, [self.own_end(), own]),
        ];
        roles.extend(
            pool_of(state)
                .into_iter()
                .map(|address| of_both(Role::Pool, [address; 2])),
        );
        roles.extend(self.of_tunnel());
        Ok(roles)
    }

    /// Returns the roles of the router of a site, among them a neighbouring site, at an address of the link for which the tester answers.
    fn roles_of_site(&self) -> Vec<RoleAddresses> {
        let traffic = &self.recipe.foreground;
        let mut roles = vec![
            of_both(Role::Subscriber, [self.own_end(), traffic.left.source]),
            of_both(Role::Server, [traffic.left.destination; 2]),
        ];
        roles.extend(self.of_tunnel());
        let router = roles.iter().find(|known| known.role == Role::Router4);
        if let Some(address) = router.and_then(|router| router.ipv4) {
            let site = six_to_four_host(address);
            roles.push(of_both(Role::Neighbour, [address.into(), site.into()]));
        }
        roles
    }

    /// Returns the edge's end of the tunnel, or its address in the domain.
    fn own_end(&self) -> IpAddr {
        let right = &self.recipe.foreground.right;
        right.outer.map_or(right.source, |outer| outer.source)
    }

    /// Returns the other end of the tunnel, and a router beside it that is none.
    fn of_tunnel(&self) -> Vec<RoleAddresses> {
        let outer = self.recipe.foreground.right.outer;
        let relay = outer.map(|outer| of_both(Role::Relay, [outer.destination; 2]));
        let tester = self.recipe.right.tester.first().copied();
        let router = tester.and_then(|tester| neighbours_of(tester).next());
        let router = router.map(|address| {
            let role = if address.is_ipv4() {
                Role::Router4
            } else {
                Role::Router6
            };
            of_both(role, [address; 2])
        });
        relay.into_iter().chain(router).collect()
    }
}

/// Returns the first host of the site at an IPv4 address (RFC 3056 section 2).
fn six_to_four_host(address: Ipv4Addr) -> Ipv6Addr {
    let [a, b, c, d] = address.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1)
}

#[cfg(test)]
mod tests {
    use super::super::role_addresses::compared::{both, pair};
    use super::*;
    use sixbench_testbed::Library;

    fn setting(name: &str) -> DeviceSetting {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let recipe = library.get(name).expect("the recipe");
        let sides = EdgeSides::of_recipe(recipe).expect("an edge");
        sides.setting(1500).expect("a setting")
    }

    #[test]
    fn an_edge_with_a_tunnel_has_one_address_and_the_ports_of_its_set() {
        let edge = setting("linux-ip6tnl-map-e-ce");
        assert_eq!(both(&edge, Role::Inside), pair("192.168.0.4", ""));
        assert_eq!(
            both(&edge, Role::Subscriber),
            pair("192.0.2.0", "2001:db8:ce:1b:0:c000:200:1b")
        );
        assert_eq!(both(&edge, Role::Relay), pair("", "2001:db8:6::1"));
        assert_eq!(both(&edge, Role::Outside2), pair("203.0.113.57", ""));
        let subscribers = edge.subscribers.expect("the edge");
        assert_eq!(subscribers.ports, Some((55296, 57343)));
        assert_eq!(edge.opening_side(), Side::Inside);
    }

    #[test]
    fn an_edge_that_translates_knows_servers_in_both_families() {
        let edge = setting("jool-mapt-ce");
        assert_eq!(
            both(&edge, Role::Outside),
            pair("203.0.113.56", "64:ff9b::cb00:7138")
        );
        assert_eq!(
            both(&edge, Role::Outside2),
            pair("203.0.113.57", "64:ff9b::cb00:7139")
        );
        assert_eq!(both(&edge, Role::Relay), [None, None]);
        assert_eq!((edge.hops_from_ipv4, edge.hops_from_ipv6), (2, 2));
    }

    #[test]
    fn a_neighbouring_site_is_behind_an_address_of_the_link() {
        let site = setting("linux-sit-6to4-site");
        assert_eq!(
            both(&site, Role::Subscriber),
            pair("198.18.128.1", "2002:c612:8001::1")
        );
        assert_eq!(
            both(&site, Role::Neighbour),
            pair("198.18.0.77", "2002:c612:4d::1")
        );
        assert_eq!(both(&site, Role::Relay), pair("198.18.0.1", ""));
    }

    #[test]
    fn relays_and_rows_are_no_edges() {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        for name in [
            "linux-sit-6to4",
            "jool-mapt-br",
            "jool-mapt",
            "linux-map-e",
            "tayga-clat",
        ] {
            assert!(!is_edge(library.get(name).expect("the recipe")), "{name}");
        }
    }
}
