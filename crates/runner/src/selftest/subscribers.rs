//! What many subscribers cost the tester's senders: addresses and ports by rule, and headers around datagrams.

use super::result::SelftestResult;
use super::wire::{FRAMES, wire};
use crate::RunError;
use sixbench_engine::profile::{
    AddressPair, Appearance, Encapsulation, SubscriberGroup, SubscriberGroups, TrafficProfile, Tunnel,
};
use sixbench_engine::selftest;
use sixbench_io::clock::Clock;
use sixbench_method::plan::ValueOrder;
use sixbench_method::terms::{Direction, FrameSize};
use sixbench_wire::rules::{AddressRule, B4Addresses, B4Layout, MapRule, PortRule, SixRd, Softwires};
use std::fmt::Debug;
use std::net::IpAddr;
use std::str::FromStr;

/// Returns a name, the frames on the left and on the right, and the profile of each technology.
pub(super) fn cases() -> [(&'static str, [&'static str; 2], TrafficProfile); 4] {
    [
        ("MAP-T, 1,000 CEs", ["IPv6, 84 octets", "IPv4, 64 octets"], map_t(1_000)),
        ("MAP-T, 100,000 CEs", ["IPv6, 84 octets", "IPv4, 64 octets"], map_t(100_000)),
        ("lw4o6, 1,000 B4s", ["IPv4 in IPv6, 104 octets", "IPv4, 64 octets"], lw4o6()),
        ("6to4, 1,000 sites", ["IPv6 in IPv4, 104 octets", "IPv6, 84 octets"], six_to_four()),
    ]
}

/// Measures all figures, on one core, with the frames that leave on either side.
pub(super) fn figures(clock: &Clock) -> Result<Vec<SelftestResult>, RunError> {
    let mut figures = Vec::new();
    for (name, frames, profile) in cases() {
        for (direction, frames) in [Direction::Forward, Direction::Reverse].into_iter().zip(frames) {
            let rate = selftest::generate(&profile, direction, FRAMES, clock)?;
            let what = format!("generation, one core: {name}, {direction}: {frames}");
            figures.push(SelftestResult::new(what, rate.0, "frames/s"));
        }
    }
    Ok(figures)
}

fn parsed<T: FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().expect("a constant")
}

const IS_GOOD: &str = "a constant rule";

/// Returns the profile of a BR with 32 CEs to an address, at most 131,072 CEs.
fn map_t(count: u32) -> TrafficProfile {
    let rule = MapRule::new(parsed("2001:db8:ce::/47"), parsed("198.18.0.0/20"), 17, 6).expect(IS_GOOD);
    let (left, right) = (seen(rule.ipv6(), None), seen(rule.ipv4(), None));
    let base = between([rule.ipv6(), rule.ipv4()], ["2001:db8:64::c613:2", "198.19.0.2"]);
    with(base, SubscriberGroup { count, left, right, ports: rule.ports() })
}

/// Returns the profile of a lightweight AFTR with 64 B4s to an address.
fn lw4o6() -> TrafficProfile {
    let b4s = B4Addresses::new(parsed("2001:db8:b4::/48"), B4Layout::PerSubnet { interface: 1 }).expect(IS_GOOD);
    let rule = Softwires::new(b4s, parsed("198.18.0.0/24"), 6, 0).expect(IS_GOOD);
    let base = between([rule.ipv4(), rule.ipv4()], ["198.19.0.2", "198.19.0.2"]);
    let group = SubscriberGroup {
        count: 1_000,
        left: seen(rule.ipv4(), Some(rule.ipv6())),
        right: seen(rule.ipv4(), None),
        ports: rule.ports(),
    };
    with(around(base, rule.ipv6(), "2001:db8:af::1"), group)
}

fn six_to_four() -> TrafficProfile {
    let rule = SixRd::sixtofour(parsed("198.18.0.0/16")).numbered(1, None).expect(IS_GOOD);
    let base = between([rule.ipv6(), rule.ipv6()], ["2001:2:0:8000::2", "2001:2:0:8000::2"]);
    let group = SubscriberGroup {
        count: 1_000,
        left: seen(rule.ipv6(), Some(rule.ipv4())),
        right: seen(rule.ipv6(), None),
        ports: PortRule::ANY,
    };
    with(around(base, rule.ipv4(), "192.88.99.1"), group)
}

fn seen(inner: AddressRule, outer: Option<AddressRule>) -> Appearance {
    Appearance { inner: Some(inner), outer }
}

/// Returns a profile of datagrams between the first subscriber, by its rules on the left and on the right, and a host as it is
/// seen on either side.
fn between([left, right]: [AddressRule; 2], hosts: [&str; 2]) -> TrafficProfile {
    let face = |rule: AddressRule, host: &str| {
        Encapsulation::plain(AddressPair { source: rule.address(0), destination: parsed(host) })
    };
    let mut profile = wire(hosts[0], hosts[0], FrameSize(84));
    let (left, right) = (face(left, hosts[0]), face(right, hosts[1]));
    (profile.forward.foreground.sent, profile.forward.foreground.expected) = (left, right);
    (profile.reverse.foreground.sent, profile.reverse.foreground.expected) = (right.swapped(), left.swapped());
    profile
}

fn around(mut profile: TrafficProfile, rule: AddressRule, device: &str) -> TrafficProfile {
    let (subscriber, device) = (rule.address(0), parsed::<IpAddr>(device));
    let tunnel = |source, destination| Some(Tunnel { ends: AddressPair { source, destination }, hop_limit: 64 });
    profile.forward.foreground.sent.tunnel = tunnel(subscriber, device);
    profile.reverse.foreground.expected.tunnel = tunnel(device, subscriber);
    profile
}

fn with(profile: TrafficProfile, group: SubscriberGroup) -> TrafficProfile {
    TrafficProfile { subscribers: Some(SubscriberGroups { order: ValueOrder::Pseudorandom, groups: vec![group] }), ..profile }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_engine::selftest::Verification;

    #[test]
    fn every_profile_has_frames_of_both_directions_and_room_for_its_subscribers() {
        for profile in [map_t(1_000), map_t(100_000), lw4o6(), six_to_four()] {
            let group = profile.subscribers.as_ref().expect("subscribers").groups[0];
            let last = u64::from(group.count) - 1;
            let own = [group.left.inner, group.left.outer].into_iter().flatten();
            // The last subscriber is told from the one before by each address, or by its ports.
            for rule in own {
                let is_told =
                    rule.address(last) != rule.address(last - 1) || group.ports.psid(last) != group.ports.psid(last - 1);
                assert!(is_told, "{rule:?}");
            }
            for direction in [Direction::Forward, Direction::Reverse] {
                selftest::generate(&profile, direction, 100, &Clock::new()).expect("frames");
                selftest::receive(&profile, direction, 100, Verification::Usual, &Clock::new()).expect("frames");
            }
        }
    }
}
