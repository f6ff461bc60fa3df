//! The most usual frames: UDP datagrams between two ends, without a header around them, which differ in ports, 16 bits of each address, sequence
//! number and time. Nothing of what is done here for each frame depends on what kind of frame it is.

use super::{IPV4_CHECKSUM_AT, TAIL_LEN, TOO_SHORT, Template, Transport, UDP_AT_IPV4, UDP_AT_IPV6, put, sum_of};
use crate::octets::be16;
use crate::template::StampedTime;
use crate::{IpVersion, checksum, ethernet, tag, udp};

/// The octets of a frame that are compared with those of the template: all up to the tag's sequence number.
const FIXED_IPV4: usize = UDP_AT_IPV4 + udp::HEADER_LEN + 2;
const FIXED_IPV6: usize = UDP_AT_IPV6 + udp::HEADER_LEN + 2;

/// Octets that are compared at once.
const WORD: usize = 4;

const IDENTIFICATION_AT: usize = ethernet::HEADER_LEN + 4;
const FLAGS_AT: usize = ethernet::HEADER_LEN + 6;
/// The don't-fragment flag in the first octet of IPv4's flags and fragment offset.
const DONT_FRAGMENT: u8 = 0x40;

/// The variable fields of one frame.
#[derive(Debug, Clone, Copy)]
pub struct PlainFields {
    /// Source and destination port.
    pub ports: (u16, u16),
    /// The variable 16 bits of source and destination address; `None` leaves the template's own.
    pub addresses: Option<(u16, u16)>,
    /// The tag's sequence number; beyond [`tag::MAX_SEQUENCE`] its upper bits are lost.
    pub sequence: u64,
    /// The tag's time.
    pub time: StampedTime,
}

/// Patches the frames of a [`Template`] of UDP datagrams without a header around them. It writes what [`Template::patch`] writes, in a third of
/// the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainPatch {
    /// The frame's offset of the UDP header.
    udp_at: usize,
    udp_len: u16,
    stream: u8,
    /// The partial sum of datagram and pseudo-header without ports, addresses' variable parts, sequence number and time.
    sum: u64,
    own_parts: (u16, u16),
    parts_at: (usize, usize),
    /// The partial sum of an IPv4 header without the addresses' variable parts.
    header_sum: Option<u64>,
}

/// What stands from the UDP header to the time of sending, but for the first half of the magic, as words.
#[derive(PartialEq, Eq)]
struct Tail {
    header: u64,
    middle: u64,
    time_ns: u64,
}

impl PlainPatch {
    /// Returns the patch of a template's frames; `None` where they are encapsulated, or no UDP datagrams.
    pub fn new(template: &Template) -> Option<Self> {
        let is_plain = template.outer.is_none() && template.description.transport == Transport::Udp;
        let is_ipv4 = template.version == IpVersion::V4;
        is_plain.then(|| Self {
            udp_at: if is_ipv4 { UDP_AT_IPV4 } else { UDP_AT_IPV6 },
            udp_len: template.udp_len,
            stream: template.description.stream,
            sum: template.udp_sum,
            own_parts: template.own_parts,
            parts_at: template.parts_at,
            header_sum: is_ipv4.then_some(template.header_sum),
        })
    }

    /// Rewrites the variable fields of a frame that holds the template's octets, perhaps patched before.
    ///
    /// # Panics
    /// If `frame` is shorter than the template's headers and tag.
    #[inline(always)]
    pub fn patch(&self, frame: &mut [u8], fields: PlainFields) {
        let Tail { header, middle, time_ns } = self.tail(&fields);
        let tail = frame[self.udp_at..].first_chunk_mut::<TAIL_LEN>().expect(TOO_SHORT);
        tail[..8].copy_from_slice(&header.to_be_bytes());
        // Between the two stands the first half of the magic.
        tail[10..18].copy_from_slice(&middle.to_be_bytes());
        tail[18..].copy_from_slice(&time_ns.to_be_bytes());
        if let Some(parts) = fields.addresses {
            put(frame, self.parts_at.0, parts.0.to_be_bytes());
            put(frame, self.parts_at.1, parts.1.to_be_bytes());
            if let Some(header_sum) = self.header_sum {
                put(frame, IPV4_CHECKSUM_AT, checksum::finish(header_sum + sum_of(parts)).to_be_bytes());
            }
        }
    }

    #[inline(always)]
    fn tail(&self, fields: &PlainFields) -> Tail {
        let (ports, time) = (fields.ports, fields.time);
        let tag = (fields.sequence & tag::MAX_SEQUENCE) + u64::from(time.sum);
        let parts = fields.addresses.unwrap_or(self.own_parts);
        let checksum = checksum::finish_udp(self.sum + sum_of(parts) + sum_of(ports) + tag);
        let header = u64::from(ports.0) << 48 | u64::from(ports.1) << 32 | u64::from(self.udp_len) << 16 | u64::from(checksum);
        Tail { header, middle: tag::middle(self.stream, fields.sequence), time_ns: time.time_ns }
    }
}

/// The frames of a [`PlainPatch`] as they must arrive. A frame is compared in words, those of its variable fields with what these must be:
/// written first and read again, they would hold up the processor.
#[derive(Debug, Clone)]
pub struct PlainArrival {
    patch: PlainPatch,
    octets: [u8; FIXED_IPV6],
    /// All ones where the octets of a frame must be the template's.
    mask: [u8; FIXED_IPV6],
    /// True where a translator chose the identification and the don't-fragment flag of an IPv4 header (RFC 7915 section 5.1).
    is_identification_chosen: bool,
    /// The flags of the template's IPv4 header.
    flags: u16,
}

impl PlainArrival {
    /// Returns the arrival of a template's frames; `None` where they have no [`PlainPatch`]. `with_addresses`: the variable parts of the
    /// addresses vary; `is_translated`: identification and don't-fragment flag of IPv4 are the device's choice; without
    /// `with_hardware_addresses` those of the Ethernet header are not looked at.
    pub fn new(template: &Template, with_addresses: bool, is_translated: bool, with_hardware_addresses: bool) -> Option<Self> {
        let patch = PlainPatch::new(template)?;
        let is_ipv4 = patch.header_sum.is_some();
        let length = if is_ipv4 { FIXED_IPV4 } else { FIXED_IPV6 };
        let (mut octets, mut mask) = ([0; FIXED_IPV6], [0xff; FIXED_IPV6]);
        octets[..length].copy_from_slice(&template.octets()[..length]);
        let mut leave_out = |at: usize, count: usize| mask[at..at + count].fill(0);
        leave_out(patch.udp_at, udp::HEADER_LEN);
        if with_addresses {
            leave_out(patch.parts_at.0, 2);
            leave_out(patch.parts_at.1, 2);
        }
        if is_ipv4 {
            leave_out(IPV4_CHECKSUM_AT, 2);
        }
        if !with_hardware_addresses {
            leave_out(0, ethernet::ADDRESSES_LEN);
        }
        let is_identification_chosen = is_ipv4 && is_translated;
        if is_identification_chosen {
            leave_out(IDENTIFICATION_AT, 2);
            mask[FLAGS_AT] = !DONT_FRAGMENT;
        }
        let flags = be16(&octets, FLAGS_AT);
        Some(Self { patch, octets, mask, is_identification_chosen, flags })
    }

    /// Returns whether headers and tag of a frame are those with these fields. The fill pattern is not looked at.
    ///
    /// # Panics
    /// If `frame` is shorter than the template's headers and tag.
    #[inline(always)]
    pub fn is(&self, frame: &[u8], fields: PlainFields) -> bool {
        let words = |tail: &[u8; TAIL_LEN]| Tail {
            header: u64::from_be_bytes(*tail.first_chunk().expect(TOO_SHORT)),
            middle: u64::from_be_bytes(*tail[10..].first_chunk().expect(TOO_SHORT)),
            time_ns: u64::from_be_bytes(*tail[18..].first_chunk().expect(TOO_SHORT)),
        };
        let seen = words(frame[self.patch.udp_at..].first_chunk().expect(TOO_SHORT));
        seen == self.patch.tail(&fields)
            && fields.addresses.is_none_or(|parts| self.has_addresses(frame, parts))
            && match self.patch.header_sum {
                Some(sum) => self.has_header_checksum(frame, sum, &fields) && self.is_fixed_part::<FIXED_IPV4>(frame),
                None => self.is_fixed_part::<FIXED_IPV6>(frame),
            }
    }

    #[inline(always)]
    fn has_addresses(&self, frame: &[u8], parts: (u16, u16)) -> bool {
        (be16(frame, self.patch.parts_at.0), be16(frame, self.patch.parts_at.1)) == parts
    }

    #[inline(always)]
    fn has_header_checksum(&self, frame: &[u8], sum: u64, fields: &PlainFields) -> bool {
        let chosen = match self.is_identification_chosen {
            // In ones' complement, what is taken off is added with all bits turned over.
            true => u64::from(be16(frame, IDENTIFICATION_AT)) + u64::from(be16(frame, FLAGS_AT)) + u64::from(!self.flags),
            false => 0,
        };
        let parts = fields.addresses.unwrap_or(self.patch.own_parts);
        be16(frame, IPV4_CHECKSUM_AT) == checksum::finish(sum + sum_of(parts) + chosen)
    }

    /// Compares the first `N` octets but for those of variable fields.
    #[inline(always)]
    fn is_fixed_part<const N: usize>(&self, frame: &[u8]) -> bool {
        #[inline(always)]
        fn words(octets: &[u8], count: usize) -> &[[u8; WORD]] {
            octets[..count].as_chunks().0
        }
        let mut differences = 0;
        // A loop rather than a fold, which the compiler makes a call of.
        for ((frame, octets), mask) in words(frame, N).iter().zip(words(&self.octets, N)).zip(words(&self.mask, N)) {
            let [frame, octets, mask] = [frame, octets, mask].map(|octets| u32::from_ne_bytes(*octets));
            differences |= (frame ^ octets) & mask;
        }
        differences == 0
    }
}

const _: () = assert!(FIXED_IPV4.is_multiple_of(WORD) && FIXED_IPV6.is_multiple_of(WORD));
