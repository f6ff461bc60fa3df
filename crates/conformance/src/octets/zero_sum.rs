//! The source port with which a UDP checksum comes out as zero behind a translator. Such a checksum is sent as all ones, because zero means that
//! there is none (RFC 768, RFC 8200 section 8.1); translators that forget it spoil one datagram of 65,536.

use super::resolve::{Resolver, UnresolvedValue};
use sixbench_wire::{checksum, protocol};
use std::net::IpAddr;

/// Returns the port for a UDP datagram of the first frame that is sent, given with its source port and checksum zero.
///
/// # Errors
/// The device does not determine the addresses on the other side.
pub(super) fn zero_sum_port(udp: &[u8], resolver: &Resolver<'_>) -> Result<u16, UnresolvedValue> {
    let (src, dst) = (
        resolver.address_across("src")?,
        resolver.address_across("dst")?,
    );
    let length = udp.len() as u32;
    let pseudo_header = match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            checksum::pseudo_header_ipv4(src, dst, protocol::UDP, length as u16)
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            checksum::pseudo_header_ipv6(src, dst, protocol::UDP, length)
        }
        _ => return Err(UnresolvedValue::OutOfRange { field: "sport" }),
    };
    Ok(checksum::finish(checksum::sum(udp) + pseudo_header))
}
