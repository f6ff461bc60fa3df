//! Echo requests and replies of ICMP (RFC 792) and ICMPv6 (RFC 4443 section 4), which differ only in type and checksum: that of ICMPv6 includes a
//! pseudo-header. Neighbour discovery and error messages have modules of their own.

use std::fmt;

use crate::octets::{at_least, be16, must};
use crate::{IpVersion, WireError, checksum};

/// Octets of the header: type, code, checksum, identifier and sequence number.
pub const HEADER_LEN: usize = 8;

const WHAT: &str = "icmp echo message";
const WHAT_V6: &str = "icmpv6 echo message";

/// Request or reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EchoKind {
    /// Type 8, or 128 of ICMPv6 (RFC 4443 section 4.1).
    Request,
    /// Type 0, or 129 of ICMPv6 (RFC 4443 section 4.2).
    Reply,
}

impl EchoKind {
    /// Returns the type of the message in datagrams of this version. A translator replaces the one by the other (RFC 7915 sections 4.2 and 5.2).
    pub const fn message_type(self, version: IpVersion) -> u8 {
        match (self, version) {
            (Self::Request, IpVersion::V4) => 8,
            (Self::Reply, IpVersion::V4) => 0,
            (Self::Request, IpVersion::V6) => 128,
            (Self::Reply, IpVersion::V6) => 129,
        }
    }
}

/// An echo message, read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoView<'a> {
    octets: &'a [u8],
    kind: EchoKind,
    version: IpVersion,
}

impl<'a> EchoView<'a> {
    /// Views an echo message: the whole payload of an IPv4 datagram with protocol 1, or of an IPv6 datagram with next header 58.
    ///
    /// # Errors
    /// Fewer than 8 octets, a type that is not an echo's in this version, or a code other than 0.
    #[inline]
    pub fn new(octets: &'a [u8], version: IpVersion) -> Result<Self, WireError> {
        let (what, types) = match version {
            IpVersion::V4 => (WHAT, "8 or 0"),
            IpVersion::V6 => (WHAT_V6, "128 or 129"),
        };
        at_least(octets, HEADER_LEN, what)?;
        let kind = [EchoKind::Request, EchoKind::Reply]
            .into_iter()
            .find(|kind| kind.message_type(version) == octets[0]);
        must(kind.is_some(), what, "type", octets[0], types)?;
        must(octets[1] == 0, what, "code", octets[1], "0")?;
        Ok(Self {
            octets,
            kind: kind.unwrap_or(EchoKind::Reply),
            version,
        })
    }

    /// Returns the kind of the message: request or reply.
    pub fn kind(&self) -> EchoKind {
        self.kind
    }

    /// Returns the version whose type it has.
    pub fn version(&self) -> IpVersion {
        self.version
    }

    /// Returns the checksum as it was received.
    pub fn checksum(&self) -> u16 {
        be16(self.octets, 2)
    }

    /// Returns the identifier. A reply repeats that of its request, and a translator that shares addresses uses it like a port to tell
    /// subscribers apart (RFC 7597 section 8.2).
    pub fn identifier(&self) -> u16 {
        be16(self.octets, 4)
    }

    /// Returns the sequence number. A reply repeats that of its request.
    pub fn sequence(&self) -> u16 {
        be16(self.octets, 6)
    }

    /// Returns whether the checksum matches. `pseudo_header` is the partial sum that the IPv6 view returns; ICMP has none, so it is 0.
    pub fn is_checksum_right(&self, pseudo_header: u64) -> bool {
        checksum::is_right(pseudo_header + checksum::sum(self.octets))
    }

    /// Returns the octets after the header. A reply repeats those of its request.
    pub fn payload(&self) -> &'a [u8] {
        &self.octets[HEADER_LEN..]
    }
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoHeader {
    /// Request or reply.
    pub kind: EchoKind,
    /// The version of the datagram, which decides on the type.
    pub version: IpVersion,
    /// The checksum; see [`EchoHeader::with_checksum`].
    pub checksum: u16,
    /// The identifier.
    pub identifier: u16,
    /// The sequence number.
    pub sequence: u16,
}

impl EchoHeader {
    /// Returns the header with the checksum over itself, `payload` and the pseudo-header, whose partial sum is
    /// [`checksum::pseudo_header_ipv6`] (RFC 4443 section 2.3); for ICMP, 0.
    pub fn with_checksum(self, pseudo_header: u64, payload: &[u8]) -> Self {
        let blank = Self {
            checksum: 0,
            ..self
        };
        let header = checksum::sum(&blank.to_octets());
        Self {
            checksum: checksum::finish(pseudo_header + header + checksum::sum(payload)),
            ..blank
        }
    }

    /// Writes the header into the front of `buffer`, of at least [`HEADER_LEN`] octets.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[..HEADER_LEN].copy_from_slice(&self.to_octets());
    }

    /// Returns the header as one array, so that the send path writes it with one store.
    #[inline]
    pub fn to_octets(&self) -> [u8; HEADER_LEN] {
        let first =
            u64::from(self.kind.message_type(self.version)) << 56 | u64::from(self.checksum) << 32;
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
        let protocol = if self.version == IpVersion::V4 {
            "icmp"
        } else {
            "icmpv6"
        };
        write!(
            f,
            "{protocol} echo {kind} identifier {identifier} sequence {sequence} payload {}",
            self.payload().len()
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Ipv6View;
    use crate::octets::hex;

    /// From 2001:2::2 to 2001:2::1 and back, as sent by Linux: nine octets of payload.
    const QUESTION: &str = "600cb88400113a4020010002000000000000000000000002200100020000000000000000000000018000652f04d2000773697862656e636821";
    const ANSWER: &str = "60095ee500113a4020010002000000000000000000000001200100020000000000000000000000028100642f04d2000773697862656e636821";

    #[test]
    fn a_captured_question_and_its_answer_are_read_and_their_checksums_are_right() {
        for (digits, kind) in [(QUESTION, EchoKind::Request), (ANSWER, EchoKind::Reply)] {
            let octets = hex(digits);
            let ip = Ipv6View::new(&octets).unwrap();
            let echo = EchoView::new(ip.payload(), IpVersion::V6).unwrap();
            assert_eq!(
                (echo.kind(), echo.identifier(), echo.sequence()),
                (kind, 1234, 7)
            );
            assert_eq!(echo.payload(), b"sixbench!");
            assert!(echo.is_checksum_right(ip.pseudo_header()));
            assert!(!echo.is_checksum_right(ip.pseudo_header() + 1));
        }
    }

    #[test]
    fn an_echo_message_is_displayed_in_one_line() {
        let octets = hex(QUESTION);
        let echo = EchoView::new(&octets[40..], IpVersion::V6).unwrap();
        assert_eq!(
            echo.to_string(),
            "icmpv6 echo request identifier 1234 sequence 7 payload 9"
        );
    }

    #[test]
    fn what_is_emitted_is_what_was_captured() {
        for (digits, kind) in [(QUESTION, EchoKind::Request), (ANSWER, EchoKind::Reply)] {
            let octets = hex(digits);
            let pseudo_header = Ipv6View::new(&octets).unwrap().pseudo_header();
            // The checksum field's old value must not count.
            let header = EchoHeader {
                kind,
                version: IpVersion::V6,
                checksum: 0xbad,
                identifier: 1234,
                sequence: 7,
            };
            let mut buffer = [0xff; HEADER_LEN];
            header
                .with_checksum(pseudo_header, b"sixbench!")
                .emit(&mut buffer);
            assert_eq!(buffer, octets[40..48], "{kind}");
        }
    }

    #[test]
    fn other_messages_are_refused() {
        let refused = |octets: &[u8]| {
            EchoView::new(octets, IpVersion::V6)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(&[128; 7]),
            "icmpv6 echo message: 7 octets, at least 8 needed"
        );
        let solicitation = [135, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(
            refused(&solicitation),
            "icmpv6 echo message: type is 0x87, expected 128 or 129"
        );
        assert_eq!(
            refused(&[129, 1, 0, 0, 0, 0, 0, 0]),
            "icmpv6 echo message: code is 0x1, expected 0"
        );
        let of_ipv4 = EchoView::new(&[128, 0, 0, 0, 0, 0, 0, 0], IpVersion::V4)
            .unwrap_err()
            .to_string();
        assert_eq!(of_ipv4, "icmp echo message: type is 0x80, expected 8 or 0");
    }

    /// The messages alone: a request that Linux accepted, and its answer.
    const QUESTION_V4: &str = "08001d8404d2000773697862656e636821";
    const ANSWER_V4: &str = "0000258404d2000773697862656e636821";

    #[test]
    fn an_echo_over_ipv4_has_the_types_of_icmp_and_a_checksum_without_pseudo_header() {
        for (digits, kind) in [
            (QUESTION_V4, EchoKind::Request),
            (ANSWER_V4, EchoKind::Reply),
        ] {
            let octets = hex(digits);
            let echo = EchoView::new(&octets, IpVersion::V4).unwrap();
            assert_eq!(
                (
                    echo.kind(),
                    echo.version(),
                    echo.identifier(),
                    echo.sequence()
                ),
                (kind, IpVersion::V4, 1234, 7)
            );
            assert!(echo.is_checksum_right(0));
            let header = EchoHeader {
                kind,
                version: IpVersion::V4,
                checksum: 0xbad,
                identifier: 1234,
                sequence: 7,
            };
            assert_eq!(
                header.with_checksum(0, b"sixbench!").to_octets(),
                octets[..8],
                "{kind}"
            );
            assert_eq!(
                echo.to_string(),
                format!("icmp echo {kind} identifier 1234 sequence 7 payload 9")
            );
        }
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(mut octets in prop::collection::vec(any::<u8>(), 0..40), likely: bool) {
            if let (true, [kind, code, ..]) = (likely, &mut octets[..]) { (*kind, *code) = (*kind & 0x89, 0); }
            for view in [IpVersion::V4, IpVersion::V6].into_iter().filter_map(|version| EchoView::new(&octets, version).ok()) {
                let _ = (view.to_string(), view.is_checksum_right(0));
                prop_assert_eq!(view.payload().len() + HEADER_LEN, octets.len());
            }
        }
    }
}
