//! Ethernet (MAC) addresses.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use crate::WireError;

/// A 48-bit Ethernet address, in the order of transmission.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// All stations on the link.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Returns the group address of an IPv6 multicast group: 33:33 and the group's last 32 bits (RFC 2464 section 7).
    pub const fn multicast(group: Ipv6Addr) -> Self {
        let [.., a, b, c, d] = group.octets();
        Self([0x33, 0x33, a, b, c, d])
    }

    /// Returns whether this is the address of a single station, neither multicast nor broadcast.
    pub const fn is_unicast(self) -> bool {
        self.0[0] & 1 == 0
    }

    /// Returns whether a station can have this address: it is neither a group address nor all zeroes, which means that there
    /// is no address.
    pub const fn is_station(self) -> bool {
        self.is_unicast() && !matches!(self.0, [0, 0, 0, 0, 0, 0])
    }
}

impl From<[u8; 6]> for MacAddress {
    fn from(octets: [u8; 6]) -> Self {
        Self(octets)
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for MacAddress {
    type Err = WireError;

    /// Parses six pairs of hexadecimal digits, separated by `:` or `-`.
    fn from_str(text: &str) -> Result<Self, WireError> {
        let separator = if text.contains('-') { '-' } else { ':' };
        let octets: Option<Vec<u8>> = text.split(separator).map(octet).collect();
        octets
            .and_then(|octets| octets.try_into().ok())
            .map(Self)
            .ok_or_else(|| WireError::Text {
                what: "a MAC address",
                text: text.to_owned(),
                expected: "six octets such as 02:00:00:00:00:01",
            })
    }
}

/// Parses two hexadecimal digits; `from_str_radix` alone would also accept `+1`.
fn octet(pair: &str) -> Option<u8> {
    let digits = pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| u8::from_str_radix(pair, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_displayed_can_be_read_back() {
        let mac = MacAddress([0x02, 0, 0, 0, 0xab, 0x01]);
        assert_eq!(mac.to_string(), "02:00:00:00:ab:01");
        assert_eq!("02:00:00:00:ab:01".parse(), Ok(mac));
        assert_eq!("02-00-00-00-AB-01".parse(), Ok(mac));
    }

    #[test]
    fn a_station_has_neither_the_address_of_a_group_nor_none() {
        assert!(MacAddress([0, 0, 0, 0, 0, 1]).is_station());
        for address in [
            MacAddress::BROADCAST,
            MacAddress([0x33, 0x33, 0, 0, 0, 1]),
            MacAddress::default(),
        ] {
            assert!(!address.is_station(), "{address}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_an_example() {
        for text in [
            "",
            "02:00:00:00:00",
            "02:00:00:00:00:00:01",
            "02:00:00:00:00:0g",
            "+2:00:00:00:00:01",
            "2:0:0:0:0:1",
        ] {
            let error = text.parse::<MacAddress>().unwrap_err().to_string();
            assert!(
                error.contains("such as 02:00:00:00:00:01"),
                "{text}: {error}"
            );
        }
    }
}
