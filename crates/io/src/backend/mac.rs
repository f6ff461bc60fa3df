//! Hardware addresses for ports that have none.

/// Returns a hardware address for a port that has none, such as an end of a link in memory. It is locally administered, and the same whenever the
/// port is opened, so that records of two runs can be compared.
pub(super) fn local_mac(name: &str) -> [u8; 6] {
    // FNV-1a: any function that distinguishes names will do, as long as it never changes. `method::fnv` has it for the crates above, which this crate does
    // not know.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| {
        (hash ^ u64::from(octet)).wrapping_mul(0x100_0000_01b3)
    });
    let [a, b, c, d, e, ..] = hash.to_le_bytes();
    [0x02, a, b, c, d, e]
}
