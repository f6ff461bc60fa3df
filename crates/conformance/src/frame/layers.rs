//! The layers of datagrams and their fields: one table, from which frames are read, built, compared and described.

use sixbench_wire::protocol;
use std::fmt;

/// A side of a device: of a stateless translator by the version of IP, of a stateful one by who may open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Side {
    /// The link that carries IPv4.
    #[serde(rename = "4")]
    Ipv4,
    /// The link that carries IPv6.
    #[serde(rename = "6")]
    Ipv6,
    /// The link with the hosts whose frames make mappings.
    #[serde(rename = "in")]
    Inside,
    /// The link with the hosts that reach the inside only by mappings.
    #[serde(rename = "out")]
    Outside,
}

impl Side {
    /// Returns the other side.
    pub fn other(self) -> Self {
        match self {
            Self::Ipv4 => Self::Ipv6,
            Self::Ipv6 => Self::Ipv4,
            Self::Inside => Self::Outside,
            Self::Outside => Self::Inside,
        }
    }

    /// Returns the side of this name in the notation.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Ipv4, Self::Ipv6, Self::Inside, Self::Outside]
            .into_iter()
            .find(|side| side.to_string() == name)
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ipv4 => "4",
            Self::Ipv6 => "6",
            Self::Inside => "in",
            Self::Outside => "out",
        })
    }
}

/// The form in which the value of a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldForm {
    /// A number, shown in decimal digits.
    Decimal,
    /// A number, shown in hexadecimal digits.
    Hexadecimal,
    /// An address of the layer's family, or the name of a role.
    Address,
    /// A protocol number, or the name of a layer.
    Protocol,
    /// The flags of TCP, as letters or as a number.
    TcpFlags,
    /// Octets, as hexadecimal digits without `0x`.
    Octets,
}

/// A field of a layer.
#[derive(Debug, PartialEq, Eq)]
pub struct FieldInfo {
    /// Its name in the notation.
    pub name: &'static str,
    /// Its first bit, counted from the begin of the layer.
    pub at: usize,
    /// Its length in bits, at most 128.
    pub bits: usize,
    /// The number by which its value on the wire is multiplied, such as 8 for the offset of a fragment.
    pub unit: u128,
    /// The form of its value.
    pub form: FieldForm,
}

impl FieldInfo {
    /// Returns the value in a layer's octets, or `None` if they end before it.
    pub fn read(&self, octets: &[u8]) -> Option<u128> {
        let end = (self.at + self.bits).div_ceil(8);
        let field = octets.get(..end)?;
        let raw = (self.at..self.at + self.bits).fold(0, |value, at| {
            value << 1 | u128::from(field[at / 8] >> (7 - at % 8) & 1)
        });
        Some(raw * self.unit)
    }

    /// Writes a value into a layer's octets, which must reach beyond the field. Higher bits than the field has are cut off.
    pub fn write(&self, octets: &mut [u8], value: u128) {
        let raw = value / self.unit;
        for at in self.at..self.at + self.bits {
            let mask = 1 << (7 - at % 8);
            let is_set = raw >> (self.at + self.bits - 1 - at) & 1 == 1;
            octets[at / 8] = if is_set {
                octets[at / 8] | mask
            } else {
                octets[at / 8] & !mask
            };
        }
    }

    /// Returns the largest value that the field can have.
    pub fn largest(&self) -> u128 {
        let raw = if self.bits == 128 {
            u128::MAX
        } else {
            (1 << self.bits) - 1
        };
        raw.saturating_mul(self.unit)
    }
}

const fn field(name: &'static str, at: usize, bits: usize) -> FieldInfo {
    FieldInfo {
        name,
        at,
        bits,
        unit: 1,
        form: FieldForm::Decimal,
    }
}

const fn hexadecimal(name: &'static str, at: usize, bits: usize) -> FieldInfo {
    FieldInfo {
        form: FieldForm::Hexadecimal,
        ..field(name, at, bits)
    }
}

const fn address(name: &'static str, at: usize, bits: usize) -> FieldInfo {
    FieldInfo {
        form: FieldForm::Address,
        ..field(name, at, bits)
    }
}

const fn next(name: &'static str, at: usize) -> FieldInfo {
    FieldInfo {
        form: FieldForm::Protocol,
        ..field(name, at, 8)
    }
}

/// The offset of a fragment: 13 bits that count eight octets each.
const fn offset(at: usize) -> FieldInfo {
    FieldInfo {
        unit: 8,
        ..field("offset", at, 13)
    }
}

/// A layer of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LayerKind {
    /// The header of IPv4 (RFC 791).
    Ipv4,
    /// The header of IPv6 (RFC 8200 section 3).
    Ipv6,
    /// The Fragment header (RFC 8200 section 4.5).
    Frag,
    /// The Hop-by-Hop Options header (RFC 8200 section 4.3).
    HopOpts,
    /// The Destination Options header (RFC 8200 section 4.6).
    DstOpts,
    /// The Routing header (RFC 8200 section 4.4).
    Routing,
    /// A Destination Options header with only the Tunnel Encapsulation Limit option (RFC 2473 sections 4.1.1 and 5.1).
    EncapLimit,
    /// The header of ESP (RFC 4303 section 2).
    Esp,
    /// The header of UDP (RFC 768).
    Udp,
    /// The header of TCP (RFC 9293 section 3.1).
    Tcp,
    /// A message of ICMP (RFC 792).
    Icmp,
    /// A message of ICMPv6 (RFC 4443).
    Icmp6,
    /// Octets of the vector's own pattern.
    Payload,
    /// Any other octets.
    Bytes,
}

const IPV4: &[FieldInfo] = &[
    address("src", 96, 32),
    address("dst", 128, 32),
    hexadecimal("tos", 8, 8),
    field("ttl", 64, 8),
    hexadecimal("id", 32, 16),
    field("df", 49, 1),
    field("mf", 50, 1),
    offset(51),
    next("proto", 72),
    field("len", 16, 16),
    field("ihl", 4, 4),
    field("version", 0, 4),
    hexadecimal("sum", 80, 16),
];

const IPV6: &[FieldInfo] = &[
    address("src", 64, 128),
    address("dst", 192, 128),
    hexadecimal("tc", 4, 8),
    hexadecimal("flow", 12, 20),
    field("hlim", 56, 8),
    next("next", 48),
    field("len", 32, 16),
    field("version", 0, 4),
];

const FRAG: &[FieldInfo] = &[
    offset(16),
    field("mf", 31, 1),
    hexadecimal("id", 32, 32),
    next("next", 0),
];
const OPTIONS: &[FieldInfo] = &[next("next", 0), field("len", 8, 8)];
const ROUTING: &[FieldInfo] = &[
    next("next", 0),
    field("len", 8, 8),
    field("type", 16, 8),
    field("segleft", 24, 8),
];
/// PadN with one octet fills the header.
const ENCAP_LIMIT: &[FieldInfo] = &[
    next("next", 0),
    field("limit", 32, 8),
    field("len", 8, 8),
    field("option", 16, 8),
    field("optlen", 24, 8),
    hexadecimal("pad", 40, 24),
];
const ESP: &[FieldInfo] = &[hexadecimal("spi", 0, 32), field("seq", 32, 32)];
const UDP: &[FieldInfo] = &[
    field("sport", 0, 16),
    field("dport", 16, 16),
    field("len", 32, 16),
    hexadecimal("sum", 48, 16),
];

const TCP: &[FieldInfo] = &[
    field("sport", 0, 16),
    field("dport", 16, 16),
    field("seq", 32, 32),
    field("ack", 64, 32),
    field("doff", 96, 4),
    FieldInfo {
        form: FieldForm::TcpFlags,
        ..field("flags", 104, 8)
    },
    field("window", 112, 16),
    hexadecimal("sum", 128, 16),
    field("urgent", 144, 16),
];

const ICMP: &[FieldInfo] = &[
    field("type", 0, 8),
    field("code", 8, 8),
    hexadecimal("id", 32, 16),
    field("seq", 48, 16),
    field("mtu", 48, 16),
    field("pointer", 32, 8),
    field("length", 40, 8),
    hexadecimal("sum", 16, 16),
    FieldInfo {
        form: FieldForm::Octets,
        ..field("rest", 32, 32)
    },
];

const ICMP6: &[FieldInfo] = &[
    field("type", 0, 8),
    field("code", 8, 8),
    hexadecimal("id", 32, 16),
    field("seq", 48, 16),
    field("mtu", 32, 32),
    field("pointer", 32, 32),
    field("length", 32, 8),
    hexadecimal("sum", 16, 16),
    FieldInfo {
        form: FieldForm::Octets,
        ..field("rest", 32, 32)
    },
];

impl LayerKind {
    /// All layers.
    pub const ALL: [Self; 14] = [
        Self::Ipv4,
        Self::Ipv6,
        Self::Frag,
        Self::HopOpts,
        Self::DstOpts,
        Self::Routing,
        Self::EncapLimit,
        Self::Esp,
        Self::Udp,
        Self::Tcp,
        Self::Icmp,
        Self::Icmp6,
        Self::Payload,
        Self::Bytes,
    ];

    /// Returns its name in the notation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Frag => "frag",
            Self::HopOpts => "hopopts",
            Self::DstOpts => "dstopts",
            Self::Routing => "routing",
            Self::EncapLimit => "encaplimit",
            Self::Esp => "esp",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Icmp => "icmp",
            Self::Icmp6 => "icmp6",
            Self::Payload => "payload",
            Self::Bytes => "bytes",
        }
    }

    /// Returns the layer of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns its fields, in the order in which a description shows them.
    pub fn fields(self) -> &'static [FieldInfo] {
        match self {
            Self::Ipv4 => IPV4,
            Self::Ipv6 => IPV6,
            Self::Frag => FRAG,
            Self::HopOpts | Self::DstOpts => OPTIONS,
            Self::Routing => ROUTING,
            Self::EncapLimit => ENCAP_LIMIT,
            Self::Esp => ESP,
            Self::Udp => UDP,
            Self::Tcp => TCP,
            Self::Icmp => ICMP,
            Self::Icmp6 => ICMP6,
            Self::Payload | Self::Bytes => &[],
        }
    }

    /// Returns the field of this name.
    pub fn field(self, name: &str) -> Option<&'static FieldInfo> {
        self.fields().iter().find(|field| field.name == name)
    }

    /// Returns the octets of its header without options.
    pub fn header_octets(self) -> usize {
        match self {
            Self::Ipv4 | Self::Tcp => 20,
            Self::Ipv6 => 40,
            Self::Frag | Self::EncapLimit | Self::Esp | Self::Udp | Self::Icmp | Self::Icmp6 => 8,
            Self::HopOpts | Self::DstOpts => 2,
            Self::Routing => 4,
            Self::Payload | Self::Bytes => 0,
        }
    }

    /// Returns the name of the argument with octets that follow its header, or `None` if it has none.
    pub fn octets_argument(self) -> Option<&'static str> {
        match self {
            Self::Ipv4 | Self::Tcp | Self::HopOpts | Self::DstOpts => Some("options"),
            Self::Routing => Some("data"),
            _ => None,
        }
    }

    /// Returns the number by which the layer before it announces it; `None` for a payload.
    pub fn protocol(self) -> Option<u8> {
        Some(match self {
            Self::Ipv4 => protocol::IPV4,
            Self::Ipv6 => protocol::IPV6,
            Self::Frag => protocol::IPV6_FRAGMENT,
            Self::HopOpts => 0,
            Self::DstOpts | Self::EncapLimit => 60,
            Self::Routing => 43,
            Self::Esp => 50,
            Self::Udp => protocol::UDP,
            Self::Tcp => 6,
            Self::Icmp => protocol::ICMP,
            Self::Icmp6 => protocol::ICMPV6,
            Self::Payload | Self::Bytes => return None,
        })
    }

    /// Returns the layer that a protocol number announces; `None` for one that has no layer here. A Destination Options header is told from one
    /// with the Tunnel Encapsulation Limit by its octets ([`LayerKind::by_octets`]).
    pub fn of_protocol(number: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.protocol() == Some(number))
    }

    /// Returns this layer, or the more special one that the octets show.
    pub(super) fn by_octets(self, octets: &[u8]) -> Self {
        // The length of no further octets, and the option's type and length (RFC 2473 section 4.1.1).
        match (self, octets) {
            (Self::DstOpts, [_, 0, 4, 1, _, ..]) => Self::EncapLimit,
            _ => self,
        }
    }

    /// Returns the field that announces the next layer, or `None` if there is none.
    pub fn next_field(self) -> Option<&'static FieldInfo> {
        self.field("next").or_else(|| self.field("proto"))
    }

    /// Returns true for ICMP and ICMPv6.
    pub fn is_icmp(self) -> bool {
        matches!(self, Self::Icmp | Self::Icmp6)
    }

    /// Returns true for IPv4 and IPv6.
    pub fn is_ip(self) -> bool {
        matches!(self, Self::Ipv4 | Self::Ipv6)
    }

    /// Returns true for a message of this type that contains the datagram in error (RFC 792; RFC 4443 section 2.1). An error of an ICMPv4 type that
    /// RFC 792 does not define is not recognised as one.
    pub fn is_error(self, icmp_type: u128) -> bool {
        match self {
            Self::Icmp => matches!(icmp_type, 3 | 4 | 5 | 11 | 12),
            Self::Icmp6 => icmp_type < 128,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_lies_in_its_header_and_is_read_as_it_was_written() {
        for kind in LayerKind::ALL {
            for field in kind.fields() {
                assert!(
                    field.at + field.bits <= kind.header_octets() * 8,
                    "{}.{}",
                    kind.name(),
                    field.name
                );
                let mut octets = vec![0xa5; kind.header_octets()];
                let value = field.largest() / field.unit / 3 * field.unit;
                field.write(&mut octets, value);
                assert_eq!(
                    field.read(&octets),
                    Some(value),
                    "{}.{}",
                    kind.name(),
                    field.name
                );
            }
        }
    }

    #[test]
    fn a_field_beyond_the_octets_has_no_value() {
        let sum = LayerKind::Udp.field("sum").unwrap();
        assert_eq!(sum.read(&[0; 7]), None);
        assert_eq!(sum.read(&[0, 0, 0, 0, 0, 0, 0x12, 0x34]), Some(0x1234));
    }
}
