//! Ports, addresses and flows of a `[[test]]`.

use super::reader::Section;
use super::words::{order, ports};
use sixbench_method::measures::Keys;
use sixbench_method::plan::{AddressPart, Payload, Ports, TrafficSettings, ValueOrder, ValueRange};
use sixbench_method::units::range;

/// Reads the traffic settings of a test, except its flows, which are read as part of the series.
pub(super) fn read_traffic(section: &Section<'_>) -> TrafficSettings {
    let ports = section.text("ports", ports).unwrap_or(Ports::RFC_4814);
    let own_ports = |key, name| section.section(key, name).map_or(ports, |own| read_ports(own, ports));
    let traffic = TrafficSettings {
        forward_ports: own_ports("forward-ports", "forward-ports"),
        reverse_ports: own_ports("reverse-ports", "reverse-ports"),
        left_addresses: section.section("left-addresses", "left-addresses").map(read_addresses),
        right_addresses: section.section("right-addresses", "right-addresses").map(read_addresses),
        left_networks: section.number("left-networks", networks).unwrap_or(1),
        right_networks: section.number("right-networks", networks).unwrap_or(1),
        subscribers: None,
        payload: section.text("payload", payload).unwrap_or_default(),
        flows: None,
    };
    for (key, addresses, networks) in [
        ("left-networks", traffic.left_addresses, traffic.left_networks),
        ("right-networks", traffic.right_addresses, traffic.right_networks),
    ] {
        if addresses.is_some() && networks > 1 {
            section.mistake(key, "either addresses or networks of one side can vary, not both");
        }
    }
    traffic
}

fn read_ports(section: Section<'_>, otherwise: Ports) -> Ports {
    let read = |key, order_key, otherwise: ValueRange| {
        let (first, last) = section.value(key, range).unwrap_or((otherwise.first, otherwise.last));
        ValueRange { first, last, order: section.text(order_key, order).unwrap_or(otherwise.order) }
    };
    let ports = Ports {
        source: read("source", "source-order", otherwise.source),
        destination: read("destination", "destination-order", otherwise.destination),
    };
    section.finish();
    ports
}

fn read_addresses(section: Section<'_>) -> AddressPart {
    let (first, last) = section.required("range", range).unwrap_or((0, 0));
    let order = section.text("order", order).unwrap_or(ValueOrder::Pseudorandom);
    let part = AddressPart {
        range: ValueRange { first, last, order },
        ipv4_offset: section.number("ipv4-offset", |text| offset(text, 2)).unwrap_or(AddressPart::IPV4_OFFSET),
        ipv6_offset: section.number("ipv6-offset", |text| offset(text, 14)).unwrap_or(AddressPart::IPV6_OFFSET),
    };
    section.finish();
    part
}

/// Reads a payload: `udp` or `echo`.
///
/// # Errors
/// The text is none of the words; the error lists them.
pub fn payload(text: &str) -> Result<Payload, String> {
    match text {
        "udp" => Ok(Payload::Udp),
        "echo" => Ok(Payload::Echo),
        text => Err(format!("expected `udp` or `echo` (ICMPv6), not `{text}`")),
    }
}

fn offset(text: &str, most: u8) -> Result<u8, String> {
    let offset = text.parse().ok().filter(|offset: &u8| offset.is_multiple_of(2) && *offset <= most);
    offset.ok_or_else(|| format!("expected an even octet from 0 to {most}, since checksums add 16-bit words, not `{text}`"))
}

fn networks(text: &str) -> Result<u16, String> {
    let networks = text.parse().ok().filter(|networks| (1..=256).contains(networks));
    networks.ok_or_else(|| format!("expected 1 to 256 networks, not `{text}`"))
}
