//! A datagram while mistakes are made in it. Whatever its octets are by then, it can be taken apart, and a field is written only where its octets are.

use crate::frame::{FieldInfo, LayerKind, dissect};
use crate::octets::{PseudoHeader, pseudo_header, right_checksum};
use sixbench_stats::SplitMix64;

/// A layer at its place in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlacedLayer {
    pub(super) kind: LayerKind,
    /// The first octet of the layer.
    pub(super) at: usize,
    /// The octets of its header with options.
    pub(super) header_octets: usize,
    pub(super) is_in_error: bool,
}

impl PlacedLayer {
    /// Returns the first octet after its header.
    pub(super) fn end(&self) -> usize {
        self.at + self.header_octets
    }
}

/// A datagram, the random numbers that decide on its mistakes, and what was done to it.
pub(super) struct Draft {
    pub(super) octets: Vec<u8>,
    random: SplitMix64,
    pub(super) mistakes: Vec<String>,
    /// True if a checksum is wrong on purpose.
    pub(super) keeps_checksums: bool,
}

impl Draft {
    pub(super) fn new(octets: Vec<u8>, random: SplitMix64) -> Self {
        Self {
            octets,
            random,
            mistakes: Vec::new(),
            keeps_checksums: false,
        }
    }

    /// Returns a random number below `bound`; 0 if there is none.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound.max(1) as u64) as usize
    }

    /// Returns true once in `times`.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of some values, or `None` of none.
    pub(super) fn one<T: Copy>(&mut self, values: &[T]) -> Option<T> {
        let at = self.below(values.len());
        values.get(at).copied()
    }

    /// Returns 128 random bits.
    pub(super) fn bits(&mut self) -> u128 {
        u128::from(self.random.next_u64()) << 64 | u128::from(self.random.next_u64())
    }

    pub(super) fn layers(&self) -> Vec<PlacedLayer> {
        let layers = dissect(&self.octets).into_iter();
        layers
            .map(|layer| PlacedLayer {
                kind: layer.kind,
                at: self.octets.len() - layer.octets.len(),
                header_octets: layer.header_octets,
                is_in_error: layer.is_in_error,
            })
            .collect()
    }

    /// Returns the value of a field; `None` if the octets end before it.
    pub(super) fn read(&self, layer: &PlacedLayer, name: &str) -> Option<u128> {
        layer.kind.field(name)?.read(self.octets.get(layer.at..)?)
    }

    /// Writes a field, and returns what was done; `None` if the octets end before the field.
    pub(super) fn write(
        &mut self,
        layer: &PlacedLayer,
        field: &'static FieldInfo,
        value: u128,
    ) -> Option<String> {
        let octets = self.octets.get_mut(layer.at..)?;
        field.read(octets)?;
        field.write(octets, value);
        let written = field.read(octets).unwrap_or_default();
        let place = if layer.is_in_error { " in error" } else { "" };
        Some(format!(
            "{}.{}{place}={written:#x}",
            layer.kind.name(),
            field.name
        ))
    }

    /// Writes a field by its name, if the layer has it and its octets are there.
    pub(super) fn set(&mut self, layer: &PlacedLayer, name: &str, value: u128) -> Option<String> {
        self.write(layer, layer.kind.field(name)?, value)
    }

    /// Adds octets to the lengths of all IP and UDP headers before a place, so that what is inserted there is announced.
    pub(super) fn announce(&mut self, at: usize, added: usize) {
        let around = self.layers().into_iter().filter(|layer| layer.at < at);
        for layer in around.filter(|layer| layer.kind.is_ip() || layer.kind == LayerKind::Udp) {
            if let Some(length) = self.read(&layer, "len") {
                self.set(&layer, "len", length + added as u128);
            }
        }
    }

    /// Gives the datagram another payload, so that it is as long as is wanted and not shorter than its headers, with right lengths of all headers but
    /// those in a datagram in error.
    pub(super) fn resize(&mut self, wanted: usize) {
        let layers = self.layers();
        let is_header =
            |layer: &&PlacedLayer| !matches!(layer.kind, LayerKind::Payload | LayerKind::Bytes);
        let headers = layers.iter().filter(is_header).map(PlacedLayer::end).max();
        let (now, wanted) = (self.octets.len(), wanted.max(headers.unwrap_or(0)));
        let more = self.random_octets(wanted.saturating_sub(now));
        self.octets.extend(more);
        self.octets.truncate(wanted);
        for layer in layers.iter().filter(|layer| !layer.is_in_error) {
            let has_length = layer.kind.is_ip() || layer.kind == LayerKind::Udp;
            if let Some(length) = self.read(layer, "len").filter(|_| has_length) {
                self.set(
                    layer,
                    "len",
                    (length + wanted as u128).saturating_sub(now as u128),
                );
            }
        }
    }

    /// Makes the length of the outermost header that of the octets that are there.
    pub(super) fn announce_what_is_there(&mut self) {
        let Some(outer) = self.layers().first().copied() else {
            return;
        };
        let whole = self.octets.len() as u128;
        let length = match outer.kind {
            LayerKind::Ipv4 => whole,
            LayerKind::Ipv6 => whole.saturating_sub(LayerKind::Ipv6.header_octets() as u128),
            _ => return,
        };
        self.set(&outer, "len", length);
    }

    /// Makes the checksums right, outside of a datagram in error: a wrong one would hide the other mistakes behind the first check of a device.
    pub(super) fn repair_checksums(&mut self) {
        let mut enclosing = PseudoHeader::Absent;
        let mut found = Vec::new();
        for layer in self.layers().into_iter().filter(|layer| !layer.is_in_error) {
            found.push((layer, enclosing));
            enclosing = pseudo_header(layer.kind, &self.octets[layer.at..]).unwrap_or(enclosing);
        }
        // From the innermost: the checksum of an outer layer is also one of the octets in it.
        for (layer, enclosing) in found.into_iter().rev() {
            if self.set(&layer, "sum", 0).is_some() {
                let octets = &self.octets[layer.at..];
                let sum = right_checksum(layer.kind, layer.header_octets, enclosing, octets);
                self.set(&layer, "sum", sum.into());
            }
        }
    }

    /// Makes a message of neighbour discovery one that looks routed, by its hop limit. With 255 it would be a valid one, which may tell the device another
    /// hardware address of the tester: that the device then no longer reaches the tester would not be its fault.
    pub(super) fn disarm_neighbour_discovery(&mut self) {
        const MESSAGES: std::ops::RangeInclusive<u128> = 133..=137;
        let layers = self.layers();
        let is_discovery = layers.iter().any(|layer| {
            let message = self.read(layer, "type").unwrap_or_default();
            layer.kind == LayerKind::Icmp6 && MESSAGES.contains(&message)
        });
        for layer in layers {
            if is_discovery && self.read(&layer, "hlim") == Some(255) {
                self.set(&layer, "hlim", 254);
            }
        }
    }
}
