//! The comparison of a frame that came with one that is expected: a list of differences, field by field.

use super::wording::value_text;
use crate::frame::{DissectedLayer, LayerKind, PayloadPattern, Side, dissect};
use crate::notation::{FrameSpec, LayerFill, LayerSpec, SpecValue};
use crate::octets::{Resolver, UnresolvedValue, whole_datagram};
use sixbench_method::trial::FieldDifference;
use sixbench_wire::checksum;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A frame that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CameFrame {
    /// The side on which it came.
    pub side: Side,
    /// Its octets from the IP header on, without the padding of Ethernet.
    pub datagram: Vec<u8>,
}

/// Returns where a frame that came differs from one that is expected. The fields that are written are compared; and always the lengths, the checksums
/// and the payload, except in a datagram in error, which may be cut.
///
/// # Errors
/// The device does not determine a value that is expected.
pub fn differences(
    expected: &FrameSpec,
    came: &CameFrame,
    pattern: PayloadPattern,
    resolver: &Resolver<'_>,
) -> Result<Vec<FieldDifference>, UnresolvedValue> {
    if expected.side != came.side {
        return Ok(vec![FieldDifference::new("side", expected.side, came.side)]);
    }
    let layers = dissect(&came.datagram);
    let mut comparison = FrameComparison {
        pattern,
        resolver,
        differences: Vec::new(),
        enclosing: None,
    };
    // Layers behind the last expected one are not compared: a vector names the payload if it matters.
    for (at, layer) in expected.layers.iter().enumerate() {
        match layers.get(at) {
            Some(found) if is_kind(layer, found) => comparison.layer(layer, found)?,
            found => {
                let found = found.map_or("nothing", |found| found.kind.name());
                comparison.differences.push(FieldDifference::new(
                    format!("layer {}", at + 1),
                    layer.kind.name(),
                    found,
                ));
                break;
            }
        }
    }
    Ok(comparison.differences)
}

fn is_kind(expected: &LayerSpec, found: &DissectedLayer<'_>) -> bool {
    expected.kind == found.kind
        || (expected.kind == LayerKind::Bytes && found.kind == LayerKind::Payload)
}

struct FrameComparison<'a> {
    pattern: PayloadPattern,
    resolver: &'a Resolver<'a>,
    differences: Vec<FieldDifference>,
    /// The partial sum of the addresses of the latest IP header.
    enclosing: Option<u64>,
}

impl FrameComparison<'_> {
    fn layer(
        &mut self,
        expected: &LayerSpec,
        found: &DissectedLayer<'_>,
    ) -> Result<(), UnresolvedValue> {
        self.fields(expected, found)?;
        if !found.is_in_error {
            self.lengths(expected, found);
        }
        // A datagram in error may be cut, and so have a checksum that its octets do not show to be right; `right` says that it is whole.
        if !found.is_in_error || expected.value("sum") == Some(&SpecValue::Right) {
            self.checksum(expected, found);
        }
        if let Some(addresses) = addresses(found) {
            self.enclosing = Some(addresses);
        }
        self.fill(expected, found)
    }

    fn fields(
        &mut self,
        expected: &LayerSpec,
        found: &DissectedLayer<'_>,
    ) -> Result<(), UnresolvedValue> {
        for given in &expected.fields {
            let Some(value) = self
                .resolver
                .value(expected.kind, given.field, &given.value)?
            else {
                continue;
            };
            let came = given.field.read(found.octets);
            if came != Some(value) {
                let text =
                    |value| value_text(expected.kind, given.field, value, self.resolver.setting);
                let came = came.map_or("nothing: the frame ends before it".to_owned(), text);
                self.differences.push(FieldDifference::new(
                    name(expected.kind, given.field.name),
                    text(value),
                    came,
                ));
            }
        }
        Ok(())
    }

    /// Compares the length of a layer with the octets that are there.
    fn lengths(&mut self, expected: &LayerSpec, found: &DissectedLayer<'_>) {
        let octets = match found.kind {
            LayerKind::Ipv4 => found.octets.len(),
            LayerKind::Ipv6 => found.octets.len().saturating_sub(found.header_octets),
            LayerKind::Udp if !found.is_in_fragment => found.octets.len(),
            _ => return,
        };
        let came = found.value("len");
        if expected.value("len").is_none() && came != Some(octets as u128) {
            self.differences.push(FieldDifference::new(
                name(found.kind, "len"),
                octets,
                came.map_or("nothing".to_owned(), |came| came.to_string()),
            ));
        }
    }

    /// Checks a checksum for which the vector gives no value. That of a first fragment is computed over the fragment's own octets, unless the vector says
    /// `sum=whole`: then the rest of the datagram is taken from the vector's payload.
    fn checksum(&mut self, expected: &LayerSpec, found: &DissectedLayer<'_>) {
        let (None | Some(SpecValue::Right | SpecValue::Whole), Some(sum)) =
            (expected.value("sum"), found.kind.field("sum"))
        else {
            return;
        };
        let Some(came) = sum.read(found.octets) else {
            return;
        };
        let whole;
        let mut found = *found;
        if expected.value("sum") == Some(&SpecValue::Whole) {
            whole = whole_datagram(found.kind, found.octets, self.pattern);
            found.octets = &whole;
        }
        let found = &found;
        let (is_right, right) = checksums(found, self.enclosing.unwrap_or(0));
        // A field of 0 says that there is no checksum (RFC 768); a vector that allows it over IPv4 says `sum=0` or `any`. It would pass where the computed checksum is 0, which must be sent as 0xffff.
        let is_absent = found.kind == LayerKind::Udp && came == 0;
        if is_absent || !is_right {
            self.differences.push(FieldDifference::new(
                name(found.kind, "sum"),
                format!("0x{right:x}"),
                format!("0x{came:x}"),
            ));
        }
    }

    fn fill(
        &mut self,
        expected: &LayerSpec,
        found: &DissectedLayer<'_>,
    ) -> Result<(), UnresolvedValue> {
        let (octets, came) = match &expected.fill {
            LayerFill::Absent => return Ok(()),
            LayerFill::Pattern {
                length: SpecValue::Any,
                ..
            } => {
                self.part_of_payload(found);
                return Ok(());
            }
            LayerFill::Pattern { length, from } => (
                self.pattern
                    .octets(*from, self.resolver.payload_octets(length)?),
                found.octets,
            ),
            LayerFill::Octets(octets) if expected.kind == LayerKind::Bytes => {
                (octets.clone(), found.octets)
            }
            // Of any other layer, octets are given for what follows the fixed part of its header: options.
            LayerFill::Octets(octets) => (
                octets.clone(),
                &found.header()[found.kind.header_octets().min(found.header_octets)..],
            ),
        };
        let is_cut = found.is_in_error && came.len() < octets.len();
        let wanted = if is_cut {
            &octets[..came.len()]
        } else {
            &octets[..]
        };
        self.octets(expected.kind, wanted, came);
        Ok(())
    }

    /// Compares the octets of a layer that are no fields.
    fn octets(&mut self, kind: LayerKind, wanted: &[u8], came: &[u8]) {
        if wanted.len() != came.len() {
            let field = name(kind, "octets");
            self.differences
                .push(FieldDifference::new(field, wanted.len(), came.len()));
        } else if let Some(at) = (0..wanted.len()).find(|at| wanted[*at] != came[*at]) {
            let field = format!("{} (octet {at})", kind.name());
            self.differences.push(FieldDifference::new(
                field,
                format!("0x{:02x}", wanted[at]),
                format!("0x{:02x}", came[at]),
            ));
        }
    }

    /// Checks that the octets of a layer are a part of the payload, of at least one octet.
    fn part_of_payload(&mut self, found: &DissectedLayer<'_>) {
        if self.pattern.begin_of(found.octets).is_none() {
            self.differences.push(FieldDifference::new(
                name(found.kind, "octets"),
                "a part of the vector's payload",
                format!("{} others", found.octets.len()),
            ));
        }
    }
}

pub(super) fn name(kind: LayerKind, field: &str) -> String {
    format!("{}.{field}", kind.name())
}

/// Returns the partial sum of the addresses of an IP header.
fn addresses(layer: &DissectedLayer<'_>) -> Option<u64> {
    let (src, dst) = (layer.value("src")?, layer.value("dst")?);
    Some(match layer.kind {
        LayerKind::Ipv4 => checksum::pseudo_header_ipv4(
            Ipv4Addr::from(src as u32),
            Ipv4Addr::from(dst as u32),
            0,
            0,
        ),
        LayerKind::Ipv6 => {
            checksum::pseudo_header_ipv6(Ipv6Addr::from(src), Ipv6Addr::from(dst), 0, 0)
        }
        _ => return None,
    })
}

/// Returns whether the checksum of a layer is right, and the one that it should have; `enclosing` is the partial sum of the addresses around it.
fn checksums(layer: &DissectedLayer<'_>, enclosing: u64) -> (bool, u16) {
    let covered = if layer.kind == LayerKind::Ipv4 {
        layer.header()
    } else {
        layer.octets
    };
    // UDP has its length in its header, and that is in the pseudo-header (RFC 768); a first fragment has fewer octets.
    let length = if layer.kind == LayerKind::Udp {
        layer.value("len").unwrap_or(0) as u64
    } else {
        covered.len() as u64
    };
    let pseudo_header = match layer.kind {
        LayerKind::Ipv4 | LayerKind::Icmp => 0,
        kind => enclosing + u64::from(kind.protocol().unwrap_or(0)) + length,
    };
    let mut without = covered.to_vec();
    if let Some(sum) = layer.kind.field("sum") {
        sum.write(&mut without, 0);
    }
    let sum = checksum::sum(&without) + pseudo_header;
    let right = if layer.kind == LayerKind::Udp {
        checksum::finish_udp(sum)
    } else {
        checksum::finish(sum)
    };
    (
        checksum::is_right(checksum::sum(covered) + pseudo_header),
        right,
    )
}
