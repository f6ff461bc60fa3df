//! The Internet checksum (RFC 1071) in partial sums, so that a frame in which a few words change need not be summed as a whole again (RFC 1624).
//!
//! A **partial sum** is a `u64` that is congruent, modulo 2^16 - 1, to the sum of the 16-bit big-endian words it stands for, and zero only if all
//! of them are. Any integer of 64 bits or less that lies word-aligned in a frame *is* its own partial sum, because 2^16 is congruent to 1.
//! Partial sums are added with `+`: every sum that this module returns is below 2^33, so they cannot overflow in practice.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns the partial sum of `octets`; an odd last octet counts as the upper half of a word (RFC 1071 section 4.1).
///
/// It is below 2^16 for any length.
#[inline]
pub fn sum(octets: &[u8]) -> u64 {
    let (words, rest) = octets.as_chunks::<8>();
    let mut lanes = [0u64; 2];
    // Byte order does not matter to a ones' complement sum until its end (RFC 1071 section 2 (B)), so the words are read in the processor's byte
    // order and the 16-bit result is swapped once. Lanes of 32-bit halves leave room for 2^32 carries.
    for word in words {
        let word = u64::from_ne_bytes(*word);
        lanes[0] += word & 0xffff_ffff;
        lanes[1] += word >> 32;
    }
    let mut last = [0u8; 8];
    last[..rest.len()].copy_from_slice(rest);
    let last = u64::from(fold(u64::from_ne_bytes(last)));
    let native = fold(u64::from(fold(lanes[0])) + u64::from(fold(lanes[1])) + last);
    u64::from(u16::from_be(native))
}

/// Returns a partial sum reduced to 16 bits with end-around carry; it is 0 only for 0.
#[inline]
pub const fn fold(sum: u64) -> u16 {
    // Adding a number to itself with its halves swapped leaves the sum of both halves, with its carry, in the upper half.
    let half = (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32;
    (half.wrapping_add(half.rotate_left(16)) >> 16) as u16
}

/// Returns the checksum field for a partial sum: its complement.
#[inline]
pub const fn finish(sum: u64) -> u16 {
    !fold(sum)
}

/// Returns the checksum field for UDP: as [`finish`], except that 0, which would mean "none", becomes 0xffff (RFC 768, RFC 8200 section 8.1).
#[inline]
pub const fn finish_udp(sum: u64) -> u16 {
    match finish(sum) {
        0 => 0xffff,
        checksum => checksum,
    }
}

/// Returns whether a partial sum that includes its checksum field is right.
#[inline]
pub const fn is_right(sum: u64) -> bool {
    fold(sum) == 0xffff
}

/// Returns the partial sum of the IPv4 pseudo-header; `length` is the upper layer's, in octets (RFC 768).
pub fn pseudo_header_ipv4(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, length: u16) -> u64 {
    sum(&src.octets()) + sum(&dst.octets()) + u64::from(protocol) + u64::from(length)
}

/// Returns the partial sum of the IPv6 pseudo-header; `length` is the upper layer's, in octets (RFC 8200 section 8.1).
pub fn pseudo_header_ipv6(src: Ipv6Addr, dst: Ipv6Addr, next_header: u8, length: u32) -> u64 {
    sum(&src.octets()) + sum(&dst.octets()) + u64::from(next_header) + u64::from(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the checksum of RFC 1071 section 4.1, word by word.
    fn naive(octets: &[u8]) -> u16 {
        let mut sum = 0u32;
        for word in octets.chunks(2) {
            sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn the_example_of_rfc_1071_section_3_comes_out() {
        let octets = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum(&octets)), 0xddf2);
        assert_eq!(finish(sum(&octets)), 0x220d);
    }

    #[test]
    fn only_zero_folds_to_zero() {
        assert_eq!(fold(0), 0);
        for sum in [
            0xffff,
            0x1_0000,
            0x1_fffe,
            0xffff_ffff,
            0x1_0000_0000,
            u64::MAX,
            u64::MAX - 0xffff,
        ] {
            assert_ne!(fold(sum), 0, "{sum:#x}");
            assert_eq!(u64::from(fold(sum)) % 0xffff, sum % 0xffff, "{sum:#x}");
        }
    }

    #[test]
    fn a_udp_checksum_is_never_zero() {
        assert_eq!(finish(0xffff), 0);
        assert_eq!(finish_udp(0xffff), 0xffff);
        assert_eq!(finish_udp(0x1234), 0xedcb);
    }

    #[test]
    fn the_longest_run_of_ones_does_not_overflow() {
        assert_eq!(fold(sum(&vec![0xff; 65_535])), naive(&vec![0xff; 65_535]));
    }

    proptest! {
        #[test]
        fn the_fast_sum_equals_the_word_by_word_sum(octets in prop::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert_eq!(fold(sum(&octets)), naive(&octets));
        }

        #[test]
        fn folding_keeps_the_residue(sum: u64) {
            prop_assert_eq!(u64::from(fold(sum)) % 0xffff, sum % 0xffff);
            prop_assert_eq!(fold(sum) == 0, sum == 0);
        }
    }
}
