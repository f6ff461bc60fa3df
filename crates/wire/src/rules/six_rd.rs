//! The CEs of 6rd (RFC 5969), and of 6to4 (RFC 3056) as a special case.

use std::net::Ipv6Addr;

use super::{AddressRule, BitField, RuleError};
use crate::{Prefix4, Prefix6};

/// The interface identifier of the inner addresses.
const INTERFACE: u128 = 1;

/// A 6rd domain. CE n has the n-th IPv4 address of a prefix, and with it a delegated IPv6 prefix: the 6rd prefix followed by the address without
/// its first IPv4MaskLen bits (RFC 5969 section 4).
///
/// If the IPv4 prefix is that of a link, its first address is the network's and its last is the broadcast address. [`SixRd::numbered`] excludes both
/// if it is given a count; without one, it keeps the last address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SixRd {
    prefix: Prefix6,
    mask_len: u8,
    sites: Prefix4,
    /// The number of CE 0's address in `sites`, and the number of CEs.
    first: u64,
    count: u64,
}

impl SixRd {
    /// Returns a domain whose CEs have the IPv4 addresses of `sites`. The first `mask_len` bits of an IPv4 address (IPv4MaskLen) are the same in
    /// the whole domain and are not embedded.
    ///
    /// # Errors
    /// An IPv4MaskLen longer than the prefix of the CEs, or delegated prefixes longer than /64.
    pub fn new(prefix: Prefix6, mask_len: u8, sites: Prefix4) -> Result<Self, RuleError> {
        if mask_len > sites.len() {
            return Err(RuleError::MaskLen { mask_len, sites });
        }
        let bits = 32 - mask_len;
        if prefix.len() > 64 || bits > 64 - prefix.len() {
            return Err(RuleError::PrefixTooLong {
                what: "6rd prefix",
                prefix,
                bits,
            });
        }
        Ok(Self {
            prefix,
            mask_len,
            sites,
            first: 0,
            count: 1 << (32 - sites.len()),
        })
    }

    /// Returns the 6to4 domain: 2002::/16 and all 32 bits of the address (RFC 3056 section 2).
    ///
    /// RFC 3056 forbids private addresses in 6to4. Labs use them, so that is not checked.
    #[expect(
        clippy::missing_panics_doc,
        reason = "it cannot panic: the prefix is a constant"
    )]
    pub fn sixtofour(sites: Prefix4) -> Self {
        let prefix = Prefix6::new(Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16)
            .expect("2002::/16 has no host bits");
        Self::new(prefix, 0, sites).expect("16 and 32 bits make /48")
    }

    /// Returns the same domain for `count` CEs, or as many as there are, starting with address number `first` of the IPv4 prefix.
    ///
    /// # Errors
    /// Addresses that the prefix does not have, or no address at all.
    pub fn numbered(self, first: u64, count: Option<u64>) -> Result<Self, RuleError> {
        let most = 1u64 << (32 - self.sites.len());
        // A `first` beyond the last address must give `RuleError::Numbers`, not `NoSubscriber`; so without a count at least one is assumed.
        let count = count.unwrap_or(most.saturating_sub(first).max(1));
        if count == 0 {
            return Err(RuleError::NoSubscriber { most });
        }
        if first.checked_add(count).is_none_or(|end| end > most) {
            return Err(RuleError::Numbers { first, count, most });
        }
        Ok(Self {
            first,
            count,
            ..self
        })
    }

    /// Returns the number of CEs.
    pub fn subscribers(&self) -> u64 {
        self.count
    }

    /// Returns the outer addresses, which are IPv4.
    pub fn ipv4(&self) -> AddressRule {
        let field = BitField::new(0, 32 - self.sites.len(), 0);
        AddressRule::ipv4(self.sites.address(), self.first, &[field])
    }

    /// Returns the inner addresses: delegated prefix, subnet 0, interface identifier ::1.
    pub fn ipv6(&self) -> AddressRule {
        // The left shift drops the `mask_len` bits that all sites share; the right shift puts the remaining bits directly behind the 6rd prefix.
        let embedded =
            u128::from(self.sites.address().to_bits()) << 96 << self.mask_len >> self.prefix.len();
        let delegated_len = self.prefix.len() + 32 - self.mask_len;
        let field = BitField::new(0, 32 - self.sites.len(), 128 - delegated_len);
        let base = self.prefix.address().to_bits() | embedded | INTERFACE;
        AddressRule::ipv6(base, self.first, &[field])
    }
}
