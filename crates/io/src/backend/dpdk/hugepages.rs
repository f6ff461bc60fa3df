//! Hugepages, which NICs need because the hardware accesses DPDK's memory.

use super::error::DpdkError;
use std::fs;
use std::path::Path;

/// The directory in which the kernel lists them.
const HUGEPAGES: &str = "/sys/kernel/mm/hugepages";
/// The least useful amount of hugepage memory, in MiB: buffers of two ports with one queue each.
const LEAST_MIB: u64 = 128;

/// Checks that enough hugepages are free.
///
/// # Errors
/// There are too few.
pub(super) fn check() -> Result<(), DpdkError> {
    check_in(Path::new(HUGEPAGES))
}

fn check_in(directory: &Path) -> Result<(), DpdkError> {
    let free = free_octets(directory) >> 20;
    if free >= LEAST_MIB {
        return Ok(());
    }
    let what = format!(
        "a NIC needs hugepages, of which {free} MiB are free, and at least {LEAST_MIB} MiB are needed"
    );
    let cure = format!(
        "echo 512 > {HUGEPAGES}/hugepages-2048kB/nr_hugepages, or hugepages=512 on the kernel's command line"
    );
    Err(DpdkError::Lacking { what, cure })
}

/// Returns the octets of all free hugepages. A directory is named after their size: `hugepages-2048kB`.
fn free_octets(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let octets = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let kib: u64 = name
            .strip_prefix("hugepages-")?
            .strip_suffix("kB")?
            .parse()
            .ok()?;
        let free: u64 = fs::read_to_string(entry.path().join("free_hugepages"))
            .ok()?
            .trim()
            .parse()
            .ok()?;
        Some(kib * 1024 * free)
    });
    octets.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hugepages_of_all_sizes_that_are_free_are_added_up() {
        let root = std::env::temp_dir().join(format!("sb-{}-hugepages", std::process::id()));
        let reserve = |size: &str, free: u32| {
            let directory = root.join(format!("hugepages-{size}"));
            fs::create_dir_all(&directory).expect("a directory");
            fs::write(directory.join("nr_hugepages"), "4096\n").expect("a file");
            fs::write(directory.join("free_hugepages"), format!("{free}\n")).expect("a file");
        };
        assert_eq!(free_octets(&root), 0, "a kernel without them");
        reserve("2048kB", 63);
        reserve("1048576kB", 0);
        let told = check_in(&root).expect_err("too few").to_string();
        assert!(
            told.starts_with("a NIC needs hugepages, of which 126 MiB are free, and at least 128 MiB are needed: echo 512 > "),
            "{told}"
        );
        reserve("2048kB", 64);
        check_in(&root).expect("enough");
        reserve("2048kB", 0);
        reserve("1048576kB", 1);
        assert_eq!(free_octets(&root), 1 << 30);
        fs::remove_dir_all(root).expect("files of ours");
    }
}
