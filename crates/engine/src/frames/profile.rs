//! The appearance of a test's frames on either side of the DUT, and the neighbours there. The engine knows no technologies: a translator, a
//! tunnel and a router are all "sent like this, must come back like that".
//!
//! # Subscribers and tunnels
//!
//! To `engine` a technology is a datagram in two encapsulations (`frames::profile::Encapsulation`): as it leaves, and as it must come back, each possibly
//! with an outer header. Many subscribers are groups of `wire::rules`, one for each mapping rule of a domain. A frame's number selects the subscriber, and
//! the rule gives its addresses and one of its ports, on either link. So the receiver computes all of it again, and a device that confuses two
//! subscribers sends a wrong frame.
//!
//! The rules are verified independently. `engine/tests/it/reference` has the devices of MAP-T (BR and CE), MAP-E, lightweight 4over6, DS-Lite, 6to4,
//! 6rd and 464XLAT written from their RFCs, without any code of `wire::rules` or `wire::template`. When they are rigged, each of their mistakes must be
//! detected, named and counted. In addition, scapy reads captures of all of it: every frame, rebuilt from its fields, must be the same, octet for octet.

use super::stateful::StatefulGateway;
use serde::{Deserialize, Serialize};
use sixbench_method::plan::{AddressPart, Flows, Payload, Ports, SizeMix, ValueOrder};
use sixbench_method::terms::{Direction, Directions, FrameSize, IpVersion, Share};
use sixbench_wire::rules::{AddressRule, PortRule};
use sixbench_wire::template::{VARIABLE_AT_IPV4, VARIABLE_AT_IPV6};
use std::net::IpAddr;
use std::num::NonZeroU32;

/// Addresses of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressPair {
    /// Source.
    pub source: IpAddr,
    /// Destination.
    pub destination: IpAddr,
}

impl AddressPair {
    /// Returns the addresses of the opposite direction.
    fn swapped(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
        }
    }
}

/// A datagram as it is on a link: plain or encapsulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encapsulation {
    /// The ends of the datagram itself.
    pub ends: AddressPair,
    /// The tunnel that encapsulates it, if there is one.
    pub tunnel: Option<Tunnel>,
}

impl Encapsulation {
    /// Creates a plain datagram.
    pub fn plain(ends: AddressPair) -> Self {
        Self { ends, tunnel: None }
    }

    /// Returns the datagram of the opposite direction: its ends, and those of the tunnel, are swapped.
    pub fn swapped(self) -> Self {
        Self {
            ends: self.ends.swapped(),
            tunnel: self.tunnel.map(|tunnel| Tunnel {
                ends: tunnel.ends.swapped(),
                ..tunnel
            }),
        }
    }
}

/// The outer header of an encapsulated datagram: IPv6 in IPv4, or IPv4 in IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tunnel {
    /// The ends of the tunnel.
    pub ends: AddressPair,
    /// The hop limit that the DUT writes. The tester itself uses 64.
    pub hop_limit: u8,
}

/// One kind of traffic in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// The datagram as it leaves the tester.
    pub sent: Encapsulation,
    /// The datagram as it must come back.
    pub expected: Encapsulation,
    /// The amount by which the DUT lowers the hop limit (RFC 7915: like a router, by at least one).
    pub hops: u8,
}

impl Path {
    /// Returns whether the datagram itself leaves as IPv4 and arrives as IPv4, encapsulated or not.
    pub(crate) fn keeps_ipv4(&self) -> bool {
        self.sent.ends.source.is_ipv4() && self.expected.ends.source.is_ipv4()
    }
}

/// Both kinds of traffic of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paths {
    /// Translated, or just forwarded if the DUT does not translate.
    pub foreground: Path,
    /// Native IPv6 through the DUT.
    pub background: Option<Path>,
}

/// A pair of neighbours on a link: the tester answers for `tester` and resolves `dut`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours {
    /// An address that the DUT reaches on this link.
    pub tester: IpAddr,
    /// The DUT's address on this link, of the same family.
    pub dut: IpAddr,
}

/// The part of the addresses on one side of the DUT that varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressVariation {
    /// No part.
    #[default]
    None,
    /// 16 bits of every address (draft-lencse-bmwg-multiple-ip-addresses), with the same value on both sides of the DUT. Values above 65,535
    /// carry into the preceding 16 bits.
    Part(AddressPart),
    /// The network of destinations: this many networks starting with that of the path, used pseudorandomly (RFC 2544 section 12). The network is
    /// in octet 3 of IPv4 addresses (appendix C.2.2), and in octet 8 of IPv6 addresses.
    Networks(u16),
}

impl AddressVariation {
    /// Returns the number of values of an address in a stateful test, which has no networks.
    pub(crate) fn count(self) -> u32 {
        match self {
            Self::Part(part) => part.range.count(),
            Self::None | Self::Networks(_) => 1,
        }
    }

    /// Returns the octet of an address of this version at which the 32 bits begin that contain everything that varies: the 16 bits of a part and
    /// the 16 bits before them.
    pub(crate) fn begins_at(self, version: IpVersion) -> usize {
        match (self, version) {
            (_, IpVersion::Ipv4) => VARIABLE_AT_IPV4,
            // With an offset of 0 there is nothing in front, and the plan allows no value that would carry.
            (Self::Part(part), IpVersion::Ipv6) => usize::from(part.ipv6_offset).saturating_sub(2),
            (Self::Networks(_), IpVersion::Ipv6) => NETWORK_AT_IPV6,
            (Self::None, IpVersion::Ipv6) => VARIABLE_AT_IPV6,
        }
    }
}

/// The octet at which the 32 bits begin whose lowest octet is the eighth of an IPv6 address.
const NETWORK_AT_IPV6: usize = 4;

/// Subscribers whose addresses, and possibly ports, follow from their number by the same rules that configure the DUT (RFC 7597, RFC 7599, RFC
/// 7596, RFC 3056).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriberGroups {
    /// The order in which all subscribers take turns.
    pub order: ValueOrder,
    /// The subscribers of each rule, one rule after the other. The group of a frame is found by linear search, as a handful of groups cost almost
    /// nothing.
    pub groups: Vec<SubscriberGroup>,
}

impl SubscriberGroups {
    /// Returns the number of subscribers in all groups.
    pub fn count(&self) -> u32 {
        self.groups.iter().map(|group| group.count).sum()
    }
}

/// The subscribers of one rule. If the addresses of one group follow from a rule, those of all groups must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriberGroup {
    /// Number of subscribers, numbered from 0 within the group.
    pub count: u32,
    /// Their addresses as seen on the left link.
    pub left: Appearance,
    /// Their addresses as seen on the right link.
    pub right: Appearance,
    /// The ports of each subscriber, if they are restricted.
    pub ports: PortRule,
}

/// The rules for a subscriber's addresses as seen on a link. Without a rule, all subscribers have the address of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appearance {
    /// The rule for the address in the datagram itself.
    pub inner: Option<AddressRule>,
    /// The rule for the address in the outer header.
    pub outer: Option<AddressRule>,
}

/// The traffic of one point of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrafficProfile {
    /// The nominal frame size: that of every frame unless there is a mix.
    pub frame_size: FrameSize,
    /// The mix of frame sizes, if they are not all of the same size.
    pub size_mix: Option<Box<SizeMix>>,
    /// The directions in which frames are sent.
    pub directions: Directions,
    /// Left to right.
    pub forward: Paths,
    /// Right to left.
    pub reverse: Paths,
    /// The foreground frames' share of all frames.
    pub share: Share,
    /// UDP ports from left to right.
    pub forward_ports: Ports,
    /// UDP ports from right to left.
    pub reverse_ports: Ports,
    /// The variation of the paths' addresses on the left.
    pub left_variation: AddressVariation,
    /// The variation of the paths' addresses on the right.
    pub right_variation: AddressVariation,
    /// Many subscribers on the left, each with its own addresses, which replace the sources of forward frames and the destinations of reverse frames.
    pub subscribers: Option<SubscriberGroups>,
    /// The kind of datagrams.
    pub payload: Payload,
    /// The limit on the number of flows, if there is one.
    pub flows: Option<Flows>,
    /// The time of the ramp before each trial, nanoseconds, if there is one.
    pub ramp_ns: Option<u64>,
    /// One of so many frames is broadcast (RFC 2544 section 11.1), if any is.
    pub broadcast_every: Option<u32>,
    /// The frames of each burst of a constant load (RFC 2544 section 21), if they do not leave each at its own time.
    pub burst: Option<NonZeroU32>,
    /// The two phases of a stateful gateway (RFC 9693), which trials that open connections need. Such trials run on one machine only, so this is
    /// not sent to another one.
    #[serde(skip)]
    pub gateway: Option<StatefulGateway>,
    /// True if inter packet delay variation is measured.
    pub ipdv: bool,
    /// True if no header is rebuilt in transit, so that IPv4 datagrams keep their identification and fragmentation fields. Translators between IP
    /// versions do not keep them (RFC 7915 section 5.1).
    pub keeps_identification: bool,
    /// True if the DUT is known to write a UDP checksum of zero where it should write all ones: such frames count as received, and are reported.
    pub zero_checksum_is_known: bool,
    /// True if the DUT is known to send UDP over IPv4 without a checksum, which RFC 768 allows: such frames count as received, and are
    /// reported.
    pub absent_checksum_is_known: bool,
    /// The way in which the DUT treats hardware addresses, if it has none and just passes frames on; `None` for a DUT that answers for its own.
    pub wire: Option<WireAddresses>,
    /// The seed of all pseudorandom values.
    pub seed: u64,
    /// Neighbours on the left link.
    pub left: Vec<Neighbours>,
    /// Neighbours on the right link.
    pub right: Vec<Neighbours>,
}

/// The hardware addresses of a frame behind a device that has none. The tester sends from one of its ports to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WireAddresses {
    /// They are as they were sent.
    Kept,
    /// Source and destination are exchanged.
    Exchanged,
}

impl TrafficProfile {
    /// Returns the profile of a wire: frames between two addresses that arrive as they were sent, in both directions, with RFC 4814's ports.
    pub fn identity(left: IpAddr, right: IpAddr, frame_size: FrameSize) -> Self {
        let paths = |source, destination| {
            let ends = AddressPair {
                source,
                destination,
            };
            let foreground = Path {
                sent: Encapsulation::plain(ends),
                expected: Encapsulation::plain(ends),
                hops: 0,
            };
            Paths {
                foreground,
                background: None,
            }
        };
        Self {
            frame_size,
            size_mix: None,
            directions: Directions::Both,
            forward: paths(left, right),
            reverse: paths(right, left),
            share: Share::ALL,
            forward_ports: Ports::RFC_4814,
            reverse_ports: Ports::RFC_4814,
            left_variation: AddressVariation::None,
            right_variation: AddressVariation::None,
            subscribers: None,
            payload: Payload::Udp,
            flows: None,
            ramp_ns: None,
            broadcast_every: None,
            burst: None,
            gateway: None,
            ipdv: false,
            keeps_identification: true,
            zero_checksum_is_known: false,
            absent_checksum_is_known: false,
            wire: None,
            seed: 42,
            left: vec![],
            right: vec![],
        }
    }

    /// Returns the paths of a direction.
    pub fn paths(&self, direction: Direction) -> &Paths {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    /// Returns the ports of a direction.
    pub fn ports(&self, direction: Direction) -> Ports {
        match direction {
            Direction::Forward => self.forward_ports,
            Direction::Reverse => self.reverse_ports,
        }
    }

    /// Returns the variations of the source and destination addresses of a direction; sources stay within their network.
    pub fn variations(&self, direction: Direction) -> (AddressVariation, AddressVariation) {
        let (source, destination) = match direction {
            Direction::Forward => (self.left_variation, self.right_variation),
            Direction::Reverse => (self.right_variation, self.left_variation),
        };
        let source = if matches!(source, AddressVariation::Networks(_)) {
            AddressVariation::None
        } else {
            source
        };
        (source, destination)
    }

    /// Returns every path that carries frames, with its direction.
    pub fn loaded_paths(&self) -> impl Iterator<Item = (Direction, &Path)> {
        self.directions.each().iter().flat_map(|&direction| {
            let paths = self.paths(direction);
            let background = paths
                .background
                .as_ref()
                .filter(|_| self.share.foreground < self.share.of);
            std::iter::once(&paths.foreground)
                .chain(background)
                .map(move |path| (direction, path))
        })
    }
}
