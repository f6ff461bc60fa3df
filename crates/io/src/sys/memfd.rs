//! Files that exist only in memory, to be shared with another process; and descriptors that wake it.

use super::check;
use std::ffi::CStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Returns a memory file of `length` zeroes, whose length can never change, no matter who has the descriptor.
pub(crate) fn create(name: &CStr, length: usize) -> io::Result<OwnedFd> {
    // SAFETY: the name outlives the call; the descriptor is new and has no other owner.
    let fd = unsafe {
        OwnedFd::from_raw_fd(check(libc::memfd_create(
            name.as_ptr(),
            libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING,
        ))?)
    };
    let file = File::from(fd);
    file.set_len(length as u64)?;
    // SAFETY: no pointer is passed.
    check(unsafe {
        libc::fcntl(
            file.as_raw_fd(),
            libc::F_ADD_SEALS,
            libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL,
        )
    })?;
    Ok(file.into())
}

/// Returns whether the file cannot become shorter. Only then is its memory safe to touch, as there is none beyond the end of a file.
pub(crate) fn cannot_shrink(fd: &OwnedFd) -> bool {
    // SAFETY: no pointer is passed.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) })
        .is_ok_and(|seals| seals & libc::F_SEAL_SHRINK != 0)
}

/// Returns the octets of the file.
pub(crate) fn length(fd: &OwnedFd) -> io::Result<u64> {
    Ok(File::from(fd.try_clone()?).metadata()?.len())
}

/// A kernel counter that wakes a waiting process.
pub(crate) struct Doorbell(File);

impl Doorbell {
    /// Returns a new doorbell.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointer is passed; the descriptor is new and has no other owner.
        let fd = unsafe {
            OwnedFd::from_raw_fd(check(libc::eventfd(
                0,
                libc::EFD_CLOEXEC | libc::EFD_NONBLOCK,
            ))?)
        };
        Ok(Self(fd.into()))
    }

    /// Takes one that another process made, and `None` for a descriptor of any other kind: only of this one it is known what ringing does. Whether
    /// it waits is not known of this one either, since the maker may change its flags at any time.
    pub(crate) fn of_peer(fd: OwnedFd) -> io::Result<Option<Self>> {
        if fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))?.as_os_str()
            != "anon_inode:[eventfd]"
        {
            return Ok(None);
        }
        Ok(Some(Self(fd.into())))
    }

    /// Rings. Waits if the counter is full and a process that has the descriptor has cleared `O_NONBLOCK`.
    pub(crate) fn ring(&self) {
        let _ = (&self.0).write(&1u64.to_ne_bytes());
    }

    /// Returns the descriptor, to be passed to another process.
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_file_made_here_keeps_its_length() {
        let fd = create(c"test", 8192).expect("memory");
        assert!(cannot_shrink(&fd));
        assert_eq!(length(&fd).expect("a length"), 8192);
        let file = File::from(fd);
        assert!(file.set_len(4096).is_err() && file.set_len(16_384).is_err());
    }

    #[test]
    fn a_file_on_a_disk_or_a_device_may_shrink() {
        assert!(!cannot_shrink(
            &File::open("/dev/null").expect("a device").into()
        ));
    }

    #[test]
    fn only_an_eventfd_is_a_doorbell() {
        let bell = Doorbell::new().expect("an eventfd");
        let other = Doorbell::of_peer(bell.file().try_clone().expect("a copy").into())
            .expect("proc")
            .expect("an eventfd");
        other.ring();
        let mut count = [0; 8];
        bell.file().read_exact(&mut count).expect("it was rung");
        assert_eq!(u64::from_ne_bytes(count), 1);
        assert!(
            Doorbell::of_peer(File::open("/dev/null").expect("a device").into())
                .expect("proc")
                .is_none()
        );
    }
}
