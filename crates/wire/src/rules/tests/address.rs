//! Addresses out of bit fields.

use proptest::prelude::*;

use super::*;
use crate::{IpVersion, Prefix6052};

const LENGTHS: [&str; 6] = [
    "2001:db8::/32",
    "2001:db8:100::/40",
    "2001:db8:122::/48",
    "2001:db8:122:300::/56",
    "2001:db8:122:344::/64",
    "64:ff9b::/96",
];

fn rule(base: &str, first: u64, fields: &[BitField]) -> Result<AddressRule, RuleError> {
    AddressRule::new(ip(base), first, fields)
}

#[test]
fn fields_are_put_where_they_belong() {
    let fields = [BitField::new(8, 8, 64), BitField::new(0, 8, 0)];
    let rule = rule("2001:db8::100", 0x1200, &fields).unwrap();
    assert_eq!(rule.address(0x34), ip("2001:db8:0:12::134"));
    assert_eq!(rule.number_of(ip("2001:db8:0:12::134")), Some(0x34));
    assert_eq!((rule.version(), rule.is_fixed()), (IpVersion::V6, false));
}

#[test]
fn a_fixed_rule_gives_everybody_the_same_address() {
    let rule = AddressRule::fixed(ip("192.0.0.2"));
    assert_eq!((rule.address(0), rule.address(u64::MAX)), (ip("192.0.0.2"), ip("192.0.0.2")));
    assert_eq!((rule.bits(5), rule.is_fixed()), (0xc000_0002, true));
    assert_eq!((rule.number_of(ip("192.0.0.2")), rule.number_of(ip("192.0.0.3"))), (Some(0), None));
}

#[test]
fn an_address_of_the_other_version_belongs_to_nobody() {
    let rule = rule("192.0.2.0", 0, &[BitField::new(0, 8, 0)]).unwrap();
    assert_eq!(rule.number_of(ip("::192.0.2.1")), None);
}

#[test]
fn an_address_that_contradicts_itself_belongs_to_nobody() {
    let twice = [BitField::new(0, 8, 64), BitField::new(0, 8, 0)];
    let rule = rule("2001:db8::", 0, &twice).unwrap();
    assert_eq!(rule.number_of(ip("2001:db8:0:7::7")), Some(7));
    assert_eq!(rule.number_of(ip("2001:db8:0:7::8")), None);
}

#[test]
fn the_lowest_of_those_that_share_an_address_is_named() {
    // Eight share an address each, and the rule begins with the last of the first eight.
    let rule = rule("192.0.2.0", 7, &[BitField::new(3, 8, 0)]).unwrap();
    assert_eq!(rule.number_of(ip("192.0.2.0")), Some(0));
    assert_eq!(rule.number_of(ip("192.0.2.1")), Some(1));
    assert_eq!(rule.number_of(ip("192.0.2.2")), Some(9));
}

#[test]
fn fields_that_cannot_be_are_refused() {
    let one = |take, width, put| refusal(rule("192.0.2.0", 0, &[BitField::new(take, width, put)]));
    assert_eq!(one(0, 8, 25), "a field of 8 bits at bit 25 does not fit into an IPv4 address of 32 bits");
    assert_eq!(one(64, 8, 0), "a field takes bits from bit 64 of the subscriber's number on, which has 64: expected 0 to 63");
    let overlap = "the field at bit 8 overlaps the base address or another field: leave its bits zero there";
    assert_eq!(one(0, 2, 8), overlap);
    let twice = [BitField::new(0, 9, 0), BitField::new(9, 4, 8)];
    assert_eq!(refusal(rule("10.0.0.0", 0, &twice)), overlap);
    let five: Vec<_> = (0..5).map(|put| BitField::new(0, 1, put)).collect();
    let many = "an address rule of 5 fields: at most 4 are evaluated per frame; merge neighbouring ones";
    assert_eq!(refusal(rule("10.0.0.0", 0, &five)), many);
    let beyond = refusal(rule("2001:db8::", 0, &[BitField::new(0, 64, 65)]));
    assert_eq!(beyond, "a field of 64 bits at bit 65 does not fit into an IPv6 address of 128 bits");
}

#[test]
fn the_default_mapping_rule_of_rfc_7599_appendix_a_embeds_the_host_outside() {
    let dmr: Dmr = "2001:db8:ffff::/64".parse().unwrap();
    assert_eq!(IpAddr::V6(dmr.embed(ipv4("10.2.3.4"))), ip("2001:db8:ffff:0:a:203:400::"));
    let hosts = rule("10.2.3.0", 1, &[BitField::new(0, 8, 0)]).unwrap();
    assert_eq!(hosts.embedded(&dmr).unwrap().address(3), ip("2001:db8:ffff:0:a:203:400::"));
}

#[test]
fn only_ipv4_can_be_embedded() {
    let rule = AddressRule::fixed(ip("2001:db8::1"));
    let error = refusal(rule.embedded(&"64:ff9b::/96".parse().unwrap()));
    assert_eq!(error, "an IPv6 address rule cannot be embedded into IPv6: expected IPv4");
}

/// Up to four fields side by side, from the last bit of an address on: gaps, widths, and where in
/// the number they begin.
fn fields(bits: u8) -> impl Strategy<Value = Vec<BitField>> {
    let each = bits / 4;
    let field = (0..each / 2, 1..=each / 2, 0u8..64);
    prop::collection::vec(field, 0..=4).prop_map(move |fields| {
        let place = |(at, (gap, width, take))| BitField::new(take, width, at as u8 * each + gap);
        fields.into_iter().enumerate().map(place).collect()
    })
}

/// The address bit by bit.
fn slow_bits(base: u128, number: u64, fields: &[BitField]) -> u128 {
    let mut bits = base;
    for field in fields {
        for at in 0..64u32 {
            let source = u32::from(field.take) + at;
            if field.mask >> at & 1 == 1 && source < 64 && number >> source & 1 == 1 {
                bits |= 1 << (u32::from(field.put) + at);
            }
        }
    }
    bits
}

proptest! {
    #[test]
    fn the_bits_are_those_of_the_slow_computation(
        base: u128, first in 0..u64::MAX / 2, e in 0..u64::MAX / 2, fields in fields(128),
    ) {
        let base = fields.iter().fold(base, |base, field| base & !(u128::from(field.mask) << field.put));
        let rule = AddressRule::new(IpAddr::V6(base.into()), first, &fields).unwrap();
        prop_assert_eq!(rule.bits(e), slow_bits(base, first + e, &fields));
    }

    #[test]
    fn the_subscriber_of_an_address_is_the_lowest_that_has_it(first in 0u64..600, e in 0u64..600, fields in fields(32)) {
        let fields: Vec<_> = fields.into_iter().map(|field| BitField { take: field.take % 10, ..field }).collect();
        let rule = AddressRule::new(ip("0.0.0.0"), first, &fields).unwrap();
        let lowest = (0..=e).find(|&other| rule.address(other) == rule.address(e));
        prop_assert_eq!(rule.number_of(rule.address(e)), lowest);
    }

    #[test]
    fn embedding_the_rule_is_embedding_its_addresses(
        at in 0usize..6, first in 0..u64::MAX / 2, e in 0..u64::MAX / 2, mut fields in fields(32),
    ) {
        let prefix: Prefix6052 = LENGTHS[at].parse().unwrap();
        fields.truncate(3);
        let rule = AddressRule::new(ip("0.0.0.0"), first, &fields).unwrap();
        let embedded = rule.embedded(&prefix).unwrap();
        let plain = Ipv4Addr::from_bits(rule.bits(e) as u32);
        prop_assert_eq!(embedded.address(e), IpAddr::V6(prefix.embed(plain)));
    }

    #[test]
    fn a_field_across_octet_8_is_embedded_in_two_parts(at in 0usize..6, first in 0..u64::MAX / 2, e in 0..u64::MAX / 2) {
        let prefix: Prefix6052 = LENGTHS[at].parse().unwrap();
        let rule = AddressRule::new(ip("0.0.0.0"), first, &[BitField::new(0, 32, 0)]).unwrap();
        let plain = Ipv4Addr::from_bits((first + e) as u32);
        prop_assert_eq!(rule.embedded(&prefix).unwrap().address(e), IpAddr::V6(prefix.embed(plain)));
    }
}
