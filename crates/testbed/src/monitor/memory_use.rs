//! The memory of a device between two batches of frames, outside of trials.

use super::processor::{kernel_octets, meminfo_octets, resident_octets};
use crate::exec::{Shell, family};

/// The memory of a device at one time, in octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The resident memory of its processes; `None` if it has none on this machine.
    pub processes: Option<u64>,
    /// The memory in use in its virtual machine, by the kernel and all processes, without what can be reclaimed; `None` if it is in none.
    pub guest: Option<u64>,
    /// The memory of this machine's kernel that cannot be reclaimed, whoever uses it.
    pub this_kernel: u64,
}

impl MemoryUse {
    /// Reads the memory of a device with a process on this machine, or in a virtual machine with this shell.
    pub(crate) fn read(process: Option<u32>, guest: Option<&Shell>) -> Self {
        Self {
            processes: process.filter(|_| guest.is_none()).map(resident_in_all),
            guest: guest.and_then(in_use),
            this_kernel: kernel_octets(),
        }
    }
}

fn resident_in_all(process: u32) -> u64 {
    family(process)
        .into_iter()
        .filter_map(resident_octets)
        .sum()
}

fn in_use(guest: &Shell) -> Option<u64> {
    let meminfo = guest.look(&["cat", "/proc/meminfo"]).ok()?;
    let total = meminfo_octets(&meminfo, "MemTotal:")?;
    total.checked_sub(meminfo_octets(&meminfo, "MemAvailable:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_process_is_read_and_one_that_is_gone_has_none() {
        let own = MemoryUse::read(Some(std::process::id()), None);
        assert!(own.processes > Some(1 << 20), "{own:?}");
        assert_eq!(MemoryUse::read(Some(u32::MAX), None).processes, Some(0));
        assert_eq!(MemoryUse::read(None, None).processes, None);
    }

    #[test]
    fn what_is_not_available_is_in_use() {
        let here = in_use(&Shell::new()).expect("the memory of this machine");
        assert!(here > 1 << 20, "{here}");
    }
}
