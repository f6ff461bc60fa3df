//! Addresses made of bit fields.

use proptest::prelude::*;

use super::*;

fn rule(base: &str, first: u64, fields: &[BitField]) -> Result<AddressRule, RuleError> {
    AddressRule::new(ip(base), first, fields)
}

#[test]
fn fields_are_put_where_they_belong() {
    let fields = [BitField::new(8, 8, 64), BitField::new(0, 8, 0)];
    let rule = rule("2001:db8::100", 0x1200, &fields).unwrap();
    assert_eq!(rule.address(0x34), ip("2001:db8:0:12::134"));
}

#[test]
fn a_fixed_rule_gives_everybody_the_same_address() {
    let rule = AddressRule::fixed(ip("192.0.0.2"));
    assert_eq!(
        (rule.address(0), rule.address(u64::MAX)),
        (ip("192.0.0.2"), ip("192.0.0.2"))
    );
    assert_eq!(rule.bits(5), 0xc000_0002);
}

#[test]
fn fields_that_cannot_be_are_refused() {
    let one = |take, width, put| refusal(rule("192.0.2.0", 0, &[BitField::new(take, width, put)]));
    assert_eq!(
        one(0, 8, 25),
        "a 8-bit field at bit 25 does not fit into an IPv4 address of 32 bits"
    );
    assert_eq!(
        one(64, 8, 0),
        "a field takes bits from bit 64 of the subscriber's number on, which has 64: expected 0 to 63"
    );
    let overlap =
        "the field at bit 8 overlaps the base address or another field: leave its bits zero there";
    assert_eq!(one(0, 2, 8), overlap);
    let twice = [BitField::new(0, 9, 0), BitField::new(9, 4, 8)];
    assert_eq!(refusal(rule("10.0.0.0", 0, &twice)), overlap);
    let five: Vec<_> = (0..5).map(|put| BitField::new(0, 1, put)).collect();
    let many =
        "an address rule of 5 fields: at most 4 are evaluated per frame; merge neighbouring ones";
    assert_eq!(refusal(rule("10.0.0.0", 0, &five)), many);
    let beyond = refusal(rule("2001:db8::", 0, &[BitField::new(0, 64, 65)]));
    assert_eq!(
        beyond,
        "a 64-bit field at bit 65 does not fit into an IPv6 address of 128 bits"
    );
}

/// Returns up to four fields side by side, starting with the last bit of an address: gaps, widths, and where they begin in the number.
fn fields(bits: u8) -> impl Strategy<Value = Vec<BitField>> {
    let each = bits / 4;
    let field = (0..each / 2, 1..=each / 2, 0u8..64);
    prop::collection::vec(field, 0..=4).prop_map(move |fields| {
        let place = |(at, (gap, width, take))| BitField::new(take, width, at as u8 * each + gap);
        fields.into_iter().enumerate().map(place).collect()
    })
}

/// Returns the address, computed bit by bit.
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
}
