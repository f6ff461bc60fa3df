//! Error messages of ICMP (RFC 792) and ICMPv6 (RFC 4443 section 3): what a router or host says of a datagram that it did not deliver.
//!
//! Both protocols have the same layout: type, code, checksum, four octets whose meaning depends on the type, and the beginning of the datagram.

use std::fmt;

use crate::octets::{at_least, be16, be32, must};
use crate::{IpVersion, Tag, WireError, checksum, ipv6, protocol, udp};

/// Octets before the quoted datagram.
pub const HEADER_LEN: usize = 8;

const WHAT: &str = "icmp error message";
/// Octets of a fragment header of IPv6, which a translator may have put into the datagram.
const FRAGMENT_HEADER_LEN: usize = 8;
/// Headers that are followed in a quoted datagram: the outer one of a tunnel, the inner one, and a fragment header.
const MOST_HEADERS: usize = 3;

/// An error message, read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpErrorView<'a> {
    version: IpVersion,
    octets: &'a [u8],
}

impl<'a> IcmpErrorView<'a> {
    /// Views an error message: the whole payload of a datagram of this version, whose protocol is ICMP or ICMPv6.
    ///
    /// # Errors
    /// Fewer than 8 octets, or a message that reports no error: of ICMPv6 the types from 128 on (RFC 4443 section 2.1), of ICMP all but destination
    /// unreachable, source quench, redirect, time exceeded and parameter problem.
    pub fn new(version: IpVersion, octets: &'a [u8]) -> Result<Self, WireError> {
        at_least(octets, HEADER_LEN, WHAT)?;
        match version {
            IpVersion::V4 => must(
                matches!(octets[0], 3..=5 | 11 | 12),
                WHAT,
                "type",
                octets[0],
                "3, 4, 5, 11 or 12",
            )?,
            IpVersion::V6 => must(octets[0] < 128, WHAT, "type", octets[0], "0 to 127")?,
        }
        Ok(Self { version, octets })
    }

    /// Returns the version of the datagram that carries the message: ICMP or ICMPv6.
    pub fn version(&self) -> IpVersion {
        self.version
    }

    /// Returns the type.
    pub fn kind(&self) -> u8 {
        self.octets[0]
    }

    /// Returns the code, whose meaning depends on the type.
    pub fn code(&self) -> u8 {
        self.octets[1]
    }

    /// Returns the MTU of the next link in octets, where the datagram was too big: of ICMPv6 type 2 (RFC 4443 section 3.2), of ICMP type 3 code 4 (RFC
    /// 1191 section 4; 0 from routers that do not know of it). `None` of other messages.
    pub fn mtu(&self) -> Option<u32> {
        match (self.version, self.kind(), self.code()) {
            (IpVersion::V4, 3, 4) => Some(u32::from(be16(self.octets, 6))),
            (IpVersion::V6, 2, _) => Some(be32(self.octets, 4)),
            _ => None,
        }
    }

    /// Returns the octet of the datagram that has a parameter problem, counted from 0. `None` of other messages.
    pub fn pointer(&self) -> Option<u32> {
        match (self.version, self.kind()) {
            (IpVersion::V4, 12) => Some(u32::from(self.octets[4])),
            (IpVersion::V6, 4) => Some(be32(self.octets, 4)),
            _ => None,
        }
    }

    /// Returns the checksum as it was received.
    pub fn checksum(&self) -> u16 {
        be16(self.octets, 2)
    }

    /// Returns whether the checksum matches. `pseudo_header` is the partial sum that the IPv6 view returns; ICMP has none.
    pub fn is_checksum_right(&self, pseudo_header: u64) -> bool {
        let covered = if self.version == IpVersion::V6 {
            pseudo_header
        } else {
            0
        };
        checksum::is_right(covered + checksum::sum(self.octets))
    }

    /// Returns the quoted datagram, which may be cut anywhere.
    pub fn quoted(&self) -> &'a [u8] {
        &self.octets[HEADER_LEN..]
    }

    /// Returns the tag of the test frame that is quoted; `None` where the message quotes something else, or not enough of it.
    pub fn quoted_tag(&self) -> Option<Tag> {
        let mut rest = self.quoted();
        let mut next = match rest.first()? >> 4 {
            4 => protocol::IPV4,
            6 => protocol::IPV6,
            _ => return None,
        };
        // One step for each header, and one for the UDP or ICMP header with the tag. They are bounded, as a quoted IPv4 header may claim a length of 0
        // octets.
        for _ in 0..=MOST_HEADERS {
            let header_len;
            (next, header_len) = match next {
                protocol::IPV4 => (*rest.get(9)?, usize::from(rest[0] & 0x0f) * 4),
                protocol::IPV6 => (*rest.get(6)?, ipv6::HEADER_LEN),
                // A later fragment has no tag at this place; `Tag::read` checks the tag's own mark, so other octets are not taken for one.
                protocol::IPV6_FRAGMENT => (*rest.first()?, FRAGMENT_HEADER_LEN),
                // An echo has as many octets before its payload as UDP.
                protocol::UDP | protocol::ICMP | protocol::ICMPV6 => {
                    return Tag::read(rest.get(udp::HEADER_LEN..)?);
                }
                _ => return None,
            };
            rest = rest.get(header_len..)?;
        }
        None
    }
}

impl fmt::Display for IcmpErrorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.version == IpVersion::V4 {
            "icmp"
        } else {
            "icmpv6"
        };
        write!(f, "{name} error type {} code {}", self.kind(), self.code())?;
        self.mtu().map_or(Ok(()), |mtu| write!(f, " mtu {mtu}"))?;
        self.pointer()
            .map_or(Ok(()), |pointer| write!(f, " pointer {pointer}"))?;
        write!(f, " quoted {}", self.quoted().len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::octets::hex;
    use crate::{Ipv4View, Ipv6View};

    /// What Linux answered to a test frame from 2001:2::2 port 4000 to port 9: a prohibiting route, no route, and a hop limit of 1.
    const PROHIBITED: &str = "600c8ade004a3a4020010002000000000000000000000001200100020000000000000000000000020101dd5000000000600645e2001a114020010002000000000000000000000002200100020000800000000000000000020fa00009001ac035366263680000000000070000000000000009";
    const NO_ROUTE: &str = "6001fdcd004a3a40200100020000000000000000000000012001000200000000000000000000000201004d61000000006005d5d2001a114020010002000000000000000000000002200100030000000000000000000000020fa00009001a4036366263680000000000070000000000000009";
    const HOP_LIMIT: &str = "600f7e02004a3a4020010002000000000000000000000001200100020000000000000000000000020300e2df0000000060013e95001a110120010002000000000000000000000002200100040000000000000000000000020fa00009001a4037366263680000000000070000000000000009";
    /// The same over IPv4: a link with an MTU of 100, and a prohibiting route.
    const FRAGMENTATION_NEEDED: &str = "45c000865b0b000040019284c6120001c61200020304c62c000000644500006a000040004011ae59c6120002c61300020fa0000900568c91366263680000000000070000000000000009000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";
    const FILTERED: &str = "45c0004a5b0c0000400192bfc6120001c6120002030dc6fe000000004500002ed1fd40004011dc96c6120002c61400020fa00009001a8c56366263680000000000070000000000000009";

    /// Returns the message that was captured, and whether its checksum is right.
    fn captured(digits: &str) -> (String, bool, Option<Tag>) {
        let octets = hex(digits);
        let (message, pseudo_header) = if octets[0] >> 4 == 4 {
            (
                IcmpErrorView::new(IpVersion::V4, Ipv4View::new(&octets).unwrap().payload())
                    .unwrap(),
                0,
            )
        } else {
            let ip = Ipv6View::new(&octets).unwrap();
            (
                IcmpErrorView::new(IpVersion::V6, ip.payload()).unwrap(),
                ip.pseudo_header(),
            )
        };
        (
            message.to_string(),
            message.is_checksum_right(pseudo_header),
            message.quoted_tag(),
        )
    }

    #[test]
    fn what_linux_answers_is_read_and_names_the_frame_it_quotes() {
        let frame = Some(Tag {
            stream: 0,
            sequence: 7,
            time_ns: 9,
        });
        for (digits, words) in [
            (PROHIBITED, "icmpv6 error type 1 code 1 quoted 66"),
            (NO_ROUTE, "icmpv6 error type 1 code 0 quoted 66"),
            (HOP_LIMIT, "icmpv6 error type 3 code 0 quoted 66"),
            (
                FRAGMENTATION_NEEDED,
                "icmp error type 3 code 4 mtu 100 quoted 106",
            ),
            (FILTERED, "icmp error type 3 code 13 quoted 46"),
        ] {
            assert_eq!(captured(digits), (words.to_owned(), true, frame), "{words}");
        }
    }

    #[test]
    fn a_damaged_message_has_a_wrong_checksum() {
        let mut octets = hex(PROHIBITED);
        octets[41] ^= 1;
        let ip = Ipv6View::new(&octets).unwrap();
        let message = IcmpErrorView::new(IpVersion::V6, ip.payload()).unwrap();
        assert!(!message.is_checksum_right(ip.pseudo_header()));
    }

    #[test]
    fn a_quote_that_was_cut_before_the_tag_or_is_of_something_else_names_no_frame() {
        let octets = hex(PROHIBITED);
        for length in 48..octets.len() {
            let cut = IcmpErrorView::new(IpVersion::V6, &octets[40..length]).unwrap();
            assert_eq!(cut.quoted_tag(), None, "{length}");
        }
        let mut of_tcp = octets[40..].to_vec();
        of_tcp[8 + 6] = 6;
        assert_eq!(
            IcmpErrorView::new(IpVersion::V6, &of_tcp)
                .unwrap()
                .quoted_tag(),
            None
        );
    }

    #[test]
    fn the_frame_is_also_found_in_a_tunnel_and_behind_a_fragment_header() {
        let inner = &hex(FILTERED)[28..];
        let mut outer = vec![0x60, 0, 0, 0, 0, 46, protocol::IPV4, 64];
        outer.resize(40, 0);
        let in_tunnel = [&[1, 0, 0, 0, 0, 0, 0, 0][..], &outer, inner].concat();
        assert!(
            IcmpErrorView::new(IpVersion::V6, &in_tunnel)
                .unwrap()
                .quoted_tag()
                .is_some()
        );
        let quoted = &hex(NO_ROUTE)[48..];
        let mut header = quoted[..40].to_vec();
        header[6] = protocol::IPV6_FRAGMENT;
        let fragment = [protocol::UDP, 0, 0, 1, 0, 0, 0, 7];
        let fragmented = [
            &[1, 0, 0, 0, 0, 0, 0, 0][..],
            &header,
            &fragment,
            &quoted[40..],
        ]
        .concat();
        assert!(
            IcmpErrorView::new(IpVersion::V6, &fragmented)
                .unwrap()
                .quoted_tag()
                .is_some()
        );
    }

    #[test]
    fn messages_that_report_no_error_are_refused() {
        let refused =
            |version, octets: &[u8]| IcmpErrorView::new(version, octets).unwrap_err().to_string();
        assert_eq!(
            refused(IpVersion::V4, &[3; 7]),
            "icmp error message: 7 octets, at least 8 needed"
        );
        let echo = [8, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(
            refused(IpVersion::V4, &echo),
            "icmp error message: type is 0x8, expected 3, 4, 5, 11 or 12"
        );
        let advertisement = [136, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(
            refused(IpVersion::V6, &advertisement),
            "icmp error message: type is 0x88, expected 0 to 127"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..120), first in 0u8..70, is_six: bool) {
            let version = if is_six { IpVersion::V6 } else { IpVersion::V4 };
            let mut octets = octets;
            if let Some(quoted) = octets.get_mut(8) { *quoted = first | 0x40; }
            if let Ok(message) = IcmpErrorView::new(version, &octets) {
                let _ = (message.to_string(), message.quoted_tag(), message.is_checksum_right(0));
            }
        }
    }
}
