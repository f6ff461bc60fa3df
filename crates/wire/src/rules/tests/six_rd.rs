//! 6rd and 6to4.

use proptest::prelude::*;

use super::*;

/// Returns the domain of RFC 5969 section 7.1.1: 6rd prefix 2001:db8::/32, IPv4MaskLen 8.
fn example() -> SixRd {
    SixRd::new(v6("2001:db8::/32"), 8, v4("10.100.100.0/24")).unwrap()
}

#[test]
fn the_example_of_rfc_5969_comes_out_for_the_ce_and_the_relay() {
    let domain = example();
    assert_eq!(domain.ipv4().address(1), ip("10.100.100.1"));
    assert_eq!(domain.ipv6().address(1), ip("2001:db8:6464:100::1"));
}

#[test]
fn the_6to4_prefix_of_rfc_3056_has_the_whole_address() {
    let sites = SixRd::sixtofour(v4("192.0.2.0/24"));
    assert_eq!(sites.ipv6().address(4), ip("2002:c000:204::1"));
}

#[test]
fn network_and_broadcast_addresses_can_be_left_out() {
    let domain = example().numbered(1, Some(254)).unwrap();
    assert_eq!(
        (domain.ipv4().address(0), domain.ipv4().address(253)),
        (ip("10.100.100.1"), ip("10.100.100.254"))
    );
    assert_eq!(example().numbered(1, None).unwrap().subscribers(), 255);
}

#[test]
fn numbers_the_domain_does_not_have_are_refused() {
    let asked = |first, count| refusal(example().numbered(first, count));
    let beyond = "6rd domain: numbers of subscribers from 255 on: 2, but the rule has 256 in all; lower `first` or the count";
    assert_eq!(asked(255, Some(2)), beyond);
    assert_eq!(
        asked(0, Some(0)),
        "6rd domain: no subscriber asked for; expected 1 to 256"
    );
    assert!(
        asked(u64::MAX, Some(2))
            .starts_with("6rd domain: numbers of subscribers from 18446744073709551615 on: 2")
    );
    assert!(asked(256, None).starts_with("6rd domain: numbers of subscribers from 256 on: 1"));
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
        "6rd prefix 2001:db8::/48, lengthened by 24 for each subscriber, makes prefixes of /72, but at most /64 is supported: \
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
        let inner = format!("{delegated:0<127}1");
        prop_assert_eq!(domain.ipv6().address(e), address_of(&inner));
    }
}
