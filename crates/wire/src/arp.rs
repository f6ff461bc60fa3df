//! The Address Resolution Protocol for IPv4 over Ethernet (RFC 826), as whole frames.

use std::fmt;
use std::net::Ipv4Addr;

use crate::ethernet::{self, EtherType, EthernetHeader, EthernetView};
use crate::octets::{array, at_least, be16, must};
use crate::{MacAddress, WireError};

/// Octets of a frame as built: padded to Ethernet's minimum, without the frame check sequence.
pub const FRAME_LEN: usize = ethernet::MINIMUM_LEN;

const MESSAGE_LEN: usize = 28;
const WHAT: &str = "arp message";
/// Hardware Ethernet, protocol IPv4, address lengths 6 and 4.
const ETHERNET_IPV4: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// The kind of a message: request or reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Who has the target address?
    Request = 1,
    /// The sender has the sender address.
    Reply = 2,
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arp {
    /// Request or reply.
    pub operation: Operation,
    /// The hardware address of the sender.
    pub sender_mac: MacAddress,
    /// The sender's address; 0.0.0.0 in a probe (RFC 5227).
    pub sender: Ipv4Addr,
    /// The hardware address of the receiver; zero in a request.
    pub target_mac: MacAddress,
    /// The address asked for, or the receiver's.
    pub target: Ipv4Addr,
}

impl Arp {
    /// Returns the request "who has `target`?"
    pub fn request(sender_mac: MacAddress, sender: Ipv4Addr, target: Ipv4Addr) -> Self {
        let target_mac = MacAddress::default();
        Self {
            operation: Operation::Request,
            sender_mac,
            sender,
            target_mac,
            target,
        }
    }

    /// Returns the reply to this request: "`mac` has the address you asked for".
    pub fn reply(&self, mac: MacAddress) -> Self {
        Self {
            operation: Operation::Reply,
            sender_mac: mac,
            sender: self.target,
            target_mac: self.sender_mac,
            target: self.sender,
        }
    }

    /// Parses a whole frame, padded or not.
    ///
    /// # Errors
    /// A frame that is too short, of another EtherType, not IPv4 over Ethernet, or an operation other than request and reply.
    pub fn parse(frame: &[u8]) -> Result<Self, WireError> {
        let ethernet = EthernetView::new(frame)?;
        let ether_type = ethernet.ether_type();
        must(
            ether_type == EtherType::ARP,
            WHAT,
            "ethertype",
            ether_type.0,
            "0x0806",
        )?;
        let message = ethernet.payload();
        at_least(message, MESSAGE_LEN, WHAT)?;
        must(
            message[..2] == ETHERNET_IPV4[..2],
            WHAT,
            "hardware type",
            be16(message, 0),
            "1",
        )?;
        must(
            message[2..4] == ETHERNET_IPV4[2..4],
            WHAT,
            "protocol type",
            be16(message, 2),
            "0x0800",
        )?;
        must(
            message[4..6] == ETHERNET_IPV4[4..],
            WHAT,
            "address lengths",
            be16(message, 4),
            "0x604",
        )?;
        Ok(Self {
            operation: operation(be16(message, 6))?,
            sender_mac: MacAddress(array(message, 8)),
            sender: array(message, 14).into(),
            target_mac: MacAddress(array(message, 18)),
            target: array(message, 24).into(),
        })
    }

    /// Builds the whole frame: a request is broadcast, a reply is unicast to its target.
    pub fn to_frame(&self) -> [u8; FRAME_LEN] {
        let dst = match self.operation {
            Operation::Request => MacAddress::BROADCAST,
            Operation::Reply => self.target_mac,
        };
        let mut frame = [0; FRAME_LEN];
        EthernetHeader {
            dst,
            src: self.sender_mac,
            ether_type: EtherType::ARP,
        }
        .emit(&mut frame);
        let message = &mut frame[ethernet::HEADER_LEN..];
        message[0..6].copy_from_slice(&ETHERNET_IPV4);
        message[6..8].copy_from_slice(&(self.operation as u16).to_be_bytes());
        message[8..14].copy_from_slice(&self.sender_mac.0);
        message[14..18].copy_from_slice(&self.sender.octets());
        message[18..24].copy_from_slice(&self.target_mac.0);
        message[24..28].copy_from_slice(&self.target.octets());
        frame
    }
}

fn operation(code: u16) -> Result<Operation, WireError> {
    must(
        matches!(code, 1 | 2),
        WHAT,
        "operation",
        code,
        "1 (request) or 2 (reply)",
    )?;
    Ok(if code == 1 {
        Operation::Request
    } else {
        Operation::Reply
    })
}

impl fmt::Display for Arp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            Operation::Request => write!(f, "arp who has {}? tell {}", self.target, self.sender),
            Operation::Reply => write!(f, "arp {} is at {}", self.sender, self.sender_mac),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Octets of a frame before padding: Ethernet header and message.
    const UNPADDED_LEN: usize = ethernet::HEADER_LEN + MESSAGE_LEN;
    use crate::octets::hex;

    /// Between 198.18.0.2 (02:..:02) and 198.18.0.1 (02:..:01), as Linux sent them.
    const REQUEST: &str =
        "ffffffffffff02000000000208060001080006040001020000000002c6120002000000000000c6120001";
    const REPLY: &str =
        "02000000000202000000000108060001080006040002020000000001c6120001020000000002c6120002";
    const MAC_1: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const MAC_2: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    #[test]
    fn a_request_is_built_as_linux_builds_it_and_padded() {
        let (own, asked) = (Ipv4Addr::new(198, 18, 0, 2), Ipv4Addr::new(198, 18, 0, 1));
        let frame = Arp::request(MAC_2, own, asked).to_frame();
        assert_eq!(frame[..UNPADDED_LEN], hex(REQUEST));
        assert_eq!(frame[UNPADDED_LEN..], [0; 18]);
    }

    #[test]
    fn a_captured_request_is_answered_as_linux_answered_it() {
        let request = Arp::parse(&hex(REQUEST)).unwrap();
        assert_eq!(
            request.to_string(),
            "arp who has 198.18.0.1? tell 198.18.0.2"
        );
        let reply = request.reply(MAC_1);
        assert_eq!(reply.to_string(), "arp 198.18.0.1 is at 02:00:00:00:00:01");
        assert_eq!(reply.to_frame()[..UNPADDED_LEN], hex(REPLY));
    }

    #[test]
    fn a_padded_frame_is_read_like_a_bare_one() {
        let reply = Arp::parse(&hex(REPLY)).unwrap();
        assert_eq!(Arp::parse(&reply.to_frame()), Ok(reply));
    }

    #[test]
    fn what_is_not_ipv4_over_ethernet_is_refused() {
        let broken = |at: usize, octet: u8| {
            let mut frame = hex(REPLY);
            frame[at] = octet;
            Arp::parse(&frame).unwrap_err().to_string()
        };
        assert_eq!(
            broken(13, 0),
            "arp message: ethertype is 0x800, expected 0x0806"
        );
        assert_eq!(
            broken(15, 6),
            "arp message: hardware type is 0x6, expected 1"
        );
        assert_eq!(
            broken(17, 1),
            "arp message: protocol type is 0x801, expected 0x0800"
        );
        assert_eq!(
            broken(18, 8),
            "arp message: address lengths is 0x804, expected 0x604"
        );
        assert_eq!(
            broken(21, 3),
            "arp message: operation is 0x3, expected 1 (request) or 2 (reply)"
        );
        let short = Arp::parse(&hex(REPLY)[..41]).unwrap_err().to_string();
        assert_eq!(short, "arp message: 27 octets, at least 28 needed");
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(tail in prop::collection::vec(any::<u8>(), 0..60), keep in 0usize..42) {
            let mut frame = hex(REPLY)[..keep].to_vec();
            frame.extend(tail);
            if let Ok(arp) = Arp::parse(&frame) {
                prop_assert_eq!(Arp::parse(&arp.to_frame()), Ok(arp));
            }
        }
    }
}
