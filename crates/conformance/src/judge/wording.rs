//! A datagram in the notation of vectors, so that what came can be read beside what is expected.

use crate::frame::{
    DissectedLayer, FieldForm, FieldInfo, LayerKind, PayloadPattern, Side, dissect,
};
use crate::setting::DeviceSetting;
use std::fmt::Write;
use std::net::IpAddr;

/// Fields of a header that a description leaves out if the header has its usual form.
const USUAL: [(LayerKind, &str, u128); 10] = [
    (LayerKind::Ipv4, "version", 4),
    (LayerKind::Ipv4, "ihl", 5),
    (LayerKind::Ipv6, "version", 6),
    (LayerKind::Tcp, "doff", 5),
    (LayerKind::Tcp, "urgent", 0),
    (LayerKind::Ipv6, "flow", 0),
    (LayerKind::EncapLimit, "len", 0),
    (LayerKind::EncapLimit, "option", 4),
    (LayerKind::EncapLimit, "optlen", 1),
    (LayerKind::EncapLimit, "pad", 0x01_01_00),
];

/// The octets of a payload that are shown if they are not the vector's.
const SHOWN_OCTETS: usize = 24;

/// Returns a datagram on a side in the notation of vectors, with the addresses of roles by their names.
pub fn describe(
    side: Side,
    datagram: &[u8],
    setting: &DeviceSetting,
    pattern: PayloadPattern,
) -> String {
    let layers = dissect(datagram);
    let texts: Vec<String> = layers
        .iter()
        .map(|layer| layer_text(layer, setting, pattern))
        .collect();
    format!("{side}: {}", texts.join(" / "))
}

fn layer_text(
    layer: &DissectedLayer<'_>,
    setting: &DeviceSetting,
    pattern: PayloadPattern,
) -> String {
    if layer.kind == LayerKind::Payload {
        return payload_text(layer.octets, pattern);
    }
    let shown = layer
        .kind
        .fields()
        .iter()
        .filter(|field| is_shown(layer, field));
    let mut fields: Vec<String> = shown
        .filter_map(|field| {
            Some(format!(
                "{}={}",
                field.name,
                value_text(layer.kind, field, field.read(layer.octets)?, setting)
            ))
        })
        .collect();
    let options = layer
        .header()
        .get(layer.kind.header_octets()..)
        .filter(|options| !options.is_empty());
    if let (Some(name), Some(options)) = (layer.kind.octets_argument(), options) {
        fields.push(format!("{name}={}", digits(options)));
    }
    format!("{}({})", layer.kind.name(), fields.join(", "))
}

fn is_shown(layer: &DissectedLayer<'_>, field: &FieldInfo) -> bool {
    let value = field.read(layer.octets);
    if USUAL
        .iter()
        .any(|(kind, name, usual)| (*kind, *name, Some(*usual)) == (layer.kind, field.name, value))
    {
        return false;
    }
    let icmp_type = layer.value("type");
    match field.name {
        "rest" => false,
        "id" | "seq" if layer.kind.is_icmp() => is_echo(layer.kind, icmp_type),
        "mtu" => matches!(
            (layer.kind, icmp_type, layer.value("code")),
            (LayerKind::Icmp, Some(3), Some(4)) | (LayerKind::Icmp6, Some(2), _)
        ),
        "pointer" => matches!(
            (layer.kind, icmp_type),
            (LayerKind::Icmp, Some(12)) | (LayerKind::Icmp6, Some(4))
        ),
        "length" if layer.kind.is_icmp() => {
            !is_echo(layer.kind, icmp_type)
                && icmp_type.is_some_and(|icmp_type| layer.kind.is_error(icmp_type))
                && !matches!((layer.kind, icmp_type), (LayerKind::Icmp6, Some(2 | 4)))
                && value != Some(0)
        }
        "df" | "mf" | "offset" => value != Some(0),
        _ => true,
    }
}

fn is_echo(kind: LayerKind, icmp_type: Option<u128>) -> bool {
    matches!(
        (kind, icmp_type),
        (LayerKind::Icmp, Some(0 | 8)) | (LayerKind::Icmp6, Some(128 | 129))
    )
}

/// Returns the value of a field as the notation has it.
pub(crate) fn value_text(
    kind: LayerKind,
    field: &FieldInfo,
    value: u128,
    setting: &DeviceSetting,
) -> String {
    match field.form {
        FieldForm::Decimal => value.to_string(),
        FieldForm::Hexadecimal => format!("0x{value:x}"),
        FieldForm::Octets => format!("{value:08x}"),
        FieldForm::TcpFlags => flags_text(value),
        FieldForm::Protocol => u8::try_from(value)
            .ok()
            .and_then(LayerKind::of_protocol)
            .map_or(value.to_string(), |kind| kind.name().to_owned()),
        FieldForm::Address => {
            let address = if kind == LayerKind::Ipv4 {
                IpAddr::V4((value as u32).into())
            } else {
                IpAddr::V6(value.into())
            };
            setting
                .role_at(address)
                .map_or(address.to_string(), |role| role.name().to_owned())
        }
    }
}

fn flags_text(value: u128) -> String {
    let letters: String = "FSRPAUEC"
        .chars()
        .enumerate()
        .filter(|(bit, _)| value >> bit & 1 == 1)
        .map(|(_, letter)| letter)
        .collect();
    if letters.is_empty() {
        "0".to_owned()
    } else {
        letters
    }
}

fn payload_text(octets: &[u8], pattern: PayloadPattern) -> String {
    // A later fragment continues the payload.
    match pattern.begin_of(octets) {
        Some(0) => format!("payload({})", octets.len()),
        Some(from) => format!("payload({}, from={from})", octets.len()),
        None => {
            let more = if octets.len() > SHOWN_OCTETS {
                format!(" and {} octets more", octets.len() - SHOWN_OCTETS)
            } else {
                String::new()
            };
            format!(
                "bytes({}{more})",
                digits(&octets[..octets.len().min(SHOWN_OCTETS)])
            )
        }
    }
}

fn digits(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{octet:02x}");
        text
    })
}
