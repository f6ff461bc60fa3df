//! Address prefixes, written `198.18.0.0/24` and `2001:2::/48`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::WireError;

/// An IPv4 prefix; bits beyond its length are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix4 {
    address: Ipv4Addr,
    len: u8,
}

/// An IPv6 prefix; bits beyond its length are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix6 {
    address: Ipv6Addr,
    len: u8,
}

/// The two prefix types differ only in their widths.
macro_rules! prefix {
    ($prefix:ident, $address:ty, $bits:ty, $family:path, $what:literal, $lengths:literal, $expected:literal) => {
        impl $prefix {
            /// Returns the prefix of the first `len` bits of `address`.
            ///
            /// # Errors
            /// A length beyond the address, or bits set beyond the length.
            pub fn new(address: $address, len: u8) -> Result<Self, WireError> {
                if u32::from(len) > <$bits>::BITS {
                    let address = $family(address);
                    return Err(WireError::PrefixLength {
                        address,
                        len,
                        expected: $lengths,
                    });
                }
                let network = <$address>::from_bits(address.to_bits() & Self::mask(len));
                if network != address {
                    let (address, network) = ($family(address), $family(network));
                    return Err(WireError::HostBits {
                        address,
                        len,
                        network,
                    });
                }
                Ok(Self { address, len })
            }

            /// Returns the prefix that contains only this address.
            pub fn host(address: $address) -> Self {
                Self {
                    address,
                    len: <$bits>::BITS as u8,
                }
            }

            /// Returns the first address.
            pub fn address(&self) -> $address {
                self.address
            }

            /// Returns the length, in bits.
            // An "empty" prefix does not exist, so there is no `is_empty`.
            #[allow(clippy::len_without_is_empty)]
            pub fn len(&self) -> u8 {
                self.len
            }

            /// Returns whether the prefix contains this address.
            pub fn contains(&self, address: $address) -> bool {
                address.to_bits() & Self::mask(self.len) == self.address.to_bits()
            }

            /// Returns whether any address is in both prefixes. One of them then contains the other.
            pub fn overlaps(&self, other: &Self) -> bool {
                self.contains(other.address) || other.contains(self.address)
            }

            /// Returns the bits that a prefix of this length fixes.
            fn mask(len: u8) -> $bits {
                <$bits>::MAX
                    .checked_shl(<$bits>::BITS - u32::from(len))
                    .unwrap_or(0)
            }
        }

        impl fmt::Display for $prefix {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}", self.address, self.len)
            }
        }

        impl fmt::Debug for $prefix {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $prefix {
            type Err = WireError;

            /// Parses `address/length`, or an address alone as the prefix of just this address.
            fn from_str(text: &str) -> Result<Self, WireError> {
                let unreadable = || WireError::Text {
                    what: $what,
                    text: text.to_owned(),
                    expected: $expected,
                };
                let Some((address, len)) = text.split_once('/') else {
                    return text.parse().map(Self::host).map_err(|_| unreadable());
                };
                let address = address.parse().map_err(|_| unreadable())?;
                Self::new(address, len.parse().map_err(|_| unreadable())?)
            }
        }
    };
}

prefix!(
    Prefix4,
    Ipv4Addr,
    u32,
    IpAddr::V4,
    "an IPv4 prefix",
    "0 to 32",
    "such as 198.18.0.0/24"
);
prefix!(
    Prefix6,
    Ipv6Addr,
    u128,
    IpAddr::V6,
    "an IPv6 prefix",
    "0 to 128",
    "such as 2001:2::/48"
);

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix4(text: &str) -> Prefix4 {
        text.parse().unwrap()
    }

    fn prefix6(text: &str) -> Prefix6 {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_displayed_can_be_read_back() {
        for text in ["0.0.0.0/0", "198.18.0.0/15", "198.18.0.1/32"] {
            assert_eq!(prefix4(text).to_string(), text);
        }
        for text in ["::/0", "2001:2::/48", "64:ff9b::/96", "2001:2::1/128"] {
            assert_eq!(prefix6(text).to_string(), text);
        }
    }

    #[test]
    fn an_address_alone_is_a_prefix_of_one_address() {
        assert_eq!(prefix4("192.0.2.1").len(), 32);
        assert_eq!(prefix6("2001:db8::1").len(), 128);
    }

    #[test]
    fn host_bits_are_refused_with_the_prefix_that_was_meant() {
        let error = "198.18.0.1/24".parse::<Prefix4>().unwrap_err().to_string();
        assert_eq!(
            error,
            "198.18.0.1/24 has host bits set; did you mean 198.18.0.0/24?"
        );
        let error = "2001:2::1/48".parse::<Prefix6>().unwrap_err().to_string();
        assert_eq!(
            error,
            "2001:2::1/48 has host bits set; did you mean 2001:2::/48?"
        );
    }

    #[test]
    fn other_texts_are_refused() {
        let refusal = |text: &str| text.parse::<Prefix4>().unwrap_err().to_string();
        assert_eq!(
            refusal("198.18.0.0/33"),
            "prefix length /33 of 198.18.0.0 is not allowed: expected 0 to 32"
        );
        let unreadable =
            "cannot read `198.18.0.0/` as an IPv4 prefix: expected such as 198.18.0.0/24";
        assert_eq!(refusal("198.18.0.0/"), unreadable);
        assert!("2001:2::/129".parse::<Prefix6>().is_err());
    }

    #[test]
    fn a_prefix_contains_its_addresses_and_no_others() {
        let prefix = prefix4("198.18.0.0/15");
        assert!(prefix.contains(Ipv4Addr::new(198, 19, 255, 255)));
        assert!(!prefix.contains(Ipv4Addr::new(198, 20, 0, 0)));
        assert!(prefix4("0.0.0.0/0").contains(Ipv4Addr::BROADCAST));
        assert!(prefix6("::/0").contains("ff02::1".parse().unwrap()));
        assert!(!prefix6("2001:2::/48").contains("2001:2:1::".parse().unwrap()));
    }

    #[test]
    fn prefixes_overlap_when_one_contains_the_other() {
        assert!(prefix4("198.18.0.0/15").overlaps(&prefix4("198.19.3.0/24")));
        assert!(prefix4("198.19.3.0/24").overlaps(&prefix4("198.18.0.0/15")));
        assert!(!prefix4("198.18.0.0/24").overlaps(&prefix4("198.18.1.0/24")));
    }
}
