//! Mistakes that insert something: options with bad lengths, chains of extension headers, fragments, and ICMP errors about a datagram that is cut.

use super::draft::{Draft, PlacedLayer};
use crate::frame::LayerKind;
use sixbench_wire::protocol;

/// The most octets of a header with options: the largest value of `ihl` and `doff`, times four.
const LONGEST_HEADER: usize = 60;
/// Types of options of IPv4: No Operation, Record Route, Timestamp, source routes, Security, Router Alert, and one that nothing defines.
const IPV4_OPTIONS: [u8; 8] = [1, 7, 68, 130, 131, 137, 148, 0x99];
/// Kinds of options of TCP: Maximum Segment Size, Window Scale, SACK Permitted, SACK, Timestamps, Multipath TCP, and one for experiments.
const TCP_OPTIONS: [u8; 7] = [2, 3, 4, 5, 8, 30, 254];
/// Types of options of IPv6: Pad1, PadN, Tunnel Encapsulation Limit, Router Alert, Jumbo Payload, Home Address, and unknown ones with each of the four
/// actions.
const IPV6_OPTIONS: [u8; 10] = [0, 1, 4, 5, 0xc2, 0xc9, 0x3e, 0x7e, 0xbe, 0xfe];
/// Lengths of options, most of them too short or too long.
const OPTION_LENGTHS: [u8; 9] = [0, 1, 2, 3, 4, 8, 40, 254, 255];
/// The identification of inserted fragments: one for all, so that they overlap.
const IDENTIFICATION: u32 = 0x6b63_6b63;
/// The numbers of inserted extension headers in a chain.
const CHAINS: [usize; 6] = [1, 2, 3, 8, 20, 60];
/// The extension headers of chains.
const EXTENSIONS: [LayerKind; 4] = [
    LayerKind::HopOpts,
    LayerKind::DstOpts,
    LayerKind::Routing,
    LayerKind::Frag,
];

impl Draft {
    /// Inserts options into a header of IPv4 or TCP, with a right length of the header.
    pub(super) fn insert_options(&mut self) -> Option<String> {
        let layers = self.layers().into_iter();
        let with_options: Vec<PlacedLayer> = layers
            .filter(|layer| matches!(layer.kind, LayerKind::Ipv4 | LayerKind::Tcp))
            .filter(|layer| layer.header_octets + 4 <= LONGEST_HEADER)
            .filter(|layer| layer.end() <= self.octets.len())
            .collect();
        let layer = self.one(&with_options)?;
        let room = (LONGEST_HEADER - layer.header_octets) / 4;
        let octets = 4 * (1 + self.below(room));
        let (kinds, words): (&[u8], _) = if layer.kind == LayerKind::Ipv4 {
            (&IPV4_OPTIONS, "ihl")
        } else {
            (&TCP_OPTIONS, "doff")
        };
        let (kind, length) = (self.one(kinds)?, self.one(&OPTION_LENGTHS)?);
        let mut options = self.random_octets(octets);
        // The third octet is the pointer of a route and of timestamps.
        let pointer = self.one(&[0, 3, 4, 5, 8, 255])?;
        for (octet, value) in options.iter_mut().zip([kind, length, pointer]) {
            *octet = value;
        }
        self.insert(layer.end(), &options);
        self.set(&layer, words, (layer.header_octets + octets) as u128 / 4);
        let name = layer.kind.name();
        Some(format!(
            "{name}: {octets} octets of options, of type {kind} and length {length}"
        ))
    }

    /// Inserts a chain of extension headers behind an IPv6 header.
    pub(super) fn insert_chain(&mut self) -> Option<String> {
        let count = self.one(&CHAINS)?;
        let mut chain: Vec<LayerKind> = Vec::new();
        for _ in 0..count {
            chain.extend(self.one(&EXTENSIONS));
        }
        let names: Vec<&str> = chain.iter().take(4).map(|kind| kind.name()).collect();
        self.insert_extensions(&chain)?;
        Some(format!(
            "a chain of {count} extension headers ({}{})",
            names.join(", "),
            if count > names.len() { ", ..." } else { "" }
        ))
    }

    /// Makes a fragment of a datagram: by the header of IPv4, or by a Fragment header that is inserted or there.
    pub(super) fn make_fragment(&mut self) -> Option<String> {
        let mut fragments = self.with_field("offset");
        if fragments.is_empty() {
            self.insert_extensions(&[LayerKind::Frag])?;
            fragments = self.with_field("offset");
        }
        let layer = self.one(&fragments)?;
        let rest = self.octets.len().saturating_sub(layer.end());
        let offset = self.one(&[
            0,
            8,
            16,
            rest / 2,
            rest.saturating_sub(8),
            1480,
            65_512,
            65_528,
        ])?;
        let more = u128::from(self.once_in(2));
        self.set(&layer, "mf", more);
        let written = self.set(&layer, "offset", offset as u128)?;
        Some(format!("{written}, mf={more}"))
    }

    /// Cuts a datagram in error, at or beside the borders of its headers. A datagram that is none becomes one of an error that its own addressee sends.
    pub(super) fn cut_in_error(&mut self) -> Option<String> {
        let mut made = String::new();
        if !self.layers().iter().any(|layer| layer.is_in_error) {
            made = self.become_error()?;
        }
        let layers = self.layers().into_iter();
        let inner: Vec<PlacedLayer> = layers.filter(|layer| layer.is_in_error).collect();
        let layer = self.one(&inner)?;
        let border = self.one(&[layer.at, layer.end(), layer.end() + 8])?;
        let end = (border + 1).saturating_sub(self.below(3));
        self.octets.truncate(end);
        self.announce_what_is_there();
        let kept = self.octets.len().saturating_sub(inner.first()?.at);
        Some(format!("{made}{kept} octets of the datagram in error"))
    }

    /// Puts an ICMP header in front of the datagram, which becomes the datagram in error: it had gone the other way.
    fn become_error(&mut self) -> Option<String> {
        let outer = self.layers().first().copied()?;
        let (kind, number, types): (_, _, &[u8]) = match outer.kind {
            LayerKind::Ipv4 => (LayerKind::Icmp, protocol::ICMP, &[3, 4, 5, 11, 12]),
            LayerKind::Ipv6 => (LayerKind::Icmp6, protocol::ICMPV6, &[1, 2, 3, 4, 100]),
            _ => return None,
        };
        let head = self.octets.get(..outer.kind.header_octets())?.to_vec();
        self.swap_addresses(&outer)?;
        let (icmp_type, code) = (self.one(types)?, self.one(&[0, 1, 2, 3, 4, 5, 255])?);
        let rest = self.bits().to_be_bytes();
        let mut message = vec![icmp_type, code, 0, 0];
        message.extend(&rest[..4]);
        self.insert(0, &[head, message].concat());
        self.set(&outer, "ihl", 5);
        self.write(&outer, outer.kind.next_field()?, number.into())?;
        self.announce_what_is_there();
        Some(format!("{} {icmp_type}/{code} about it, ", kind.name()))
    }

    fn swap_addresses(&mut self, layer: &PlacedLayer) -> Option<()> {
        let (source, destination) = (self.read(layer, "src")?, self.read(layer, "dst")?);
        self.set(layer, "src", destination)?;
        self.set(layer, "dst", source).map(drop)
    }

    pub(super) fn with_field(&self, name: &str) -> Vec<PlacedLayer> {
        let mut layers = self.layers();
        layers.retain(|layer| layer.kind.field(name).is_some());
        layers
    }

    fn insert_extensions(&mut self, chain: &[LayerKind]) -> Option<()> {
        let mut headers = self.layers();
        headers.retain(|layer| layer.kind == LayerKind::Ipv6 && layer.end() <= self.octets.len());
        let layer = self.one(&headers)?;
        let next = LayerKind::Ipv6.next_field()?;
        let mut follows = self.read(&layer, next.name)? as u8;
        let mut inserted = Vec::new();
        for kind in chain.iter().rev() {
            let header = self.extension(*kind, follows);
            inserted.splice(0..0, header);
            follows = kind.protocol()?;
        }
        self.insert(layer.end(), &inserted);
        self.write(&layer, next, follows.into()).map(drop)
    }

    /// Returns the octets of an extension header, in which most is valid but the option or the type.
    fn extension(&mut self, kind: LayerKind, follows: u8) -> Vec<u8> {
        let length = *[0, 0, 0, 0, 1, 2, 255].get(self.below(7)).unwrap_or(&0);
        let random = self.bits().to_be_bytes();
        let mut octets = vec![follows, length, 1, 4, 0, 0, 0, 0];
        match kind {
            LayerKind::Frag => {
                let offset = self.one(&[0u16, 8, 1480, 65_528]).unwrap_or_default();
                let offset = offset | u16::from(self.once_in(2));
                octets[1] = 0;
                octets[2..4].copy_from_slice(&offset.to_be_bytes());
                octets[4..].copy_from_slice(&IDENTIFICATION.to_be_bytes());
            }
            LayerKind::Routing => {
                octets[2] = self.one(&[0, 2, 3, 4, 255]).unwrap_or_default();
                octets[3] = self.one(&[0, 1, 255]).unwrap_or_default();
            }
            _ if !self.once_in(2) => {
                octets[2] = self.one(&IPV6_OPTIONS).unwrap_or_default();
                octets[3] = self.one(&OPTION_LENGTHS).unwrap_or_default();
                octets[4..].copy_from_slice(&random[..4]);
            }
            _ => {}
        }
        octets
    }

    /// Inserts octets, and announces them.
    pub(super) fn insert(&mut self, at: usize, octets: &[u8]) {
        let at = at.min(self.octets.len());
        self.announce(at, octets.len());
        self.octets.splice(at..at, octets.iter().copied());
    }

    pub(super) fn random_octets(&mut self, count: usize) -> Vec<u8> {
        let blocks: Vec<[u8; 16]> = (0..count.div_ceil(16))
            .map(|_| self.bits().to_be_bytes())
            .collect();
        blocks.concat()[..count].to_vec()
    }
}
