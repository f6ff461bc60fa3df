//! Hugepages, which NICs need: DPDK gives their memory to the hardware.

use std::fs;
use std::path::Path;

/// The directory in which the kernel tells of them.
const HUGEPAGES: &str = "/sys/kernel/mm/hugepages";
/// The least memory in hugepages that is of use, octets: buffers of two ports with one queue each.
const LEAST_OCTETS: u64 = 128 << 20;

/// Returns whether enough hugepages are free.
pub(super) fn are_enough() -> bool {
    free_octets(Path::new(HUGEPAGES)) >= LEAST_OCTETS
}

/// Returns the octets of all free hugepages. A directory is named after their size: `hugepages-2048kB`.
fn free_octets(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let octets = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let free: u64 = fs::read_to_string(entry.path().join("free_hugepages")).ok()?.trim().parse().ok()?;
        Some(kib * 1024 * free)
    });
    octets.sum()
}
