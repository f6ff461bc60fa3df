//! Ethernet II frames, without preamble and frame check sequence.

use std::fmt;

use crate::octets::{array, at_least, be16};
use crate::{MacAddress, WireError};

/// Octets of an Ethernet II header.
pub const HEADER_LEN: usize = 14;
/// Octets of the destination and source address, which come first.
pub const ADDRESSES_LEN: usize = 12;
/// Octets of a VLAN tag (IEEE 802.1Q).
pub const VLAN_TAG_LEN: usize = 4;
/// Octets of the shortest frame, without its frame check sequence (IEEE 802.3: 64 with it).
pub const MINIMUM_LEN: usize = 60;

const WHAT: &str = "ethernet header";

/// The protocol of a frame's payload (IANA "EtherTypes").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4 (RFC 894).
    pub const IPV4: Self = Self(0x0800);
    /// ARP (RFC 826).
    pub const ARP: Self = Self(0x0806);
    /// IPv6 (RFC 2464).
    pub const IPV6: Self = Self(0x86dd);
    /// A customer's VLAN tag (IEEE 802.1Q).
    pub const VLAN: Self = Self(0x8100);
    /// A provider's VLAN tag (IEEE 802.1ad).
    pub const PROVIDER_VLAN: Self = Self(0x88a8);
}

impl fmt::Display for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::IPV4 => f.write_str("ipv4"),
            Self::ARP => f.write_str("arp"),
            Self::IPV6 => f.write_str("ipv6"),
            Self::VLAN => f.write_str("vlan"),
            Self::PROVIDER_VLAN => f.write_str("provider-vlan"),
            Self(other) => write!(f, "{other:#06x}"),
        }
    }
}

/// A frame, read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EthernetView<'a>(&'a [u8]);

impl<'a> EthernetView<'a> {
    /// Views a whole frame.
    ///
    /// # Errors
    /// Fewer than [`HEADER_LEN`] octets.
    #[inline]
    pub fn new(frame: &'a [u8]) -> Result<Self, WireError> {
        at_least(frame, HEADER_LEN, WHAT)?;
        Ok(Self(frame))
    }

    /// Returns the station the frame is for.
    pub fn dst(&self) -> MacAddress {
        MacAddress(array(self.0, 0))
    }

    /// Returns the station that sent the frame.
    pub fn src(&self) -> MacAddress {
        MacAddress(array(self.0, 6))
    }

    /// Returns the protocol of the payload; below 0x0600 it is an IEEE 802.3 length.
    #[inline]
    pub fn ether_type(&self) -> EtherType {
        EtherType(be16(self.0, 12))
    }

    /// Returns all octets after the header, padding included.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }
}

/// The part of a frame that follows its addresses, without its VLAN tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Untagged<'a> {
    /// The VLAN of the tag, 0 to 4095; `None` for a frame without a tag.
    pub vlan: Option<u16>,
    /// The protocol of the payload.
    pub ether_type: EtherType,
    /// All octets after the header and the tag, padding included.
    pub payload: &'a [u8],
}

impl<'a> EthernetView<'a> {
    /// Returns the frame without its outermost VLAN tag.
    #[inline]
    pub fn untagged(&self) -> Untagged<'a> {
        let (ether_type, payload) = (self.ether_type(), self.payload());
        match ether_type {
            EtherType::VLAN | EtherType::PROVIDER_VLAN if payload.len() >= VLAN_TAG_LEN => {
                Untagged {
                    vlan: Some(be16(payload, 0) & 0x0fff),
                    ether_type: EtherType(be16(payload, 2)),
                    payload: &payload[VLAN_TAG_LEN..],
                }
            }
            _ => Untagged {
                vlan: None,
                ether_type,
                payload,
            },
        }
    }
}

/// The fields of an Ethernet II header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EthernetHeader {
    /// The station the frame is for.
    pub dst: MacAddress,
    /// The station that sends the frame.
    pub src: MacAddress,
    /// The protocol of the payload.
    pub ether_type: EtherType,
}

impl EthernetHeader {
    /// Writes the header into the front of `buffer`, of at least [`HEADER_LEN`] octets.
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[0..6].copy_from_slice(&self.dst.0);
        buffer[6..12].copy_from_slice(&self.src.0);
        buffer[12..14].copy_from_slice(&self.ether_type.0.to_be_bytes());
    }
}

impl fmt::Display for EthernetView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (src, dst, ether_type) = (self.src(), self.dst(), self.ether_type());
        write!(f, "{src} > {dst} {ether_type} frame {}", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::octets::hex;

    const HEADER: &str = "020000000001020000000002" /* dst, src */;

    #[test]
    fn a_header_is_read_field_by_field() {
        let frame = hex(&format!("{HEADER}0800abcd"));
        let view = EthernetView::new(&frame).unwrap();
        assert_eq!(
            view.to_string(),
            "02:00:00:00:00:02 > 02:00:00:00:00:01 ipv4 frame 16"
        );
        assert_eq!(view.payload(), [0xab, 0xcd]);
    }

    #[test]
    fn what_is_emitted_is_what_was_read() {
        let frame = hex(&format!("{HEADER}86dd"));
        let view = EthernetView::new(&frame).unwrap();
        let header = EthernetHeader {
            dst: view.dst(),
            src: view.src(),
            ether_type: view.ether_type(),
        };
        let mut buffer = [0; HEADER_LEN];
        header.emit(&mut buffer);
        assert_eq!(buffer, *frame);
    }

    #[test]
    fn a_short_frame_is_refused() {
        let error = EthernetView::new(&[0; 13]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ethernet header: 13 octets, at least 14 needed"
        );
    }
}
