//! The CLAT of 464XLAT (RFC 6877): hosts with private IPv4 on the left, IPv6 on the right; stateless.

use super::Reference;
use super::datagram::Datagram;
use super::map::{behind_dmr, out_of_dmr};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Clients are 192.168.0.0/16 in 2001:db8:aaaa::/96; their peers are behind the PLAT's 64:ff9b::/96.
pub(crate) struct Clat;

fn client6(address: Ipv4Addr) -> Option<Ipv6Addr> {
    let [192, 168, c, d] = address.octets() else {
        return None;
    };
    Some(Ipv6Addr::new(
        0x2001,
        0xdb8,
        0xaaaa,
        0,
        0,
        0,
        0xc0a8,
        u16::from(c) * 256 + u16::from(d),
    ))
}

fn client4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [0x2001, 0xdb8, 0xaaaa, 0, 0, 0, 0xc0a8, low] = address.segments() else {
        return None;
    };
    Some(Ipv4Addr::new(
        192,
        168,
        (low / 256) as u8,
        (low % 256) as u8,
    ))
}

impl Reference for Clat {
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        let (source, destination) = (
            client6(datagram.source4()?)?,
            behind_dmr(datagram.destination4()?),
        );
        Some(datagram.translated(source, destination))
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        let (source, destination) = (
            out_of_dmr(datagram.source6()?)?,
            client4(datagram.destination6()?)?,
        );
        Some(datagram.translated(source, destination))
    }
}
