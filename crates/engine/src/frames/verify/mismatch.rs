//! The fields in which a frame can differ from the one that must arrive, and their names in examples.

use sixbench_wire::IpVersion;
use sixbench_wire::template::Transport;

/// The first field that is not as expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    VlanTag,
    EthernetDestination,
    EthernetSource,
    TrailingOctets,
    IpVersion,
    Source,
    Destination,
    TrafficClass,
    FlowLabel,
    HopLimit,
    /// The first of IPv4's three flags, which is reserved.
    ReservedFlag,
    Fragment,
    DontFragment,
    Identification,
    Length,
    HeaderChecksum,
    SourcePort,
    DestinationPort,
    UdpLength,
    /// The UDP checksum, or that of an echo.
    UdpChecksum,
    Transport,
    /// There is an outer header although there should be none, or the other way round.
    Encapsulation,
    OuterSource,
    OuterDestination,
    OuterTrafficClass,
    OuterHopLimit,
    OuterReservedFlag,
    OuterFragment,
    OuterLength,
    OuterHeaderChecksum,
    /// An octet after the tag.
    Payload,
    /// The tag says that the frame was sent before it was due.
    SentBeforeDue,
    /// The tag says that the frame was sent after it arrived.
    SentAfterArrival,
}

impl Mismatch {
    /// Returns the field's name in a datagram of this kind.
    pub(super) fn name(self, transport: Transport, version: IpVersion) -> &'static str {
        let is_echo = transport != Transport::Udp;
        match self {
            Self::SourcePort if is_echo => "echo identifier",
            Self::DestinationPort if is_echo => "echo sequence number",
            Self::UdpChecksum if is_echo => echo_checksum(version),
            Self::VlanTag => "VLAN tag",
            Self::EthernetDestination => "Ethernet destination",
            Self::EthernetSource => "Ethernet source",
            Self::TrailingOctets => "octets after the datagram",
            Self::IpVersion => "IP version",
            Self::Source => "source address",
            Self::Destination => "destination address",
            Self::TrafficClass => "traffic class",
            Self::FlowLabel => "flow label",
            Self::HopLimit => "hop limit",
            Self::ReservedFlag => "reserved flag",
            Self::Fragment => "fragmentation",
            Self::DontFragment => "don't-fragment flag",
            Self::Identification => "identification",
            Self::Length => "length",
            Self::HeaderChecksum => "IPv4 header checksum",
            Self::SourcePort => "source port",
            Self::DestinationPort => "destination port",
            Self::UdpLength => "UDP length",
            Self::UdpChecksum => "UDP checksum",
            Self::Transport => "kind of datagram",
            Self::Encapsulation => "encapsulation",
            Self::OuterSource => "outer source address",
            Self::OuterDestination => "outer destination address",
            Self::OuterTrafficClass => "outer traffic class",
            Self::OuterHopLimit => "outer hop limit",
            Self::OuterReservedFlag => "outer reserved flag",
            Self::OuterFragment => "outer fragmentation",
            Self::OuterLength => "outer length",
            Self::OuterHeaderChecksum => "outer IPv4 header checksum",
            Self::Payload => "payload",
            Self::SentBeforeDue | Self::SentAfterArrival => "sending time",
        }
    }
}

fn echo_checksum(version: IpVersion) -> &'static str {
    match version {
        IpVersion::V4 => "ICMP checksum",
        IpVersion::V6 => "ICMPv6 checksum",
    }
}
