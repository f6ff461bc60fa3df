//! The subscribers of Dual-Stack Lite (RFC 6333).

use std::net::Ipv4Addr;

use super::{AddressRule, B4Addresses};

/// B4s, each with the same private IPv4 address behind it.
///
/// The AFTR tells subscribers apart by the IPv6 address of their softwire, so all may have the same
/// IPv4 address (RFC 6333 section 6.6). Which public address and ports they get is up to the AFTR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DsLite {
    b4s: B4Addresses,
    inner: Ipv4Addr,
}

impl DsLite {
    /// The B4's well-known address, 192.0.0.2 (RFC 6333 section 5.7).
    pub const B4: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 2);
    /// The AFTR's well-known address, 192.0.0.1 (RFC 6333 section 6.5).
    pub const AFTR: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 1);

    /// As many subscribers as there is room for B4s, all with this private address, [`DsLite::B4`] as a rule.
    pub fn alike(b4s: B4Addresses, inner: Ipv4Addr) -> Self {
        Self { b4s, inner }
    }

    /// Returns the number of subscribers.
    pub fn subscribers(&self) -> u64 {
        self.b4s.room()
    }

    /// The addresses of the B4s.
    pub fn ipv6(&self) -> AddressRule {
        self.b4s.rule()
    }

    /// The private address.
    pub fn ipv4(&self) -> AddressRule {
        AddressRule::fixed(self.inner.into())
    }
}
