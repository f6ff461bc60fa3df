//! IPv6 datagrams (RFC 8200). Extension headers are not followed: test traffic has none, and a translated frame that suddenly has one must be noticed.

use std::fmt;
use std::net::Ipv6Addr;

use crate::octets::{array, at_least, be16, must};
use crate::{WireError, checksum};

/// Octets of the fixed header.
pub const HEADER_LEN: usize = 40;

const WHAT: &str = "ipv6 header";

/// A datagram, read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv6View<'a>(&'a [u8]);

impl<'a> Ipv6View<'a> {
    /// Views a datagram; octets beyond its payload length (Ethernet padding) are left out.
    ///
    /// # Errors
    /// A version other than 6, or missing octets.
    #[inline]
    pub fn new(octets: &'a [u8]) -> Result<Self, WireError> {
        at_least(octets, HEADER_LEN, WHAT)?;
        must(octets[0] >> 4 == 6, WHAT, "version", octets[0] >> 4, "6")?;
        let total_len = HEADER_LEN + usize::from(be16(octets, 4));
        at_least(octets, total_len, "ipv6 datagram")?;
        Ok(Self(&octets[..total_len]))
    }

    /// Returns the version, 6.
    pub fn version(&self) -> u8 {
        self.0[0] >> 4
    }

    /// Returns the traffic class: differentiated services code point and congestion notification.
    pub fn traffic_class(&self) -> u8 {
        (be16(self.0, 0) >> 4) as u8
    }

    /// Returns the flow label, 20 bits (RFC 6437).
    pub fn flow_label(&self) -> u32 {
        u32::from_be_bytes(array(self.0, 0)) & 0x000f_ffff
    }

    /// Returns the octets after the header.
    pub fn payload_len(&self) -> u16 {
        be16(self.0, 4)
    }

    /// Returns the protocol of the payload, or the kind of the first extension header.
    pub fn next_header(&self) -> u8 {
        self.0[6]
    }

    /// Returns the hops left.
    pub fn hop_limit(&self) -> u8 {
        self.0[7]
    }

    /// Returns the sender.
    pub fn src(&self) -> Ipv6Addr {
        array::<16>(self.0, 8).into()
    }

    /// Returns the receiver.
    pub fn dst(&self) -> Ipv6Addr {
        array::<16>(self.0, 24).into()
    }

    /// Returns the octets after the header, up to the payload length.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }

    /// Returns the pseudo-header of the payload, as a partial sum (RFC 8200 section 8.1). It is right only without extension headers.
    pub fn pseudo_header(&self) -> u64 {
        let length = u32::from(self.payload_len());
        checksum::pseudo_header_ipv6(self.src(), self.dst(), self.next_header(), length)
    }
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv6Header {
    /// The traffic class.
    pub traffic_class: u8,
    /// The flow label; only its lower 20 bits are sent.
    pub flow_label: u32,
    /// Octets after the header.
    pub payload_len: u16,
    /// The protocol of the payload.
    pub next_header: u8,
    /// Hops left.
    pub hop_limit: u8,
    /// The sender.
    pub src: Ipv6Addr,
    /// The receiver.
    pub dst: Ipv6Addr,
}

impl Ipv6Header {
    /// Writes the header into the front of `buffer`, of at least [`HEADER_LEN`] octets.
    pub fn emit(&self, buffer: &mut [u8]) {
        let first = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow_label & 0x000f_ffff;
        buffer[0..4].copy_from_slice(&first.to_be_bytes());
        buffer[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
        buffer[6..8].copy_from_slice(&[self.next_header, self.hop_limit]);
        buffer[8..24].copy_from_slice(&self.src.octets());
        buffer[24..40].copy_from_slice(&self.dst.octets());
    }
}

impl fmt::Display for Ipv6View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (src, dst, next, hops) = (self.src(), self.dst(), self.next_header(), self.hop_limit());
        write!(
            f,
            "{src} > {dst} ipv6 next header {next} hop limit {hops} payload {}",
            self.payload_len()
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::octets::hex;

    /// UDP from 2001:2::2 port 4000 to 2001:2::1 port 9, as Linux sent it.
    const CAPTURED: &str = "600aeb9f0011114020010002000000000000000000000002200100020000000000000000000000010fa000090011da7773697862656e636821";

    #[test]
    fn a_captured_datagram_is_read_field_by_field() {
        let octets = hex(CAPTURED);
        let view = Ipv6View::new(&octets).unwrap();
        assert_eq!(
            view.to_string(),
            "2001:2::2 > 2001:2::1 ipv6 next header 17 hop limit 64 payload 17"
        );
        assert_eq!(
            (view.version(), view.traffic_class(), view.flow_label()),
            (6, 0, 0xaeb9f)
        );
        assert_eq!(&view.payload()[8..], b"sixbench!");
    }

    #[test]
    fn what_is_emitted_is_what_was_captured() {
        let octets = hex(CAPTURED);
        let header = Ipv6Header {
            traffic_class: 0,
            flow_label: 0xaeb9f,
            payload_len: 17,
            next_header: 17,
            hop_limit: 64,
            src: "2001:2::2".parse().unwrap(),
            dst: "2001:2::1".parse().unwrap(),
        };
        let mut buffer = [0xff; HEADER_LEN];
        header.emit(&mut buffer);
        assert_eq!(buffer, octets[..HEADER_LEN]);
    }

    #[test]
    fn the_traffic_class_straddles_two_octets() {
        let mut octets = hex(CAPTURED);
        octets[0..2].copy_from_slice(&[0x6b, 0x8a]);
        let view = Ipv6View::new(&octets).unwrap();
        assert_eq!((view.traffic_class(), view.flow_label()), (0xb8, 0xaeb9f));
    }

    #[test]
    fn ethernet_padding_is_no_payload() {
        let mut octets = hex(CAPTURED);
        octets.extend([0; 3]);
        assert_eq!(Ipv6View::new(&octets).unwrap().payload().len(), 17);
    }

    #[test]
    fn contradictions_are_named() {
        let mut octets = hex(CAPTURED);
        octets[5] = 18;
        let error = Ipv6View::new(&octets).unwrap_err().to_string();
        assert_eq!(error, "ipv6 datagram: 57 octets, at least 58 needed");
        octets[0] = 0x45;
        let error = Ipv6View::new(&octets).unwrap_err().to_string();
        assert_eq!(error, "ipv6 header: version is 0x4, expected 6");
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(mut octets in prop::collection::vec(any::<u8>(), 0..120), likely: bool) {
            if likely && octets.len() > 4 {
                octets[0] = 0x60 | octets[0] & 0x0f;
                octets[4] = 0;
            }
            if let Ok(view) = Ipv6View::new(&octets) {
                let _ = (view.to_string(), view.pseudo_header());
                prop_assert_eq!(view.payload().len(), usize::from(view.payload_len()));
            }
        }
    }
}
