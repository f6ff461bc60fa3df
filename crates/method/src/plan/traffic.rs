//! What the test frames of a test look like beside their size: ports, addresses, networks, flows.

use super::SizeMix;
use crate::terms::Direction;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Ports, addresses and flows of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TrafficSettings {
    /// UDP ports of the frames from left to right.
    pub forward_ports: Ports,
    /// UDP ports of the frames from right to left.
    pub reverse_ports: Ports,
    /// The variation of the addresses on the left: sources of forward frames, destinations of reverse ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_addresses: Option<AddressPart>,
    /// The variation of the addresses on the right: destinations of forward frames, sources of reverse ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right_addresses: Option<AddressPart>,
    /// Networks on the left that reverse frames are sent to, 1..=256 (RFC 2544 section 12).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub left_networks: u16,
    /// Networks on the right that forward frames are sent to, 1..=256 (RFC 2544 section 12).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub right_networks: u16,
    /// Subscribers the tester plays (MAP CEs, B4s, 6to4 hosts), where the device's recipe has a rule for them; otherwise as many as the recipe
    /// says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribers: Option<u32>,
    /// The kind of the foreground datagrams.
    #[serde(default, skip_serializing_if = "Payload::is_udp")]
    pub payload: Payload,
    /// A bounded number of network flows (RFC 8219 section 10); otherwise every frame has values of its own from the ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Flows>,
    /// The time over which the load rises to that of a trial before it begins, with frames that count apart, nanoseconds. RFC 2544 has no such ramp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_ns: Option<u64>,
    /// The mix of frame sizes of each trial, where they are not all of the same size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_mix: Option<SizeMix>,
    /// One of so many frames is addressed to the hardware broadcast address (RFC 2544 section 11.1); none is where this is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast_every: Option<u32>,
    /// The frames of each burst of the load (RFC 2544 section 21): they are sent back to back, and the tester waits between bursts so that the mean rate holds.
    /// Each frame is sent at its own time where this is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<NonZeroU32>,
}

impl Bounded for TrafficSettings {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("left-networks", TrafficSettings::NETWORKS),
            ("right-networks", TrafficSettings::NETWORKS),
            ("subscribers", NumberBound::COUNT),
            ("broadcast-every", TrafficSettings::BROADCAST_EVERY),
            ("burst", TrafficSettings::BURST),
            (
                "ramp-ns",
                NumberBound::TIME_NS.at_least(TrafficSettings::SHORTEST_RAMP_NS as f64),
            ),
        ],
        tables: &[
            ("forward_ports", &Ports::BOUNDS),
            ("reverse_ports", &Ports::BOUNDS),
            ("left-addresses", &AddressPart::BOUNDS),
            ("right-addresses", &AddressPart::BOUNDS),
            ("flows", &Flows::BOUNDS),
        ],
        ..TableBounds::NONE
    };
}

fn one() -> u16 {
    1
}

fn is_one(networks: &u16) -> bool {
    *networks == 1
}

impl TrafficSettings {
    /// The networks on one side.
    pub const NETWORKS: NumberBound = NumberBound::new(1.0, 256.0);

    /// The frames of which one is broadcast.
    pub const BROADCAST_EVERY: NumberBound = NumberBound::new(2.0, 1_000.0);

    /// The frames of a burst.
    pub const BURST: NumberBound = NumberBound::new(2.0, Self::MOST_BURST);

    /// The most frames of a burst.
    pub const MOST_BURST: f64 = 65_536.0;

    /// The shortest ramp, nanoseconds.
    pub const SHORTEST_RAMP_NS: u64 = 10_000_000;

    /// RFC 4814 section 4.5: pseudorandom ports; one address pair.
    pub const RFC_4814: Self = Self::with_ports(Ports::RFC_4814);

    /// Returns these ports in both directions, one address pair.
    pub const fn with_ports(ports: Ports) -> Self {
        Self {
            forward_ports: ports,
            reverse_ports: ports,
            left_addresses: None,
            right_addresses: None,
            left_networks: 1,
            right_networks: 1,
            subscribers: None,
            payload: Payload::Udp,
            flows: None,
            ramp_ns: None,
            size_mix: None,
            broadcast_every: None,
            burst: None,
        }
    }

    /// Combinations of ports and addresses that the poorer direction has.
    pub fn tuples(&self) -> u64 {
        self.tuples_of(Direction::Forward)
            .min(self.tuples_of(Direction::Reverse))
    }

    /// Returns the ports of a direction.
    pub fn ports_of(&self, direction: Direction) -> Ports {
        match direction {
            Direction::Forward => self.forward_ports,
            Direction::Reverse => self.reverse_ports,
        }
    }

    /// Returns the networks of a direction's destinations.
    pub fn networks_of(&self, direction: Direction) -> u16 {
        match direction {
            Direction::Forward => self.right_networks,
            Direction::Reverse => self.left_networks,
        }
    }

    /// Combinations of ports and addresses that a direction has.
    pub fn tuples_of(&self, direction: Direction) -> u64 {
        let (ports, networks) = (self.ports_of(direction), self.networks_of(direction));
        let addresses =
            |part: Option<AddressPart>| part.map_or(1, |part| u64::from(part.range.count()));
        let both = addresses(self.left_addresses).saturating_mul(addresses(self.right_addresses));
        let ports = u64::from(ports.source.count()) * u64::from(ports.destination.count());
        ports
            .saturating_mul(u64::from(networks))
            .saturating_mul(both)
    }

    /// Addresses that a direction's frames are sent to.
    pub fn destinations_of(&self, direction: Direction) -> u64 {
        let part = match direction {
            Direction::Forward => self.right_addresses,
            Direction::Reverse => self.left_addresses,
        };
        u64::from(self.networks_of(direction))
            * part.map_or(1, |part| u64::from(part.range.count()))
    }

    /// Clients that send: the subscribers that are asked for, or one.
    pub fn clients(&self) -> u32 {
        self.subscribers.unwrap_or(1)
    }

    /// Returns whether only ports vary.
    pub fn has_one_address_pair(&self) -> bool {
        let varies = |part: Option<AddressPart>| part.is_some_and(|part| part.range.count() > 1);
        !varies(self.left_addresses)
            && !varies(self.right_addresses)
            && self.left_networks == 1
            && self.right_networks == 1
    }
}

/// The kind of test datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    /// UDP (RFC 8219 section 5.3).
    #[default]
    Udp,
    /// Echo requests from left to right, echo replies from right to left: of ICMPv6 (RFC 4443 section 4) where a side is IPv6, and of ICMP where it
    /// is IPv4.
    Echo,
}

impl Payload {
    fn is_udp(&self) -> bool {
        *self == Self::Udp
    }
}

/// UDP ports of the test frames of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ports {
    /// Source ports.
    pub source: ValueRange,
    /// Destination ports.
    pub destination: ValueRange,
}

impl Bounded for Ports {
    const BOUNDS: TableBounds = TableBounds {
        tables: &[("source", &PORT_RANGE), ("destination", &PORT_RANGE)],
        ..TableBounds::NONE
    };
}

/// The bounds of a range of ports.
const PORT_RANGE: TableBounds = TableBounds {
    numbers: &[
        ("first", NumberBound::UINT16),
        ("last", NumberBound::UINT16),
    ],
    ordered: &[("first", "last")],
    ..TableBounds::NONE
};

impl Ports {
    /// RFC 4814 section 4.5: source 1024-65535, destination 1-49151, pseudorandom, uniform.
    pub const RFC_4814: Self = Self::in_order(ValueOrder::Pseudorandom);
    /// One flow: the first ports of RFC 4814's ranges.
    pub const FIXED: Self = Self::in_order(ValueOrder::Fixed);

    /// Returns RFC 4814's ranges in another order.
    pub const fn in_order(order: ValueOrder) -> Self {
        Self {
            source: ValueRange {
                first: 1024,
                last: 65535,
                order,
            },
            destination: ValueRange {
                first: 1,
                last: 49151,
                order,
            },
        }
    }
}

/// A range of values, of 16 bits where nothing else is said, and how they follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "ValueRange_of_{V}")]
pub struct ValueRange<V = u16> {
    /// The first value.
    pub first: V,
    /// The last value, not below the first.
    pub last: V,
    /// The order of the values.
    pub order: ValueOrder,
}

impl<V: Copy + Ord + Into<u32>> ValueRange<V> {
    /// Returns the number of different values.
    pub fn count(&self) -> u32 {
        let (first, last): (u32, u32) = (self.first.into(), self.last.into());
        match self.order {
            ValueOrder::Fixed => 1,
            _ => last.max(first) - first + 1,
        }
    }
}

/// The order of the values of a range from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueOrder {
    /// Always the first.
    Fixed,
    /// From the first to the last, and again.
    Increasing,
    /// From the last to the first, and again.
    Decreasing,
    /// Pseudorandom and uniform, from the plan's seed.
    Pseudorandom,
}

impl ValueOrder {
    /// Returns the word of reports for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Increasing => "increasing",
            Self::Decreasing => "decreasing",
            Self::Pseudorandom => "pseudorandom",
        }
    }
}

/// 16 bits of an address that vary (draft-lencse-bmwg-multiple-ip-addresses). Where there are more than 65,536 values, they carry into the
/// 16 bits in front of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AddressPart {
    /// The values, up to 1,048,575; those above 65,535 need offsets that are not 0.
    pub range: ValueRange<u32>,
    /// The octet of an IPv4 address at which the 16 bits begin: 0 or 2.
    pub ipv4_offset: u8,
    /// The octet of an IPv6 address at which the 16 bits begin: even, 0..=14.
    pub ipv6_offset: u8,
}

impl Bounded for AddressPart {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("ipv4-offset", AddressPart::IPV4_OFFSETS),
            ("ipv6-offset", AddressPart::IPV6_OFFSETS),
        ],
        tables: &[("range", &ADDRESS_RANGE)],
        ..TableBounds::NONE
    };
}

/// The bounds of the values of addresses.
const ADDRESS_RANGE: TableBounds = TableBounds {
    numbers: &[
        ("first", AddressPart::VALUES),
        ("last", AddressPart::VALUES),
    ],
    ordered: &[("first", "last")],
    ..TableBounds::NONE
};

impl AddressPart {
    /// The octets at which values can be put into an IPv4 address.
    pub const IPV4_OFFSETS: NumberBound = NumberBound::new(0.0, 2.0);
    /// The octets at which values can be put into an IPv6 address.
    pub const IPV6_OFFSETS: NumberBound = NumberBound::new(0.0, 14.0);
    /// The values that can be put into an address: the guard looks at each address.
    pub const VALUES: NumberBound = NumberBound::new(0.0, Self::LAST_VALUE as f64);
    /// The octet offset of the part of an IPv4 address that the draft lets vary: the last 16 bits.
    pub const IPV4_OFFSET: u8 = 2;
    /// The octet offset of the part of an IPv6 address that the draft lets vary: bits 96 to 111.
    pub const IPV6_OFFSET: u8 = 12;
    /// The highest value. Every address is held against the ranges of RFC 6815 before a socket opens, so there may not be too many.
    pub const LAST_VALUE: u32 = (1 << 20) - 1;
}

/// A bounded number of network flows (RFC 8219 section 10): frames take turns among `count` combinations of ports and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Flows {
    /// The number of flows.
    pub count: u32,
    /// Time between the starts of two flows, nanoseconds; 0: all at once (section 10.2.1), else one after the other (10.2.2).
    #[serde(default)]
    pub step_ns: u64,
}

impl Bounded for Flows {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("count", NumberBound::COUNT),
            ("step-ns", NumberBound::TIME_NS),
        ],
        ..TableBounds::NONE
    };
}
