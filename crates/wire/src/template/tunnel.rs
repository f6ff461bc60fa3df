//! UDP datagrams with one outer header, like those without one in [`super::plain`]: the datagram is that of a plain frame whose Ethernet header
//! overlaps the end of the outer header.

use super::outer::{OuterPatch, sum_of};
use super::plain::{AddressesThatVary, PlainArrival, PlainPatch, WORD, differs};
use super::{TOO_SHORT, Template, Variable, arrival};
use crate::octets::{array, be16};
use crate::{IpVersion, checksum, ethernet, ipv4, ipv6};

/// Octets of the Ethernet header, the outer header and the beginning of the datagram that are compared with the template's, in whole words.
const FIXED_IPV4: usize = (ethernet::HEADER_LEN + ipv4::HEADER_LEN).next_multiple_of(WORD);
const FIXED_IPV6: usize = (ethernet::HEADER_LEN + ipv6::HEADER_LEN).next_multiple_of(WORD);

/// Offsets within a frame of the fields of an outer IPv4 header.
const IDENTIFICATION_AT: usize = ethernet::HEADER_LEN + arrival::IDENTIFICATION_AT;
const FLAGS_AT: usize = ethernet::HEADER_LEN + arrival::FLAGS_AT;
const CHECKSUM_AT: usize = ethernet::HEADER_LEN + 10;
const ADDRESSES_IPV4_AT: usize = ethernet::HEADER_LEN + 12;
/// The offset of the addresses of an IPv6 header.
const ADDRESSES_IPV6_AT: usize = ethernet::HEADER_LEN + 8;

/// Patches the frames of a [`Template`] of UDP datagrams in a tunnel. It writes the same as [`Template::patch`].
#[derive(Debug, Clone, Copy)]
pub struct TunnelPatch {
    outer: OuterPatch,
    datagram: PlainPatch,
    /// Octets of the outer header.
    shift: usize,
}

impl TunnelPatch {
    /// Returns the patch for a template's frames; `None` if they are not encapsulated, or are not UDP datagrams.
    pub fn new(template: &Template) -> Option<Self> {
        Some(Self {
            outer: template.outer?,
            datagram: PlainPatch::of_datagram(template)?,
            shift: template.shift,
        })
    }

    /// Rewrites the variable fields of a frame that holds the template's octets, perhaps patched before.
    ///
    /// # Panics
    /// If `frame` is shorter than the template's headers and tag.
    #[inline(always)]
    pub fn patch(&self, frame: &mut [u8], variable: &Variable) {
        self.outer.patch(frame, variable.outer());
        self.datagram.patch(&mut frame[self.shift..], variable);
    }
}

/// The frames of a [`TunnelPatch`] as they must arrive.
#[derive(Debug, Clone)]
pub struct TunnelArrival {
    outer: OuterPatch,
    datagram: PlainArrival,
    shift: usize,
    octets: [u8; FIXED_IPV6],
    /// All ones where the octets of a frame must match the template's.
    mask: [u8; FIXED_IPV6],
    /// The flags of the template's outer IPv4 header; 0 if the outer header is IPv6.
    flags: u16,
}

impl TunnelArrival {
    /// Returns the expected form of a template's frames; `None` if they have no [`TunnelPatch`]. The device always chooses identification and
    /// don't-fragment flag of an outer IPv4 header, and the flow label of an outer IPv6 header; with `is_translated` also identification and
    /// don't-fragment flag of an IPv4 datagram. Without `with_hardware_addresses`, the addresses of the Ethernet header are ignored.
    pub fn new(
        template: &Template,
        vary: AddressesThatVary,
        is_translated: bool,
        with_hardware_addresses: bool,
    ) -> Option<Self> {
        let TunnelPatch { outer, shift, .. } = TunnelPatch::new(template)?;
        let datagram = PlainArrival::of_datagram(template, vary, is_translated)?;
        let is_ipv4 = outer.version() == IpVersion::V4;
        let length = if is_ipv4 { FIXED_IPV4 } else { FIXED_IPV6 };
        let (mut octets, mut mask) = ([0; FIXED_IPV6], [0; FIXED_IPV6]);
        octets[..length].copy_from_slice(&template.octets()[..length]);
        mask[..length].fill(0xff);
        let mut leave_out = |at: usize, count: usize| mask[at..at + count].fill(0);
        if !with_hardware_addresses {
            leave_out(0, ethernet::ADDRESSES_LEN);
        }
        // Addresses and checksum may differ from frame to frame: `has_outer_ipv4` and `has_outer_ipv6` compare them with computed values.
        if is_ipv4 {
            leave_out(IDENTIFICATION_AT, 2);
            leave_out(CHECKSUM_AT, 2 + 2 * 4);
            mask[FLAGS_AT] = !arrival::DONT_FRAGMENT;
        } else {
            leave_out(ethernet::HEADER_LEN + 2, 2);
            leave_out(ADDRESSES_IPV6_AT, 2 * 16);
            // The upper half of this octet belongs to the traffic class, the lower one to the flow label.
            mask[ethernet::HEADER_LEN + 1] = 0xf0;
        }
        let flags = if is_ipv4 { be16(&octets, FLAGS_AT) } else { 0 };
        Some(Self {
            outer,
            datagram,
            shift,
            octets,
            mask,
            flags,
        })
    }

    /// Returns whether the headers and tag of a frame match these fields. The fill pattern is ignored.
    ///
    /// # Panics
    /// If `frame` is shorter than the template's headers and tag.
    #[inline(always)]
    pub fn is(&self, frame: &[u8], variable: &Variable) -> bool {
        let has_outer = match self.outer.version() {
            IpVersion::V4 => self.has_outer_ipv4(frame, variable),
            IpVersion::V6 => self.has_outer_ipv6(frame, variable),
        };
        has_outer
            && self
                .datagram
                .is(frame.get(self.shift..).expect(TOO_SHORT), variable)
    }

    #[inline(always)]
    fn has_outer_ipv4(&self, frame: &[u8], variable: &Variable) -> bool {
        let (source, destination) = self.outer.addresses(variable.outer());
        let addresses = u64::from_be_bytes(array(frame, ADDRESSES_IPV4_AT));
        // In ones' complement, a value is subtracted by adding its complement. The header sum is that of the template, whose identification is 0
        // (`outer::emit`), so only its flags have to be taken out before those that the device chose are added.
        let chosen = u64::from(be16(frame, IDENTIFICATION_AT))
            + u64::from(be16(frame, FLAGS_AT))
            + u64::from(!self.flags);
        let sum = self.outer.header_sum() + sum_of(source) + sum_of(destination) + chosen;
        addresses == (source as u64) << 32 | destination as u64
            && be16(frame, CHECKSUM_AT) == checksum::finish(sum)
            && !differs::<FIXED_IPV4>(frame, &self.octets, &self.mask)
    }

    #[inline(always)]
    fn has_outer_ipv6(&self, frame: &[u8], variable: &Variable) -> bool {
        let (source, destination) = self.outer.addresses(variable.outer());
        u128::from_be_bytes(array(frame, ADDRESSES_IPV6_AT)) == source
            && u128::from_be_bytes(array(frame, ADDRESSES_IPV6_AT + 16)) == destination
            && !differs::<FIXED_IPV6>(frame, &self.octets, &self.mask)
    }
}
