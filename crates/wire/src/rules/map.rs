//! Mapping rules, which are the same for MAP-E (RFC 7597) and MAP-T (RFC 7599).

use super::{AddressRule, BitField, PortRule, RuleError};
use crate::{Prefix4, Prefix6};

/// A basic or forwarding mapping rule (RFC 7597 section 5). The subscriber's number is its EA bits.
///
/// Depending on the EA bits, a subscriber has a port set of an address that it shares, a whole address, or a whole IPv4 prefix. For a prefix,
/// [`MapRule::ipv4`] gives the first address, as that is in the interface identifier.
///
/// End-user IPv6 prefixes are at most /64 here, so that the prefix never overwrites the interface identifier. The CE's prefix is assumed to end
/// with the EA bits: a longer one, with one of the operator's subnets in between, is not a function of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MapRule {
    ipv6: Prefix6,
    ipv4: Prefix4,
    ea_bits: u8,
    psid_offset: u8,
    psid_len: u8,
}

impl MapRule {
    /// Returns a rule that has a subscriber for every value of the EA bits.
    ///
    /// With PSID offset 0 no port is excluded, and PSIDs that contain the system ports (0 to 1023) are subscribers like any others. The offset
    /// has no effect if no address is shared.
    ///
    /// # Errors
    /// End-user prefixes longer than /64; more EA bits than the IPv4 suffix and a PSID of 16 bits
    /// less the offset can use; a PSID offset beyond 15; a PSID of 16 bits.
    pub fn new(
        ipv6: Prefix6,
        ipv4: Prefix4,
        ea_bits: u8,
        psid_offset: u8,
    ) -> Result<Self, RuleError> {
        if psid_offset > 15 {
            return Err(RuleError::PsidOffset {
                offset: psid_offset,
            });
        }
        let (suffix, room) = (32 - ipv4.len(), 16 - psid_offset);
        if ea_bits > suffix + room {
            return Err(RuleError::EaBits {
                ea_bits,
                ipv4,
                suffix,
                offset: psid_offset,
                room,
            });
        }
        if ipv6.len() > 64 || ea_bits > 64 - ipv6.len() {
            return Err(RuleError::PrefixTooLong {
                what: "rule IPv6 prefix",
                prefix: ipv6,
                bits: ea_bits,
            });
        }
        let psid_len = ea_bits.saturating_sub(suffix);
        // Only for its checks: `ports` makes the rule again.
        PortRule::new(psid_offset, psid_len, 0, 0)?;
        Ok(Self {
            ipv6,
            ipv4,
            ea_bits,
            psid_offset,
            psid_len,
        })
    }

    /// Returns the rule IPv6 prefix.
    pub(super) fn ipv6_prefix(&self) -> Prefix6 {
        self.ipv6
    }

    /// Returns the rule IPv4 prefix.
    pub(super) fn ipv4_prefix(&self) -> Prefix4 {
        self.ipv4
    }

    /// Returns the number of subscribers.
    pub fn subscribers(&self) -> u64 {
        1 << self.ea_bits
    }

    /// Returns the MAP IPv6 addresses: the end-user prefix, subnet 0, and the interface identifier, which is made of 16 zero bits, the IPv4
    /// address and the PSID (RFC 7597 section 6).
    pub fn ipv6(&self) -> AddressRule {
        let base = self.ipv6.address().to_bits() | u128::from(self.ipv4.address().to_bits()) << 16;
        let ea = BitField::new(0, self.ea_bits, 128 - self.ipv6.len() - self.ea_bits);
        let suffix = self.suffix();
        let suffix = BitField {
            put: suffix.put + 16,
            ..suffix
        };
        AddressRule::ipv6(base, 0, &[ea, suffix, BitField::new(0, self.psid_len, 0)])
    }

    /// Returns the public IPv4 addresses, or the first of each prefix where a subscriber has a prefix.
    pub fn ipv4(&self) -> AddressRule {
        AddressRule::ipv4(self.ipv4.address(), 0, &[self.suffix()])
    }

    /// Returns the ports of each subscriber.
    #[expect(
        clippy::missing_panics_doc,
        reason = "it cannot panic: the rule was checked when it was made"
    )]
    pub fn ports(&self) -> PortRule {
        PortRule::new(self.psid_offset, self.psid_len, 0, 0)
            .expect("checked when the rule was made")
    }

    /// Returns the IPv4 suffix: the EA bits above the PSID, right after the rule IPv4 prefix. With fewer EA bits than the prefix leaves,
    /// each subscriber has a whole prefix, and the rest of the address is zero.
    fn suffix(&self) -> BitField {
        let subscriber_len = (self.ipv4.len() + self.ea_bits).min(32);
        BitField::new(
            self.psid_len,
            self.ea_bits - self.psid_len,
            32 - subscriber_len,
        )
    }
}
