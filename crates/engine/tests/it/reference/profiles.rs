//! The tester's side: the rules of `wire::rules` for the domains that the reference devices compute themselves.

use super::{map, six_in_four, softwires};
use crate::common::{FRAMES, ends, ipv4};
use sixbench_engine::frames::profile::{
    AddressVariation, Appearance, Encapsulation, Path, Paths, SubscriberGroup, SubscriberGroups,
    TrafficProfile, Tunnel,
};
use sixbench_engine::frames::stateful::{StatefulGateway, TranslationPool};
use sixbench_method::plan::{AddressPart, Ports, Stateful, ValueOrder, ValueRange};
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_wire::rules::{
    AddressRule, B4Addresses, B4Layout, DsLite, MapRule, PortRule, SixRd, Softwires,
};
use std::net::IpAddr;

/// The number of subscribers used, of all that a domain has.
pub(crate) const SUBSCRIBERS: u32 = 1000;
/// Connections opened in phase 1.
pub(crate) const CONNECTIONS: u64 = 600;

fn plain(source: &str, destination: &str) -> Encapsulation {
    Encapsulation::plain(ends(source, destination))
}

fn around(
    inner: Encapsulation,
    source: impl Into<IpAddr>,
    destination: impl Into<IpAddr>,
    hop_limit: u8,
) -> Encapsulation {
    let ends = sixbench_engine::frames::profile::AddressPair {
        source: source.into(),
        destination: destination.into(),
    };
    Encapsulation {
        tunnel: Some(Tunnel { ends, hop_limit }),
        ..inner
    }
}

/// Returns a profile in which the device turns the left datagram into the right one, and back, one hop further.
fn between(left: Encapsulation, right: Encapsulation) -> TrafficProfile {
    let paths = |sent, expected| Paths {
        foreground: Path {
            sent,
            expected,
            hops: 1,
        },
        background: None,
    };
    TrafficProfile {
        forward: paths(left, right),
        reverse: paths(right.swapped(), left.swapped()),
        ..ipv4()
    }
}

fn seen(
    inner: impl Into<Option<AddressRule>>,
    outer: impl Into<Option<AddressRule>>,
) -> Appearance {
    Appearance {
        inner: inner.into(),
        outer: outer.into(),
    }
}

fn group(left: Appearance, right: Appearance, ports: PortRule) -> SubscriberGroup {
    SubscriberGroup {
        count: SUBSCRIBERS,
        left,
        right,
        ports,
    }
}

fn with(profile: TrafficProfile, groups: Vec<SubscriberGroup>) -> TrafficProfile {
    TrafficProfile {
        subscribers: Some(SubscriberGroups {
            order: ValueOrder::Pseudorandom,
            groups,
        }),
        ..profile
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a constant")
}

fn map_rule(domain: map::Domain) -> MapRule {
    MapRule::new(
        parsed("2001:db8:ce::/51"),
        parsed("192.0.2.0/24"),
        13,
        domain.offset as u8,
    )
    .expect("a rule")
}

/// The servers' address, in IPv4.
const SERVER: &str = "198.51.100.2";
/// The same address behind 64:ff9b::/96.
const SERVER_BEHIND_DMR: &str = "64:ff9b::c633:6402";

/// Returns the profile of a stateless translator: IPv6 with two addresses behind 64:ff9b::/96 on one side, IPv4 on the other.
pub(crate) fn siit(is_ipv4_left: bool) -> TrafficProfile {
    let (ipv6, ipv4) = (
        plain("64:ff9b::c612:2", SERVER_BEHIND_DMR),
        plain("198.18.0.2", SERVER),
    );
    if is_ipv4_left {
        between(ipv4, ipv6)
    } else {
        between(ipv6, ipv4)
    }
}

/// Returns the profile of a MAP-T BR.
pub(crate) fn map_t(domain: map::Domain) -> TrafficProfile {
    let rule = map_rule(domain);
    let profile = between(
        plain("2001:db8:ce::c000:200:0", SERVER_BEHIND_DMR),
        plain("192.0.2.0", SERVER),
    );
    with(
        profile,
        vec![group(
            seen(rule.ipv6(), None),
            seen(rule.ipv4(), None),
            rule.ports(),
        )],
    )
}

/// Returns the profile of a MAP-T BR with two rules of different PSID offsets: 250 subscribers of one and 750 of the other, in turn.
pub(crate) fn map_t_of_two_rules() -> TrafficProfile {
    let second =
        MapRule::new(parsed("2001:db8:cf::/51"), parsed("203.0.113.0/24"), 13, 6).expect("a rule");
    let second = group(
        seen(second.ipv6(), None),
        seen(second.ipv4(), None),
        second.ports(),
    );
    let mut profile = map_t(map::Domain::of_the_papers(0));
    let subscribers = profile.subscribers.as_mut().expect("subscribers");
    subscribers.order = ValueOrder::Increasing;
    subscribers.groups[0].count = 250;
    subscribers.groups.push(SubscriberGroup {
        count: 750,
        ..second
    });
    profile
}

/// Returns the profile of a MAP-E BR.
pub(crate) fn map_e(domain: map::Domain) -> TrafficProfile {
    let rule = map_rule(domain);
    let right = plain("192.0.2.0", SERVER);
    let left = around(right, domain.ce(0, 0), map::BR, map::BR_HOPS);
    with(
        between(left, right),
        vec![group(
            seen(rule.ipv4(), rule.ipv6()),
            seen(rule.ipv4(), None),
            rule.ports(),
        )],
    )
}

fn b4s() -> B4Addresses {
    B4Addresses::new(
        parsed("2001:db8:b4::/48"),
        B4Layout::PerSubnet { interface: 1 },
    )
    .expect("a prefix")
}

/// Returns the profile of a lightweight AFTR: 64 B4s share an address.
pub(crate) fn lw4o6() -> TrafficProfile {
    let rule = Softwires::new(b4s(), parsed("192.0.2.0/24"), 6, 0).expect("a binding table");
    let right = plain("192.0.2.0", SERVER);
    let left = around(
        right,
        softwires::b4(0),
        softwires::AFTR,
        softwires::AFTR_HOPS,
    );
    with(
        between(left, right),
        vec![group(
            seen(rule.ipv4(), rule.ipv6()),
            seen(rule.ipv4(), None),
            rule.ports(),
        )],
    )
}

fn range<V>(first: V, last: V) -> ValueRange<V> {
    ValueRange {
        first,
        last,
        order: ValueOrder::Pseudorandom,
    }
}

/// Returns a gateway; `ports` are those to which the Initiator's sources may be translated, with the last 16 bits of the address.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the field of a profile, which is empty for stateless devices"
)]
fn gateway(part: u16, ports: (u16, u16)) -> Option<StatefulGateway> {
    let settings = Stateful::new(CONNECTIONS, FrameRate(5_000), 200_000_000);
    Some(StatefulGateway {
        opens: Direction::Forward,
        settings,
        pool: TranslationPool {
            parts: vec![(part, part)],
            ports,
        },
    })
}

/// Returns the variation for four servers whose addresses differ in their last 16 bits.
fn four_servers() -> AddressVariation {
    AddressVariation::Part(AddressPart {
        range: range(0x6402, 0x6405),
        ipv4_offset: 2,
        ipv6_offset: 14,
    })
}

/// Returns the profile of a MAP-T CE: one host, 30 ports of its own, 5 ports of 4 servers.
pub(crate) fn map_t_ce() -> TrafficProfile {
    let (domain, psid) = (map::Domain::of_the_papers(0), map::MapTCe::PSID);
    let mut right = plain("::", SERVER_BEHIND_DMR);
    right.ends.source = domain.ce(map::MapTCe::LAST, psid).into();
    let ports = Ports {
        source: range(5000, 5029),
        destination: range(80, 84),
    };
    TrafficProfile {
        forward_ports: ports,
        reverse_ports: ports,
        right_variation: four_servers(),
        gateway: gateway(psid, (55_296, 57_343)),
        ..between(plain("192.168.0.4", SERVER), right)
    }
}

/// Returns the profile of a DS-Lite AFTR: 10 B4s, each with host 192.0.0.2 and 3 ports behind it, 5 ports of 4 servers.
pub(crate) fn ds_lite() -> TrafficProfile {
    let rule = DsLite::alike(b4s(), DsLite::B4);
    let left = around(
        plain("192.0.0.2", SERVER),
        softwires::b4(0),
        softwires::AFTR,
        softwires::AFTR_HOPS,
    );
    let mut right = plain("0.0.0.0", SERVER);
    right.ends.source = softwires::PUBLIC.into();
    let ports = Ports {
        source: range(5000, 5002),
        destination: range(80, 84),
    };
    let subscribers = SubscriberGroup {
        count: 10,
        ..group(
            seen(None, rule.ipv6()),
            Appearance::default(),
            PortRule::ANY,
        )
    };
    TrafficProfile {
        forward_ports: ports,
        reverse_ports: ports,
        right_variation: four_servers(),
        gateway: gateway(0x7101, (1024, 65_535)),
        ..with(between(left, right), vec![subscribers])
    }
}

fn six_in_four(rule: SixRd, relay: &six_in_four::Relay) -> TrafficProfile {
    let mut right = plain("::", "2001:2:0:8000::2");
    right.ends.source = rule.ipv6().address(0);
    let left = around(right, rule.ipv4().address(0), relay.own, relay.hops);
    let groups = vec![group(
        seen(rule.ipv6(), rule.ipv4()),
        seen(rule.ipv6(), None),
        PortRule::ANY,
    )];
    with(between(left, right), groups)
}

/// Returns the profile of a 6to4 relay: 1000 sites from 198.18.0.1 on.
pub(crate) fn six_to_four() -> TrafficProfile {
    let rule = SixRd::sixtofour(parsed("198.18.0.0/16"))
        .numbered(1, None)
        .expect("sites");
    six_in_four(rule, &six_in_four::Relay::six_to_four())
}

/// Returns the profile of a 6rd border relay: 1000 CEs from 10.1.0.1 on.
pub(crate) fn six_rd() -> TrafficProfile {
    let rule = SixRd::new(parsed("2001:db8::/32"), 8, parsed("10.1.0.0/16")).expect("a domain");
    six_in_four(
        rule.numbered(1, None).expect("CEs"),
        &six_in_four::Relay::six_rd(),
    )
}

/// Returns the profile of a CLAT with 1000 clients from 192.168.1.0 on.
pub(crate) fn clat() -> TrafficProfile {
    let part = AddressPart {
        range: range(0x0100, 0x0100 + SUBSCRIBERS - 1),
        ipv4_offset: 2,
        ipv6_offset: 14,
    };
    let profile = between(
        plain("192.168.1.0", SERVER),
        plain("2001:db8:aaaa::c0a8:100", SERVER_BEHIND_DMR),
    );
    TrafficProfile {
        left_variation: AddressVariation::Part(part),
        ..profile
    }
}

/// Returns whether as many subscribers are drawn at least once as expected: 1000 (1 - 1/e), within six standard deviations (10).
pub(crate) fn is_drawn_well(subscribers: usize) -> bool {
    (572..=692).contains(&subscribers) && FRAMES == u64::from(SUBSCRIBERS)
}
