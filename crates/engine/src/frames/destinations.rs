//! All destination addresses in the frames of a profile, for the check of RFC 6815.

use super::profile::{Appearance, TrafficProfile};
use super::side::pool_address;
use sixbench_method::isolation::Addressed;
use sixbench_wire::rules::AddressRule;
use std::net::IpAddr;

impl Addressed for TrafficProfile {
    fn each_address(&self, show: &mut dyn FnMut(IpAddr)) {
        for (direction, path) in self.loaded_paths() {
            let (source, destination) = self.variations(direction);
            for datagram in [path.sent, path.expected] {
                for (address, variation) in [
                    (datagram.ends.source, source),
                    (datagram.ends.destination, destination),
                ] {
                    show(address);
                    variation.addresses(address).for_each(&mut *show);
                }
                datagram
                    .tunnel
                    .iter()
                    .flat_map(|tunnel| [tunnel.ends.source, tunnel.ends.destination])
                    .for_each(&mut *show);
            }
        }
        self.each_of_pool(show);
        let groups = self
            .subscribers
            .iter()
            .flat_map(|subscribers| &subscribers.groups);
        for group in groups {
            for appearance in [group.left, group.right] {
                each_subscriber(appearance, group.count, show);
            }
        }
        for neighbours in self.left.iter().chain(&self.right) {
            show(neighbours.tester);
            show(neighbours.dut);
        }
    }
}

impl TrafficProfile {
    /// Shows each address to which a stateful device translates sources, and to which the Responder therefore sends.
    fn each_of_pool(&self, show: &mut dyn FnMut(IpAddr)) {
        let Some(gateway) = &self.gateway else { return };
        let source = self.paths(gateway.opens).foreground.expected.ends.source;
        for (first, last) in &gateway.pool.parts {
            (*first..=*last).for_each(|value| show(pool_address(source, value)));
        }
    }
}

/// Shows the first and last subscriber, and those whose number has a single bit set: the bits of a number are adjacent in an address, so these
/// reach every prefix that contains any subscriber's address.
fn each_subscriber(appearance: Appearance, count: u32, show: &mut dyn FnMut(IpAddr)) {
    let last = u64::from(count.saturating_sub(1));
    let numbers = || {
        [0, last]
            .into_iter()
            .chain((0..32).map(|bit| 1 << bit).filter(|number| *number < last))
    };
    let rules = [appearance.inner, appearance.outer].into_iter().flatten();
    rules.for_each(|rule: AddressRule| numbers().for_each(|number| show(rule.address(number))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::profile::{AddressVariation, SubscriberGroup, SubscriberGroups};
    use sixbench_method::isolation::Isolation;
    use sixbench_method::plan::{AddressPart, ValueOrder, ValueRange};
    use sixbench_method::terms::FrameSize;
    use sixbench_wire::rules::{PortRule, SixRd};

    fn profile() -> TrafficProfile {
        let [left, right] =
            ["198.18.0.2", "198.19.0.2"].map(|text| text.parse().expect("an address"));
        TrafficProfile::identity(left, right, FrameSize(84))
    }

    fn refused(profile: TrafficProfile) -> Option<IpAddr> {
        Isolation::Unknown
            .admit(profile)
            .err()
            .map(|forbidden| forbidden.0)
    }

    #[test]
    fn frames_between_test_addresses_are_admitted() {
        assert_eq!(refused(profile()), None);
    }

    #[test]
    fn a_destination_that_could_be_somebodys_is_refused_on_either_side_of_the_device() {
        let mut sent = profile();
        sent.forward.foreground.sent.ends.destination = "9.9.9.9".parse().expect("an address");
        let mut expected = profile();
        expected.reverse.foreground.expected.ends.source = "9.9.9.8".parse().expect("an address");
        assert_eq!(
            [sent, expected].map(refused),
            ["9.9.9.9", "9.9.9.8"].map(|text| text.parse().ok())
        );
    }

    #[test]
    fn addresses_that_vary_out_of_the_range_are_refused() {
        let range = ValueRange {
            first: 18,
            last: 20,
            order: ValueOrder::Increasing,
        };
        let part = AddressPart {
            range,
            ipv4_offset: 0,
            ipv6_offset: 14,
        };
        let varied = TrafficProfile {
            right_variation: AddressVariation::Part(part),
            ..profile()
        };
        assert_eq!(refused(varied), "0.18.0.2".parse().ok());
        let networks = TrafficProfile {
            right_variation: AddressVariation::Networks(256),
            ..profile()
        };
        assert_eq!(refused(networks), None);
    }

    #[test]
    fn values_that_carry_into_the_16_bits_in_front_are_refused_where_that_leaves_the_range() {
        let carrying = |own: &str, last, ipv6_offset| {
            let range = ValueRange {
                first: 65_000,
                last,
                order: ValueOrder::Pseudorandom,
            };
            let part = AddressPart {
                range,
                ipv4_offset: 2,
                ipv6_offset,
            };
            let own = own.parse().expect("an address");
            let profile = TrafficProfile::identity(own, own, FrameSize(84));
            refused(TrafficProfile {
                right_variation: AddressVariation::Part(part),
                ..profile
            })
        };
        // Twice 65,536 addresses are exactly 198.18.0.0/15.
        assert_eq!(carrying("198.18.0.2", 131_071, 12), None);
        assert_eq!(
            carrying("198.18.0.2", 131_072, 12),
            "198.20.0.0".parse().ok()
        );
        assert_eq!(carrying("2001:2:0:8000::2", 131_071, 12), None);
        assert_eq!(
            carrying("2001:2:0:8000::2", 65_535, 4),
            "2001:2:fde8:8000::2".parse().ok()
        );
        assert_eq!(
            carrying("2001:2:0:8000::2", 65_535, 2),
            "2001:fde8:0:8000::2".parse().ok()
        );
    }

    #[test]
    fn subscribers_beyond_the_range_are_refused() {
        let rule = SixRd::sixtofour("198.16.0.0/14".parse().expect("a prefix"))
            .numbered(1, None)
            .expect("a rule");
        let appearance = Appearance {
            inner: None,
            outer: Some(rule.ipv4()),
        };
        let group = SubscriberGroup {
            count: 1 << 16,
            left: appearance,
            right: Appearance::default(),
            ports: PortRule::ANY,
        };
        let subscribers = SubscriberGroups {
            order: ValueOrder::Pseudorandom,
            groups: vec![group],
        };
        assert!(
            refused(TrafficProfile {
                subscribers: Some(subscribers),
                ..profile()
            })
            .is_some()
        );
    }
}
