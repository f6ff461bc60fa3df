//! Datagrams taken apart into layers. Whatever the octets are, there is a result: what cannot be read is a payload.

use super::layers::LayerKind;

/// A layer of a datagram that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DissectedLayer<'a> {
    /// Its kind.
    pub kind: LayerKind,
    /// The octets from its begin to the end of the datagram.
    pub octets: &'a [u8],
    /// The octets of its header with options, at most those that are there.
    pub header_octets: usize,
    /// True in a datagram in error, which may be cut.
    pub is_in_error: bool,
    /// True after the header of a fragment, where lengths and checksums are those of the whole datagram.
    pub is_in_fragment: bool,
}

impl<'a> DissectedLayer<'a> {
    /// Returns the value of a field, or `None` if the layer has no such field or ends before it.
    pub fn value(&self, name: &str) -> Option<u128> {
        self.kind.field(name)?.read(self.octets)
    }

    /// Returns the octets after its header.
    pub fn rest(&self) -> &'a [u8] {
        &self.octets[self.header_octets..]
    }

    /// Returns its header with options.
    pub fn header(&self) -> &'a [u8] {
        &self.octets[..self.header_octets]
    }
}

/// The state of taking a datagram apart.
struct Cursor<'a> {
    layers: Vec<DissectedLayer<'a>>,
    is_in_error: bool,
    is_in_fragment: bool,
}

/// Returns the layers of a datagram, which begins with its IP header.
pub fn dissect(datagram: &[u8]) -> Vec<DissectedLayer<'_>> {
    let mut cursor = Cursor {
        layers: Vec::new(),
        is_in_error: false,
        is_in_fragment: false,
    };
    let mut next = Some((ip_kind(datagram), datagram));
    while let Some((kind, octets)) = next {
        next = cursor.take(kind, octets);
    }
    cursor.layers
}

/// Returns the kind of an IP header by its version.
fn ip_kind(octets: &[u8]) -> LayerKind {
    match octets.first().map(|octet| octet >> 4) {
        Some(4) => LayerKind::Ipv4,
        Some(6) => LayerKind::Ipv6,
        _ => LayerKind::Payload,
    }
}

impl<'a> Cursor<'a> {
    /// Takes a layer, and returns the one after it.
    fn take(&mut self, kind: LayerKind, octets: &'a [u8]) -> Option<(LayerKind, &'a [u8])> {
        if octets.is_empty() {
            return None;
        }
        let kind = kind.by_octets(octets);
        let header_octets = header_octets(kind, octets).min(octets.len());
        let layer = DissectedLayer {
            kind,
            octets,
            header_octets,
            is_in_error: self.is_in_error,
            is_in_fragment: self.is_in_fragment,
        };
        self.layers.push(layer);
        let is_later_fragment = kind.field("offset").is_some()
            && layer.value("offset").is_some_and(|offset| offset > 0);
        self.is_in_fragment |= is_later_fragment || layer.value("mf") == Some(1);
        let after = if is_later_fragment {
            LayerKind::Payload
        } else {
            self.kind_after(&layer)?
        };
        Some((after, layer.rest()))
    }

    /// Returns the kind of the layer after this one, or `None` if nothing follows a payload.
    fn kind_after(&mut self, layer: &DissectedLayer<'_>) -> Option<LayerKind> {
        if let Some(next) = layer.kind.next_field() {
            let number = next
                .read(layer.octets)
                .and_then(|number| u8::try_from(number).ok());
            return Some(
                number
                    .and_then(LayerKind::of_protocol)
                    .unwrap_or(LayerKind::Payload),
            );
        }
        match layer.kind {
            LayerKind::Payload | LayerKind::Bytes => None,
            LayerKind::Icmp | LayerKind::Icmp6 if self.enters_error(layer) => {
                (self.is_in_error, self.is_in_fragment) = (true, false);
                Some(ip_kind(layer.rest()))
            }
            _ => Some(LayerKind::Payload),
        }
    }

    fn enters_error(&self, layer: &DissectedLayer<'_>) -> bool {
        let icmp_type = layer.value("type").unwrap_or(u128::MAX);
        !layer.is_in_fragment
            && layer.kind.is_error(icmp_type)
            && ip_kind(layer.rest()) != LayerKind::Payload
    }
}

/// Returns the octets of a header with its options, as the header says.
fn header_octets(kind: LayerKind, octets: &[u8]) -> usize {
    let announced = match kind {
        LayerKind::Ipv4 => value(kind, "ihl", octets).map(|words| words * 4),
        LayerKind::Tcp => value(kind, "doff", octets).map(|words| words * 4),
        LayerKind::HopOpts | LayerKind::DstOpts | LayerKind::Routing => {
            value(kind, "len", octets).map(|words| (words + 1) * 8)
        }
        LayerKind::Payload | LayerKind::Bytes => Some(octets.len()),
        _ => None,
    };
    announced.unwrap_or(0).max(kind.header_octets())
}

fn value(kind: LayerKind, name: &str, octets: &[u8]) -> Option<usize> {
    // No field of a length has more than 16 bits.
    kind.field(name)
        .and_then(|field| field.read(octets))
        .map(|value| value as usize)
}
