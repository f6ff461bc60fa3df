//! Neighbour discovery for IPv6 over Ethernet (RFC 4861): solicitations and advertisements, as whole frames.
//!
//! The tester only asks for the DUT's link-layer address and answers for its own: there is no router discovery and there are no redirects.

use std::fmt;
use std::net::Ipv6Addr;

use crate::ethernet::{self, EtherType, EthernetHeader, EthernetView};
use crate::octets::{array, at_least, must};
use crate::{Ipv6Header, Ipv6View, MacAddress, WireError, checksum, ipv6, protocol};

/// Octets of a frame as built: with the link-layer address option, without the frame check sequence.
pub const FRAME_LEN: usize = ICMP_AT + MESSAGE_LEN + OPTION_LEN;

const ICMP_AT: usize = ethernet::HEADER_LEN + ipv6::HEADER_LEN;
/// Type, code, checksum, flags and target; options follow.
const MESSAGE_LEN: usize = 24;
const OPTION_LEN: usize = 8;
const WHAT: &str = "neighbour discovery message";

const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
const SOURCE_LINK_LAYER: u8 = 1;
const TARGET_LINK_LAYER: u8 = 2;

const ROUTER: u8 = 0x80;
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;

/// All nodes of the link (RFC 4291 section 2.7.1).
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// Returns the group that a solicitation for `target` is sent to: ff02::1:ff00:0/104 and the target's last 24 bits (RFC 4291 section
/// 2.7.1).
pub const fn solicited_node(target: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = target.octets();
    let (upper, lower) = (0xff00 | a as u16, (b as u16) << 8 | c as u16);
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, upper, lower)
}

/// Returns the hardware address of that group (RFC 2464 section 7).
pub const fn solicited_node_mac(target: Ipv6Addr) -> MacAddress {
    MacAddress::multicast(solicited_node(target))
}

/// "Who has `target`?" (RFC 4861 section 4.3)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solicitation {
    /// The Ethernet source of the frame.
    pub src_mac: MacAddress,
    /// The Ethernet destination of the frame.
    pub dst_mac: MacAddress,
    /// The sender; unspecified (`::`) for duplicate address detection.
    pub src: Ipv6Addr,
    /// The target's solicited-node group, or the target itself when its reachability is probed.
    pub dst: Ipv6Addr,
    /// The address asked for.
    pub target: Ipv6Addr,
    /// The source link-layer address option.
    pub source_mac: Option<MacAddress>,
}

/// "`target` is at `target_mac`." (RFC 4861 section 4.4)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advertisement {
    /// The Ethernet source of the frame.
    pub src_mac: MacAddress,
    /// The Ethernet destination of the frame.
    pub dst_mac: MacAddress,
    /// The sender.
    pub src: Ipv6Addr,
    /// The address of the node that asked, or all nodes.
    pub dst: Ipv6Addr,
    /// The address that is advertised.
    pub target: Ipv6Addr,
    /// True if the sender is a router.
    pub is_router: bool,
    /// True if it answers a solicitation that came from a specified address.
    pub is_solicited: bool,
    /// True if it is to replace the receiver's cache entry.
    pub is_override: bool,
    /// The target link-layer address option, which the answer to a unicast solicitation may omit.
    pub target_mac: Option<MacAddress>,
}

/// The message of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NdpMessage {
    /// Asks for an address.
    Solicitation(Solicitation),
    /// Answers a solicitation.
    Advertisement(Advertisement),
}

impl NdpMessage {
    /// Parses a whole frame and validates it as RFC 4861 sections 7.1.1 and 7.1.2 require.
    ///
    /// # Errors
    /// Any other frame, a wrong checksum, a hop limit other than 255, or a message that those sections say to discard.
    pub fn parse(frame: &[u8]) -> Result<Self, WireError> {
        let ethernet = EthernetView::new(frame)?;
        let ether_type = ethernet.ether_type();
        must(
            ether_type == EtherType::IPV6,
            WHAT,
            "ethertype",
            ether_type.0,
            "0x86dd",
        )?;
        let ip = Ipv6View::new(ethernet.payload())?;
        let kind = check(&ip)?;
        match kind {
            SOLICITATION => Solicitation::read(&ethernet, &ip).map(Self::Solicitation),
            _ => Advertisement::read(&ethernet, &ip).map(Self::Advertisement),
        }
    }
}

/// Checks what both messages have in common, and returns the ICMPv6 type, which is one of the two.
fn check(ip: &Ipv6View<'_>) -> Result<u8, WireError> {
    let next = ip.next_header();
    must(next == protocol::ICMPV6, WHAT, "next header", next, "58")?;
    let message = ip.payload();
    at_least(message, MESSAGE_LEN, WHAT)?;
    let kind = message[0];
    must(
        matches!(kind, SOLICITATION | ADVERTISEMENT),
        WHAT,
        "type",
        kind,
        "135 or 136",
    )?;
    // A message with any other value may have passed a router, so it need not be a neighbour's (RFC 4861 section 7.1.1).
    must(
        ip.hop_limit() == 255,
        WHAT,
        "hop limit",
        ip.hop_limit(),
        "255",
    )?;
    must(message[1] == 0, WHAT, "code", message[1], "0")?;
    if !checksum::is_right(ip.pseudo_header() + checksum::sum(message)) {
        return Err(WireError::Checksum { what: WHAT });
    }
    // Otherwise the answer would go to a group (RFC 4291 section 2.7).
    must(
        !ip.src().is_multicast(),
        WHAT,
        "source's first octet",
        ip.src().octets()[0],
        "a unicast address",
    )?;
    must(
        message[8] != 0xff,
        WHAT,
        "target's first octet",
        message[8],
        "a unicast address",
    )?;
    Ok(kind)
}

fn target(ip: &Ipv6View<'_>) -> Ipv6Addr {
    array::<16>(ip.payload(), 8).into()
}

/// Returns the Ethernet address in the option of this kind. Other options are skipped; one of length zero invalidates the message (RFC 4861
/// section 4.6).
fn link_layer_option(ip: &Ipv6View<'_>, kind: u8) -> Result<Option<MacAddress>, WireError> {
    let mut rest = &ip.payload()[MESSAGE_LEN..];
    let mut found = None;
    while !rest.is_empty() {
        at_least(rest, OPTION_LEN, "neighbour discovery option")?;
        let len = usize::from(rest[1]) * 8;
        must(len > 0, WHAT, "option length", rest[1], "1 or more")?;
        at_least(rest, len, "neighbour discovery option")?;
        if rest[0] == kind && len == OPTION_LEN {
            found = found.or(Some(MacAddress(array(rest, 2))));
        }
        rest = &rest[len..];
    }
    Ok(found)
}

/// The addresses and content that solicitations and advertisements have in common.
struct NdpParts {
    macs: (MacAddress, MacAddress),
    addresses: (Ipv6Addr, Ipv6Addr),
    kind: u8,
    flags: u8,
    target: Ipv6Addr,
    option: (u8, Option<MacAddress>),
}

impl NdpParts {
    /// Returns the whole frame, which is 8 octets shorter without the option.
    fn to_frame(&self) -> Vec<u8> {
        let option_len = if self.option.1.is_some() {
            OPTION_LEN
        } else {
            0
        };
        let mut frame = vec![0; ICMP_AT + MESSAGE_LEN + option_len];
        let ((src_mac, dst_mac), ether_type) = (self.macs, EtherType::IPV6);
        EthernetHeader {
            dst: dst_mac,
            src: src_mac,
            ether_type,
        }
        .emit(&mut frame);
        self.header(option_len)
            .emit(&mut frame[ethernet::HEADER_LEN..]);
        let message = &mut frame[ICMP_AT..];
        message[0] = self.kind;
        message[4] = self.flags;
        message[8..24].copy_from_slice(&self.target.octets());
        if let (kind, Some(mac)) = self.option {
            message[24..26].copy_from_slice(&[kind, 1]);
            message[26..32].copy_from_slice(&mac.0);
        }
        let checksum = checksum::finish(self.pseudo_header(message) + checksum::sum(message));
        message[2..4].copy_from_slice(&checksum.to_be_bytes());
        frame
    }

    fn header(&self, option_len: usize) -> Ipv6Header {
        Ipv6Header {
            traffic_class: 0,
            flow_label: 0,
            payload_len: (MESSAGE_LEN + option_len) as u16,
            next_header: protocol::ICMPV6,
            hop_limit: 255,
            src: self.addresses.0,
            dst: self.addresses.1,
        }
    }

    fn pseudo_header(&self, message: &[u8]) -> u64 {
        let (src, dst) = self.addresses;
        checksum::pseudo_header_ipv6(src, dst, protocol::ICMPV6, message.len() as u32)
    }
}

impl Solicitation {
    /// Returns the solicitation sent to the solicited-node group of `target`.
    pub fn multicast(src_mac: MacAddress, src: Ipv6Addr, target: Ipv6Addr) -> Self {
        let (dst, dst_mac) = (solicited_node(target), solicited_node_mac(target));
        Self {
            src_mac,
            dst_mac,
            src,
            dst,
            target,
            source_mac: Some(src_mac),
        }
    }

    /// Returns the solicitation that checks whether `target` is still reachable at `dst_mac` (RFC 4861 section 7.3).
    pub fn unicast(
        src_mac: MacAddress,
        src: Ipv6Addr,
        target: Ipv6Addr,
        dst_mac: MacAddress,
    ) -> Self {
        Self {
            src_mac,
            dst_mac,
            src,
            dst: target,
            target,
            source_mac: Some(src_mac),
        }
    }

    /// Returns the advertisement of a host (not a router): "`mac` has the address you asked for" (RFC 4861 section 7.2.4).
    pub fn advertise(&self, mac: MacAddress) -> Advertisement {
        // A sender that uses the unspecified address is detecting duplicates and cannot be answered by unicast.
        let anonymous = self.src.is_unspecified();
        let asker = (self.src, self.source_mac.unwrap_or(self.src_mac));
        let (dst, dst_mac) = if anonymous {
            (ALL_NODES, MacAddress::multicast(ALL_NODES))
        } else {
            asker
        };
        Advertisement {
            src_mac: mac,
            dst_mac,
            src: self.target,
            dst,
            target: self.target,
            is_router: false,
            is_solicited: !anonymous,
            is_override: true,
            target_mac: Some(mac),
        }
    }

    /// Builds the whole frame, of [`FRAME_LEN`] octets with the option.
    pub fn to_frame(&self) -> Vec<u8> {
        NdpParts {
            macs: (self.src_mac, self.dst_mac),
            addresses: (self.src, self.dst),
            kind: SOLICITATION,
            flags: 0,
            target: self.target,
            option: (SOURCE_LINK_LAYER, self.source_mac),
        }
        .to_frame()
    }

    fn read(ethernet: &EthernetView<'_>, ip: &Ipv6View<'_>) -> Result<Self, WireError> {
        let (src, dst, target) = (ip.src(), ip.dst(), target(ip));
        let source_mac = link_layer_option(ip, SOURCE_LINK_LAYER)?;
        if src.is_unspecified() {
            must(
                dst == solicited_node(target),
                WHAT,
                "destination",
                dst.octets()[0],
                "the solicited-node group",
            )?;
            must(
                source_mac.is_none(),
                WHAT,
                "source option",
                1u8,
                "none from the unspecified address",
            )?;
        }
        Ok(Self {
            src_mac: ethernet.src(),
            dst_mac: ethernet.dst(),
            src,
            dst,
            target,
            source_mac,
        })
    }
}

impl Advertisement {
    /// Builds the whole frame, of [`FRAME_LEN`] octets with the option.
    pub fn to_frame(&self) -> Vec<u8> {
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let flags = flag(self.is_router, ROUTER)
            | flag(self.is_solicited, SOLICITED)
            | flag(self.is_override, OVERRIDE);
        NdpParts {
            macs: (self.src_mac, self.dst_mac),
            addresses: (self.src, self.dst),
            kind: ADVERTISEMENT,
            flags,
            target: self.target,
            option: (TARGET_LINK_LAYER, self.target_mac),
        }
        .to_frame()
    }

    fn read(ethernet: &EthernetView<'_>, ip: &Ipv6View<'_>) -> Result<Self, WireError> {
        let flags = ip.payload()[4];
        let is_solicited = flags & SOLICITED != 0;
        let lonely = !(ip.dst().is_multicast() && is_solicited);
        must(
            lonely,
            WHAT,
            "solicited flag",
            1u8,
            "0 to a multicast destination",
        )?;
        Ok(Self {
            src_mac: ethernet.src(),
            dst_mac: ethernet.dst(),
            src: ip.src(),
            dst: ip.dst(),
            target: target(ip),
            is_router: flags & ROUTER != 0,
            is_solicited,
            is_override: flags & OVERRIDE != 0,
            target_mac: link_layer_option(ip, TARGET_LINK_LAYER)?,
        })
    }
}

impl fmt::Display for NdpMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solicitation(s) => write!(f, "nd who has {}? tell {}", s.target, s.src),
            Self::Advertisement(a) => {
                write!(
                    f,
                    "nd {} is at {}",
                    a.target,
                    a.target_mac.unwrap_or(a.src_mac)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests;
