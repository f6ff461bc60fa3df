//! Mapping rules of MAP-E (RFC 7597) and MAP-T (RFC 7599), which are the same.

use std::fmt;
use std::net::Ipv4Addr;

use super::numbers::Numbers;
use super::{AddressRule, BitField, PortRule, RuleError};
use crate::{Prefix4, Prefix6};

/// A basic or forwarding mapping rule (RFC 7597 section 5). The subscriber's number is its EA bits.
///
/// Depending on the EA bits a subscriber has a port set of an address that it shares, a whole address, or a whole IPv4 prefix.
/// Of a prefix [`MapRule::ipv4`] gives the first address, as the interface identifier holds that.
///
/// End-user IPv6 prefixes are at most /64 here, so that the prefix never overwrites the interface identifier. The CE's prefix
/// is taken to end where the EA bits do: a longer one, with a subnet of the operator's between, is not a function of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MapRule {
    ipv6: Prefix6,
    ipv4: Prefix4,
    ea_bits: u8,
    psid_offset: u8,
    psid_len: u8,
    /// The PSID of the one subscriber whose PSID is not in its EA bits.
    provisioned: Option<u16>,
    numbers: Numbers,
}

impl MapRule {
    /// The default PSID offset, which leaves out the system ports (RFC 7597 section 5.1).
    pub const DEFAULT_PSID_OFFSET: u8 = 6;

    /// A rule whose subscribers are all values of the EA bits.
    ///
    /// With PSID offset 0 no port is left out, and PSIDs whose ports are the system ports (0 to 1023)
    /// are subscribers like others: begin after them with [`MapRule::numbered`] where one address is
    /// shared, or choose an offset above 0. The offset says nothing where no address is shared.
    ///
    /// # Errors
    /// End-user prefixes longer than /64; more EA bits than the IPv4 suffix and a PSID of 16 bits
    /// less the offset can use; a PSID offset beyond 15; a PSID of 16 bits.
    pub fn new(ipv6: Prefix6, ipv4: Prefix4, ea_bits: u8, psid_offset: u8) -> Result<Self, RuleError> {
        if psid_offset > 15 {
            return Err(RuleError::PsidOffset { offset: psid_offset });
        }
        let (suffix, room) = (32 - ipv4.len(), 16 - psid_offset);
        if ea_bits > suffix + room {
            return Err(RuleError::EaBits { ea_bits, ipv4, suffix, offset: psid_offset, room });
        }
        if ipv6.len() > 64 || ea_bits > 64 - ipv6.len() {
            return Err(RuleError::PrefixTooLong { what: "rule IPv6 prefix", prefix: ipv6, bits: ea_bits });
        }
        let psid_len = ea_bits.saturating_sub(suffix);
        PortRule::new(psid_offset, psid_len, 0, 0)?;
        let numbers = Numbers::all(1 << ea_bits);
        Ok(Self { ipv6, ipv4, ea_bits, psid_offset, psid_len, provisioned: None, numbers })
    }

    /// The rule of one subscriber without EA bits, which was told its address and PSID otherwise, by DHCPv6 say (RFC 7597
    /// section 5.2 and appendix A, example 5). Without a PSID, `psid_len` 0, that is [`MapRule::new`] of a /32 and no EA bits.
    ///
    /// # Errors
    /// An end-user prefix longer than /64; a PSID that does not fit into its length; a PSID offset
    /// and length that do not fit into a port.
    pub fn provisioned(end_user: Prefix6, ipv4: Ipv4Addr, psid_offset: u8, psid_len: u8, psid: u16) -> Result<Self, RuleError> {
        PortRule::new(psid_offset, psid_len, 0, 0)?;
        if u32::from(psid) >= 1 << psid_len {
            return Err(RuleError::Psid { psid, len: psid_len });
        }
        let rule = Self::new(end_user, Prefix4::host(ipv4), 0, psid_offset)?;
        Ok(Self { psid_len, provisioned: Some(psid), ..rule })
    }

    /// The same rule for `count` subscribers, or all that follow, of which subscriber 0 has the EA bits `first`.
    ///
    /// # Errors
    /// EA bits the rule does not have, or no subscriber.
    pub fn numbered(self, first: u64, count: Option<u64>) -> Result<Self, RuleError> {
        Ok(Self { numbers: self.numbers.some("mapping rule", first, count)?, ..self })
    }

    /// The rule IPv6 prefix.
    pub fn ipv6_prefix(&self) -> Prefix6 {
        self.ipv6
    }

    /// The rule IPv4 prefix.
    pub fn ipv4_prefix(&self) -> Prefix4 {
        self.ipv4
    }

    /// The rule EA-bits length.
    pub fn ea_bits(&self) -> u8 {
        self.ea_bits
    }

    /// The PSID offset, in bits.
    pub fn psid_offset(&self) -> u8 {
        self.psid_offset
    }

    /// The PSID length, in bits: 2 to that power subscribers share an address.
    pub fn psid_len(&self) -> u8 {
        self.psid_len
    }

    /// Returns the number of subscribers.
    pub fn subscribers(&self) -> u64 {
        self.numbers.count()
    }

    /// The EA bits of subscriber `e`.
    pub fn ea(&self, e: u64) -> u64 {
        self.numbers.first() + e
    }

    /// MAP IPv6 addresses: end-user prefix, subnet 0, and the interface identifier of 16 zero bits,
    /// IPv4 address and PSID (RFC 7597 section 6).
    pub fn ipv6(&self) -> AddressRule {
        let psid = u128::from(self.provisioned.unwrap_or(0));
        let base = self.ipv6.address().to_bits() | u128::from(self.ipv4.address().to_bits()) << 16 | psid;
        let ea = BitField::new(0, self.ea_bits, 128 - self.end_user_len());
        let suffix = self.suffix();
        let suffix = BitField { put: suffix.put + 16, ..suffix };
        AddressRule::ipv6(base, self.numbers.first(), &[ea, suffix, BitField::new(0, self.embedded_psid_len(), 0)])
    }

    /// The prefix that subscriber `e` is delegated.
    pub fn end_user_prefix(&self, e: u64) -> Prefix6 {
        let len = self.end_user_len();
        // EA bits of ::/0 are none at all.
        let ea = u128::from(self.ea(e)).checked_shl((128 - len).into()).unwrap_or(0);
        let address = self.ipv6.address().to_bits() | ea;
        Prefix6::new(address.into(), len).expect("the EA bits end where the prefix does")
    }

    /// Public IPv4 addresses, or the first of each prefix where a subscriber has a prefix.
    pub fn ipv4(&self) -> AddressRule {
        AddressRule::ipv4(self.ipv4.address(), self.numbers.first(), &[self.suffix()])
    }

    /// The length of the IPv4 prefix each subscriber has: 32 where it has one address, or a share.
    pub fn subscriber_ipv4_len(&self) -> u8 {
        (self.ipv4.len() + self.ea_bits).min(32)
    }

    /// The ports of each subscriber.
    pub fn ports(&self) -> PortRule {
        let first = self.provisioned.map_or(self.numbers.first(), u64::from);
        PortRule::new(self.psid_offset, self.psid_len, first, 0).expect("checked when the rule was made")
    }

    /// The subscriber that has this IPv4 address and PSID (0 where addresses are not shared); `None` if none has.
    pub fn number(&self, ipv4: Ipv4Addr, psid: u16) -> Option<u64> {
        let embedded = self.embedded_psid_len();
        let own_psid = self.provisioned.unwrap_or(psid);
        if !self.ipv4.contains(ipv4) || psid != own_psid || u32::from(psid) >= 1 << self.psid_len {
            return None;
        }
        let suffix = u64::from(ipv4.to_bits() ^ self.ipv4.address().to_bits()) >> self.suffix().put;
        let psid = if self.provisioned.is_some() { 0 } else { u64::from(psid) };
        self.numbers.subscriber(suffix << embedded | psid)
    }

    /// The length of end-user prefixes.
    fn end_user_len(&self) -> u8 {
        self.ipv6.len() + self.ea_bits
    }

    /// Returns the number of EA bits that are the PSID.
    fn embedded_psid_len(&self) -> u8 {
        if self.provisioned.is_some() { 0 } else { self.psid_len }
    }

    /// The IPv4 suffix: the EA bits above the PSID, right after the rule IPv4 prefix.
    fn suffix(&self) -> BitField {
        let psid_len = self.embedded_psid_len();
        BitField::new(psid_len, self.ea_bits - psid_len, 32 - self.subscriber_ipv4_len())
    }
}

impl fmt::Display for MapRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ipv6, ipv4, ea_bits, psid_offset, .. } = self;
        write!(f, "{ipv6} {ipv4} EA-bits length {ea_bits} PSID offset {psid_offset}")?;
        self.provisioned.map_or(Ok(()), |psid| write!(f, " PSID {psid:#x}/{}", self.psid_len))
    }
}
