//! RFC 6815: such tests belong into an isolated environment. So destinations that could be somebody's are refused unless forced.

use ipnet::IpNet;
use std::net::IpAddr;

/// Where test traffic may go, and why.
const ALLOWED: [(&str, &str); 14] = [
    ("198.18.0.0/15", "benchmarking, RFC 2544"),
    ("2001:2::/48", "benchmarking, RFC 5180"),
    ("192.0.2.0/24", "documentation"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("2001:db8::/32", "documentation"),
    ("3fff::/20", "documentation"),
    ("10.0.0.0/8", "private"),
    ("172.16.0.0/12", "private"),
    ("192.168.0.0/16", "private"),
    ("100.64.0.0/10", "shared address space"),
    ("fc00::/7", "unique local"),
    ("64:ff9b:1::/48", "local-use translation, RFC 8215"),
    ("192.0.0.0/29", "IPv4 service continuity, RFC 7335"),
];

/// Whether test traffic may bear this address.
pub fn check(address: IpAddr) -> Result<(), String> {
    let embedded = embedded_ipv4(address).unwrap_or(address);
    let is_allowed = |prefix: &str| prefix.parse::<IpNet>().is_ok_and(|p| p.contains(&address) || p.contains(&embedded));
    if ALLOWED.iter().any(|(prefix, _)| is_allowed(prefix)) {
        return Ok(());
    }
    Err(format!(
        "{address} lies outside the benchmarking, documentation, private and unique local ranges, \
         and test traffic must not leave an isolated environment (RFC 6815); use --force if it cannot"
    ))
}

/// The IPv4 address in one of the well-known prefix (RFC 6052) or of 6to4 (RFC 3056).
fn embedded_ipv4(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(address) = address else { return None };
    let octets = address.octets();
    let at = |start: usize| IpAddr::from([octets[start], octets[start + 1], octets[start + 2], octets[start + 3]]);
    let is_well_known = octets[..12] == [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];
    let is_sixtofour = octets[..2] == [0x20, 0x02];
    if is_well_known { Some(at(12)) } else { is_sixtofour.then(|| at(2)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(address: &str) -> bool {
        check(address.parse().expect("address")).is_ok()
    }

    #[test]
    fn test_addresses_are_allowed_and_others_are_not() {
        for address in ["198.18.0.2", "198.19.255.254", "2001:2::2", "2001:db8::1", "10.1.2.3", "fd00::1"] {
            assert!(is_allowed(address), "{address}");
        }
        for address in ["8.8.8.8", "198.20.0.1", "2001:2:1::1", "2606:4700::1", "224.0.0.1", "ff02::1"] {
            assert!(!is_allowed(address), "{address}");
        }
    }

    #[test]
    fn an_embedded_address_counts_as_itself() {
        assert!(is_allowed("64:ff9b::c612:2"));
        assert!(!is_allowed("64:ff9b::808:808"));
        assert!(is_allowed("2002:c612:1::1"));
        assert!(!is_allowed("2002:808:808::1"));
    }
}
