//! The binding table of lightweight 4over6 (RFC 7596), made by rule.

use super::{AddressRule, B4Addresses, BitField, PortRule, RuleError};
use crate::Prefix4;

/// A binding table in which entry n is B4 n, address n / 2^k of an IPv4 prefix, and PSID n mod 2^k.
///
/// RFC 7596 section 5.1 asks for PSID offset 0, one contiguous range of ports, and recommends not to allocate PSIDs that contain
/// system ports. With offset 0 they are allocated here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Softwires {
    b4s: B4Addresses,
    ipv4: Prefix4,
    psid_len: u8,
    psid_offset: u8,
}

impl Softwires {
    /// A table that uses all shares of the IPv4 prefix, or all room for B4s, whichever ends first.
    ///
    /// # Errors
    /// A PSID offset beyond 15, or offset and length that do not fit into a port.
    pub fn new(b4s: B4Addresses, ipv4: Prefix4, psid_len: u8, psid_offset: u8) -> Result<Self, RuleError> {
        PortRule::new(psid_offset, psid_len, 0, 0)?;
        Ok(Self { b4s, ipv4, psid_len, psid_offset })
    }

    /// Returns the number of subscribers, and so of entries.
    pub fn subscribers(&self) -> u64 {
        self.b4s.room().min(1 << (32 - self.ipv4.len() + self.psid_len))
    }

    /// The addresses of the B4s.
    pub fn ipv6(&self) -> AddressRule {
        self.b4s.rule()
    }

    /// The public addresses.
    pub fn ipv4(&self) -> AddressRule {
        let field = BitField::new(self.psid_len, 32 - self.ipv4.len(), 0);
        AddressRule::ipv4(self.ipv4.address(), 0, &[field])
    }

    /// The ports.
    pub fn ports(&self) -> PortRule {
        PortRule::new(self.psid_offset, self.psid_len, 0, 0).expect("checked when the table was made")
    }
}
