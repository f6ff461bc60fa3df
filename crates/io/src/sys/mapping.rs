//! Memory shared with the kernel or another process, unmapped when dropped. What another process may write at any time is only copied
//! or accessed atomically: a reference to it would promise that it does not change. (`octets_mut` says when one is made all the same.)
//!
//! A mapping belongs to one thread at a time. Two threads that copy could meet at the same octets, since a peer says where its buffers are; so each
//! has a mapping of its own. To each thread, the other one is just another peer.

use super::check;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{NonNull, copy_nonoverlapping};
use std::sync::atomic::{AtomicU16, AtomicU64};

/// A mapping of memory that others may write at any time.
pub(crate) struct MemoryMapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping is memory of the whole process, of which nothing belongs to the thread that made it.
unsafe impl Send for MemoryMapping {}

impl MemoryMapping {
    /// Maps `length` octets of `fd` from `offset` on, shared and populated at once so that no page fault happens during a trial.
    pub(crate) fn shared(fd: &impl AsRawFd, length: usize, offset: i64) -> io::Result<Self> {
        Self::map(
            length,
            libc::MAP_SHARED | libc::MAP_POPULATE,
            fd.as_raw_fd(),
            offset,
        )
    }

    /// Allocates `length` octets of zeroed memory, page aligned and populated.
    pub(crate) fn anonymous(length: usize) -> io::Result<Self> {
        Self::map(
            length,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
            -1,
            0,
        )
    }

    fn map(length: usize, flags: libc::c_int, fd: libc::c_int, offset: i64) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses does not alias any memory of ours.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start =
            NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at address zero"))?;
        let mapping = Self { start, length };
        mapping.leave_out_of_children()?;
        Ok(mapping)
    }

    /// Leaves the memory out of processes that are started later. A command of the testbed is a child until it executes its program, and the kernel would copy
    /// for it what a NIC may write to: with the memory of AF_XDP that took 30 to 60 ms of a core that the device needs.
    fn leave_out_of_children(&self) -> io::Result<()> {
        // SAFETY: the range is this mapping, and nothing changes in this process.
        check(unsafe {
            libc::madvise(self.start.as_ptr().cast(), self.length, libc::MADV_DONTFORK)
        })
        .map(|_| ())
    }

    /// Returns the address of the octet at `offset`.
    #[inline]
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(
            offset < self.length,
            "offset {offset} outside a mapping of {} octets",
            self.length
        );
        // SAFETY: the offset was just checked to lie within the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Returns the address of `length` octets from `offset` on.
    ///
    /// # Panics
    /// They do not all lie within the mapping.
    #[inline]
    fn range(&self, offset: usize, length: usize) -> *mut u8 {
        let is_inside = offset
            .checked_add(length)
            .is_some_and(|end| end <= self.length);
        assert!(
            is_inside,
            "{length} octets at {offset} outside a mapping of {} octets",
            self.length
        );
        // SAFETY: the range was just checked to lie within the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Copies octets from `offset` on into `to`.
    ///
    /// # Panics
    /// They do not all lie within the mapping.
    #[inline]
    pub(crate) fn copy_to(&self, offset: usize, to: &mut [u8]) {
        // SAFETY: `range` checked the source; `to` is private memory, which no mapping of a file overlaps. No other thread of ours copies by this
        // mapping, which is not `Sync`. What another process writes meanwhile is outside of Rust's rules: octets have no invalid value, also where old
        // and new ones are mixed, and only the copy is looked at, so it decides on nothing but what is copied.
        unsafe {
            copy_nonoverlapping(
                self.range(offset, to.len()).cast_const(),
                to.as_mut_ptr(),
                to.len(),
            );
        }
    }

    /// Copies `from` to the octets from `offset` on.
    ///
    /// # Panics
    /// It does not all lie within the mapping.
    #[inline]
    pub(crate) fn copy_from(&self, offset: usize, from: &[u8]) {
        // SAFETY: as for `copy_to`, the other way round.
        unsafe { copy_nonoverlapping(from.as_ptr(), self.range(offset, from.len()), from.len()) }
    }

    /// Returns the word of 16 bits at `offset`, which every side accesses atomically.
    ///
    /// # Panics
    /// It does not lie within the mapping, or is not aligned.
    #[inline]
    pub(crate) fn word_16(&self, offset: usize) -> &AtomicU16 {
        assert!(offset.is_multiple_of(2), "a word of 16 bits at {offset}");
        // SAFETY: `range` checked that it lies in the mapping, which lives as long as `self` and begins at a page boundary; the offset is aligned.
        unsafe { AtomicU16::from_ptr(self.range(offset, 2).cast()) }
    }

    /// Returns the word of 64 bits at `offset`, which every side accesses atomically.
    ///
    /// # Panics
    /// It does not lie within the mapping, or is not aligned.
    #[inline]
    pub(crate) fn word_64(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "a word of 64 bits at {offset}");
        // SAFETY: as for `word_16`.
        unsafe { AtomicU64::from_ptr(self.range(offset, 8).cast()) }
    }

    /// Returns `length` octets from `offset` on, for writing in place.
    ///
    /// # Safety
    /// The caller must hold the only reference to them, and by the rules for sharing the memory they must belong to the caller until the
    /// reference is gone.
    ///
    /// # Panics
    /// They do not all lie within the mapping.
    #[inline]
    #[expect(
        clippy::mut_from_ref,
        reason = "rings, not the borrow checker, say who owns a buffer"
    )]
    pub(crate) unsafe fn octets_mut(&self, offset: usize, length: usize) -> &mut [u8] {
        // SAFETY: `range` checked the octets, and by contract they are the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.range(offset, length), length) }
    }

    /// Returns the number of mapped octets.
    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for MemoryMapping {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `map`, and nothing borrows from it once its owner is dropped.
        let _ = check(unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::Ordering;

    #[test]
    fn what_is_copied_in_comes_out_as_octets_and_as_words() {
        let memory = MemoryMapping::anonymous(4096).expect("memory");
        memory.copy_from(4088, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let mut octets = [0; 8];
        memory.copy_to(4088, &mut octets);
        assert_eq!(octets, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            memory.word_64(4088).load(Ordering::Relaxed),
            u64::from_ne_bytes(octets)
        );
        assert_eq!(
            memory.word_16(4094).load(Ordering::Relaxed),
            u16::from_ne_bytes([7, 8])
        );
    }

    #[test]
    fn a_command_gets_no_copy_of_it() {
        let memory = MemoryMapping::anonymous(4096).expect("memory");
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("smaps of proc(5)");
        let has_it = |line: &str| {
            let (range, _) = line.split_once(' ')?;
            let (from, to) = range.split_once('-')?;
            let [from, to] = [from, to].map(|end| usize::from_str_radix(end, 16));
            Some((from.ok()?..to.ok()?).contains(&memory.at(0).addr()))
        };
        let of_it = maps.lines().skip_while(|line| has_it(line) != Some(true));
        let flags = of_it.skip(1).find_map(|line| line.strip_prefix("VmFlags:"));
        // Do not copy area on fork.
        assert!(flags.expect("flags").split(' ').any(|flag| flag == "dc"));
    }

    #[test]
    fn nothing_outside_is_reached() {
        let memory = MemoryMapping::anonymous(4096).expect("memory");
        let is_refused = |reach: &dyn Fn()| catch_unwind(AssertUnwindSafe(reach)).is_err();
        assert!(is_refused(&|| memory.copy_to(4090, &mut [0; 7])));
        assert!(is_refused(&|| memory.copy_from(usize::MAX, &[0; 2])));
        assert!(is_refused(&|| _ = memory.word_16(4096)));
        assert!(is_refused(&|| _ = memory.word_16(1)));
        assert!(is_refused(&|| _ = memory.word_64(4092)));
    }
}
