//! The subscribers of Dual-Stack Lite (RFC 6333).

use std::net::Ipv4Addr;

use super::b4::numbers;
use super::numbers::Numbers;
use super::{AddressRule, B4Addresses, BitField, PortRule, RuleError};
use crate::Prefix4;

/// B4s, each with one private IPv4 address behind it.
///
/// The AFTR tells subscribers apart by the IPv6 address of their softwire, so all may have the same
/// IPv4 address (RFC 6333 section 6.6). Which public address and ports they get is up to the AFTR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DsLite {
    b4s: B4Addresses,
    /// The prefix that subscribers have their private addresses from: one address if all have the same.
    inner: Prefix4,
    numbers: Numbers,
}

impl DsLite {
    /// The B4's well-known address, 192.0.0.2 (RFC 6333 section 5.7).
    pub const B4: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 2);
    /// The AFTR's well-known address, 192.0.0.1 (RFC 6333 section 6.5).
    pub const AFTR: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 1);

    /// As many subscribers as there is room for B4s, all with this private address, [`DsLite::B4`] as a rule.
    pub fn alike(b4s: B4Addresses, inner: Ipv4Addr) -> Self {
        Self { b4s, inner: Prefix4::host(inner), numbers: Numbers::all(b4s.room()) }
    }

    /// Subscribers with a private address each, in the order of the prefix: as many as it has
    /// addresses, or as there is room for B4s.
    pub fn each_its_own(b4s: B4Addresses, inner: Prefix4) -> Self {
        Self { b4s, inner, numbers: numbers(&b4s, 1 << (32 - inner.len())) }
    }

    /// The same for `count` subscribers, or all that follow, beginning with number `first`.
    ///
    /// # Errors
    /// Subscribers there are not, or none.
    pub fn numbered(self, first: u64, count: Option<u64>) -> Result<Self, RuleError> {
        Ok(Self { numbers: self.numbers.some("DS-Lite", first, count)?, ..self })
    }

    /// Returns the addresses of the B4s.
    pub fn b4s(&self) -> B4Addresses {
        self.b4s
    }

    /// Returns the number of subscribers.
    pub fn subscribers(&self) -> u64 {
        self.numbers.count()
    }

    /// The addresses of the B4s.
    pub fn ipv6(&self) -> AddressRule {
        self.b4s.rule(self.numbers.first())
    }

    /// The private addresses.
    pub fn ipv4(&self) -> AddressRule {
        let field = BitField::new(0, 32 - self.inner.len(), 0);
        AddressRule::ipv4(self.inner.address(), self.numbers.first(), &[field])
    }

    /// The ports: any.
    pub fn ports(&self) -> PortRule {
        PortRule::ANY
    }
}
