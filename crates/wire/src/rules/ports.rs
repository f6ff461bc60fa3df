//! Port sets of subscribers that share an IPv4 address (RFC 7597 section 5.1).

use std::ops::RangeInclusive;

use super::RuleError;
use super::address::ones;

/// The ports that a subscriber may use, as a function of its number, evaluated per frame.
///
/// A port is divided into A (`a` bits, the PSID offset), the PSID (`k` bits, its length) and j (`m` bits, the contiguous ports), 16 in all. For
/// `a` > 0 the set of a PSID consists of 2^a - 1 ranges of 2^m ports, as A is never 0. For `a` = 0 it is one range of 2^m ports.
///
/// Port 0 belongs to no set. That only matters for `a` = 0, where PSID 0 therefore has one port less than the others; this is why
/// [`PortRule::count`] depends on the subscriber. Nothing else is excluded: with `a` = 0 the system ports do belong to the lowest PSIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PortRule {
    first: u64,
    take: u8,
    offset: u8,
    psid_len: u8,
    contiguous: u8,
    /// The lowest value that A and j, taken as one number, have in a set.
    lowest: u32,
    /// 1 if PSID 0 would have port 0, otherwise 0: a number, so that [`PortRule::left_out`] needs no branch for each frame.
    port_zero: u32,
}

impl PortRule {
    /// All ports except 0: the subscriber has the address to itself.
    pub const ANY: Self = Self {
        first: 0,
        take: 0,
        offset: 0,
        psid_len: 0,
        contiguous: 16,
        lowest: 0,
        port_zero: 1,
    };

    /// Returns port sets with a PSID of `psid_len` bits after `offset` bits. The PSID of subscriber `e` begins at bit `take` of the number `first
    /// + e`. A PSID of no bits means that the address is not shared, which makes the rule [`PortRule::ANY`] for any offset.
    ///
    /// # Errors
    /// An offset beyond 15, an offset and length that exceed 16 together, or a length of 16, which would leave PSID 0 only port 0.
    pub fn new(offset: u8, psid_len: u8, first: u64, take: u8) -> Result<Self, RuleError> {
        if offset > 15 {
            return Err(RuleError::PsidOffset { offset });
        }
        if psid_len > 16 - offset {
            return Err(RuleError::PsidTooLong {
                offset,
                len: psid_len,
            });
        }
        if take > 63 {
            return Err(RuleError::FieldTakesNothing { take });
        }
        let contiguous = 16 - offset - psid_len;
        let (lowest, port_zero) = if offset > 0 {
            (1 << contiguous, 0)
        } else {
            (0, 1)
        };
        match psid_len {
            0 => Ok(Self::ANY),
            16 => Err(RuleError::PortZeroAlone),
            _ => Ok(Self {
                first,
                take,
                offset,
                psid_len,
                contiguous,
                lowest,
                port_zero,
            }),
        }
    }

    /// Returns whether the address is shared, so that some ports belong to other subscribers.
    pub fn is_restricted(&self) -> bool {
        self.psid_len > 0
    }

    /// Returns the PSID of subscriber `e`; 0 if the address is not shared.
    #[inline]
    pub fn psid(&self, e: u64) -> u16 {
        let number = self
            .first
            .wrapping_add(e)
            .wrapping_shr(u32::from(self.take));
        number as u16 & ones(self.psid_len) as u16
    }

    /// Returns the number of ports of subscriber `e`: 1 to 65,535.
    #[inline]
    pub fn count(&self, e: u64) -> u32 {
        // 2^16 / 2^k values of A and j, less the excluded ones.
        (1 << (self.offset + self.contiguous)) - self.left_out(self.psid(e))
    }

    /// Returns port number `nth` of subscriber `e`, from 0, the lowest, up to [`PortRule::count`] less one.
    #[inline]
    pub fn port(&self, e: u64, nth: u32) -> u16 {
        let psid = self.psid(e);
        debug_assert!(nth < self.count(e), "port {nth} of {}", self.count(e));
        let value = nth + self.left_out(psid);
        let (above, below) = (
            value >> self.contiguous,
            value & ((1 << self.contiguous) - 1),
        );
        (above << (self.psid_len + self.contiguous) | u32::from(psid) << self.contiguous | below)
            as u16
    }

    /// Returns the ports of subscriber `e` as ranges in ascending order, as a DUT is configured with them.
    pub fn ranges(&self, e: u64) -> Vec<RangeInclusive<u16>> {
        let (each, all) = (1 << self.contiguous, self.count(e));
        // Only the set without port 0 is one short of a whole range.
        (0..all.div_ceil(each))
            .map(|range| {
                self.port(e, range * each)..=self.port(e, ((range + 1) * each).min(all) - 1)
            })
            .collect()
    }

    /// Returns how many of the lowest values of A and j do not belong to the set of `psid`.
    #[inline]
    fn left_out(&self, psid: u16) -> u32 {
        self.lowest + (self.port_zero & u32::from(psid == 0))
    }
}
