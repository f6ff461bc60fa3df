//! UDP datagrams (RFC 768).

use std::fmt;

use crate::octets::{at_least, be16, must};
use crate::{WireError, checksum};

/// Octets of the header.
pub const HEADER_LEN: usize = 8;

const WHAT: &str = "udp header";

/// A datagram, read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpView<'a>(&'a [u8]);

impl<'a> UdpView<'a> {
    /// Views a datagram; octets beyond its length field are left out.
    ///
    /// # Errors
    /// Fewer than 8 octets, or a length field below 8 or beyond the octets.
    #[inline]
    pub fn new(octets: &'a [u8]) -> Result<Self, WireError> {
        at_least(octets, HEADER_LEN, WHAT)?;
        let length = be16(octets, 4);
        must(
            usize::from(length) >= HEADER_LEN,
            WHAT,
            "length",
            length,
            "8 octets or more",
        )?;
        at_least(octets, usize::from(length), "udp datagram")?;
        Ok(Self(&octets[..usize::from(length)]))
    }

    /// Returns the sender's port.
    pub fn source_port(&self) -> u16 {
        be16(self.0, 0)
    }

    /// Returns the receiver's port.
    pub fn destination_port(&self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns the octets of the datagram, header included.
    pub fn length(&self) -> u16 {
        be16(self.0, 4)
    }

    /// Returns the checksum as it was received; 0 means "none" over IPv4 and is forbidden over IPv6 (RFC 8200 section 8.1).
    pub fn checksum(&self) -> u16 {
        be16(self.0, 6)
    }

    /// Returns whether there is a checksum and it matches. `pseudo_header` is the partial sum that the IP view returns.
    pub fn is_checksum_right(&self, pseudo_header: u64) -> bool {
        self.checksum() != 0 && checksum::is_right(pseudo_header + checksum::sum(self.0))
    }

    /// Returns the octets after the header.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpHeader {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Octets of the datagram, header included.
    pub length: u16,
    /// The checksum; see [`checksum::finish_udp`].
    pub checksum: u16,
}

impl UdpHeader {
    /// Writes the header into the front of `buffer`, of at least [`HEADER_LEN`] octets.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[..HEADER_LEN].copy_from_slice(&self.to_octets());
    }

    /// Returns the header as one array, so that the send path writes it with one store.
    #[inline]
    pub fn to_octets(&self) -> [u8; HEADER_LEN] {
        let ports = u64::from(self.source_port) << 48 | u64::from(self.destination_port) << 32;
        let rest = u64::from(self.length) << 16 | u64::from(self.checksum);
        (ports | rest).to_be_bytes()
    }
}

impl fmt::Display for UdpView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, destination) = (self.source_port(), self.destination_port());
        write!(f, "udp {source} > {destination} length {}", self.length())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::octets::hex;
    use crate::{Ipv4View, Ipv6View};

    /// As sent by Linux over IPv4 and IPv6.
    const OVER_IPV4: &str =
        "450000245fd0400040114ed1c6120002c61200010fa000090010af5a73697862656e6368";
    const OVER_IPV6: &str = "600aeb9f0011114020010002000000000000000000000002200100020000000000000000000000010fa000090011da7773697862656e636821";

    #[test]
    fn a_datagram_captured_over_ipv4_is_read_and_its_checksum_is_right() {
        let octets = hex(OVER_IPV4);
        let ip = Ipv4View::new(&octets).unwrap();
        let udp = UdpView::new(ip.payload()).unwrap();
        assert_eq!(udp.to_string(), "udp 4000 > 9 length 16");
        assert_eq!((udp.checksum(), udp.payload()), (0xaf5a, &b"sixbench"[..]));
        assert!(udp.is_checksum_right(ip.pseudo_header()));
        assert!(!udp.is_checksum_right(ip.pseudo_header() + 1));
    }

    #[test]
    fn a_datagram_of_odd_length_captured_over_ipv6_has_a_right_checksum() {
        let octets = hex(OVER_IPV6);
        let ip = Ipv6View::new(&octets).unwrap();
        let udp = UdpView::new(ip.payload()).unwrap();
        assert_eq!((udp.length(), udp.checksum()), (17, 0xda77));
        assert!(udp.is_checksum_right(ip.pseudo_header()));
    }

    #[test]
    fn no_checksum_is_no_right_checksum() {
        let udp = UdpHeader {
            source_port: 1,
            destination_port: 2,
            length: 8,
            checksum: 0,
        }
        .to_octets();
        assert!(!UdpView::new(&udp).unwrap().is_checksum_right(0xfff4));
    }

    #[test]
    fn what_is_emitted_is_what_was_captured() {
        let header = UdpHeader {
            source_port: 4000,
            destination_port: 9,
            length: 16,
            checksum: 0xaf5a,
        };
        let mut buffer = [0xff; HEADER_LEN];
        header.emit(&mut buffer);
        assert_eq!(buffer, hex(OVER_IPV4)[20..28]);
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        let refused = |octets: &[u8]| UdpView::new(octets).unwrap_err().to_string();
        assert_eq!(refused(&[0; 7]), "udp header: 7 octets, at least 8 needed");
        assert_eq!(
            refused(&[0, 1, 0, 2, 0, 7, 0, 0]),
            "udp header: length is 0x7, expected 8 octets or more"
        );
        assert_eq!(
            refused(&[0, 1, 0, 2, 0, 9, 0, 0]),
            "udp datagram: 8 octets, at least 9 needed"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..40), length in 0u8..60) {
            let mut octets = octets;
            if let [_, _, _, _, upper, lower, ..] = &mut octets[..] { (*upper, *lower) = (0, length); }
            if let Ok(view) = UdpView::new(&octets) {
                let _ = (view.to_string(), view.is_checksum_right(0));
                prop_assert_eq!(view.payload().len() + HEADER_LEN, usize::from(view.length()));
            }
        }
    }
}
