//! The valid datagrams from which malformed ones are made: those that the vectors of a device send.

use super::coverage::{CarriedProtocol, DatagramGroup};
use super::draft::Draft;
use crate::frame::{FieldForm, LayerKind, PayloadPattern, Side};
use crate::notation::{FrameSpec, SpecValue, Vector};
use crate::octets::{Resolver, build};
use crate::setting::{DeviceSetting, Role};
use sixbench_stats::SplitMix64;

/// The number in the payload of malformed frames. Control frames have the largest number (`CONTROL_NUMBER` of the engine).
const PATTERN: PayloadPattern = PayloadPattern { vector: 0 };

/// The octets of the two ports, which begin the headers of UDP and TCP alike.
const PORTS_OCTETS: usize = 4;
/// The rest of the TCP header of a SYN without options (RFC 9293 section 3.1): sequence number 1, a window of 4096 octets.
const REST_OF_SYN: [u8; 16] = [0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02, 0x10, 0, 0, 0, 0, 0];

/// The value of all ports and identifiers with names. Most devices keep a port if it is free, so that what the outside sends to it meets a mapping.
const NAMED_NUMBER: u128 = 40_000;

/// A datagram of a vector, as it is sent to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidDatagram {
    /// The name of the vector.
    pub vector: String,
    /// The side on which it is sent.
    pub side: Side,
    /// The octets, from the IP header on.
    pub octets: Vec<u8>,
}

/// Returns the datagrams of vectors for a device with these two sides. Those that the device does not determine are left out, as are vectors for DNS
/// servers, which send none.
pub fn valid_datagrams(
    vectors: &[&Vector],
    setting: &DeviceSetting,
    sides: [Side; 2],
) -> Vec<ValidDatagram> {
    let mut found = Vec::new();
    for vector in vectors {
        let of_steps = vector.steps.iter().map(|step| &step.send);
        for frames in of_steps.chain([&vector.send]) {
            let frames: Vec<FrameSpec> = frames.iter().map(without_names).collect();
            let built = frames.iter().filter_map(|frame| {
                let resolver = Resolver {
                    setting,
                    sent: &frames[0],
                };
                let octets = build(frame, PATTERN, &resolver).ok()?;
                sides.contains(&frame.side).then(|| ValidDatagram {
                    vector: vector.name.clone(),
                    side: frame.side,
                    octets,
                })
            });
            found.extend(built);
        }
    }
    let segments: Vec<ValidDatagram> = sides
        .into_iter()
        .flat_map(|side| segments(&found, side))
        .collect();
    found.extend(segments);
    found
}

impl ValidDatagram {
    /// Returns the group of datagrams to which it belongs.
    pub(super) fn group(&self) -> DatagramGroup {
        DatagramGroup {
            side: self.side,
            protocol: CarriedProtocol::carried_by(&self.octets),
        }
    }
}

/// Returns segments of TCP for a side on which no vector sends any, made from the datagrams of UDP: no device that forwards the ones leaves the others
/// alone.
fn segments(known: &[ValidDatagram], side: Side) -> Vec<ValidDatagram> {
    let [segments, datagrams] = [CarriedProtocol::Tcp, CarriedProtocol::Udp]
        .map(|protocol| of_group(known, DatagramGroup { side, protocol }));
    if !segments.is_empty() {
        return Vec::new();
    }
    let made = datagrams.into_iter().filter_map(|datagram| {
        Some(ValidDatagram {
            octets: segment_of(&datagram.octets)?,
            ..datagram.clone()
        })
    });
    made.collect()
}

fn of_group(known: &[ValidDatagram], group: DatagramGroup) -> Vec<&ValidDatagram> {
    let all = known.iter();
    all.filter(|datagram| datagram.group() == group).collect()
}

/// Returns the segment that opens a connection between the addresses and ports of a datagram of UDP, with its payload.
fn segment_of(datagram: &[u8]) -> Option<Vec<u8>> {
    let mut draft = Draft::new(datagram.to_vec(), SplitMix64::new(0));
    let layers = draft.layers();
    let at = layers
        .iter()
        .position(|layer| layer.kind == LayerKind::Udp)?;
    let (before, udp) = (layers.get(at.checked_sub(1)?)?, layers[at]);
    let ports = datagram.get(udp.at..udp.at + PORTS_OCTETS)?;
    let header = [ports, &REST_OF_SYN].concat();
    let added = header.len() - udp.header_octets;
    draft.announce(udp.at, added);
    draft.octets.splice(udp.at..udp.end(), header);
    let number = LayerKind::Tcp.protocol()?;
    draft.write(before, before.kind.next_field()?, number.into())?;
    draft.repair_checksums();
    Some(draft.octets)
}

/// Returns a frame whose named values are those that a device most likely chooses: the port that the inside used, and an address of its pool.
fn without_names(frame: &FrameSpec) -> FrameSpec {
    let mut frame = frame.clone();
    for given in frame.layers.iter_mut().flat_map(|layer| &mut layer.fields) {
        if !matches!(given.value, SpecValue::Named(_)) {
            continue;
        }
        given.value = match given.field.form {
            FieldForm::Address => SpecValue::Role(Role::Pool),
            _ => SpecValue::number(NAMED_NUMBER),
        };
    }
    frame
}
