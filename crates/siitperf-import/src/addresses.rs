//! Arithmetic on addresses: networks, prefixes, and the 16 bits that vary. Nothing here knows siitperf's keys.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the bits of an address, and their number.
fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (address.to_bits().into(), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

fn of_bits(bits: u128, like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::from_bits(bits as u32).into(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(bits).into(),
    }
}

/// Returns `bits` with the last `last` bits cleared; `last` must be less than 128.
fn network(bits: u128, last: u8) -> u128 {
    bits >> last << last
}

/// Returns the device's address by RFC 2544 appendix C.2.2: the first address of the network, or the second if the tester has the first.
pub(super) fn conventional(tester: IpAddr, length: u8) -> IpAddr {
    let (own, all) = bits(tester);
    let first = network(own, all - length) + 1;
    of_bits(if first == own { first + 1 } else { first }, tester)
}

/// Returns the address with the bits of `mask`, shifted left by `from_end`, replaced by those of `value`.
fn replaced(address: IpAddr, from_end: usize, mask: u16, value: u16) -> IpAddr {
    let kept = bits(address).0 & !(u128::from(mask) << from_end);
    of_bits(kept | u128::from(value) << from_end, address)
}

/// Returns the address with the octet that distinguishes the networks set to `number`: the third octet of an IPv4 address, the eighth of an IPv6
/// address.
pub(super) fn in_network(address: IpAddr, number: u8) -> IpAddr {
    replaced(
        address,
        if address.is_ipv4() { 8 } else { 64 },
        0xff,
        number.into(),
    )
}

/// Returns the address with the 16 bits at octet `offset` replaced by `part`.
pub(super) fn with_part(address: IpAddr, offset: usize, part: u16) -> IpAddr {
    replaced(
        address,
        usize::from(bits(address).1) - 16 - 8 * offset,
        0xffff,
        part,
    )
}

pub(super) fn last_16_bits(address: IpAddr) -> u16 {
    bits(address).0 as u16
}

/// Returns the conventional prefix length, or a longer one if the other side would otherwise be in the same network. `None` if no length separates the
/// two.
pub(super) fn prefix_length(own: IpAddr, other: Option<&IpAddr>) -> Option<u8> {
    // A longer prefix has no room for the two addresses after the first, one of which `conventional` gives to the device.
    let (usual, longest) = if own.is_ipv4() { (24, 30) } else { (64, 126) };
    let (own, all) = bits(own);
    let other = other
        .map(|other| bits(*other))
        .filter(|(_, its)| *its == all);
    let common = other.map_or(0, |(other, _)| {
        (own ^ other).leading_zeros() as u8 - (128 - all)
    });
    let length = usual.max(common + 1);
    (length <= longest).then_some(length)
}

pub(super) fn prefix(address: IpAddr, length: u8) -> String {
    let (own, all) = bits(address);
    format!("{}/{length}", of_bits(network(own, all - length), address))
}
