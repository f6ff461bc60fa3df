//! Memory shared with the kernel, unmapped when dropped.

use super::check;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// A mapping of memory the kernel may write at any time.
pub(crate) struct MemoryMapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping is plain memory; who may touch which part of it when is the business of the rings built on it.
unsafe impl Send for MemoryMapping {}
// SAFETY: as above; `MemoryMapping` itself only hands out the raw address.
unsafe impl Sync for MemoryMapping {}

impl MemoryMapping {
    /// Maps `length` octets of `fd` from `offset`, shared, populated at once so that no page fault falls into a trial.
    pub(crate) fn shared(fd: &impl AsRawFd, length: usize, offset: i64) -> io::Result<Self> {
        Self::map(length, libc::MAP_SHARED | libc::MAP_POPULATE, fd.as_raw_fd(), offset)
    }

    /// Fresh zeroed memory of `length` octets, page aligned and populated.
    pub(crate) fn anonymous(length: usize) -> io::Result<Self> {
        Self::map(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    fn map(length: usize, flags: libc::c_int, fd: libc::c_int, offset: i64) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing of ours.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at address zero"))?;
        Ok(Self { start, length })
    }

    /// Address of the octet at `offset`.
    #[inline]
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.length, "offset {offset} outside a mapping of {} octets", self.length);
        // SAFETY: the offset was just checked to lie within the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Octets mapped.
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
