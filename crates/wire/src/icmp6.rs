//! ICMPv6 echo requests and replies (RFC 4443 section 4). Neighbour discovery and error messages have modules of their own.

use std::fmt;

use crate::octets::{at_least, be16, must};
use crate::{WireError, checksum};

/// Octets of the header: type, code, checksum, identifier and sequence number.
pub const HEADER_LEN: usize = 8;

const WHAT: &str = "icmpv6 echo message";

const REQUEST: u8 = 128;
const REPLY: u8 = 129;

/// Request or reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EchoKind {
    /// Type 128 (RFC 4443 section 4.1).
    Request,
    /// Type 129 (RFC 4443 section 4.2).
    Reply,
}

/// An echo message, read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoView<'a>(&'a [u8]);

impl<'a> EchoView<'a> {
    /// Views an echo message: the whole payload of an IPv6 datagram with next header 58.
    ///
    /// # Errors
    /// Fewer than 8 octets, a type other than 128 or 129, or a code other than 0.
    #[inline]
    pub fn new(octets: &'a [u8]) -> Result<Self, WireError> {
        at_least(octets, HEADER_LEN, WHAT)?;
        must(matches!(octets[0], REQUEST | REPLY), WHAT, "type", octets[0], "128 or 129")?;
        must(octets[1] == 0, WHAT, "code", octets[1], "0")?;
        Ok(Self(octets))
    }

    /// Returns the kind of the message: request or reply.
    pub fn kind(&self) -> EchoKind {
        match self.0[0] {
            REQUEST => EchoKind::Request,
            _ => EchoKind::Reply,
        }
    }

    /// Returns the checksum as it was received.
    pub fn checksum(&self) -> u16 {
        be16(self.0, 2)
    }

    /// Returns the identifier. A reply repeats that of its request, and a translator that shares addresses uses it like a port to tell
    /// subscribers apart (RFC 7597 section 8.2).
    pub fn identifier(&self) -> u16 {
        be16(self.0, 4)
    }

    /// Returns the sequence number. A reply repeats that of its request.
    pub fn sequence(&self) -> u16 {
        be16(self.0, 6)
    }

    /// Returns whether the checksum matches. `pseudo_header` is the partial sum that the IP view returns.
    pub fn is_checksum_right(&self, pseudo_header: u64) -> bool {
        checksum::is_right(pseudo_header + checksum::sum(self.0))
    }

    /// Returns the octets after the header. A reply repeats those of its request.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoHeader {
    /// Request or reply.
    pub kind: EchoKind,
    /// The checksum; see [`EchoHeader::with_checksum`].
    pub checksum: u16,
    /// The identifier.
    pub identifier: u16,
    /// The sequence number.
    pub sequence: u16,
}

impl EchoHeader {
    /// Returns the header with the checksum over itself, `payload` and the pseudo-header, whose partial sum is
    /// [`checksum::pseudo_header_ipv6`] (RFC 4443 section 2.3).
    pub fn with_checksum(self, pseudo_header: u64, payload: &[u8]) -> Self {
        let blank = Self { checksum: 0, ..self };
        let header = checksum::sum(&blank.to_octets());
        Self { checksum: checksum::finish(pseudo_header + header + checksum::sum(payload)), ..blank }
    }

    /// Writes the header into the front of `buffer`, of at least [`HEADER_LEN`] octets.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[..HEADER_LEN].copy_from_slice(&self.to_octets());
    }

    /// Returns the header as one array, so that the send path writes it with one store.
    #[inline]
    pub fn to_octets(&self) -> [u8; HEADER_LEN] {
        let kind = match self.kind {
            EchoKind::Request => REQUEST,
            EchoKind::Reply => REPLY,
        };
        let first = u64::from(kind) << 56 | u64::from(self.checksum) << 32;
        (first | u64::from(self.identifier) << 16 | u64::from(self.sequence)).to_be_bytes()
    }
}

impl fmt::Display for EchoKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "request",
            Self::Reply => "reply",
        })
    }
}

impl fmt::Display for EchoView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, identifier, sequence) = (self.kind(), self.identifier(), self.sequence());
        write!(f, "icmpv6 echo {kind} identifier {identifier} sequence {sequence} payload {}", self.payload().len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Ipv6View;
    use crate::octets::hex;

    /// From 2001:2::2 to 2001:2::1 and back, as sent by Linux: nine octets of payload.
    const QUESTION: &str =
        "600cb88400113a4020010002000000000000000000000002200100020000000000000000000000018000652f04d2000773697862656e636821";
    const ANSWER: &str =
        "60095ee500113a4020010002000000000000000000000001200100020000000000000000000000028100642f04d2000773697862656e636821";

    #[test]
    fn a_captured_question_and_its_answer_are_read_and_their_checksums_are_right() {
        for (digits, kind) in [(QUESTION, EchoKind::Request), (ANSWER, EchoKind::Reply)] {
            let octets = hex(digits);
            let ip = Ipv6View::new(&octets).unwrap();
            let echo = EchoView::new(ip.payload()).unwrap();
            assert_eq!((echo.kind(), echo.identifier(), echo.sequence()), (kind, 1234, 7));
            assert_eq!(echo.payload(), b"sixbench!");
            assert!(echo.is_checksum_right(ip.pseudo_header()));
            assert!(!echo.is_checksum_right(ip.pseudo_header() + 1));
        }
    }

    #[test]
    fn an_echo_message_is_displayed_in_one_line() {
        let octets = hex(QUESTION);
        let echo = EchoView::new(&octets[40..]).unwrap();
        assert_eq!(echo.to_string(), "icmpv6 echo request identifier 1234 sequence 7 payload 9");
    }

    #[test]
    fn what_is_emitted_is_what_was_captured() {
        for (digits, kind) in [(QUESTION, EchoKind::Request), (ANSWER, EchoKind::Reply)] {
            let octets = hex(digits);
            let pseudo_header = Ipv6View::new(&octets).unwrap().pseudo_header();
            // The checksum field's old value must not count.
            let header = EchoHeader { kind, checksum: 0xbad, identifier: 1234, sequence: 7 };
            let mut buffer = [0xff; HEADER_LEN];
            header.with_checksum(pseudo_header, b"sixbench!").emit(&mut buffer);
            assert_eq!(buffer, octets[40..48], "{kind}");
        }
    }

    #[test]
    fn other_messages_are_refused() {
        let refused = |octets: &[u8]| EchoView::new(octets).unwrap_err().to_string();
        assert_eq!(refused(&[128; 7]), "icmpv6 echo message: 7 octets, at least 8 needed");
        let solicitation = [135, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(refused(&solicitation), "icmpv6 echo message: type is 0x87, expected 128 or 129");
        assert_eq!(refused(&[129, 1, 0, 0, 0, 0, 0, 0]), "icmpv6 echo message: code is 0x1, expected 0");
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(mut octets in prop::collection::vec(any::<u8>(), 0..40), likely: bool) {
            if let (true, [kind, code, ..]) = (likely, &mut octets[..]) { (*kind, *code) = (128 | *kind & 1, 0); }
            if let Ok(view) = EchoView::new(&octets) {
                let _ = (view.to_string(), view.is_checksum_right(0));
                prop_assert_eq!(view.payload().len() + HEADER_LEN, octets.len());
            }
        }
    }
}
