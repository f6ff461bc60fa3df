//! A bijection of the numbers of 64 bits whose results look random: the tester derives ports, identifiers and octets from it instead of keeping
//! tables.

/// Applies the finaliser of SplitMix64 (Steele, Lea, Flood 2014): equidistributed, two multiplications.
#[inline(always)]
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the number of which `mix` makes `z`: each of its steps can be undone.
pub(crate) fn unmix(z: u64) -> u64 {
    let z = (z ^ (z >> 31) ^ (z >> 62)).wrapping_mul(INVERSES[1]);
    let z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(INVERSES[0]);
    z ^ (z >> 30) ^ (z >> 60)
}

/// The inverses of the two factors of `mix`, modulo 2^64.
const INVERSES: [u64; 2] = [
    inverse(0xbf58_476d_1ce4_e5b9),
    inverse(0x94d0_49bb_1331_11eb),
];

/// Returns the inverse of an odd number modulo 2^64, by Newton's method: each step doubles the bits that are right, of which there are three at first.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut bits = 3;
    while bits < u64::BITS {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
}
