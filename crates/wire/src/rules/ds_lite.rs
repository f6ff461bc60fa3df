//! The subscribers of Dual-Stack Lite (RFC 6333).

use std::net::Ipv4Addr;

use super::{AddressRule, B4Addresses};

/// B4s that all have the same private IPv4 address behind them.
///
/// The AFTR tells subscribers apart by the IPv6 address of their softwire, so all of them may have the same IPv4 address (RFC 6333 section 6.6).
/// The AFTR chooses the public address and ports they get.
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

    /// Returns as many subscribers as B4s fit, all with this private address, which is usually [`DsLite::B4`].
    pub fn alike(b4s: B4Addresses, inner: Ipv4Addr) -> Self {
        Self { b4s, inner }
    }

    /// Returns the number of subscribers.
    pub fn subscribers(&self) -> u64 {
        self.b4s.room()
    }

    /// Returns the addresses of the B4s.
    pub fn ipv6(&self) -> AddressRule {
        self.b4s.rule()
    }

    /// Returns the private address.
    pub fn ipv4(&self) -> AddressRule {
        AddressRule::fixed(self.inner.into())
    }
}
