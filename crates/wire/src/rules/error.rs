//! The reasons why a rule set is invalid.

use crate::{IpVersion, Prefix4, Prefix6};

/// A rule set that contradicts itself or its RFC, or is not supported here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum RuleError {
    /// More fields than an address rule can evaluate per frame.
    #[error(
        "an address rule of {fields} fields: at most {most} are evaluated per frame; merge neighbouring ones"
    )]
    TooManyFields { fields: usize, most: usize },
    /// A field that extends beyond the address, or takes bits that a number does not have.
    #[error(
        "a {width}-bit field at bit {put} does not fit into an {version} address of {bits} bits"
    )]
    FieldOutside {
        version: IpVersion,
        put: u8,
        width: u32,
        bits: u32,
    },
    /// A field that takes its value from beyond the 64 bits of a number.
    #[error(
        "a field takes bits from bit {take} of the subscriber's number on, which has 64: expected 0 to 63"
    )]
    FieldTakesNothing { take: u8 },
    /// A field whose bits overlap the base or another field.
    #[error(
        "the field at bit {put} overlaps the base address or another field: leave its bits zero there"
    )]
    FieldsOverlap { put: u8 },
    /// Subscriber numbers that the rule set does not have.
    #[error(
        "6rd domain: numbers of subscribers from {first} on: {count}, but the rule has {most} in all; lower `first` or the count"
    )]
    Numbers { first: u64, count: u64, most: u64 },
    /// A PSID offset that no protocol can express.
    #[error(
        "PSID offset {offset} is not allowed: expected 0 to 15 (RFC 7598 section 4.5); 6 leaves out the system ports"
    )]
    PsidOffset { offset: u8 },
    /// A rule set without subscribers was requested.
    #[error("6rd domain: no subscriber asked for; expected 1 to {most}")]
    NoSubscriber { most: u64 },
    /// PSID offset and length together do not fit into a port.
    #[error(
        "PSID offset {offset} and PSID length {len} take {} of a port's 16 bits; shorten one of them",
        u16::from(*.offset) + u16::from(*.len)
    )]
    PsidTooLong { offset: u8, len: u8 },
    /// Port sets of one port each, one of which is port 0.
    #[error(
        "PSID length 16 makes sets of one port, and that of PSID 0 is port 0, which cannot be used; expected up to 15"
    )]
    PortZeroAlone,
    /// More EA bits than the IPv4 suffix and a PSID can use.
    #[error(
        "{ea_bits} EA bits are too many for {ipv4}: its suffix takes {suffix}, which leaves a PSID of {}, \
         and PSID offset {offset} allows one of {room}; use at most {} EA bits",
        .ea_bits - .suffix, .suffix + .room
    )]
    EaBits {
        ea_bits: u8,
        ipv4: Prefix4,
        suffix: u8,
        offset: u8,
        room: u8,
    },
    /// Prefixes of subscribers that are longer than 64 bits.
    #[error(
        "{what} {prefix}, lengthened by {bits} for each subscriber, makes prefixes of /{}, but at most /64 is supported: \
         the interface identifier needs the rest; use a shorter prefix or fewer bits", .prefix.len() + .bits
    )]
    PrefixTooLong {
        what: &'static str,
        prefix: Prefix6,
        bits: u8,
    },
    /// A prefix that leaves no room for subscribers.
    #[error("{prefix} has no room for addresses of B4s: expected at most /{most}")]
    NoRoom { prefix: Prefix6, most: u8 },
    /// Two rules of a domain claim the same IPv6 addresses.
    #[error(
        "rule IPv6 prefixes {first} and {second} overlap, so that an end-user prefix belongs to two rules"
    )]
    OverlappingIpv6 { first: Prefix6, second: Prefix6 },
    /// Two rules of a domain claim the same IPv4 addresses.
    #[error(
        "rule IPv4 prefixes {first} and {second} overlap, so that an IPv4 address belongs to two rules"
    )]
    OverlappingIpv4 { first: Prefix4, second: Prefix4 },
    /// A domain without rules.
    #[error("a MAP domain without a rule: expected one at least (RFC 7597 section 5)")]
    EmptyDomain,
    /// More bits common to all sites than their prefix fixes.
    #[error("IPv4MaskLen {mask_len} is longer than the prefix of the CEs, {sites}: expected at most {}", .sites.len())]
    MaskLen { mask_len: u8, sites: Prefix4 },
}
