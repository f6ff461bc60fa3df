//! 6rd and 6to4.

use proptest::prelude::*;

use super::*;

/// RFC 5969 section 7.1.1: 6rd prefix 2001:db8::/32, IPv4MaskLen 8.
fn example() -> SixRd {
    SixRd::new(v6("2001:db8::/32"), 8, v4("10.100.100.0/24")).unwrap()
}

#[test]
fn the_example_of_rfc_5969_comes_out_for_the_ce_and_the_relay() {
    let domain = example();
    assert_eq!(domain.ipv4().address(1), ip("10.100.100.1"));
    assert_eq!(domain.delegated_prefix(1), v6("2001:db8:6464:100::/56"));
    assert_eq!(domain.ipv6().address(1), ip("2001:db8:6464:100::1"));
    assert_eq!(domain.delegated_prefix_of(ipv4("10.0.0.1")), Some(v6("2001:db8:0:100::/56")));
    assert_eq!(domain.delegated_prefix_of(ipv4("10.128.0.1")), Some(v6("2001:db8:8000:100::/56")));
    assert_eq!(domain.delegated_prefix_of(ipv4("11.0.0.1")), None);
    assert_eq!(domain.to_string(), "2001:db8::/32 IPv4MaskLen 8 CEs in 10.100.100.0/24");
}

#[test]
fn the_6to4_prefix_of_rfc_3056_has_the_whole_address() {
    let sites = SixRd::sixtofour(v4("192.0.2.0/24"));
    assert_eq!((sites.prefix(), sites.mask_len()), (v6("2002::/16"), 0));
    assert_eq!(sites.delegated_prefix(4), v6("2002:c000:204::/48"));
    assert_eq!(sites.ipv6().address(4), ip("2002:c000:204::1"));
    assert_eq!(sites.ipv6().number_of(ip("2002:c000:204::1")), Some(4));
    assert_eq!(sites.delegated_prefix_of(ipv4("198.51.100.1")), Some(v6("2002:c633:6401::/48")));
}

#[test]
fn network_and_broadcast_addresses_can_be_left_out() {
    let domain = example().numbered(1, Some(254)).unwrap();
    assert_eq!((domain.ipv4().address(0), domain.ipv4().address(253)), (ip("10.100.100.1"), ip("10.100.100.254")));
    assert_eq!((domain.number(ipv4("10.100.100.1")), domain.number(ipv4("10.100.100.0"))), (Some(0), None));
    assert_eq!((domain.number(ipv4("10.100.100.255")), domain.number(ipv4("10.100.101.1"))), (None, None));
    assert!(refusal(example().numbered(1, Some(256))).starts_with("6rd domain: 256 subscribers from number 1 on"));
}

#[test]
fn domains_that_contradict_themselves_are_refused() {
    let made = |prefix, mask_len| refusal(SixRd::new(v6(prefix), mask_len, v4("10.0.0.0/16")));
    assert_eq!(
        made("2001:db8::/32", 17),
        "IPv4MaskLen 17 is longer than the prefix of the CEs, 10.0.0.0/16: expected at most 16"
    );
    assert_eq!(
        made("2001:db8::/48", 8),
        "6rd prefix 2001:db8::/48 and 24 bits of each subscriber make prefixes of /72, but at most /64 is supported: \
         the interface identifier needs the rest; use a shorter prefix or fewer bits"
    );
}

proptest! {
    #[test]
    fn every_ce_s_addresses_are_those_of_the_slow_computation(
        bits: u128, sites: u32, len in 0u8..=64, sites_len in 0u8..=32, mask_len in 0u8..=32, e: u64,
    ) {
        let bits = if len == 0 { 0 } else { bits >> (128 - len) << (128 - len) };
        let sites = if sites_len == 0 { 0 } else { sites >> (32 - sites_len) << (32 - sites_len) };
        let (prefix, sites) = (Prefix6::new(bits.into(), len).unwrap(), Prefix4::new(sites.into(), sites_len).unwrap());
        let Ok(domain) = SixRd::new(prefix, mask_len, sites) else {
            prop_assert!(mask_len > sites_len || len + 32 - mask_len > 64);
            return Ok(());
        };
        let e = e % domain.subscribers();
        let ipv4 = Ipv4Addr::from_bits(sites.address().to_bits() + e as u32);
        prop_assert_eq!(domain.ipv4().address(e), IpAddr::V4(ipv4));
        let delegated = digits_of(prefix) + &digits(ipv4.to_bits().into(), 32 - mask_len);
        prop_assert_eq!(usize::from(domain.delegated_prefix(e).len()), delegated.len());
        let inner = format!("{delegated:0<127}1");
        prop_assert_eq!(domain.ipv6().address(e), address_of(&inner));
        prop_assert_eq!((domain.number(ipv4), domain.ipv6().number_of(address_of(&inner))), (Some(e), Some(e)));
    }
}
