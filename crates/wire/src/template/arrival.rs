//! The fields of an arriving frame that the template cannot predict, and their positions.

use super::{LEAST_IPV4, LEAST_IPV6, TAIL_LEN, Template};
use crate::ethernet;
use crate::octets::be16;
use crate::{IpVersion, checksum};

/// Offsets within an IPv4 header.
pub(super) const IDENTIFICATION_AT: usize = 4;
pub(super) const FLAGS_AT: usize = 6;
const CHECKSUM_AT: usize = 10;
/// The don't-fragment flag in the first octet of IPv4's flags and fragment offset.
pub(super) const DONT_FRAGMENT: u8 = 0x40;

impl Template {
    /// Returns the octets from the frame's start to the end of the tag; the fill pattern follows.
    #[inline]
    pub fn head_octets(&self) -> usize {
        let least = if self.version == IpVersion::V4 {
            LEAST_IPV4
        } else {
            LEAST_IPV6
        };
        self.shift + least
    }

    /// Returns the last 16 bits of the source address and the source port of a frame that has this template's layout.
    ///
    /// # Panics
    /// If `frame` is shorter than [`Template::head_octets`].
    #[inline]
    pub fn source_of(&self, frame: &[u8]) -> (u16, u16) {
        let udp_at = self.head_octets() - TAIL_LEN;
        let address_octets = if self.version == IpVersion::V4 { 4 } else { 16 };
        (
            be16(frame, udp_at - address_octets - 2),
            be16(frame, udp_at),
        )
    }

    /// Copies into `head`, a patched frame of this template, the fields that the device which made `frame` chose itself: the flow label of an
    /// outer IPv6 header (RFC 6438), or the identification and don't-fragment flag of an outer IPv4 header (RFC 4213 section 3.2). With
    /// `with_identification`, a translator made the datagram's IPv4 header (RFC 7915 section 5.1), and its identification and don't-fragment flag
    /// are copied, too. The header checksums are updated.
    ///
    /// # Panics
    /// If either is shorter than [`Template::head_octets`].
    #[inline]
    pub fn adopt_device_fields(&self, head: &mut [u8], frame: &[u8], with_identification: bool) {
        let ip_at = ethernet::HEADER_LEN;
        match self.description.outer.map(|outer| outer.version()) {
            Some(IpVersion::V4) => adopt_identification(&mut head[ip_at..], &frame[ip_at..]),
            Some(IpVersion::V6) => {
                head[ip_at + 1] = head[ip_at + 1] & 0xf0 | frame[ip_at + 1] & 0x0f;
                head[ip_at + 2..ip_at + 4].copy_from_slice(&frame[ip_at + 2..ip_at + 4]);
            }
            None => {}
        }
        if with_identification && self.version == IpVersion::V4 {
            let datagram_at = ip_at + self.shift;
            adopt_identification(&mut head[datagram_at..], &frame[datagram_at..]);
        }
    }
}

/// Copies identification and don't-fragment flag from one IPv4 header to another, whose checksum it updates (RFC 1624).
#[inline]
fn adopt_identification(to: &mut [u8], from: &[u8]) {
    const IDENTIFICATION: std::ops::Range<usize> = IDENTIFICATION_AT..IDENTIFICATION_AT + 2;
    let words = |header: &[u8]| {
        u64::from(be16(header, IDENTIFICATION.start)) + u64::from(be16(header, FLAGS_AT))
    };
    // Twice 2^16 - 1 changes nothing modulo 2^16 - 1, and keeps the difference of two words above zero.
    let others = u64::from(!be16(to, CHECKSUM_AT)) + 2 * 0xffff - words(to);
    to[IDENTIFICATION].copy_from_slice(&from[IDENTIFICATION]);
    to[FLAGS_AT] = to[FLAGS_AT] & !DONT_FRAGMENT | from[FLAGS_AT] & DONT_FRAGMENT;
    let checksum = checksum::finish(others + words(to));
    to[CHECKSUM_AT..CHECKSUM_AT + 2].copy_from_slice(&checksum.to_be_bytes());
}
