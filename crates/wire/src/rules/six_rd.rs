//! The CEs of 6rd (RFC 5969), and of 6to4 (RFC 3056) as a special case.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::numbers::Numbers;
use super::{AddressRule, BitField, RuleError};
use crate::{Prefix4, Prefix6};

/// The interface identifier of the inner addresses.
const INTERFACE: u128 = 1;

/// A 6rd domain. CE n has the n-th IPv4 address of a prefix, and with it a delegated IPv6 prefix:
/// the 6rd prefix and the address's bits after the first IPv4MaskLen (RFC 5969 section 4).
///
/// The first address of the IPv4 prefix names a network, and its last a broadcast, if the prefix is
/// a link's: [`SixRd::numbered`] leaves them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SixRd {
    prefix: Prefix6,
    mask_len: u8,
    sites: Prefix4,
    numbers: Numbers,
}

impl SixRd {
    /// A domain whose CEs have the IPv4 addresses of `sites`. The first `mask_len` bits of an IPv4
    /// address, IPv4MaskLen, are the same in the whole domain and are not embedded.
    ///
    /// # Errors
    /// An IPv4MaskLen longer than the prefix of the CEs, or delegated prefixes longer than /64.
    pub fn new(prefix: Prefix6, mask_len: u8, sites: Prefix4) -> Result<Self, RuleError> {
        if mask_len > sites.len() {
            return Err(RuleError::MaskLen { mask_len, sites });
        }
        let bits = 32 - mask_len;
        if prefix.len() > 64 || bits > 64 - prefix.len() {
            return Err(RuleError::PrefixTooLong { what: "6rd prefix", prefix, bits });
        }
        let numbers = Numbers::all(1 << (32 - sites.len()));
        Ok(Self { prefix, mask_len, sites, numbers })
    }

    /// 6to4: 2002::/16 and all 32 bits of the address (RFC 3056 section 2).
    ///
    /// RFC 3056 forbids private addresses there. Labs use them, so that is not checked.
    pub fn sixtofour(sites: Prefix4) -> Self {
        let prefix = Prefix6::new(Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16).expect("2002::/16 has no host bits");
        Self::new(prefix, 0, sites).expect("16 and 32 bits make /48")
    }

    /// The same domain for `count` CEs, or all that follow, of which CE 0 has the IPv4 prefix's address number `first`.
    ///
    /// # Errors
    /// Addresses the prefix does not have, or none.
    pub fn numbered(self, first: u64, count: Option<u64>) -> Result<Self, RuleError> {
        Ok(Self { numbers: self.numbers.some("6rd domain", first, count)?, ..self })
    }

    /// The 6rd prefix.
    pub fn prefix(&self) -> Prefix6 {
        self.prefix
    }

    /// IPv4MaskLen, in bits.
    pub fn mask_len(&self) -> u8 {
        self.mask_len
    }

    /// The prefix of the CEs' IPv4 addresses.
    pub fn sites(&self) -> Prefix4 {
        self.sites
    }

    /// Returns the number of CEs.
    pub fn subscribers(&self) -> u64 {
        self.numbers.count()
    }

    /// The outer addresses: IPv4.
    pub fn ipv4(&self) -> AddressRule {
        let field = BitField::new(0, 32 - self.sites.len(), 0);
        AddressRule::ipv4(self.sites.address(), self.numbers.first(), &[field])
    }

    /// The inner addresses: delegated prefix, subnet 0, interface identifier ::1.
    pub fn ipv6(&self) -> AddressRule {
        let base = self.delegated(self.sites.address());
        let field = BitField::new(0, 32 - self.sites.len(), 128 - self.delegated_len());
        AddressRule::ipv6(base | INTERFACE, self.numbers.first(), &[field])
    }

    /// The prefix delegated to CE `e`.
    pub fn delegated_prefix(&self, e: u64) -> Prefix6 {
        self.as_prefix(Ipv4Addr::from_bits(self.ipv4().bits(e) as u32))
    }

    /// The prefix that belongs to an IPv4 address of the domain, be it a CE's or the relay's; `None`
    /// if its first IPv4MaskLen bits are not those of the domain.
    pub fn delegated_prefix_of(&self, ipv4: Ipv4Addr) -> Option<Prefix6> {
        let differing = ipv4.to_bits() ^ self.sites.address().to_bits();
        let is_common = differing.leading_zeros() >= u32::from(self.mask_len);
        is_common.then(|| self.as_prefix(ipv4))
    }

    /// The CE that has this IPv4 address; `None` if none has.
    pub fn number(&self, ipv4: Ipv4Addr) -> Option<u64> {
        // Of an address outside of the prefix a bit remains that no number has.
        self.numbers.subscriber(u64::from(ipv4.to_bits() ^ self.sites.address().to_bits()))
    }

    fn delegated_len(&self) -> u8 {
        self.prefix.len() + 32 - self.mask_len
    }

    /// 6rd prefix and embedded bits, the rest zero.
    fn delegated(&self, ipv4: Ipv4Addr) -> u128 {
        let embedded = u128::from(ipv4.to_bits()) << 96 << self.mask_len >> self.prefix.len();
        self.prefix.address().to_bits() | embedded
    }

    fn as_prefix(&self, ipv4: Ipv4Addr) -> Prefix6 {
        let address = self.delegated(ipv4).into();
        Prefix6::new(address, self.delegated_len()).expect("the embedded bits end where the prefix does")
    }
}

impl fmt::Display for SixRd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} IPv4MaskLen {} CEs in {}", self.prefix, self.mask_len, self.sites)
    }
}
