//! IPv4 and IPv6 datagrams as octets, parsed and built without any code of `wire`.

use std::net::{Ipv4Addr, Ipv6Addr};

/// ICMP in the payload.
pub(crate) const ICMP: u8 = 1;
/// IGMP in the payload.
pub(crate) const IGMP: u8 = 2;
/// TCP in the payload.
pub(crate) const TCP: u8 = 6;
/// UDP in the payload.
pub(crate) const UDP: u8 = 17;
/// The Fragment header.
const FRAGMENT: u8 = 44;
/// ICMPv6 in the payload.
pub(crate) const ICMPV6: u8 = 58;

/// Extension headers that RFC 7915 section 5.1 skips: Hop-by-Hop Options, Routing, Destination Options.
const SKIPPED: [u8; 3] = [0, 43, 60];
/// Extension headers that must not follow a Fragment header (section 5.1.1): all but ESP.
const AFTER_FRAGMENT: [u8; 8] = [0, 43, 44, 51, 60, 135, 139, 140];

/// Returns the 16 bits at an offset.
///
/// # Panics
/// If the octets end before.
pub(crate) fn word(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

/// Writes 16 bits at an offset.
///
/// # Panics
/// If the octets end before.
pub(crate) fn set_word(octets: &mut [u8], at: usize, value: u16) {
    octets[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Returns the sum of RFC 1071 over parts of which all but the last have an even number of octets; not complemented.
pub(crate) fn sum(parts: &[&[u8]]) -> u16 {
    let pairs = parts
        .iter()
        .flat_map(|part| part.chunks(2))
        .map(|pair| [pair[0], pair.get(1).copied().unwrap_or(0)]);
    let mut sum: u64 = pairs.map(|pair| u64::from(u16::from_be_bytes(pair))).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

/// Returns a checksum after some octets under it were replaced by others (RFC 1624, equation 3).
pub(crate) fn adjusted(checksum: u16, gone: &[&[u8]], come: &[&[u8]]) -> u16 {
    let parts = [!checksum, !sum(gone), sum(come)].map(u16::to_be_bytes);
    !sum(&[&parts.concat()])
}

/// What a fragment says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) id: u32,
    /// In octets.
    pub(crate) offset: u16,
    pub(crate) more: bool,
}

/// An IPv4 datagram, whole or quoted in an ICMP error.
#[derive(Clone, Debug)]
pub(crate) struct V4 {
    pub(crate) tos: u8,
    /// The Total Length field, which may say more than was quoted.
    pub(crate) total: u16,
    pub(crate) fragment: Fragment,
    pub(crate) df: bool,
    pub(crate) ttl: u8,
    pub(crate) protocol: u8,
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    pub(crate) options: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

impl V4 {
    /// Returns the datagram of octets whose header has been checked, or was quoted by somebody who had checked it; `None` if the octets are too few.
    pub(crate) fn parse(octets: &[u8]) -> Option<Self> {
        let header = 4 * usize::from(octets.first()? & 15);
        if header < 20 || octets.len() < header {
            return None;
        }
        let (total, flags) = (word(octets, 2), word(octets, 6));
        let end = usize::from(total).clamp(header, octets.len());
        let address =
            |at: usize| Ipv4Addr::new(octets[at], octets[at + 1], octets[at + 2], octets[at + 3]);
        Some(Self {
            tos: octets[1],
            total,
            fragment: Fragment {
                id: u32::from(word(octets, 4)),
                offset: 8 * (flags & 0x1fff),
                more: flags & 0x2000 != 0,
            },
            df: flags & 0x4000 != 0,
            ttl: octets[8],
            protocol: octets[9],
            source: address(12),
            destination: address(16),
            options: octets[20..header].to_vec(),
            data: octets[header..end].to_vec(),
        })
    }

    /// Returns whether it is a part of a datagram.
    pub(crate) fn is_fragment(&self) -> bool {
        self.fragment.more || self.fragment.offset > 0
    }

    /// Returns the length of the data that the header claims, in octets.
    pub(crate) fn claimed(&self) -> u16 {
        self.total.saturating_sub(20 + self.options.len() as u16)
    }

    /// Returns the octets with a header without options, whose checksum is right.
    pub(crate) fn octets(&self) -> Vec<u8> {
        let flags = (u16::from(self.df) << 14)
            | (u16::from(self.fragment.more) << 13)
            | (self.fragment.offset / 8);
        let mut octets = vec![
            0x45,
            self.tos,
            0,
            0,
            0,
            0,
            0,
            0,
            self.ttl,
            self.protocol,
            0,
            0,
        ];
        set_word(&mut octets, 2, self.total);
        set_word(&mut octets, 4, self.fragment.id as u16);
        set_word(&mut octets, 6, flags);
        octets.extend(self.source.octets());
        octets.extend(self.destination.octets());
        let checksum = !sum(&[&octets]);
        set_word(&mut octets, 10, checksum);
        octets.extend(&self.data);
        octets
    }
}

/// An IPv6 datagram, whole or quoted in an ICMPv6 error; extension headers that section 5.1 skips are gone.
#[derive(Clone, Debug)]
pub(crate) struct V6 {
    pub(crate) class: u8,
    pub(crate) flow: u32,
    /// The length of what follows the headers that were read, as the Payload Length says: it may be more than was quoted.
    pub(crate) length: u16,
    pub(crate) hops: u8,
    pub(crate) fragment: Option<Fragment>,
    pub(crate) protocol: u8,
    pub(crate) source: Ipv6Addr,
    pub(crate) destination: Ipv6Addr,
    /// The offset of a Segments Left that is not zero.
    pub(crate) segments_left: Option<u32>,
    pub(crate) data: Vec<u8>,
}

impl V6 {
    /// Returns the datagram of octets; `None` if they are too few or of another version.
    pub(crate) fn parse(octets: &[u8]) -> Option<Self> {
        if octets.len() < 40 || octets[0] >> 4 != 6 {
            return None;
        }
        let address = |at: usize| {
            let octets: Option<[u8; 16]> = octets[at..at + 16].try_into().ok();
            octets.map(Ipv6Addr::from)
        };
        let first = u32::from(word(octets, 0)) << 16 | u32::from(word(octets, 2));
        let datagram = Self {
            class: (first >> 20) as u8,
            flow: first & 0xf_ffff,
            length: word(octets, 4),
            hops: octets[7],
            fragment: None,
            protocol: octets[6],
            source: address(8)?,
            destination: address(24)?,
            segments_left: None,
            data: Vec::new(),
        };
        datagram.behind_extensions(octets)
    }

    /// Returns the datagram with the fields that its extension headers give.
    fn behind_extensions(mut self, octets: &[u8]) -> Option<Self> {
        let mut at = 40;
        while SKIPPED.contains(&self.protocol) && self.fragment.is_none() {
            let size = 8 + 8 * usize::from(*octets.get(at + 1)?);
            if self.protocol == 43 && *octets.get(at + 3)? > 0 {
                self.segments_left = self.segments_left.or(Some(at as u32 + 3));
            }
            self.protocol = octets[at];
            at += size;
        }
        if self.protocol == FRAGMENT {
            let header = octets.get(at..at + 8)?;
            let place = word(header, 2);
            self.fragment = Some(Fragment {
                id: u32::from(word(header, 4)) << 16 | u32::from(word(header, 6)),
                offset: place & 0xfff8,
                more: place & 1 != 0,
            });
            self.protocol = header[0];
            at += 8;
        }
        let end = (40 + usize::from(self.length)).min(octets.len());
        self.length = self.length.checked_sub(at as u16 - 40)?;
        self.data = octets.get(at..end)?.to_vec();
        Some(self)
    }

    /// Returns whether it is a part of a datagram; an atomic fragment is a whole one.
    pub(crate) fn is_part(&self) -> bool {
        self.fragment.is_some_and(|it| it.more || it.offset > 0)
    }

    /// Returns whether an extension header other than ESP follows the Fragment header.
    pub(crate) fn has_extension_after_fragment(&self) -> bool {
        self.fragment.is_some() && AFTER_FRAGMENT.contains(&self.protocol)
    }

    /// Returns the octets, with a Fragment header if it is a fragment.
    pub(crate) fn octets(&self) -> Vec<u8> {
        let first = 6 << 28 | u32::from(self.class) << 20 | self.flow;
        let more = if self.fragment.is_some() { 8 } else { 0 };
        let next = if self.fragment.is_some() {
            FRAGMENT
        } else {
            self.protocol
        };
        let mut octets = first.to_be_bytes().to_vec();
        octets.extend((self.length + more).to_be_bytes());
        octets.extend([next, self.hops]);
        octets.extend(self.source.octets());
        octets.extend(self.destination.octets());
        if let Some(fragment) = self.fragment {
            octets.extend([self.protocol, 0]);
            octets.extend((fragment.offset | u16::from(fragment.more)).to_be_bytes());
            octets.extend(fragment.id.to_be_bytes());
        }
        octets.extend(&self.data);
        octets
    }
}
