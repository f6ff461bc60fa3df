//! The namespace of dns64perf++: one name for each IPv4 address, such as `010-000-000-001.dns64perf.test` for 10.0.0.1. All names of a domain
//! have the same length, and so have all queries.

use sixbench_method::plan::{DomainError, NAME_LABEL, checked_domain};
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The domain of the names, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    text: String,
    /// The domain in wire format: labels with their lengths, and the root.
    wire: Box<[u8]>,
}

impl Domain {
    /// Creates a domain of letters, digits, hyphens and underscores.
    ///
    /// # Errors
    /// The domain is invalid; the error describes the reason.
    pub fn new(text: &str) -> Result<Self, DomainError> {
        let text = checked_domain(text)?;
        let mut wire = Vec::new();
        for label in text.split('.') {
            wire.push(label.len() as u8);
            wire.extend_from_slice(label.as_bytes());
        }
        wire.push(0);
        Ok(Self {
            text,
            wire: wire.into(),
        })
    }

    /// Returns the domain in wire format, in lower case.
    pub(crate) fn wire(&self) -> &[u8] {
        &self.wire
    }

    /// Returns the name of `address` as text.
    pub fn name(&self, address: Ipv4Addr) -> String {
        let mut label = [0; NAME_LABEL];
        write_label(address.into(), &mut label);
        format!("{}.{}", String::from_utf8_lossy(&label), self.text)
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Writes the label of `address`.
#[inline]
pub(crate) fn write_label(address: u32, label: &mut [u8; NAME_LABEL]) {
    for (group, octet) in address.to_be_bytes().into_iter().enumerate() {
        let at = group * 4;
        label[at] = b'0' + octet / 100;
        label[at + 1] = b'0' + octet / 10 % 10;
        label[at + 2] = b'0' + octet % 10;
        if group < 3 {
            label[at + 3] = b'-';
        }
    }
}

/// Returns the address of a label; `None` for any other label.
#[inline]
pub(crate) fn read_label(label: &[u8; NAME_LABEL]) -> Option<u32> {
    let mut address = 0;
    for group in 0..4 {
        let at = group * 4;
        let mut octet = 0u32;
        for digit in &label[at..at + 3] {
            let digit = digit.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            octet = octet * 10 + u32::from(digit);
        }
        if octet > 255 || (group < 3 && label[at + 3] != b'-') {
            return None;
        }
        address = address << 8 | octet;
    }
    Some(address)
}

/// The names that have their own AAAA record: how many, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamePopulation {
    /// The number of names with one among every hundred with consecutive addresses.
    pub with_aaaa: u8,
}

/// With this step, a hundred consecutive numbers map to every number below a hundred once, and adjacent ones are far apart.
const SCATTER: u64 = 37;

impl NamePopulation {
    /// Returns whether the name of `address` has an AAAA record.
    #[inline]
    pub fn has_aaaa(self, address: u32) -> bool {
        is_among(u64::from(address), self.with_aaaa)
    }

    /// Returns the AAAA record of the name of `address`, if it has one: `2001:2:0:aaaa::` and the IPv4 address. It is in the prefix for
    /// benchmarking (RFC 5180), and not in one that a DNS64 server would use.
    #[inline]
    pub fn own_aaaa(address: u32) -> Ipv6Addr {
        let [a, b, c, d] = address.to_be_bytes();
        Ipv6Addr::from([0x20, 0x01, 0, 2, 0, 0, 0xaa, 0xaa, 0, 0, 0, 0, a, b, c, d])
    }
}

/// Returns whether a number is among the `per_cent` per hundred that are marked, scattered over every hundred.
#[inline]
pub(crate) fn is_among(number: u64, per_cent: u8) -> bool {
    number % 100 * SCATTER % 100 < u64::from(per_cent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_dns64perf() {
        let domain = Domain::new("Dns64Perf.test.").expect("a domain");
        assert_eq!(
            domain.name(Ipv4Addr::new(10, 0, 255, 1)),
            "010-000-255-001.dns64perf.test"
        );
        assert_eq!(domain.wire(), b"\x09dns64perf\x04test\x00");
    }

    #[test]
    fn every_label_reads_as_what_was_written_and_others_as_nothing() {
        let mut label = [0; NAME_LABEL];
        for address in [0, 1, 0x0a00_0001, 0xc0a8_ff09, u32::MAX] {
            write_label(address, &mut label);
            assert_eq!(read_label(&label), Some(address));
        }
        for wrong in [
            b"256-000-000-000",
            b"00a-000-000-000",
            b"000.000-000-000",
            b"000-000-000-00 ",
        ] {
            assert_eq!(read_label(wrong), None);
        }
    }

    #[test]
    fn a_share_is_exact_in_every_hundred_names() {
        for share in [0u8, 1, 20, 50, 99, 100] {
            let population = NamePopulation { with_aaaa: share };
            for first in [0u32, 100, 16_777_200] {
                let with = (first..first + 100)
                    .filter(|a| population.has_aaaa(*a))
                    .count();
                assert_eq!(with, usize::from(share));
            }
        }
    }

    #[test]
    fn domains_that_are_none_are_refused() {
        for wrong in ["", "a..b", "ä.test", "a b.test", &"a.".repeat(130)] {
            assert!(Domain::new(wrong).is_err(), "{wrong}");
        }
    }
}
