//! IPv4 datagrams (RFC 791).

use std::fmt;
use std::net::Ipv4Addr;

use crate::octets::{array, at_least, be16, must};
use crate::{WireError, checksum};

/// Octets of a header without options.
pub const HEADER_LEN: usize = 20;

const WHAT: &str = "ipv4 header";
const RESERVED_FLAG: u16 = 0x8000;
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;

/// A datagram, read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv4View<'a>(&'a [u8]);

impl<'a> Ipv4View<'a> {
    /// Views a datagram; octets beyond its total length (Ethernet padding) are left out.
    ///
    /// # Errors
    /// A version other than 4, contradictory lengths, or missing octets. The header checksum is not verified.
    #[inline]
    pub fn new(octets: &'a [u8]) -> Result<Self, WireError> {
        at_least(octets, HEADER_LEN, WHAT)?;
        let header_len = usize::from(octets[0] & 0x0f) * 4;
        let total_len = usize::from(be16(octets, 2));
        must(octets[0] >> 4 == 4, WHAT, "version", octets[0] >> 4, "4")?;
        must(
            header_len >= HEADER_LEN,
            WHAT,
            "header length",
            header_len as u64,
            "20 octets or more",
        )?;
        must(
            total_len >= header_len,
            WHAT,
            "total length",
            total_len as u64,
            "the header length or more",
        )?;
        at_least(octets, total_len, "ipv4 datagram")?;
        Ok(Self(&octets[..total_len]))
    }

    /// Returns the version, 4.
    pub fn version(&self) -> u8 {
        self.0[0] >> 4
    }

    /// Returns the octets of the header, options included.
    pub fn header_len(&self) -> usize {
        usize::from(self.0[0] & 0x0f) * 4
    }

    /// Returns the differentiated services code point, 6 bits (RFC 2474).
    pub fn dscp(&self) -> u8 {
        self.0[1] >> 2
    }

    /// Returns the explicit congestion notification, 2 bits (RFC 3168).
    pub fn ecn(&self) -> u8 {
        self.0[1] & 0x03
    }

    /// Returns the octets of the datagram, header included.
    pub fn total_len(&self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns the identification, which all fragments of a datagram share.
    pub fn identification(&self) -> u16 {
        be16(self.0, 4)
    }

    /// Returns whether the first flag is set, which is reserved and must be zero (RFC 791 section 3.1).
    pub fn has_reserved_flag(&self) -> bool {
        be16(self.0, 6) & RESERVED_FLAG != 0
    }

    /// Returns whether routers must not fragment it.
    pub fn dont_fragment(&self) -> bool {
        be16(self.0, 6) & DONT_FRAGMENT != 0
    }

    /// Returns whether fragments follow.
    pub fn more_fragments(&self) -> bool {
        be16(self.0, 6) & MORE_FRAGMENTS != 0
    }

    /// Returns the offset of this fragment's payload in the datagram, in octets.
    pub fn fragment_offset(&self) -> usize {
        usize::from(be16(self.0, 6) & 0x1fff) * 8
    }

    /// Returns whether this is a piece of a larger datagram.
    pub fn is_fragment(&self) -> bool {
        self.more_fragments() || self.fragment_offset() != 0
    }

    /// Returns the hops left.
    pub fn ttl(&self) -> u8 {
        self.0[8]
    }

    /// Returns the protocol of the payload.
    pub fn protocol(&self) -> u8 {
        self.0[9]
    }

    /// Returns the header checksum as it was received.
    pub fn header_checksum(&self) -> u16 {
        be16(self.0, 10)
    }

    /// Returns whether the header checksum matches the header.
    pub fn is_checksum_right(&self) -> bool {
        checksum::is_right(checksum::sum(&self.0[..self.header_len()]))
    }

    /// Returns the sender.
    pub fn src(&self) -> Ipv4Addr {
        array(self.0, 12).into()
    }

    /// Returns the receiver.
    pub fn dst(&self) -> Ipv4Addr {
        array(self.0, 16).into()
    }

    /// Returns the octets after the header, up to the total length.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[self.header_len()..]
    }

    /// Returns the pseudo-header of the payload, as a partial sum (RFC 768).
    pub fn pseudo_header(&self) -> u64 {
        // At most 65,515: the total length is a 16-bit field.
        let length = self.payload().len() as u16;
        checksum::pseudo_header_ipv4(self.src(), self.dst(), self.protocol(), length)
    }
}

/// The fields of a header without options, of a datagram that is not a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv4Header {
    /// The differentiated services code point, 6 bits.
    pub dscp: u8,
    /// The identification, which all fragments of a datagram share; 0 with `dont_fragment` (RFC 6864 section 4.1).
    pub identification: u16,
    /// True if routers must not fragment it.
    pub dont_fragment: bool,
    /// Hops left.
    pub ttl: u8,
    /// The protocol of the payload.
    pub protocol: u8,
    /// Octets after the header: at most 65,515, as the total length is a 16-bit field.
    pub payload_len: u16,
    /// The sender.
    pub src: Ipv4Addr,
    /// The receiver.
    pub dst: Ipv4Addr,
}

impl Ipv4Header {
    /// Writes the header, checksum included, into the front of `buffer`, of at least [`HEADER_LEN`] octets.
    pub fn emit(&self, buffer: &mut [u8]) {
        let total_len = self.payload_len + HEADER_LEN as u16;
        let flags = if self.dont_fragment { DONT_FRAGMENT } else { 0 };
        buffer[0] = 0x45;
        buffer[1] = self.dscp << 2;
        buffer[2..4].copy_from_slice(&total_len.to_be_bytes());
        buffer[4..6].copy_from_slice(&self.identification.to_be_bytes());
        buffer[6..8].copy_from_slice(&flags.to_be_bytes());
        buffer[8..12].copy_from_slice(&[self.ttl, self.protocol, 0, 0]);
        buffer[12..16].copy_from_slice(&self.src.octets());
        buffer[16..20].copy_from_slice(&self.dst.octets());
        let checksum = checksum::finish(checksum::sum(&buffer[..HEADER_LEN]));
        buffer[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

impl fmt::Display for Ipv4View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (src, dst, protocol, ttl) = (self.src(), self.dst(), self.protocol(), self.ttl());
        write!(
            f,
            "{src} > {dst} ipv4 protocol {protocol} ttl {ttl} length {}",
            self.total_len()
        )?;
        if self.is_fragment() {
            write!(f, " fragment at {}", self.fragment_offset())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::octets::hex;

    /// UDP from 198.18.0.2 port 4000 to 198.18.0.1 port 9, as Linux sent it.
    const CAPTURED: &str =
        "450000245fd0400040114ed1c6120002c61200010fa000090010af5a73697862656e6368";

    #[test]
    fn a_captured_datagram_is_read_field_by_field() {
        let octets = hex(CAPTURED);
        let view = Ipv4View::new(&octets).unwrap();
        assert_eq!(
            view.to_string(),
            "198.18.0.2 > 198.18.0.1 ipv4 protocol 17 ttl 64 length 36"
        );
        assert_eq!(
            (view.version(), view.header_len(), view.dscp(), view.ecn()),
            (4, 20, 0, 0)
        );
        assert_eq!(
            (view.identification(), view.header_checksum()),
            (0x5fd0, 0x4ed1)
        );
        assert!(view.dont_fragment() && !view.more_fragments() && !view.is_fragment());
        assert!(view.is_checksum_right());
        assert_eq!(&view.payload()[8..], b"sixbench");
    }

    #[test]
    fn what_is_emitted_is_what_was_captured() {
        let header = Ipv4Header {
            dscp: 0,
            identification: 0x5fd0,
            dont_fragment: true,
            ttl: 64,
            protocol: 17,
            payload_len: 16,
            src: Ipv4Addr::new(198, 18, 0, 2),
            dst: Ipv4Addr::new(198, 18, 0, 1),
        };
        let mut buffer = [0xff; HEADER_LEN];
        header.emit(&mut buffer);
        assert_eq!(buffer, hex(CAPTURED)[..HEADER_LEN]);
    }

    #[test]
    fn ethernet_padding_is_no_payload() {
        let mut octets = hex(CAPTURED);
        octets.extend([0; 10]);
        assert_eq!(Ipv4View::new(&octets).unwrap().payload().len(), 16);
    }

    #[test]
    fn options_are_stepped_over() {
        let mut octets = hex(CAPTURED);
        octets[0] = 0x46;
        let view = Ipv4View::new(&octets).unwrap();
        assert_eq!((view.header_len(), view.payload().len()), (24, 12));
    }

    #[test]
    fn a_fragment_says_where_it_belongs() {
        let mut octets = hex(CAPTURED);
        octets[6..8].copy_from_slice(&[0x20, 0x02]);
        let view = Ipv4View::new(&octets).unwrap();
        assert!(view.more_fragments() && !view.dont_fragment());
        assert!(view.to_string().ends_with("fragment at 16"));
        assert!(!view.is_checksum_right());
    }

    #[test]
    fn the_reserved_flag_makes_no_fragment() {
        let mut octets = hex(CAPTURED);
        octets[6] |= 0x80;
        let view = Ipv4View::new(&octets).unwrap();
        assert!(view.has_reserved_flag() && view.dont_fragment() && !view.is_fragment());
        assert!(!Ipv4View::new(&hex(CAPTURED)).unwrap().has_reserved_flag());
    }

    #[test]
    fn contradictions_are_named() {
        let broken = |at: usize, octet: u8| {
            let mut octets = hex(CAPTURED);
            octets[at] = octet;
            Ipv4View::new(&octets).unwrap_err().to_string()
        };
        assert_eq!(broken(0, 0x65), "ipv4 header: version is 0x6, expected 4");
        assert_eq!(
            broken(0, 0x44),
            "ipv4 header: header length is 0x10, expected 20 octets or more"
        );
        assert_eq!(
            broken(3, 19),
            "ipv4 header: total length is 0x13, expected the header length or more"
        );
        assert_eq!(
            broken(3, 37),
            "ipv4 datagram: 36 octets, at least 37 needed"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(mut octets in prop::collection::vec(any::<u8>(), 0..80), likely: bool) {
            if likely && !octets.is_empty() {
                octets[0] = 0x40 | octets[0] & 0x0f;
                if let Some(upper) = octets.get_mut(2) { *upper = 0; }
            }
            if let Ok(view) = Ipv4View::new(&octets) {
                let _ = (view.to_string(), view.is_checksum_right(), view.pseudo_header());
                prop_assert_eq!(view.header_len() + view.payload().len(), usize::from(view.total_len()));
            }
        }
    }
}
