//! Explicit address mappings (RFC 7757).

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Prefix4, Prefix6};
use crate::WireError;

/// One mapping between an IPv4 and an IPv6 prefix. The bits that follow either prefix are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Eam {
    ipv4: Prefix4,
    ipv6: Prefix6,
}

impl Eam {
    /// Returns a mapping.
    ///
    /// # Errors
    /// An IPv6 suffix (the bits after the prefix) that is shorter than the IPv4 suffix, and so cannot hold it.
    pub fn new(ipv4: Prefix4, ipv6: Prefix6) -> Result<Self, WireError> {
        let mapping = Self { ipv4, ipv6 };
        if 128 - ipv6.len() < 32 - ipv4.len() {
            return Err(WireError::SuffixTooShort { mapping });
        }
        Ok(mapping)
    }

    /// Returns the IPv4 side.
    pub fn ipv4(&self) -> Prefix4 {
        self.ipv4
    }

    /// Returns the IPv6 side.
    pub fn ipv6(&self) -> Prefix6 {
        self.ipv6
    }

    /// Returns whether an address belongs to both mappings, on either side.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.ipv4.overlaps(&other.ipv4) || self.ipv6.overlaps(&other.ipv6)
    }

    /// Returns the IPv6 address of `address`, which the mapping contains: IPv6 prefix, IPv4 suffix, zeros.
    fn to_ipv6(self, address: Ipv4Addr) -> Ipv6Addr {
        let suffix = u128::from(address.to_bits() ^ self.ipv4.address().to_bits());
        let suffix = suffix.checked_shl(self.padding()).unwrap_or(0);
        Ipv6Addr::from_bits(self.ipv6.address().to_bits() | suffix)
    }

    /// Returns the IPv4 address of `address`, which the mapping contains; bits beyond the IPv4 suffix's length are ignored.
    fn to_ipv4(self, address: Ipv6Addr) -> Ipv4Addr {
        let suffix = address.to_bits() ^ self.ipv6.address().to_bits();
        let suffix = suffix.checked_shr(self.padding()).unwrap_or(0);
        // This fits: the constructor ensured that the remaining bits are as many as the IPv4 suffix has.
        Ipv4Addr::from_bits(self.ipv4.address().to_bits() | suffix as u32)
    }

    /// Returns the number of bits by which the IPv6 suffix is longer than the IPv4 suffix: all 128 of them when one IPv4
    /// address is mapped to `::/0`.
    fn padding(&self) -> u32 {
        u32::from(96 + self.ipv4.len() - self.ipv6.len())
    }
}

impl fmt::Display for Eam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <-> {}", self.ipv4, self.ipv6)
    }
}

/// An explicit address mapping table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EamTable(Vec<Eam>);

impl EamTable {
    /// Returns a table in which every translation can be reversed.
    ///
    /// # Errors
    /// Two mappings, which the error names, overlap on either side: addresses translated by one might be translated back by the other.
    pub fn new(mappings: Vec<Eam>) -> Result<Self, WireError> {
        for (at, second) in mappings.iter().enumerate() {
            if let Some(first) = mappings[..at].iter().find(|first| first.overlaps(second)) {
                return Err(WireError::OverlappingMappings {
                    first: *first,
                    second: *second,
                });
            }
        }
        Ok(Self(mappings))
    }

    /// Returns the mappings, in the order given.
    pub fn mappings(&self) -> &[Eam] {
        &self.0
    }

    /// Returns the IPv6 address that stands for `address`; `None` if no mapping contains it.
    pub fn to_ipv6(&self, address: Ipv4Addr) -> Option<Ipv6Addr> {
        self.0
            .iter()
            .find(|mapping| mapping.ipv4.contains(address))
            .map(|mapping| mapping.to_ipv6(address))
    }

    /// Returns the IPv4 address that stands for `address`; `None` if no mapping contains it.
    pub fn to_ipv4(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        self.0
            .iter()
            .find(|mapping| mapping.ipv6.contains(address))
            .map(|mapping| mapping.to_ipv4(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eam(ipv4: &str, ipv6: &str) -> Eam {
        Eam::new(ipv4.parse().unwrap(), ipv6.parse().unwrap()).unwrap()
    }

    fn both_ways(table: &EamTable, ipv4: &str, ipv6: &str) {
        let (ipv4, ipv6) = (ipv4.parse().unwrap(), ipv6.parse().unwrap());
        assert_eq!(table.to_ipv6(ipv4), Some(ipv6), "{ipv4}");
        assert_eq!(table.to_ipv4(ipv6), Some(ipv4), "{ipv6}");
    }

    /// Returns the mappings of RFC 7757, figure 1.
    fn example() -> Vec<Eam> {
        vec![
            eam("192.0.2.1", "2001:db8:aaaa::"),
            eam("192.0.2.2/32", "2001:db8:bbbb::b/128"),
            eam("192.0.2.16/28", "2001:db8:cccc::/124"),
            eam("192.0.2.128/26", "2001:db8:dddd::/64"),
            eam("192.0.2.192/29", "2001:db8:eeee:8::/62"),
            eam("192.0.2.224/31", "64:ff9b::/127"),
        ]
    }

    #[test]
    fn the_example_table_of_rfc_7757_translates_both_ways() {
        let table = EamTable::new(example()).unwrap();
        both_ways(&table, "192.0.2.1", "2001:db8:aaaa::");
        both_ways(&table, "192.0.2.2", "2001:db8:bbbb::b");
        both_ways(&table, "192.0.2.16", "2001:db8:cccc::");
        both_ways(&table, "192.0.2.24", "2001:db8:cccc::8");
        both_ways(&table, "192.0.2.31", "2001:db8:cccc::f");
        both_ways(&table, "192.0.2.128", "2001:db8:dddd::");
        both_ways(&table, "192.0.2.152", "2001:db8:dddd:0:6000::");
        both_ways(&table, "192.0.2.183", "2001:db8:dddd:0:dc00::");
        both_ways(&table, "192.0.2.191", "2001:db8:dddd:0:fc00::");
        both_ways(&table, "192.0.2.193", "2001:db8:eeee:8:8000::");
        both_ways(&table, "192.0.2.199", "2001:db8:eeee:b:8000::");
        both_ways(&table, "192.0.2.225", "64:ff9b::1");
    }

    #[test]
    fn an_address_outside_the_table_stands_for_nothing() {
        let table = EamTable::new(example()).unwrap();
        assert_eq!(table.to_ipv6("192.0.2.3".parse().unwrap()), None);
        assert_eq!(table.to_ipv4("2001:db8:aaaa::1".parse().unwrap()), None);
    }

    #[test]
    fn bits_beyond_the_ipv4_suffix_are_ignored() {
        let table = EamTable::new(example()).unwrap();
        let address = "2001:db8:dddd:0:6000::1".parse().unwrap();
        assert_eq!(table.to_ipv4(address), Some(Ipv4Addr::new(192, 0, 2, 152)));
    }

    #[test]
    fn the_whole_of_ipv4_can_be_mapped() {
        let table = EamTable::new(vec![eam("0.0.0.0/0", "::/0")]).unwrap();
        both_ways(&table, "255.255.255.255", "ffff:ffff::");
        let table = EamTable::new(vec![eam("0.0.0.0/0", "64:ff9b::/96")]).unwrap();
        both_ways(&table, "192.0.2.33", "64:ff9b::192.0.2.33");
    }

    #[test]
    fn one_address_can_be_mapped_to_all_of_ipv6() {
        let table = EamTable::new(vec![eam("192.0.2.1", "::/0")]).unwrap();
        both_ways(&table, "192.0.2.1", "::");
        assert_eq!(
            table.to_ipv4("ff02::1".parse().unwrap()),
            Some(Ipv4Addr::new(192, 0, 2, 1))
        );
    }

    #[test]
    fn an_ipv6_suffix_too_short_for_the_ipv4_suffix_is_refused() {
        let (ipv4, ipv6) = (
            "192.0.2.0/24".parse().unwrap(),
            "2001:db8::/121".parse().unwrap(),
        );
        let error = Eam::new(ipv4, ipv6).unwrap_err().to_string();
        assert!(
            error.starts_with("mapping 192.0.2.0/24 <-> 2001:db8::/121: the IPv6 suffix"),
            "{error}"
        );
    }

    #[test]
    fn overlapping_mappings_are_refused_by_name() {
        let overlapping = vec![
            eam("192.0.2.0/24", "2001:db8:aaaa::/120"),
            eam("192.0.2.8/29", "2001:db8:bbbb::/125"),
        ];
        let error = EamTable::new(overlapping).unwrap_err().to_string();
        let names = "mappings 192.0.2.0/24 <-> 2001:db8:aaaa::/120 and 192.0.2.8/29 <-> 2001:db8:bbbb::/125 overlap";
        assert!(error.starts_with(names), "{error}");
        let same_ipv6 = vec![
            eam("192.0.2.1", "2001:db8::1"),
            eam("192.0.2.2", "2001:db8::1"),
        ];
        assert!(EamTable::new(same_ipv6).is_err());
    }
}
