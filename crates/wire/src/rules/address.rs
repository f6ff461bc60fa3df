//! Addresses that are a function of the subscriber's number.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::RuleError;
use crate::{IpVersion, Prefix6052};

/// Some bits of a subscriber's number, and where in the address they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BitField {
    /// The lowest bit taken from the number, 0 to 63.
    pub take: u8,
    /// The bits taken, counted from there.
    pub mask: u64,
    /// The place of the lowest of them in the address, counted from the address's last bit.
    pub put: u8,
}

impl BitField {
    /// A field of `width` neighbouring bits, 0 to 64.
    pub fn new(take: u8, width: u8, put: u8) -> Self {
        Self { take, mask: ones(width), put }
    }

    /// From its lowest bit to its highest, in bits; 0 for a field of none.
    fn width(&self) -> u32 {
        u64::BITS - self.mask.leading_zeros()
    }

    /// The field's part of an address. The shifts wrap rather than check: the constructor has seen
    /// to it that they are less than the width of what is shifted.
    #[inline]
    fn of(&self, number: u64) -> u128 {
        u128::from(number.wrapping_shr(u32::from(self.take)) & self.mask).wrapping_shl(u32::from(self.put))
    }

    /// All bits of an address that the field may set.
    fn all(&self) -> u128 {
        u128::from(self.mask).wrapping_shl(u32::from(self.put))
    }

    /// The bits of the number that the field holds, in their places; the inverse of [`BitField::of`].
    fn back(&self, bits: u128) -> u64 {
        (bits.wrapping_shr(u32::from(self.put)) as u64 & self.mask).wrapping_shl(u32::from(self.take))
    }
}

/// The `width` lowest bits of a number.
pub(super) fn ones(width: u8) -> u64 {
    u64::MAX.checked_shr(64u32.saturating_sub(width.into())).unwrap_or(0)
}

/// An address whose bits are a base and fields of the subscriber's number: evaluated per frame.
///
/// The number of subscriber `e` is `first + e`, so that a rule can begin in the middle of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressRule {
    version: IpVersion,
    base: u128,
    first: u64,
    /// Those not used are of no bits, which costs less than counting them.
    fields: [BitField; Self::MOST_FIELDS],
}

impl AddressRule {
    /// The most fields an address can have.
    pub const MOST_FIELDS: usize = 4;

    /// The rule that subscriber `e` has the bits of `base`, and `fields` of the number `first + e`.
    ///
    /// # Errors
    /// More than four fields, one that reaches out of the number or the address, or one whose bits
    /// are set in the base or belong to another.
    pub fn new(base: IpAddr, first: u64, fields: &[BitField]) -> Result<Self, RuleError> {
        let mut rule = Self { first, ..Self::fixed(base) };
        let used: Vec<_> = fields.iter().filter(|field| field.mask != 0).collect();
        if used.len() > Self::MOST_FIELDS {
            return Err(RuleError::TooManyFields { fields: used.len(), most: Self::MOST_FIELDS });
        }
        let mut taken = rule.base;
        for (place, field) in rule.fields.iter_mut().zip(used) {
            check(rule.version, field)?;
            if taken & field.all() != 0 {
                return Err(RuleError::FieldsOverlap { put: field.put });
            }
            taken |= field.all();
            *place = *field;
        }
        Ok(rule)
    }

    /// The rule that every subscriber has this address.
    pub fn fixed(address: IpAddr) -> Self {
        let version = IpVersion::of(address);
        Self { version, base: bits_of(address), first: 0, fields: [BitField::default(); Self::MOST_FIELDS] }
    }

    /// An IPv6 rule whose fields its caller made disjoint, within the address, and four at most.
    pub(super) fn ipv6(base: u128, first: u64, fields: &[BitField]) -> Self {
        Self::new(Ipv6Addr::from_bits(base).into(), first, fields).expect("the rule set laid its fields out disjoint")
    }

    /// As [`AddressRule::ipv6`], for IPv4.
    pub(super) fn ipv4(base: Ipv4Addr, first: u64, fields: &[BitField]) -> Self {
        Self::new(base.into(), first, fields).expect("the rule set laid its fields out disjoint")
    }

    /// The addresses' version.
    pub fn version(&self) -> IpVersion {
        self.version
    }

    /// Returns whether all subscribers have the same address.
    pub fn is_fixed(&self) -> bool {
        self.fields.iter().all(|field| field.mask == 0)
    }

    /// The address of subscriber `e`; that of IPv4 in the low 32 bits.
    #[inline]
    pub fn bits(&self, e: u64) -> u128 {
        let number = self.first.wrapping_add(e);
        self.fields.iter().fold(self.base, |bits, field| bits | field.of(number))
    }

    /// The address of subscriber `e`.
    #[inline]
    pub fn address(&self, e: u64) -> IpAddr {
        match self.version {
            IpVersion::V4 => Ipv4Addr::from_bits(self.bits(e) as u32).into(),
            IpVersion::V6 => Ipv6Addr::from_bits(self.bits(e)).into(),
        }
    }

    /// The subscriber that has this address, the lowest if several share it; `None` if there is none.
    ///
    /// A rule does not know how many subscribers take part, its rule set does: what comes out may be
    /// beyond that count. For tests and messages; not made to be fast.
    pub fn number_of(&self, address: IpAddr) -> Option<u64> {
        let bits = bits_of(address);
        let number = self.fields.iter().fold(0, |number, field| number | field.back(bits));
        let known = self.fields.iter().fold(0, |known, field| known | field.back(u128::MAX));
        let e = lowest(self.first, known, number)? - self.first;
        // Also settles bits of the base, and two fields that repeat the same bits of the number.
        (IpVersion::of(address) == self.version && self.bits(e) == bits).then_some(e)
    }

    /// The rule for the IPv6 addresses that stand for these IPv4 addresses behind a translator's prefix (RFC 6052 section 2.2).
    ///
    /// # Errors
    /// A rule of IPv6, or more than four fields once those around octet 8 are cut in two.
    pub fn embedded(&self, prefix: &Prefix6052) -> Result<Self, RuleError> {
        if self.version != IpVersion::V4 {
            return Err(RuleError::NotIpv4 { version: self.version });
        }
        let base = prefix.embed(Ipv4Addr::from_bits(self.base as u32));
        let fields: Vec<_> = self.fields.iter().flat_map(|field| embed(field, prefix.prefix().len())).collect();
        Self::new(base.into(), self.first, &fields)
    }
}

fn bits_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn check(version: IpVersion, field: &BitField) -> Result<(), RuleError> {
    let bits = match version {
        IpVersion::V4 => Ipv4Addr::BITS,
        IpVersion::V6 => Ipv6Addr::BITS,
    };
    let &BitField { take, put, .. } = field;
    if take > 63 {
        return Err(RuleError::FieldTakesNothing { take });
    }
    let width = field.width();
    if u32::from(put) + width > bits {
        return Err(RuleError::FieldOutside { version, put, width, bits });
    }
    Ok(())
}

/// The two parts of a field of an IPv4 address on both sides of octet 8 of the IPv6 address,
/// behind a prefix of `len` bits. One of them is often of no bits.
fn embed(field: &BitField, len: u8) -> [BitField; 2] {
    // That many of the IPv4 address's last bits stand behind octet 8: none for /32, all from /64 on.
    let behind = len.saturating_sub(32).min(32);
    let cut = behind.saturating_sub(field.put);
    let up = if len == 96 { 0 } else { 88 - len };
    let lower = BitField { mask: field.mask & ones(cut), put: field.put + up, ..*field };
    if field.mask >> cut == 0 {
        return [lower, BitField::default()];
    }
    let upper = BitField { take: field.take + cut, mask: field.mask >> cut, put: field.put + cut + 96 - len };
    [lower, upper]
}

/// The lowest number from `first` on whose `known` bits are those of `value`.
fn lowest(first: u64, known: u64, value: u64) -> Option<u64> {
    if first & known == value {
        return Some(first);
    }
    // The longer it agrees with `first` from the top, the lower it is: so look for the lowest bit
    // that can be one where that of `first` is zero, with everything below as low as it can be.
    let candidate = |bit: u32| (first >> bit | 1) << bit | value & ones(bit as u8);
    (0..u64::BITS).filter(|&bit| first >> bit & 1 == 0).map(candidate).find(|number| number & known == value)
}
