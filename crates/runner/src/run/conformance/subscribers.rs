//! The roles of a device that serves subscribers: a relay of 6to4 or 6rd, an AFTR, a border relay of MAP.

use super::nat::pool_of;
use super::role_addresses::of_both;
use super::setting::FamilySides;
use crate::error::RunError;
use crate::profile::subscribers;
use sixbench_conformance::{PortRanges, Role, RoleAddresses, SubscriberSetting};
use sixbench_testbed::Subscriber;
use sixbench_testbed::recipe::Technology;
use std::ops::RangeInclusive;

/// The numbers of the subscriber and its neighbour. Before the first one there is another, so that the port below its set belongs to somebody.
const NUMBERS: [usize; 2] = [1, 2];

/// A device's subscribers, as its vectors see them.
pub(super) struct ServedSubscribers {
    /// The addresses of the roles.
    pub(super) roles: Vec<RoleAddresses>,
    /// The properties of the device.
    pub(super) setting: SubscriberSetting,
}

/// Returns true for the technologies that serve subscribers: their devices are relays, AFTRs and border relays.
pub(super) fn are_served_by(technology: Technology) -> bool {
    matches!(
        technology,
        Technology::SixToFour
            | Technology::SixRd
            | Technology::DsLite
            | Technology::Lw4o6
            | Technology::MapE
            | Technology::MapT
    )
}

/// Returns the subscribers of a device, or `None` if its recipe has none.
///
/// # Errors
/// The recipe's rule of subscribers is wrong, or has fewer than three.
pub(super) fn served(sides: &FamilySides<'_>) -> Result<Option<ServedSubscribers>, RunError> {
    let recipe = sides.recipe;
    if recipe.subscribers.is_none() {
        return Ok(None);
    }
    let count = NUMBERS[1] as u32 + 1;
    let all = subscribers::by_recipe(recipe, count)?;
    let of_recipe = all.get(&recipe.name);
    let pair = of_recipe.and_then(|all| Some((all.get(NUMBERS[0])?, all.get(NUMBERS[1])?)));
    let Some((subscriber, neighbour)) = pair else {
        return Err(RunError::NoVectors {
            recipe: recipe.name.clone(),
        });
    };
    let [left, _] = sides.sides();
    let (first, last) = subscriber.ports;
    let setting = SubscriberSetting {
        side: left,
        is_edge: false,
        outer_hop_limit: recipe.foreground.left.outer.map(|outer| outer.hop_limit),
        ports: (last < u16::MAX).then_some((first, last)),
        ranges: ranges_of(&subscribers::port_ranges(recipe, subscriber.number)?),
    };
    Ok(Some(ServedSubscribers {
        roles: roles(sides, subscriber, neighbour),
        setting,
    }))
}

/// Returns the ranges of a port set that has several.
fn ranges_of(ranges: &[RangeInclusive<u16>]) -> Option<PortRanges> {
    let [first, second, ..] = ranges else {
        return None;
    };
    let last = ranges.last()?;
    Some(PortRanges {
        interval: second.start() - first.start(),
        to_last: last.start() - first.start(),
    })
}

fn roles(
    sides: &FamilySides<'_>,
    subscriber: &Subscriber,
    neighbour: &Subscriber,
) -> Vec<RoleAddresses> {
    let traffic = &sides.recipe.foreground;
    let is_stateful = sides.recipe.state.is_some();
    let mut roles = vec![
        end_of(Role::Subscriber, subscriber, is_stateful),
        end_of(Role::Neighbour, neighbour, is_stateful),
        end_of(Role::Customer, subscriber, false),
    ];
    roles.push(if is_stateful {
        of_both(Role::Public, [traffic.right.source; 2])
    } else {
        end_of(Role::Public, subscriber, false)
    });
    if let Some(outer) = traffic.left.outer {
        roles.push(of_both(Role::Relay, [outer.destination; 2]));
    }
    let pool = sides.recipe.state.iter().flat_map(pool_of);
    roles.extend(pool.map(|address| of_both(Role::Pool, [address; 2])));
    let servers = [traffic.right.destination, traffic.left.destination];
    roles.push(of_both(Role::Server, servers));
    roles
}

/// Returns the addresses of a subscriber: at a NAT, its IPv4 address is only inside its tunnel.
fn end_of(role: Role, subscriber: &Subscriber, is_behind_nat: bool) -> RoleAddresses {
    let ipv6 = subscriber.ipv6;
    let ipv4 = subscriber.ipv4.filter(|_| !is_behind_nat).unwrap_or(ipv6);
    of_both(role, [ipv4, ipv6])
}

#[cfg(test)]
mod tests {
    use super::super::role_addresses::compared::{both, pair};
    use super::*;
    use sixbench_conformance::DeviceSetting;
    use sixbench_conformance::frame::Side;
    use sixbench_testbed::Library;

    fn setting(name: &str) -> DeviceSetting {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let recipe = library.get(name).expect("the recipe");
        let sides = FamilySides::of_recipe(recipe).expect("sides");
        sides.setting(1500).expect("a setting")
    }

    #[test]
    fn subscribers_of_an_aftr_share_an_address_and_have_ports_side_by_side() {
        let aftr = setting("linux-ip6tnl-lw4o6");
        assert_eq!(
            both(&aftr, Role::Subscriber),
            pair("192.0.2.0", "2001:db8:b4:1::1")
        );
        assert_eq!(
            both(&aftr, Role::Neighbour),
            pair("192.0.2.0", "2001:db8:b4:2::1")
        );
        assert_eq!(both(&aftr, Role::Relay), pair("", "2001:db8:100::1"));
        assert_eq!(both(&aftr, Role::Server), pair("203.0.113.56", ""));
        let subscribers = aftr.subscribers.expect("subscribers");
        assert_eq!(subscribers.side, Side::Ipv6);
        assert_eq!(subscribers.ports, Some((4096, 8191)));
        assert_eq!(subscribers.outer_hop_limit, Some(64));
    }

    #[test]
    fn a_site_of_a_relay_is_known_by_its_ipv4_address_outside_and_its_ipv6_address_inside() {
        let relay = setting("linux-sit-6to4");
        assert_eq!(
            both(&relay, Role::Subscriber),
            pair("198.18.128.2", "2002:c612:8002::1")
        );
        assert_eq!(both(&relay, Role::Customer), both(&relay, Role::Subscriber));
        assert_eq!(both(&relay, Role::Relay), pair("198.18.0.1", ""));
        let subscribers = relay.subscribers.expect("subscribers");
        assert_eq!((subscribers.side, subscribers.ports), (Side::Ipv4, None));
    }

    #[test]
    fn behind_a_nat_the_address_of_a_subscriber_is_that_of_the_pool() {
        let aftr = setting("linux-ip6tnl-ds-lite");
        assert_eq!(both(&aftr, Role::Subscriber)[0], None);
        assert_eq!(both(&aftr, Role::Customer)[0], "10.64.0.1".parse().ok());
        assert_eq!(both(&aftr, Role::Public)[0], "198.19.0.1".parse().ok());
        assert_eq!(both(&aftr, Role::Pool), both(&aftr, Role::Public));
        assert_eq!(aftr.opening_side(), Side::Ipv6);
    }

    #[test]
    fn a_port_set_with_an_offset_has_ranges_at_regular_intervals() {
        let relay = setting("jool-mapt-br-offset");
        let subscribers = relay.subscribers.expect("subscribers");
        // RFC 7597 section 5.1 with a = 6, k = 5 and PSID 1: A = 1 to 63.
        assert_eq!(subscribers.ports, Some((1056, 1087)));
        let ranges = PortRanges {
            interval: 1024,
            to_last: 62 * 1024,
        };
        assert_eq!(subscribers.ranges, Some(ranges));
        let contiguous = setting("jool-mapt-br").subscribers.expect("subscribers");
        assert_eq!(contiguous.ranges, None);
    }

    #[test]
    fn a_relay_that_translates_has_no_tunnel() {
        let relay = setting("jool-mapt-br");
        assert_eq!(
            both(&relay, Role::Server),
            pair("203.0.113.56", "64:ff9b::cb00:7138")
        );
        assert_eq!(both(&relay, Role::Relay), [None, None]);
        assert_eq!(
            relay
                .subscribers
                .and_then(|subscribers| subscribers.outer_hop_limit),
            None
        );
    }
}
