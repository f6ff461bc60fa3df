//! IPv6 addresses of B4s, the subscribers' ends of softwires.

use super::address::ones;
use super::{AddressRule, BitField, RuleError};
use crate::Prefix6;

/// The layout of B4s in their prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum B4Layout {
    /// One per /64, each with this interface identifier.
    PerSubnet {
        /// The last 64 bits of every address.
        interface: u64,
    },
    /// One per address, starting with the prefix's second: the first one is the anycast address of the link's routers (RFC 4291 section 2.6.1).
    PerAddress,
}

/// The IPv6 addresses of B4s: B4 number n has the n-th /64 or the n-th address of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct B4Addresses {
    prefix: Prefix6,
    layout: B4Layout,
}

impl B4Addresses {
    /// Returns the B4s in `prefix`.
    ///
    /// # Errors
    /// A prefix longer than /64 for one B4 per /64, or longer than /127 for one per address.
    pub fn new(prefix: Prefix6, layout: B4Layout) -> Result<Self, RuleError> {
        let most = match layout {
            B4Layout::PerSubnet { .. } => 64,
            B4Layout::PerAddress => 127,
        };
        if prefix.len() > most {
            return Err(RuleError::NoRoom { prefix, most });
        }
        Ok(Self { prefix, layout })
    }

    /// Returns the number of B4s that fit, at most 2^64 - 1.
    pub(super) fn room(&self) -> u64 {
        match self.layout {
            B4Layout::PerSubnet { .. } => 1u64.checked_shl(self.width().into()).unwrap_or(u64::MAX),
            B4Layout::PerAddress => ones(self.width()),
        }
    }

    /// Returns the addresses; subscriber `e` is B4 number `e`.
    pub(super) fn rule(&self) -> AddressRule {
        let base = self.prefix.address().to_bits();
        match self.layout {
            B4Layout::PerSubnet { interface } => AddressRule::ipv6(
                base | u128::from(interface),
                0,
                &[BitField::new(0, self.width(), 64)],
            ),
            B4Layout::PerAddress => {
                AddressRule::ipv6(base, 1, &[BitField::new(0, self.width(), 0)])
            }
        }
    }

    /// Returns the number of bits that distinguish the B4s: those between prefix and interface identifier, or all that follow the prefix, but no
    /// more than a number has.
    fn width(&self) -> u8 {
        match self.layout {
            B4Layout::PerSubnet { .. } => 64 - self.prefix.len(),
            B4Layout::PerAddress => (128 - self.prefix.len()).min(64),
        }
    }
}
