//! Octets and fields of the frames sixbench sends and judges.
//! Nothing here opens a socket, reads a clock or draws a random number.
//!
//! # The contract, the same in every protocol module
//!
//! A module has this order: fields, view, header (emit), `Display`, tests with real octets.
//!
//! * A **view** (`Ipv4View`) borrows octets. Its `new` checks every length and fixed field once and returns a [`WireError`] that names the fault;
//!   after that no accessor can panic. A view ends where its own length field says, so the padding of a short Ethernet frame is never part of the
//!   payload. A view does not verify checksums: call `is_checksum_right`.
//! * A **header** (`Ipv4Header`) owns field values and `emit`s them into the front of a buffer of at least `HEADER_LEN` octets. A shorter buffer
//!   is a bug in the caller and panics.
//! * A **message** ([`arp::Arp`], [`ndp::Message`]) is parsed from and built as a whole frame,
//!   Ethernet header included, because its checks span the layers.
//!
//! Frames never include the frame check sequence: the 64-octet frame of RFC 2544 is 60 octets here.
//! Integers in structs are in host order, octets in buffers in network order.
#![forbid(unsafe_code)]

use std::net::IpAddr;

pub mod arp;
pub mod checksum;
pub mod echo;
pub mod embed;
pub mod ethernet;
pub mod icmp_error;
pub mod ipv4;
pub mod ipv6;
pub mod mac;
pub mod ndp;
pub mod rules;
pub mod tag;
pub mod template;
pub mod udp;

mod octets;

pub use echo::{EchoHeader, EchoKind, EchoView};
pub use embed::{Eam, EamTable, Prefix4, Prefix6, Prefix6052};
pub use ethernet::{EtherType, EthernetHeader, EthernetView};
pub use icmp_error::IcmpErrorView;
pub use ipv4::{Ipv4Header, Ipv4View};
pub use ipv6::{Ipv6Header, Ipv6View};
pub use mac::MacAddress;
pub use rules::{AddressRule, PortRule, RuleError};
pub use tag::Tag;
pub use template::{Description, StampedTime, Template, Variable};
pub use udp::{UdpHeader, UdpView};

/// IP protocol numbers this crate reads or writes (IANA "Protocol Numbers").
pub mod protocol {
    /// User Datagram Protocol, RFC 768.
    pub const UDP: u8 = 17;
    /// Internet Control Message Protocol.
    pub const ICMP: u8 = 1;
    /// IPv4 within another datagram, RFC 2003.
    pub const IPV4: u8 = 4;
    /// IPv6 within another datagram, RFC 4213.
    pub const IPV6: u8 = 41;
    /// The fragment header of IPv6.
    pub const IPV6_FRAGMENT: u8 = 44;
    /// ICMP for IPv6, RFC 4443.
    pub const ICMPV6: u8 = 58;
}

/// The version of the Internet Protocol that a frame carries.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum IpVersion {
    /// IPv4, RFC 791.
    V4,
    /// IPv6, RFC 8200.
    V6,
}

impl IpVersion {
    /// Returns the version of an address.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }
}

impl std::fmt::Display for IpVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

/// The reason why octets could not be parsed, or a description could not be turned into octets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum WireError {
    /// The octets end before the protocol's header or message does.
    #[error("{what}: {have} octets, at least {need} needed")]
    Truncated {
        what: &'static str,
        need: usize,
        have: usize,
    },
    /// A field holds a value the protocol does not allow.
    #[error("{what}: {field} is {value:#x}, expected {expected}")]
    Field {
        what: &'static str,
        field: &'static str,
        value: u64,
        expected: &'static str,
    },
    /// The octets do not match their checksum.
    #[error("{what}: wrong checksum")]
    Checksum { what: &'static str },
    /// A text does not have the expected form.
    #[error("cannot read `{text}` as {what}: expected {expected}")]
    Text {
        what: &'static str,
        text: String,
        expected: &'static str,
    },
    /// A prefix length that the address family, or RFC 6052 section 2.2, does not allow.
    #[error("prefix length /{len} of {address} is not allowed: expected {expected}")]
    PrefixLength {
        address: IpAddr,
        len: u8,
        expected: &'static str,
    },
    /// A prefix with bits set beyond its length.
    #[error("{address}/{len} has host bits set; did you mean {network}/{len}?")]
    HostBits {
        address: IpAddr,
        len: u8,
        network: IpAddr,
    },
    /// An RFC 6052 prefix whose bits 64 to 71 are not zero.
    #[error(
        "{prefix} cannot embed IPv4 addresses: bits 64 to 71 must be zero (RFC 6052 section 2.2)"
    )]
    ReservedOctet { prefix: Prefix6 },
    /// An explicit address mapping whose IPv6 suffix is too short for the IPv4 suffix.
    #[error(
        "mapping {mapping}: the IPv6 suffix must be at least as long as the IPv4 suffix (RFC 7757)"
    )]
    SuffixTooShort { mapping: Eam },
    /// Two explicit address mappings claim the same address.
    #[error("mappings {first} and {second} overlap, so that a translation cannot be undone")]
    OverlappingMappings { first: Eam, second: Eam },
    /// Source and destination are of different IP versions.
    #[error("source {source_address} and destination {destination} are of different IP versions")]
    MixedFamilies {
        source_address: IpAddr,
        destination: IpAddr,
    },
    /// A frame length that the template does not allow.
    #[error("{version} test frame of {octets} octets (without FCS): expected {least} to {most}")]
    FrameLength {
        version: IpVersion,
        octets: usize,
        least: usize,
        most: usize,
    },
    /// Variable 32 bits that do not fit at this octet.
    #[error(
        "32 bits of an {version} address cannot vary from octet {offset} on: expected an even number up to {most}"
    )]
    PartOffset {
        version: IpVersion,
        offset: usize,
        most: usize,
    },
}
