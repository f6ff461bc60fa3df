//! The 64-bit FNV-1a hash. It tells a changed content from an unchanged one and makes short names; it is not cryptographic, so whoever chooses the
//! content can choose its hash.
//!
//! `io` has a copy of it for hardware addresses, because it depends on no other crate.

/// The hash of no octets: the offset basis.
pub const START: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns the hash of some octets.
pub fn hash(octets: &[u8]) -> u64 {
    extended(START, octets)
}

/// Returns the hash of what has the hash `before`, followed by `octets`.
pub fn extended(before: u64, octets: &[u8]) -> u64 {
    octets.iter().fold(before, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_of_its_authors() {
        // The test vectors of the FNV reference code.
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(extended(hash(b"foo"), b"bar"), hash(b"foobar"));
    }
}
