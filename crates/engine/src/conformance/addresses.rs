//! The addresses to and from which datagrams are sent: those of hosts on the Internet must not be reached (RFC 6815).

use sixbench_conformance::frame::{DissectedLayer, LayerKind, Side, dissect};
use std::net::IpAddr;

/// Returns the sources and destinations of datagrams, also of those inside a tunnel: the device forwards to the destinations and sends its errors to the
/// sources. It sends nothing to the addresses of a packet in error.
pub(super) fn addresses_of(datagrams: &[(Side, Vec<u8>)]) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for (_, datagram) in datagrams {
        let headers = dissect(datagram)
            .into_iter()
            .filter(|layer| !layer.is_in_error);
        for ip in headers {
            addresses.extend(["src", "dst"].iter().filter_map(|end| address_in(&ip, end)));
        }
    }
    addresses
}

/// Returns the address in a field of an IP header; `None` of another header.
pub(super) fn address_in(ip: &DissectedLayer<'_>, field: &str) -> Option<IpAddr> {
    let number = ip.value(field)?;
    match ip.kind {
        LayerKind::Ipv4 => u32::try_from(number)
            .ok()
            .map(|bits| IpAddr::V4(bits.into())),
        LayerKind::Ipv6 => Some(IpAddr::V6(number.into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_conformance::DeviceSetting;
    use sixbench_conformance::frame::PayloadPattern;
    use sixbench_conformance::notation::FrameSpec;
    use sixbench_conformance::octets::{Resolver, build};

    /// Returns the addresses of a frame.
    fn addresses(text: &str) -> Vec<String> {
        let frame = FrameSpec::parse(text).expect("a frame");
        let setting = DeviceSetting {
            roles: Vec::new(),
            hops_from_ipv4: 1,
            hops_from_ipv6: 1,
            mtu4: 1500,
            mtu6: 1500,
            subscribers: None,
        };
        let resolver = Resolver {
            setting: &setting,
            sent: &frame,
        };
        let datagram = build(&frame, PayloadPattern { vector: 1 }, &resolver).expect("octets");
        let addresses = addresses_of(&[(frame.side, datagram)]);
        addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_datagram_goes_to_the_addresses_of_its_tunnel_and_of_what_is_inside() {
        let tunnelled = "4: ipv4(src=198.18.0.1, dst=198.18.0.2) / ipv6(src=2001:db8::1, dst=2001:db8::2) / udp / payload(32)";
        assert_eq!(
            addresses(tunnelled),
            ["198.18.0.1", "198.18.0.2", "2001:db8::1", "2001:db8::2"]
        );
    }

    #[test]
    fn nothing_is_sent_to_the_addresses_of_a_packet_in_error() {
        let error = "6: ipv6(src=2001:db8::1, dst=2001:db8::2) / icmp6(type=1) / ipv6(src=2600::1, dst=2600::2) / udp / payload(32)";
        assert_eq!(addresses(error), ["2001:db8::1", "2001:db8::2"]);
    }
}
