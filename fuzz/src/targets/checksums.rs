//! Corrects checksums, so that changed frames pass their verification.

use sixbench_wire::checksum::{finish, finish_udp, sum};
use sixbench_wire::{Ipv4View, Ipv6View, protocol};

const ETHERNET: usize = 14;

/// Corrects every checksum of a frame, starting with that of the inner datagram. A frame that is too short is left unchanged.
pub(super) fn mend(frame: &mut [u8]) {
    let Some(head) = frame.get(ETHERNET..ETHERNET + 10) else {
        return;
    };
    let inner_at = match (head[0] >> 4, head[6], head[9]) {
        (6, protocol::IPV4, _) => ETHERNET + 40,
        (4, _, protocol::IPV6) => ETHERNET + 20,
        _ => ETHERNET,
    };
    for at in [inner_at, ETHERNET] {
        mend_header(frame.get_mut(at..).unwrap_or_default());
    }
    mend_carried(frame.get_mut(inner_at..).unwrap_or_default());
}

fn mend_header(datagram: &mut [u8]) {
    let Some(header) = datagram.get_mut(..20).filter(|header| header[0] >> 4 == 4) else {
        return;
    };
    header[10..12].fill(0);
    let sum = finish(sum(header)).to_be_bytes();
    header[10..12].copy_from_slice(&sum);
}

fn mend_carried(datagram: &mut [u8]) {
    let read = Ipv4View::new(datagram)
        .map(|ip| {
            (
                ip.pseudo_header(),
                ip.header_len(),
                usize::from(ip.total_len()),
                ip.protocol(),
            )
        })
        .or_else(|_| {
            Ipv6View::new(datagram).map(|ip| {
                (
                    ip.pseudo_header(),
                    40,
                    40 + usize::from(ip.payload_len()),
                    ip.next_header(),
                )
            })
        });
    let Ok((pseudo_header, start, end, protocol)) = read else {
        return;
    };
    let is_udp = protocol == protocol::UDP;
    let at = if is_udp { 6 } else { 2 };
    let Some(carried) = datagram
        .get_mut(start..end)
        .filter(|carried| carried.len() >= at + 2)
    else {
        return;
    };
    carried[at..at + 2].fill(0);
    let sum = pseudo_header + sum(carried);
    let sum = if is_udp { finish_udp(sum) } else { finish(sum) };
    carried[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}
