//! The most common frames: UDP datagrams without an outer header. Little of the work per frame depends on the kind of frame, and that part is the
//! same for all frames of a stream.

use super::{
    DatagramEnd, IPV4_CHECKSUM_AT, IPV4_DESTINATION_AT, IPV4_SOURCE_AT, IPV6_DESTINATION_AT,
    IPV6_SOURCE_AT, StampedTime, TAIL_LEN, TOO_SHORT, Template, Transport, UDP_AT_IPV4,
    UDP_AT_IPV6, Variable, arrival, outer, put, sum_of,
};
use crate::octets::{array, be16, be32};
use crate::{IpVersion, checksum, ethernet, tag, udp};

/// The octets of a frame that are compared with those of the template: everything before the tag's sequence number.
const FIXED_IPV4: usize = UDP_AT_IPV4 + udp::HEADER_LEN + 2;
const FIXED_IPV6: usize = UDP_AT_IPV6 + udp::HEADER_LEN + 2;

/// Octets compared at a time.
pub(super) const WORD: usize = 4;

const IDENTIFICATION_AT: usize = ethernet::HEADER_LEN + arrival::IDENTIFICATION_AT;
const FLAGS_AT: usize = ethernet::HEADER_LEN + arrival::FLAGS_AT;

/// Patches the frames of a [`Template`] of UDP datagrams without an outer header. It writes the same as [`Template::patch`], in a third of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainPatch {
    /// The frame's offset of the UDP header.
    udp_at: usize,
    udp_len: u16,
    stream: u8,
    /// The partial sum of the datagram and pseudo-header without ports, variable parts of the addresses, sequence number and time.
    sum: u64,
    own_parts: (u32, u32),
    parts_at: (usize, usize),
    /// The frame's offsets of the source and destination address.
    addresses_at: (usize, usize),
    /// The partial sum of an IPv4 header without the addresses' variable parts.
    header_sum: Option<u64>,
}

/// The octets from the UDP header to the time of sending, except for the first half of the magic, as words.
#[derive(PartialEq, Eq)]
struct TailWords {
    header: u64,
    middle: u64,
    time_ns: u64,
}

impl TailWords {
    /// Reads the words of a frame whose UDP header begins at `udp_at`.
    #[inline(always)]
    fn read(frame: &[u8], udp_at: usize) -> Self {
        let tail = frame[udp_at..].first_chunk::<TAIL_LEN>().expect(TOO_SHORT);
        Self {
            header: u64::from_be_bytes(*tail.first_chunk().expect(TOO_SHORT)),
            middle: u64::from_be_bytes(*tail[10..].first_chunk().expect(TOO_SHORT)),
            time_ns: u64::from_be_bytes(*tail[18..].first_chunk().expect(TOO_SHORT)),
        }
    }

    /// Writes the words into a frame whose UDP header begins at `udp_at`.
    #[inline(always)]
    fn write(&self, frame: &mut [u8], udp_at: usize) {
        let tail = frame[udp_at..]
            .first_chunk_mut::<TAIL_LEN>()
            .expect(TOO_SHORT);
        tail[..8].copy_from_slice(&self.header.to_be_bytes());
        // Between the two is the first half of the magic.
        tail[10..18].copy_from_slice(&self.middle.to_be_bytes());
        tail[18..].copy_from_slice(&self.time_ns.to_be_bytes());
    }
}

impl PlainPatch {
    /// Returns the patch for a template's frames; `None` if they are encapsulated, or are not UDP datagrams.
    pub fn new(template: &Template) -> Option<Self> {
        Self::of_datagram(template).filter(|_| template.outer.is_none())
    }

    /// Returns the patch for a template's datagrams, in frames without any outer header; `None` if they are not UDP.
    pub(super) fn of_datagram(template: &Template) -> Option<Self> {
        let is_ipv4 = template.version == IpVersion::V4;
        (template.description.transport == Transport::Udp).then(|| Self {
            udp_at: if is_ipv4 { UDP_AT_IPV4 } else { UDP_AT_IPV6 },
            udp_len: template.udp_len,
            stream: template.description.stream,
            sum: template.udp_sum,
            own_parts: template.own_parts,
            parts_at: template.parts_at,
            addresses_at: if is_ipv4 {
                (IPV4_SOURCE_AT, IPV4_DESTINATION_AT)
            } else {
                (IPV6_SOURCE_AT, IPV6_DESTINATION_AT)
            },
            header_sum: is_ipv4.then_some(template.header_sum),
        })
    }

    /// Rewrites the variable fields of a frame that holds the template's octets, perhaps patched before.
    ///
    /// # Panics
    /// If `frame` is shorter than the template's headers and tag.
    #[inline(always)]
    pub fn patch(&self, frame: &mut [u8], variable: &Variable) {
        self.tail(variable).write(frame, self.udp_at);
        if let Some(parts) = variable.addresses {
            put(frame, self.parts_at.0, parts.0.to_be_bytes());
            put(frame, self.parts_at.1, parts.1.to_be_bytes());
        }
        if let Some((end, address)) = variable.inner() {
            match self.header_sum {
                Some(_) => put(frame, self.address_at(end), (address as u32).to_be_bytes()),
                None => put(frame, self.address_at(end), address.to_be_bytes()),
            }
        }
        if let Some(sum) = self
            .header_sum
            .filter(|_| variable.addresses.is_some() || variable.subscriber.is_some())
        {
            put(
                frame,
                IPV4_CHECKSUM_AT,
                checksum::finish(sum + self.sum_of_addresses(variable)).to_be_bytes(),
            );
        }
    }

    /// Returns whether the datagrams are IPv4.
    #[inline]
    pub fn is_ipv4(&self) -> bool {
        self.header_sum.is_some()
    }

    /// Does the same as [`Self::patch`] for a frame in which only ports, number and time vary. `IS_IPV4` has the value of [`Self::is_ipv4`], as a
    /// constant for all frames.
    ///
    /// # Panics
    /// If `frame` is shorter than the template's headers and tag.
    #[inline(always)]
    pub fn patch_ports<const IS_IPV4: bool>(
        &self,
        frame: &mut [u8],
        ports: (u16, u16),
        sequence: u64,
        time: StampedTime,
    ) {
        debug_assert_eq!(IS_IPV4, self.is_ipv4());
        let tail = self.tail_of(sum_of(self.own_parts), ports, sequence, time);
        tail.write(frame, if IS_IPV4 { UDP_AT_IPV4 } else { UDP_AT_IPV6 });
    }

    #[inline(always)]
    fn address_at(&self, end: DatagramEnd) -> usize {
        match end {
            DatagramEnd::Source => self.addresses_at.0,
            DatagramEnd::Destination => self.addresses_at.1,
        }
    }

    /// Returns the partial sum of the parts of the addresses that vary.
    #[inline(always)]
    fn sum_of_addresses(&self, variable: &Variable) -> u64 {
        let whole = variable
            .inner()
            .map_or(0, |(_, address)| outer::sum_of(address));
        sum_of(variable.addresses.unwrap_or(self.own_parts)) + whole
    }

    #[inline(always)]
    fn tail(&self, variable: &Variable) -> TailWords {
        let ports = (variable.source_port, variable.destination_port);
        self.tail_of(
            self.sum_of_addresses(variable),
            ports,
            variable.sequence,
            variable.time,
        )
    }

    /// Returns the tail of a frame; `addresses` is the partial sum of their parts that vary.
    #[inline(always)]
    fn tail_of(
        &self,
        addresses: u64,
        ports: (u16, u16),
        sequence: u64,
        time: StampedTime,
    ) -> TailWords {
        let tag = (sequence & tag::MAX_SEQUENCE) + u64::from(time.sum);
        let checksum = checksum::finish_udp(self.sum + addresses + sum_of(ports) + tag);
        let header = u64::from(ports.0) << 48
            | u64::from(ports.1) << 32
            | u64::from(self.udp_len) << 16
            | u64::from(checksum);
        TailWords {
            header,
            middle: tag::middle(self.stream, sequence),
            time_ns: time.time_ns,
        }
    }
}

/// The parts of the addresses that vary in a stream's frames.
#[derive(Debug, Clone, Copy)]
pub struct AddressesThatVary {
    /// True if 32 bits of the addresses vary.
    pub parts: bool,
    /// The end at which the whole address varies.
    pub whole: Option<DatagramEnd>,
}

/// The frames of a [`PlainPatch`] as they must arrive. A frame is compared word by word, and its variable fields with their expected values in
/// registers: writing these to memory and reading them again would stall the processor.
#[derive(Debug, Clone)]
pub struct PlainArrival {
    patch: PlainPatch,
    octets: [u8; FIXED_IPV6],
    /// All ones where the octets of a frame must match the template's.
    mask: [u8; FIXED_IPV6],
    /// True if the checksum of an IPv4 header depends on fields that vary.
    varies_header: bool,
    /// True where a translator chose the identification and the don't-fragment flag of an IPv4 header (RFC 7915 section 5.1).
    is_identification_chosen: bool,
    /// The flags of the template's IPv4 header.
    flags: u16,
}

impl PlainArrival {
    /// Returns the expected form of a template's frames; `None` if they have no [`PlainPatch`]. With `is_translated`, the device chooses
    /// identification and don't-fragment flag of IPv4; without `with_hardware_addresses`, the addresses of the Ethernet header are ignored.
    pub fn new(
        template: &Template,
        vary: AddressesThatVary,
        is_translated: bool,
        with_hardware_addresses: bool,
    ) -> Option<Self> {
        let mut arrival = Self::of_datagram(template, vary, is_translated)
            .filter(|_| template.outer.is_none())?;
        let looked_at = if with_hardware_addresses {
            0
        } else {
            ethernet::ADDRESSES_LEN
        };
        arrival.mask[looked_at..ethernet::HEADER_LEN].fill(0xff);
        Some(arrival)
    }

    /// Returns the expected form of a template's datagrams, whatever precedes them; `None` if they are not UDP.
    pub(super) fn of_datagram(
        template: &Template,
        vary: AddressesThatVary,
        is_translated: bool,
    ) -> Option<Self> {
        let patch = PlainPatch::of_datagram(template)?;
        let is_ipv4 = patch.header_sum.is_some();
        let length = if is_ipv4 { FIXED_IPV4 } else { FIXED_IPV6 };
        let (mut octets, mut mask) = ([0; FIXED_IPV6], [0xff; FIXED_IPV6]);
        octets[..length].copy_from_slice(&template.octets()[template.shift..][..length]);
        let mut leave_out = |at: usize, count: usize| mask[at..at + count].fill(0);
        leave_out(0, ethernet::HEADER_LEN);
        leave_out(patch.udp_at, udp::HEADER_LEN);
        if vary.parts {
            leave_out(patch.parts_at.0, 4);
            leave_out(patch.parts_at.1, 4);
        }
        if let Some(end) = vary.whole {
            leave_out(patch.address_at(end), if is_ipv4 { 4 } else { 16 });
        }
        let is_identification_chosen = is_ipv4 && is_translated;
        let varies_header =
            is_ipv4 && (is_identification_chosen || vary.parts || vary.whole.is_some());
        if varies_header {
            leave_out(IPV4_CHECKSUM_AT, 2);
        }
        if is_identification_chosen {
            leave_out(IDENTIFICATION_AT, 2);
            mask[FLAGS_AT] = !arrival::DONT_FRAGMENT;
        }
        let flags = be16(&octets, FLAGS_AT);
        Some(Self {
            patch,
            octets,
            mask,
            varies_header,
            is_identification_chosen,
            flags,
        })
    }

    /// Returns whether the headers and tag of a frame match these fields. The fill pattern is ignored.
    ///
    /// # Panics
    /// If `frame` is shorter than the template's headers and tag.
    #[inline(always)]
    pub fn is(&self, frame: &[u8], variable: &Variable) -> bool {
        let patch = &self.patch;
        if TailWords::read(frame, patch.udp_at) != patch.tail(variable)
            || !self.has_parts(frame, variable)
        {
            return false;
        }
        match patch.header_sum {
            Some(sum) => {
                variable
                    .inner()
                    .is_none_or(|(end, own)| be32(frame, patch.address_at(end)) == own as u32)
                    && (!self.varies_header
                        || self.has_header_checksum(frame, sum + patch.sum_of_addresses(variable)))
                    && self.is_fixed_part::<FIXED_IPV4>(frame)
            }
            None => {
                variable.inner().is_none_or(|(end, own)| {
                    u128::from_be_bytes(array(frame, patch.address_at(end))) == own
                }) && self.is_fixed_part::<FIXED_IPV6>(frame)
            }
        }
    }

    /// Returns the same as [`Self::is`] for a frame in which only ports, number and time vary.
    ///
    /// # Panics
    /// If `frame` is shorter than the template's headers and tag.
    #[inline(always)]
    pub fn is_ports(
        &self,
        frame: &[u8],
        ports: (u16, u16),
        sequence: u64,
        time: StampedTime,
    ) -> bool {
        let patch = &self.patch;
        if TailWords::read(frame, patch.udp_at)
            != patch.tail_of(sum_of(patch.own_parts), ports, sequence, time)
        {
            return false;
        }
        match patch.header_sum {
            Some(sum) => {
                let addresses = sum_of(patch.own_parts);
                (!self.varies_header || self.has_header_checksum(frame, sum + addresses))
                    && self.is_fixed_part::<FIXED_IPV4>(frame)
            }
            None => self.is_fixed_part::<FIXED_IPV6>(frame),
        }
    }

    /// Compares the variable 32 bits of either address; where a whole address varies, there are none.
    #[inline(always)]
    fn has_parts(&self, frame: &[u8], variable: &Variable) -> bool {
        let Some(parts) = variable.addresses else {
            return true;
        };
        let whole = variable.inner().map(|(end, _)| end);
        let (source, destination) = (
            be32(frame, self.patch.parts_at.0),
            be32(frame, self.patch.parts_at.1),
        );
        (source == parts.0 || whole == Some(DatagramEnd::Source))
            && (destination == parts.1 || whole == Some(DatagramEnd::Destination))
    }

    /// Compares the checksum of an IPv4 header with the expected one; `sum` is the partial sum of the template's fields and the addresses.
    #[inline(always)]
    fn has_header_checksum(&self, frame: &[u8], sum: u64) -> bool {
        let chosen = if self.is_identification_chosen {
            // In ones' complement, a value is subtracted by adding its complement.

            u64::from(be16(frame, IDENTIFICATION_AT))
                + u64::from(be16(frame, FLAGS_AT))
                + u64::from(!self.flags)
        } else {
            0
        };
        be16(frame, IPV4_CHECKSUM_AT) == checksum::finish(sum + chosen)
    }

    /// Compares the first `N` octets except the variable fields.
    #[inline(always)]
    fn is_fixed_part<const N: usize>(&self, frame: &[u8]) -> bool {
        !differs::<N>(frame, &self.octets, &self.mask)
    }
}

/// Returns whether the first `N` octets of a frame differ from `octets` where the mask has ones.
#[inline(always)]
pub(super) fn differs<const N: usize>(frame: &[u8], octets: &[u8], mask: &[u8]) -> bool {
    #[inline(always)]
    fn words(octets: &[u8], count: usize) -> &[[u8; WORD]] {
        octets[..count].as_chunks().0
    }
    let mut differences = 0;
    // A loop, because the compiler turns a fold into a function call.
    for ((frame, octets), mask) in words(frame, N)
        .iter()
        .zip(words(octets, N))
        .zip(words(mask, N))
    {
        let [frame, octets, mask] = [frame, octets, mask].map(|octets| u32::from_ne_bytes(*octets));
        differences |= (frame ^ octets) & mask;
    }
    differences != 0
}

const _: () = assert!(FIXED_IPV4.is_multiple_of(WORD) && FIXED_IPV6.is_multiple_of(WORD));
