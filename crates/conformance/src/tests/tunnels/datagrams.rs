//! Fields of datagrams as octets, and errors about them, without any code of `wire`.

use crate::tests::rigs::reference::datagram::{ICMP, ICMPV6, set_word, sum, word};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 in the payload.
pub(crate) const IPV4: u8 = 4;
/// IPv6 in the payload.
pub(crate) const IPV6: u8 = 41;
/// The TTL and the hop limit that the references write.
pub(crate) const HOPS: u8 = 64;
/// Octets of a packet in error that are quoted in ICMPv4: as RFC 1812 section 4.3.2.3 has it, the error is at most 576 octets long.
const QUOTED_4: usize = 548;
/// Octets of a packet in error that are quoted in ICMPv6: the error is at most 1280 octets long (RFC 4443 section 2.4).
const QUOTED_6: usize = 1232;

pub(super) fn is_6(octets: &[u8]) -> bool {
    octets[0] >> 4 == 6
}

/// Returns the Traffic Class or the Type of Service.
pub(super) fn class(octets: &[u8]) -> u8 {
    if is_6(octets) {
        (word(octets, 0) >> 4) as u8
    } else {
        octets[1]
    }
}

pub(super) fn set_class(octets: &mut [u8], class: u8) {
    if is_6(octets) {
        let rest = word(octets, 0) & 0xf00f;
        set_word(octets, 0, rest | u16::from(class) << 4);
    } else {
        octets[1] = class;
        seal(octets);
    }
}

pub(crate) fn hops(octets: &[u8]) -> u8 {
    octets[if is_6(octets) { 7 } else { 8 }]
}

pub(crate) fn set_hops(octets: &mut [u8], hops: u8) {
    if is_6(octets) {
        octets[7] = hops;
    } else {
        octets[8] = hops;
        seal(octets);
    }
}

/// Makes the checksum of an IPv4 header without options right.
pub(super) fn seal(octets: &mut [u8]) {
    set_word(octets, 10, 0);
    let checksum = !sum(&[&octets[..20]]);
    set_word(octets, 10, checksum);
}

pub(crate) fn v4(octets: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::new(octets[at], octets[at + 1], octets[at + 2], octets[at + 3])
}

pub(crate) fn v6(octets: &[u8], at: usize) -> Ipv6Addr {
    let mut address = [0; 16];
    address.copy_from_slice(&octets[at..at + 16]);
    address.into()
}

pub(super) fn source(octets: &[u8]) -> IpAddr {
    if is_6(octets) {
        v6(octets, 8).into()
    } else {
        v4(octets, 12).into()
    }
}

pub(super) fn destination(octets: &[u8]) -> IpAddr {
    if is_6(octets) {
        v6(octets, 24).into()
    } else {
        v4(octets, 16).into()
    }
}

/// Returns an ICMP or ICMPv6 error about a packet to its source.
pub(super) fn error(from: IpAddr, kind: u8, code: u8, rest: u32, about: &[u8]) -> Vec<u8> {
    let (from, to) = match (from, source(about)) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let body = message(kind, code, rest, about, QUOTED_4, &[]);
            return header_4(from, to, ICMP, 0, &body);
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => (from, to),
        _ => panic!("an error of another version"),
    };
    let length = (8 + about.len().min(QUOTED_6)) as u16;
    let pseudo_header = [
        &from.octets()[..],
        &to.octets(),
        &length.to_be_bytes(),
        &[0, ICMPV6],
    ]
    .concat();
    let body = message(kind, code, rest, about, QUOTED_6, &pseudo_header);
    header_6(from, to, ICMPV6, 0, &body)
}

fn message(
    kind: u8,
    code: u8,
    rest: u32,
    about: &[u8],
    most: usize,
    pseudo_header: &[u8],
) -> Vec<u8> {
    let mut body = vec![kind, code, 0, 0];
    body.extend(rest.to_be_bytes());
    body.extend(&about[..about.len().min(most)]);
    let checksum = !sum(&[pseudo_header, &body]);
    set_word(&mut body, 2, checksum);
    body
}

pub(crate) fn header_4(
    from: Ipv4Addr,
    to: Ipv4Addr,
    protocol: u8,
    tos: u8,
    data: &[u8],
) -> Vec<u8> {
    let mut octets = vec![0x45, tos, 0, 0, 0, 7, 0, 0, HOPS, protocol, 0, 0];
    octets.extend(from.octets());
    octets.extend(to.octets());
    set_word(&mut octets, 2, 20 + data.len() as u16);
    seal(&mut octets);
    octets.extend(data);
    octets
}

pub(crate) fn header_6(from: Ipv6Addr, to: Ipv6Addr, next: u8, class: u8, data: &[u8]) -> Vec<u8> {
    let mut octets = (6u32 << 28 | u32::from(class) << 20).to_be_bytes().to_vec();
    octets.extend((data.len() as u16).to_be_bytes());
    octets.extend([next, HOPS]);
    octets.extend(from.octets());
    octets.extend(to.octets());
    octets.extend(data);
    octets
}
