//! The kinds of mistakes, each made with knowledge of the structure of a datagram.

use super::draft::{Draft, PlacedLayer};
use crate::frame::LayerKind;
use crate::setting::DeviceSetting;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The names of the fields that are lengths of what follows, in units of the layer.
const LENGTHS: [&str; 3] = ["len", "length", "optlen"];
/// The names of the fields that are lengths of the header itself, in words.
const HEADER_LENGTHS: [&str; 2] = ["ihl", "doff"];
/// Protocols and next headers: extension headers, tunnels, transports, no next header, and some that nothing uses.
const PROTOCOLS: [u8; 19] = [
    0, 1, 4, 6, 17, 41, 43, 44, 50, 51, 58, 59, 60, 132, 135, 139, 140, 253, 255,
];
/// Addresses that no datagram on a link may have as its source, and those that mean the receiver or everybody.
const SPECIAL4: [Ipv4Addr; 8] = [
    Ipv4Addr::UNSPECIFIED,
    Ipv4Addr::LOCALHOST,
    Ipv4Addr::BROADCAST,
    Ipv4Addr::new(224, 0, 0, 1),
    Ipv4Addr::new(239, 255, 255, 255),
    Ipv4Addr::new(240, 0, 0, 1),
    Ipv4Addr::new(0, 0, 0, 1),
    Ipv4Addr::new(169, 254, 0, 1),
];
const SPECIAL6: [Ipv6Addr; 8] = [
    Ipv6Addr::UNSPECIFIED,
    Ipv6Addr::LOCALHOST,
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0xff0e, 0, 0, 0, 0, 0, 0, 0x101),
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0x7f00, 1),
    Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0x7f00, 1),
    Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0xe000, 1),
];
/// The most bits that are flipped at once.
const MOST_FLIPS: usize = 8;
/// The most octets that are appended.
const LONGEST_TRAILER: usize = 64;

/// A kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// A length of what follows: too long, too short, or zero.
    Length,
    /// A length of the header itself.
    HeaderLength,
    /// A protocol or next header that is not what follows, or the layer itself.
    NextHeader,
    /// A fragment, with an offset that overlaps others, is beyond the end, or past 65,535.
    Fragment,
    /// The end of the datagram, at or beside the borders of headers.
    Truncation,
    /// Octets after the end.
    Trailer,
    /// An ICMP error whose datagram in error is cut.
    InnerTruncation,
    /// Options with bad lengths.
    Options,
    /// A chain of extension headers.
    ExtensionChain,
    /// A wrong checksum.
    Checksum,
    /// The source is the destination.
    SameAddresses,
    /// A source or destination that is multicast, loopback, unspecified, the device's or that of another host.
    SpecialAddress,
    /// Any field with its smallest, its largest or a random value.
    FieldValue,
    /// Any bits.
    BitFlips,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Length,
        Self::HeaderLength,
        Self::NextHeader,
        Self::Fragment,
        Self::Truncation,
        Self::Trailer,
        Self::InnerTruncation,
        Self::Options,
        Self::ExtensionChain,
        Self::Checksum,
        Self::SameAddresses,
        Self::SpecialAddress,
        Self::FieldValue,
        Self::BitFlips,
    ];

    /// Returns its name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Length => "lengths",
            Self::HeaderLength => "header lengths",
            Self::NextHeader => "next headers",
            Self::Fragment => "fragments",
            Self::Truncation => "truncation",
            Self::Trailer => "trailers",
            Self::InnerTruncation => "ICMP errors",
            Self::Options => "options",
            Self::ExtensionChain => "chains",
            Self::Checksum => "checksums",
            Self::SameAddresses => "equal addresses",
            Self::SpecialAddress => "other addresses",
            Self::FieldValue => "fields",
            Self::BitFlips => "bits",
        }
    }

    /// Makes the mistake, and returns what was done; `None` if this datagram has no place for it.
    pub(super) fn make_in(self, draft: &mut Draft, setting: &DeviceSetting) -> Option<String> {
        match self {
            Self::Length => draft.change_length(),
            Self::HeaderLength => draft.change_header_length(),
            Self::NextHeader => draft.change_next_header(),
            Self::Fragment => draft.make_fragment(),
            Self::Truncation => draft.cut(),
            Self::Trailer => Some(draft.append()),
            Self::InnerTruncation => draft.cut_in_error(),
            Self::Options => draft.insert_options(),
            Self::ExtensionChain => draft.insert_chain(),
            Self::Checksum => draft.spoil_checksum(),
            Self::SameAddresses => draft.make_addresses_equal(),
            Self::SpecialAddress => draft.change_address(setting),
            Self::FieldValue => draft.change_field(),
            Self::BitFlips => draft.flip_bits(),
        }
    }
}

impl Draft {
    fn change_length(&mut self) -> Option<String> {
        let name = self.one(&LENGTHS)?;
        let layers = self.with_field(name);
        let layer = self.one(&layers)?;
        let (now, field) = (self.read(&layer, name)?, layer.kind.field(name)?);
        let (random, rest) = (self.bits(), self.octets.len() - layer.at);
        let length = self.one(&[
            0,
            1,
            7,
            layer.header_octets.saturating_sub(1) as u128,
            now.saturating_sub(1),
            now.saturating_sub(8),
            now + 1,
            now + 8,
            rest as u128 + 1,
            field.largest() - 1,
            field.largest(),
            random,
        ])?;
        self.write(&layer, field, length)
    }

    fn change_header_length(&mut self) -> Option<String> {
        let name = self.one(&HEADER_LENGTHS)?;
        let layers = self.with_field(name);
        let layer = self.one(&layers)?;
        let words = self.one(&[0, 1, 4, 5, 6, 10, 14, 15])?;
        self.set(&layer, name, words)
    }

    fn change_next_header(&mut self) -> Option<String> {
        let mut layers = self.layers();
        layers.retain(|layer| layer.kind.next_field().is_some());
        let layer = self.one(&layers)?;
        let itself = layer.kind.protocol().filter(|_| self.once_in(3));
        let number = itself.or(self.one(&PROTOCOLS))?;
        self.write(&layer, layer.kind.next_field()?, number.into())
    }

    fn cut(&mut self) -> Option<String> {
        let layers = self.layers();
        let layer = self.one(&layers)?;
        let border = self.one(&[layer.at, layer.end()])?;
        let end = (border + 1).saturating_sub(self.below(3));
        self.octets.truncate(end);
        let left = self.octets.len();
        if self.once_in(2) {
            self.announce_what_is_there();
            return Some(format!("cut after {left} octets, the length made right"));
        }
        Some(format!("cut after {left} octets"))
    }

    fn append(&mut self) -> String {
        let count = 1 + self.below(LONGEST_TRAILER);
        let trailer = self.random_octets(count);
        self.octets.extend(trailer);
        if self.once_in(2) {
            self.announce_what_is_there();
            return format!("{count} octets appended, and announced");
        }
        format!("{count} octets appended")
    }

    fn spoil_checksum(&mut self) -> Option<String> {
        let layers = self.with_field("sum");
        let layer = self.one(&layers)?;
        let now = self.read(&layer, "sum")?;
        let random = self.bits();
        let sum = self.one(&[0, 0xffff, now ^ 1, random])?;
        self.keeps_checksums = true;
        self.set(&layer, "sum", sum)
    }

    fn make_addresses_equal(&mut self) -> Option<String> {
        let layer = self.one_ip_header()?;
        let names = if self.once_in(2) {
            ["src", "dst"]
        } else {
            ["dst", "src"]
        };
        let address = self.read(&layer, names[0])?;
        self.set(&layer, names[1], address)?;
        Some(format!("{}.{}={}", layer.kind.name(), names[1], names[0]))
    }

    fn change_address(&mut self, setting: &DeviceSetting) -> Option<String> {
        let layer = self.one_ip_header()?;
        let roles = setting.roles.iter();
        let known: Vec<u128> = if layer.kind == LayerKind::Ipv4 {
            let of_roles = roles.filter_map(|role| role.ipv4);
            let all = SPECIAL4.into_iter().chain(of_roles);
            all.map(|address| u32::from(address).into()).collect()
        } else {
            let of_roles = roles.filter_map(|role| role.ipv6);
            SPECIAL6
                .into_iter()
                .chain(of_roles)
                .map(u128::from)
                .collect()
        };
        let (address, name) = (self.one(&known)?, self.one(&["src", "dst"])?);
        self.set(&layer, name, address)
    }

    fn one_ip_header(&mut self) -> Option<PlacedLayer> {
        let mut headers = self.layers();
        headers.retain(|layer| layer.kind.is_ip());
        self.one(&headers)
    }

    fn change_field(&mut self) -> Option<String> {
        let layers = self.layers();
        let layer = self.one(&layers)?;
        let at = self.below(layer.kind.fields().len());
        let field = layer.kind.fields().get(at)?;
        let random = self.bits();
        let value = self.one(&[0, 1, field.largest(), field.largest() - field.unit, random])?;
        self.keeps_checksums |= field.name == "sum";
        self.write(&layer, field, value)
    }

    fn flip_bits(&mut self) -> Option<String> {
        let count = 1 + self.below(MOST_FLIPS);
        let mut flipped = Vec::new();
        for _ in 0..count {
            let bit = self.below(self.octets.len() * 8);
            *self.octets.get_mut(bit / 8)? ^= 1 << (bit % 8);
            flipped.push(bit.to_string());
        }
        Some(format!("bits flipped: {}", flipped.join(", ")))
    }
}
