//! Frames of vectors as datagrams. Lengths, checksums and next headers are right unless the vector gives others.

use super::resolve::{Resolver, USUAL_HOP_LIMIT, UnresolvedValue};
use super::zero_sum::zero_sum_port;
use crate::frame::{LayerKind, PayloadPattern};
use crate::notation::{FrameSpec, LayerFill, LayerSpec, SpecValue};
use sixbench_wire::checksum;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The reason why a frame cannot be built for a device: its vector does not apply to it.
pub type BuildError = UnresolvedValue;

/// The protocol number of what no layer announces (RFC 3692: for experiments).
const EXPERIMENTAL: u8 = 253;
/// The identification of an IPv4 datagram that does not give its own, so that it is neither zero nor that of another program's.
const USUAL_IDENTIFICATION: u128 = 0x6b63;
/// The ports, and the identifier and sequence number of echoes, that are not given.
const USUAL_PORTS: [u128; 2] = [4096, 4097];
/// The fields of a header with the Tunnel Encapsulation Limit that are not given: the option with the limit that RFC 2473 section 6.6 recommends, and PadN.
const USUAL_LIMIT: [(&str, u128); 4] = [
    ("limit", 4),
    ("option", 4),
    ("optlen", 1),
    ("pad", 0x01_01_00),
];

/// The addresses of the datagram that contains a layer, for its pseudo-header.
#[derive(Clone, Copy)]
pub(crate) enum PseudoHeader {
    Absent,
    Ipv4 { src: Ipv4Addr, dst: Ipv4Addr },
    Ipv6 { src: Ipv6Addr, dst: Ipv6Addr },
}

/// Returns the octets of a frame, from its IP header on.
///
/// # Errors
/// The device does not determine a value of the frame.
pub fn build(
    frame: &FrameSpec,
    pattern: PayloadPattern,
    resolver: &Resolver<'_>,
) -> Result<Vec<u8>, BuildError> {
    let builder = Builder { pattern, resolver };
    builder.layers(&frame.layers, PseudoHeader::Absent)
}

struct Builder<'a> {
    pattern: PayloadPattern,
    resolver: &'a Resolver<'a>,
}

impl Builder<'_> {
    /// Returns the octets of a layer and all after it.
    fn layers(&self, layers: &[LayerSpec], enclosing: PseudoHeader) -> Result<Vec<u8>, BuildError> {
        let Some((layer, rest)) = layers.split_first() else {
            return Ok(Vec::new());
        };
        let mut octets = vec![0; layer.kind.header_octets()];
        octets.extend(self.fill(layer)?);
        write_usual(layer, rest, &mut octets);
        self.write_given(layer, &mut octets)?;
        let header_octets = octets.len();
        let inside = pseudo_header(layer.kind, &octets).unwrap_or(enclosing);
        octets.extend(self.layers(rest, inside)?);
        // From the inside out: a length counts what follows, the port that makes the sum zero depends on the length, and a checksum covers all of them.
        write_lengths(layer, header_octets, &mut octets);
        self.write_zero_sum_port(layer, &mut octets)?;
        write_checksum(layer, header_octets, enclosing, &mut octets);
        self.write_whole_checksum(layer, enclosing, &mut octets);
        Ok(octets)
    }

    fn fill(&self, layer: &LayerSpec) -> Result<Vec<u8>, BuildError> {
        Ok(match &layer.fill {
            LayerFill::Octets(octets) => octets.clone(),
            LayerFill::Pattern { length, from } => self
                .pattern
                .octets(*from, self.resolver.payload_octets(length)?),
            LayerFill::Absent => match layer.kind {
                // PadN with four octets (RFC 8200 section 4.2) fills the shortest header of options.
                LayerKind::HopOpts | LayerKind::DstOpts => vec![1, 4, 0, 0, 0, 0],
                // As many octets of data fill the shortest routing header, which has eight (RFC 8200 section 4.4).
                LayerKind::Routing => vec![0; 4],
                _ => Vec::new(),
            },
        })
    }

    fn write_zero_sum_port(&self, layer: &LayerSpec, octets: &mut [u8]) -> Result<(), BuildError> {
        let fields = (layer.kind.field("sport"), layer.kind.field("sum"));
        let (Some(SpecValue::ZeroSum), (Some(sport), Some(sum))) = (layer.value("sport"), fields)
        else {
            return Ok(());
        };
        sport.write(octets, 0);
        sum.write(octets, 0);
        let port = zero_sum_port(octets, self.resolver)?;
        sport.write(octets, port.into());
        Ok(())
    }

    /// Writes the checksum of the datagram that a first fragment begins: its length says how much of the vector's payload there is.
    fn write_whole_checksum(&self, layer: &LayerSpec, enclosing: PseudoHeader, octets: &mut [u8]) {
        let (Some(SpecValue::Whole), Some(sum)) = (layer.value("sum"), layer.kind.field("sum"))
        else {
            return;
        };
        sum.write(octets, 0);
        let whole = whole_datagram(layer.kind, octets, self.pattern);
        let right = right_checksum(layer.kind, layer.kind.header_octets(), enclosing, &whole);
        sum.write(octets, right.into());
    }

    /// Writes the values that the vector gives, except those of checksums, which come last.
    fn write_given(&self, layer: &LayerSpec, octets: &mut [u8]) -> Result<(), BuildError> {
        for given in &layer.fields {
            if let Some(value) = self.resolver.value(layer.kind, given.field, &given.value)? {
                given.field.write(octets, value);
            }
        }
        Ok(())
    }
}

/// Writes the values of fields that the vector does not give, and which do not depend on what follows. `octets` is the header with its options.
fn write_usual(layer: &LayerSpec, rest: &[LayerSpec], octets: &mut [u8]) {
    for (name, value) in usual_values(layer.kind, octets.len() as u128) {
        if let Some(field) = layer.kind.field(name) {
            field.write(octets, value);
        }
    }
    if let Some(next) = layer.kind.next_field() {
        let announced = rest
            .first()
            .and_then(|next| next.kind.protocol())
            .unwrap_or(EXPERIMENTAL);
        next.write(octets, announced.into());
    }
}

fn usual_values(kind: LayerKind, header_octets: u128) -> Vec<(&'static str, u128)> {
    let (words, hop_limit) = (header_octets / 4, USUAL_HOP_LIMIT.into());
    match kind {
        LayerKind::Ipv4 => vec![
            ("version", 4),
            ("ihl", words),
            ("id", USUAL_IDENTIFICATION),
            ("ttl", hop_limit),
        ],
        LayerKind::Ipv6 => vec![("version", 6), ("hlim", hop_limit)],
        LayerKind::HopOpts | LayerKind::DstOpts | LayerKind::Routing => {
            vec![("len", (header_octets / 8).saturating_sub(1))]
        }
        LayerKind::EncapLimit => USUAL_LIMIT.to_vec(),
        LayerKind::Udp => vec![("sport", USUAL_PORTS[0]), ("dport", USUAL_PORTS[1])],
        LayerKind::Tcp => vec![
            ("sport", USUAL_PORTS[0]),
            ("dport", USUAL_PORTS[1]),
            ("doff", words),
            ("window", 65_535),
        ],
        LayerKind::Icmp
        | LayerKind::Icmp6
        | LayerKind::Frag
        | LayerKind::Esp
        | LayerKind::Payload
        | LayerKind::Bytes => Vec::new(),
    }
}

/// Returns the UDP datagram that a first fragment of it begins, with the vector's payload.
pub(crate) fn whole_datagram(kind: LayerKind, first: &[u8], pattern: PayloadPattern) -> Vec<u8> {
    let header = &first[..kind.header_octets().min(first.len())];
    let length = kind.field("len").and_then(|field| field.read(first));
    // The field has 16 bits.
    let octets = length.map_or(0, |length| length as usize);
    let payload = pattern.octets(0, octets.saturating_sub(header.len()));
    [header, &payload].concat()
}

fn address(kind: LayerKind, name: &str, octets: &[u8]) -> u128 {
    kind.field(name)
        .and_then(|field| field.read(octets))
        .unwrap_or(0)
}

/// Returns the addresses that the pseudo-header of what an IP header contains has; `None` of another layer.
pub(crate) fn pseudo_header(kind: LayerKind, octets: &[u8]) -> Option<PseudoHeader> {
    match kind {
        LayerKind::Ipv4 => Some(PseudoHeader::Ipv4 {
            src: Ipv4Addr::from(address(kind, "src", octets) as u32),
            dst: Ipv4Addr::from(address(kind, "dst", octets) as u32),
        }),
        LayerKind::Ipv6 => Some(PseudoHeader::Ipv6 {
            src: address(kind, "src", octets).into(),
            dst: address(kind, "dst", octets).into(),
        }),
        _ => None,
    }
}

/// Writes the length of a layer with all after it, unless it is given.
fn write_lengths(layer: &LayerSpec, header_octets: usize, octets: &mut [u8]) {
    let length = match layer.kind {
        LayerKind::Ipv4 | LayerKind::Udp => octets.len(),
        LayerKind::Ipv6 => octets.len() - header_octets,
        _ => return,
    };
    if let (None, Some(field)) = (layer.value("len"), layer.kind.field("len")) {
        field.write(octets, length as u128);
    }
}

fn write_checksum(
    layer: &LayerSpec,
    header_octets: usize,
    enclosing: PseudoHeader,
    octets: &mut [u8],
) {
    let Some(field) = layer.kind.field("sum") else {
        return;
    };
    let right = match layer.value("sum") {
        // A frame that is expected, and in which any checksum may come, is built to find its port of sum zero: it gets the right one.
        None | Some(SpecValue::Any | SpecValue::Bad | SpecValue::Right) => {
            field.write(octets, 0);
            right_checksum(layer.kind, header_octets, enclosing, octets)
        }
        Some(_) => return,
    };
    let written = if layer.value("sum") == Some(&SpecValue::Bad) {
        spoilt(right)
    } else {
        right
    };
    field.write(octets, written.into());
}

/// Returns a wrong checksum that is not zero either, which would mean that there is none.
fn spoilt(right: u16) -> u16 {
    match right ^ 1 {
        0 => 2,
        wrong => wrong,
    }
}

/// Returns the checksum of a layer whose field for it is zero.
pub(crate) fn right_checksum(
    kind: LayerKind,
    header_octets: usize,
    enclosing: PseudoHeader,
    octets: &[u8],
) -> u16 {
    let covered = if kind == LayerKind::Ipv4 {
        &octets[..header_octets]
    } else {
        octets
    };
    let protocol = kind.protocol().unwrap_or(EXPERIMENTAL);
    // Of a first fragment, UDP's own length is that of the whole datagram.
    let length = kind
        .field("len")
        .filter(|_| kind == LayerKind::Udp)
        .and_then(|field| field.read(octets))
        .unwrap_or(octets.len() as u128) as u32;
    let pseudo_header = match (kind, enclosing) {
        (LayerKind::Ipv4 | LayerKind::Icmp, _) | (_, PseudoHeader::Absent) => 0,
        (_, PseudoHeader::Ipv4 { src, dst }) => {
            checksum::pseudo_header_ipv4(src, dst, protocol, length as u16)
        }
        (_, PseudoHeader::Ipv6 { src, dst }) => {
            checksum::pseudo_header_ipv6(src, dst, protocol, length)
        }
    };
    let sum = checksum::sum(covered) + pseudo_header;
    if kind == LayerKind::Udp {
        checksum::finish_udp(sum)
    } else {
        checksum::finish(sum)
    }
}
