//! Addresses that are a function of the subscriber's number.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::RuleError;
use crate::IpVersion;
use crate::template::{address_of, bits};

/// Some bits of a subscriber's number, and their position in the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub(super) struct BitField {
    /// The lowest bit taken from the number, 0 to 63.
    pub(super) take: u8,
    /// The bits taken, counted from the lowest one.
    pub(super) mask: u64,
    /// The position of the lowest of them in the address, counted from the address's last bit.
    pub(super) put: u8,
}

impl BitField {
    /// Returns a field of `width` adjacent bits, 0 to 64.
    pub(super) fn new(take: u8, width: u8, put: u8) -> Self {
        Self {
            take,
            mask: ones(width),
            put,
        }
    }

    /// Returns the distance from its lowest to its highest bit, in bits; 0 for an empty field.
    fn width(&self) -> u32 {
        u64::BITS - self.mask.leading_zeros()
    }

    /// Returns the field's part of an address. The shifts wrap rather than check: the constructor has ensured that they are less than the width
    /// of the shifted value.
    #[inline]
    fn part(&self, number: u64) -> u128 {
        u128::from(number.wrapping_shr(u32::from(self.take)) & self.mask)
            .wrapping_shl(u32::from(self.put))
    }

    /// Returns all bits of an address that the field may set.
    fn all(&self) -> u128 {
        u128::from(self.mask).wrapping_shl(u32::from(self.put))
    }
}

/// Returns the `width` lowest bits of a number.
pub(super) fn ones(width: u8) -> u64 {
    // For no bits this would be a shift by 64, which has no result.
    u64::MAX
        .checked_shr(64u32.saturating_sub(width.into()))
        .unwrap_or(0)
}

/// An address that consists of a base and fields of the subscriber's number, evaluated per frame.
///
/// The number of subscriber `e` is `first + e`, so that a rule can begin in the middle of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AddressRule {
    version: IpVersion,
    base: u128,
    first: u64,
    /// Unused fields have no bits, which costs less than counting the used ones.
    fields: [BitField; Self::MOST_FIELDS],
}

impl AddressRule {
    /// The most fields an address can have.
    const MOST_FIELDS: usize = 4;

    /// Returns the rule by which subscriber `e` has the bits of `base`, and `fields` of the number `first + e`.
    ///
    /// # Errors
    /// More than four fields, a field that extends beyond the number or the address, or one whose bits are set in the base or belong to another field.
    pub(super) fn new(base: IpAddr, first: u64, fields: &[BitField]) -> Result<Self, RuleError> {
        let mut rule = Self {
            first,
            ..Self::fixed(base)
        };
        let used: Vec<_> = fields.iter().filter(|field| field.mask != 0).collect();
        if used.len() > Self::MOST_FIELDS {
            return Err(RuleError::TooManyFields {
                fields: used.len(),
                most: Self::MOST_FIELDS,
            });
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

    /// Returns the rule by which every subscriber has this address.
    pub fn fixed(address: IpAddr) -> Self {
        let version = IpVersion::of(address);
        Self {
            version,
            base: bits(address),
            first: 0,
            fields: [BitField::default(); Self::MOST_FIELDS],
        }
    }

    /// Returns an IPv6 rule. The caller ensures that the fields are disjoint, within the address, and at most four.
    pub(super) fn ipv6(base: u128, first: u64, fields: &[BitField]) -> Self {
        Self::new(Ipv6Addr::from_bits(base).into(), first, fields)
            .expect("the rule set laid its fields out disjoint")
    }

    /// Returns an IPv4 rule, as [`AddressRule::ipv6`] does for IPv6.
    pub(super) fn ipv4(base: Ipv4Addr, first: u64, fields: &[BitField]) -> Self {
        Self::new(base.into(), first, fields).expect("the rule set laid its fields out disjoint")
    }

    /// Returns the address of subscriber `e`, an IPv4 address in the low 32 bits.
    #[inline]
    pub fn bits(&self, e: u64) -> u128 {
        let number = self.first.wrapping_add(e);
        self.fields
            .iter()
            .fold(self.base, |bits, field| bits | field.part(number))
    }

    /// Returns the address of subscriber `e`.
    #[inline]
    pub fn address(&self, e: u64) -> IpAddr {
        address_of(self.version, self.bits(e))
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
        return Err(RuleError::FieldOutside {
            version,
            put,
            width,
            bits,
        });
    }
    Ok(())
}
