//! The port by which a packet is known in address sharing: of UDP and TCP, the identifier of an echo, or what is in a packet in error.

use crate::tests::rigs::reference::datagram::{ICMP, TCP, UDP, V4, word};

/// The end of a packet whose port identifies the subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Source,
    Destination,
}

/// Returns the port of a packet's end, or `None` if it has none.
pub(super) fn ports_of(packet: &V4, end: Known) -> Option<u16> {
    if packet.data.len() < 8 || packet.fragment.offset > 0 {
        return None;
    }
    let offset = if end == Known::Source { 0 } else { 2 };
    match (packet.protocol, packet.data[0]) {
        (UDP | TCP, _) => Some(word(&packet.data, offset)),
        // An echo reply or request has its identifier in the fifth and sixth octet, and it stands for both ports.
        (ICMP, 0 | 8) => Some(word(&packet.data, 4)),
        // Destination Unreachable and Time Exceeded.
        (ICMP, 3 | 11) => {
            // The packet in error was sent in the opposite direction, so its ends are exchanged.
            let other = match end {
                Known::Source => Known::Destination,
                Known::Destination => Known::Source,
            };
            ports_of(&V4::parse(&packet.data[8..])?, other)
        }
        _ => None,
    }
}
