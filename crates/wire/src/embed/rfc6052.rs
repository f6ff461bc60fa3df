//! IPv4-embedded IPv6 addresses (RFC 6052).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::Prefix6;
use crate::WireError;

/// Bits 64 to 71, which must be zero (RFC 6052 section 2.2).
const RESERVED_OCTET: usize = 8;

/// A translator's prefix, of 32, 40, 48, 56, 64 or 96 bits.
///
/// RFC 6052 section 3.1 forbids the well-known prefix 64:ff9b::/96 for IPv4 addresses that are not global, and the benchmarking addresses
/// 198.18.0.0/15 are not: some translators refuse the combination. That is not checked here, because other translators allow it and labs use it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Prefix6052(Prefix6);

impl Prefix6052 {
    /// The well-known prefix (RFC 6052 section 2.1).
    pub const WELL_KNOWN: &'static str = "64:ff9b::/96";

    /// Returns the prefix for translation.
    ///
    /// # Errors
    /// A length other than 32, 40, 48, 56, 64 or 96, or bits 64 to 71 that are not zero (RFC 6052 section 2.2).
    pub fn new(prefix: Prefix6) -> Result<Self, WireError> {
        let (address, len) = (IpAddr::V6(prefix.address()), prefix.len());
        if !matches!(len, 32 | 40 | 48 | 56 | 64 | 96) {
            let expected = "32, 40, 48, 56, 64 or 96 (RFC 6052 section 2.2)";
            return Err(WireError::PrefixLength {
                address,
                len,
                expected,
            });
        }
        if prefix.address().octets()[RESERVED_OCTET] != 0 {
            return Err(WireError::ReservedOctet { prefix });
        }
        Ok(Self(prefix))
    }

    /// Returns the prefix as a plain IPv6 prefix.
    pub fn prefix(&self) -> Prefix6 {
        self.0
    }

    /// Returns the IPv6 address that stands for `address`; its suffix is zero.
    pub fn embed(&self, address: Ipv4Addr) -> Ipv6Addr {
        let mut octets = self.0.address().octets();
        for (at, octet) in self.positions().zip(address.octets()) {
            octets[at] = octet;
        }
        octets.into()
    }

    /// Returns the IPv4 address that `address` stands for; `None` if it is not under this prefix or its reserved octet is not zero. The
    /// suffix is ignored, as RFC 6052 section 2.2 advises.
    pub fn extract(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        let octets = address.octets();
        if !self.0.contains(address) || octets[RESERVED_OCTET] != 0 {
            return None;
        }
        let mut embedded = [0; 4];
        for (octet, at) in embedded.iter_mut().zip(self.positions()) {
            *octet = octets[at];
        }
        Some(embedded.into())
    }

    /// Returns the positions of the four octets: right after the prefix, with the reserved octet left out.
    fn positions(&self) -> impl Iterator<Item = usize> {
        let first = usize::from(self.0.len() / 8);
        (first..16).filter(|&at| at != RESERVED_OCTET).take(4)
    }
}

impl fmt::Display for Prefix6052 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Prefix6052 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Prefix6052 {
    type Err = WireError;

    fn from_str(text: &str) -> Result<Self, WireError> {
        Self::new(text.parse()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 33);

    /// RFC 6052 section 2.4, tables 2 and 3.
    const EXAMPLES: [(&str, &str); 7] = [
        ("2001:db8::/32", "2001:db8:c000:221::"),
        ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
        ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
        ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
        ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
        ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
        (Prefix6052::WELL_KNOWN, "64:ff9b::192.0.2.33"),
    ];

    fn prefix(text: &str) -> Prefix6052 {
        text.parse().unwrap()
    }

    #[test]
    fn the_examples_of_rfc_6052_section_2_4_come_out_both_ways() {
        for (text, embedded) in EXAMPLES {
            let embedded = embedded.parse().unwrap();
            assert_eq!(prefix(text).embed(ADDRESS), embedded, "{text}");
            assert_eq!(prefix(text).extract(embedded), Some(ADDRESS), "{text}");
        }
    }

    #[test]
    fn every_length_embeds_every_octet_and_leaves_the_reserved_octet_zero() {
        for (text, _) in EXAMPLES {
            let embedded = prefix(text).embed(Ipv4Addr::BROADCAST);
            assert_eq!(embedded.octets()[RESERVED_OCTET], 0, "{text}");
            assert_eq!(
                prefix(text).extract(embedded),
                Some(Ipv4Addr::BROADCAST),
                "{text}"
            );
        }
    }

    #[test]
    fn an_address_elsewhere_or_with_a_reserved_bit_stands_for_nothing() {
        assert_eq!(
            prefix("64:ff9b::/96").extract("64:ff9c::c000:221".parse().unwrap()),
            None
        );
        let reserved = "2001:db8:122:344:1c0:2:2100::".parse().unwrap();
        assert_eq!(prefix("2001:db8:122:344::/64").extract(reserved), None);
    }

    #[test]
    fn the_suffix_is_ignored() {
        let address = "2001:db8:c000:221::dead:beef".parse().unwrap();
        assert_eq!(prefix("2001:db8::/32").extract(address), Some(ADDRESS));
    }

    #[test]
    fn other_prefixes_are_refused() {
        let refusal = |text: &str| text.parse::<Prefix6052>().unwrap_err().to_string();
        let expected = "prefix length /72 of 2001:db8:: is not allowed: expected 32, 40, 48, 56, 64 or 96 (RFC 6052 section 2.2)";
        assert_eq!(refusal("2001:db8::/72"), expected);
        assert!(refusal("2001:db8:0:0:100::/96").contains("bits 64 to 71 must be zero"));
    }
}
