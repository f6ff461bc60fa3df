//! Ports with which the checksum of a frame inside comes out as zero. Such a checksum is sent as all ones, because zero means that there is none (RFC
//! 768, RFC 8200 section 8.1). The frame depends on nothing that the device chooses.

use super::names::BoundNames;
use crate::frame::{LayerKind, PayloadPattern, Side, dissect};
use crate::notation::{
    FrameSpec, LayerSpec, NumberClass, Operand, RequiredAnswer, SpecValue, SumTerm, Vector,
    named_in,
};
use crate::octets::{Resolver, UnresolvedValue, build};
use crate::setting::DeviceSetting;

/// Gives the names of such ports their numbers.
///
/// # Errors
/// The recipe does not have the addresses of a frame, or no frame inside has the port.
pub(super) fn choose_ports(
    vector: &Vector,
    names: &mut BoundNames,
    device: &DeviceSetting,
    pattern: PayloadPattern,
) -> Result<(), UnresolvedValue> {
    let sent = vector.steps.iter().flat_map(|step| &step.send);
    for (named, _) in sent.flat_map(named_in) {
        if named.class == NumberClass::ZeroSum {
            let frame = frame_with_port(vector, &named.name);
            let frame = frame.ok_or(UnresolvedValue::OutOfRange { field: "sport" })?;
            let port = port_for(frame, names, device, pattern)?;
            names.set(&named.name, port);
        }
    }
    Ok(())
}

/// Returns the expected frame inside whose source port has this name.
fn frame_with_port<'v>(vector: &'v Vector, name: &str) -> Option<&'v FrameSpec> {
    let answers = vector.steps.iter().map(|step| &step.expect);
    let frames = answers.flat_map(|answer| match answer {
        RequiredAnswer::Nothing => &[][..],
        RequiredAnswer::Frames(frames) => frames,
    });
    frames.into_iter().find(|frame| {
        let is_port = |layer: &LayerSpec| {
            matches!(layer.value("sport"), Some(SpecValue::Named(named)) if named.name == name)
        };
        frame.side == Side::Inside && frame.layers.iter().any(is_port)
    })
}

/// Returns the port. With a source port of zero, the checksum is what is missing to a sum of all ones: it is the port.
fn port_for(
    frame: &FrameSpec,
    names: &BoundNames,
    device: &DeviceSetting,
    pattern: PayloadPattern,
) -> Result<u128, UnresolvedValue> {
    let mut frame = names.filled(frame, device)?;
    let udp = frame
        .layers
        .iter_mut()
        .filter(|layer| layer.kind == LayerKind::Udp);
    for given in udp.flat_map(|layer| &mut layer.fields) {
        if given.field.name == "sport" {
            given.value = SpecValue::Sum(vec![SumTerm {
                is_negative: false,
                operand: Operand::Number(0),
            }]);
        }
    }
    let resolver = Resolver {
        setting: device,
        sent: &frame,
    };
    let octets = build(&frame, pattern, &resolver)?;
    let layers = dissect(&octets);
    let udp = layers.iter().find(|layer| layer.kind == LayerKind::Udp);
    udp.and_then(|udp| udp.value("sum"))
        .ok_or(UnresolvedValue::OutOfRange { field: "sport" })
}
