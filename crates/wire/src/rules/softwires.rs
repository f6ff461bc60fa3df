//! The binding table of lightweight 4over6 (RFC 7596), made by rule.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::b4::{ipv6_of, numbers};
use super::numbers::Numbers;
use super::{AddressRule, B4Addresses, B4Layout, BitField, PortRule, RuleError};
use crate::{Prefix4, Prefix6};

/// An entry of the binding table (RFC 7596 section 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The softwire's end at the subscriber.
    pub b4: Ipv6Addr,
    /// The public address, which 2^`psid_len` subscribers share.
    pub ipv4: Ipv4Addr,
    /// The subscriber's port set.
    pub psid: u16,
    /// The PSID length, in bits; 0 for an address that is not shared.
    pub psid_len: u8,
    /// The PSID offset, in bits.
    pub psid_offset: u8,
}

/// A binding table in which entry n is B4 n, address n / 2^k of an IPv4 prefix, and PSID n mod 2^k.
///
/// RFC 7596 section 5.1 asks for PSID offset 0, one contiguous range of ports, and recommends not
/// to allocate PSIDs that contain system ports. Where one address is shared, [`Softwires::numbered`]
/// can begin after them; of several addresses each has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Softwires {
    b4s: B4Addresses,
    ipv4: Prefix4,
    psid_len: u8,
    psid_offset: u8,
    /// True if the B4s' interface identifiers hold their IPv4 address and PSID.
    is_derived: bool,
    numbers: Numbers,
}

impl Softwires {
    /// A table that uses all shares of the IPv4 prefix, or all room for B4s, whichever ends first.
    ///
    /// # Errors
    /// A PSID offset beyond 15, or offset and length that do not fit into a port.
    pub fn new(b4s: B4Addresses, ipv4: Prefix4, psid_len: u8, psid_offset: u8) -> Result<Self, RuleError> {
        PortRule::new(psid_offset, psid_len, 0, 0)?;
        let numbers = numbers(&b4s, 1 << (32 - ipv4.len() + psid_len));
        Ok(Self { b4s, ipv4, psid_len, psid_offset, is_derived: false, numbers })
    }

    /// A table of B4s that make their addresses themselves, as those provisioned by DHCPv6 do: each
    /// has a /64 of `prefixes`, and in it the interface identifier of 16 zero bits, IPv4 address and
    /// PSID (RFC 7596 section 5.1, figure 3). All else is as in [`Softwires::new`].
    ///
    /// # Errors
    /// Those of [`Softwires::new`], and a prefix longer than /64.
    pub fn derived(prefixes: Prefix6, ipv4: Prefix4, psid_len: u8, psid_offset: u8) -> Result<Self, RuleError> {
        let b4s = B4Addresses::new(prefixes, B4Layout::PerSubnet { interface: 0 })?;
        Ok(Self { is_derived: true, ..Self::new(b4s, ipv4, psid_len, psid_offset)? })
    }

    /// The same table for `count` entries, or all that follow, beginning with entry `first`.
    ///
    /// # Errors
    /// Entries the table does not have, or none.
    pub fn numbered(self, first: u64, count: Option<u64>) -> Result<Self, RuleError> {
        Ok(Self { numbers: self.numbers.some("binding table", first, count)?, ..self })
    }

    /// Returns the addresses of the B4s. Of a table made by [`Softwires::derived`] only the prefix counts.
    pub fn b4s(&self) -> B4Addresses {
        self.b4s
    }

    /// The prefix of the public addresses.
    pub fn ipv4_prefix(&self) -> Prefix4 {
        self.ipv4
    }

    /// Returns the number of subscribers, and so of entries.
    pub fn subscribers(&self) -> u64 {
        self.numbers.count()
    }

    /// Entry `e`, to configure a DUT with.
    pub fn entry(&self, e: u64) -> Binding {
        let (ipv4, ports) = (self.ipv4(), self.ports());
        Binding {
            b4: ipv6_of(&self.ipv6(), e),
            ipv4: Ipv4Addr::from_bits(ipv4.bits(e) as u32),
            psid: ports.psid(e),
            psid_len: self.psid_len,
            psid_offset: self.psid_offset,
        }
    }

    /// The addresses of the B4s.
    pub fn ipv6(&self) -> AddressRule {
        if !self.is_derived {
            return self.b4s.rule(self.numbers.first());
        }
        let prefixes = self.b4s.prefix();
        let base = prefixes.address().to_bits() | u128::from(self.ipv4.address().to_bits()) << 16;
        let subnet = BitField::new(0, 64 - prefixes.len(), 64);
        let ipv4 = BitField::new(self.psid_len, 32 - self.ipv4.len(), 16);
        AddressRule::ipv6(base, self.numbers.first(), &[subnet, ipv4, BitField::new(0, self.psid_len, 0)])
    }

    /// The public addresses.
    pub fn ipv4(&self) -> AddressRule {
        let field = BitField::new(self.psid_len, 32 - self.ipv4.len(), 0);
        AddressRule::ipv4(self.ipv4.address(), self.numbers.first(), &[field])
    }

    /// The ports.
    pub fn ports(&self) -> PortRule {
        let first = self.numbers.first();
        PortRule::new(self.psid_offset, self.psid_len, first, 0).expect("checked when the table was made")
    }

    /// The subscriber that has this public address and PSID; `None` if none has.
    pub fn number(&self, ipv4: Ipv4Addr, psid: u16) -> Option<u64> {
        if !self.ipv4.contains(ipv4) || u32::from(psid) >= 1 << self.psid_len {
            return None;
        }
        let address = u64::from(ipv4.to_bits() ^ self.ipv4.address().to_bits());
        self.numbers.subscriber(address << self.psid_len | u64::from(psid))
    }
}
