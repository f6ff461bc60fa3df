//! Peers made of raw sockets, which send whatever a test needs. The messages are built independently, octet by octet.

use std::fs::File;
use std::io::Error;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

pub(crate) const ACK: u16 = 1;
pub(crate) const HELLO: u16 = 2;
pub(crate) const INIT: u16 = 3;
pub(crate) const ADD_REGION: u16 = 4;
pub(crate) const ADD_RING: u16 = 5;
pub(crate) const CONNECT: u16 = 6;
pub(crate) const CONNECTED: u16 = 7;
pub(crate) const DISCONNECT: u16 = 8;

pub(crate) const COOKIE: u32 = 0x03E3_1F20;
pub(crate) const HEAD: usize = 6;
pub(crate) const TAIL: usize = 64;
pub(crate) const DESCRIPTORS: usize = 128;

/// Returns a message of this type with these fields in order.
pub(crate) fn message(kind: u16, fields: &[&[u8]]) -> Vec<u8> {
    let mut octets = [&kind.to_ne_bytes()[..], &fields.concat()].concat();
    octets.resize(128, 0);
    octets
}

/// Returns a HELLO of a server with these versions.
pub(crate) fn hello(min: u16, max: u16, log2_ring: u8) -> Vec<u8> {
    let limits = [min, max, 255, 0, 0].map(u16::to_ne_bytes).concat();
    message(HELLO, &[&name("fake"), &limits, &[log2_ring]])
}

/// Returns a text in a field of 32 octets.
pub(crate) fn name(text: &str) -> [u8; 32] {
    std::array::from_fn(|nth| text.as_bytes().get(nth).copied().unwrap_or(0))
}

pub(crate) fn disconnect(reason: &str) -> Vec<u8> {
    message(DISCONNECT, &[&[0; 4], reason.as_bytes()])
}

/// Returns the reason in a DISCONNECT.
pub(crate) fn reason(message: &[u8]) -> String {
    assert_eq!(message[..2], DISCONNECT.to_ne_bytes());
    String::from_utf8_lossy(&message[6..102])
        .trim_end_matches('\0')
        .to_owned()
}

fn check(result: libc::c_int) -> libc::c_int {
    assert!(result >= 0, "{}", Error::last_os_error());
    result
}

fn owned(fd: libc::c_int) -> OwnedFd {
    // SAFETY: the descriptor was just created for us.
    unsafe { OwnedFd::from_raw_fd(check(fd)) }
}

fn socket() -> OwnedFd {
    // SAFETY: no pointer is passed.
    owned(unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) })
}

/// Calls `bind` or `connect` for a path.
fn at(
    fd: &OwnedFd,
    path: &str,
    call: unsafe extern "C" fn(RawFd, *const libc::sockaddr, libc::socklen_t) -> RawFd,
) -> RawFd {
    // SAFETY: sockaddr_un is a C struct of integers; it outlives the call, and the length is its own.
    unsafe {
        let mut address: libc::sockaddr_un = zeroed();
        address.sun_family = libc::AF_UNIX as u16;
        for (to, from) in address.sun_path.iter_mut().zip(path.bytes()) {
            *to = from as libc::c_char;
        }
        call(
            fd.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_un>() as u32,
        )
    }
}

/// A listening socket.
pub(crate) struct RawListener(OwnedFd);

impl RawListener {
    pub(crate) fn new(path: &str) -> Self {
        let fd = socket();
        check(at(&fd, path, libc::bind));
        // SAFETY: no pointer is passed.
        check(unsafe { libc::listen(fd.as_raw_fd(), 1) });
        Self(fd)
    }

    pub(crate) fn accept(&self) -> RawSocket {
        // SAFETY: the peer's address is not requested.
        RawSocket(owned(unsafe {
            libc::accept(
                self.0.as_raw_fd(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        }))
    }
}

/// One end of a control socket.
pub(crate) struct RawSocket(OwnedFd);

impl RawSocket {
    /// Connects as soon as there is a listener.
    pub(crate) fn connect(path: &str) -> Self {
        let end = std::time::Instant::now() + super::PATIENCE;
        let fd = socket();
        while at(&fd, path, libc::connect) < 0 {
            assert!(
                std::time::Instant::now() < end,
                "{path}: {}",
                Error::last_os_error()
            );
            std::thread::yield_now();
        }
        Self(fd)
    }

    /// Sends octets with descriptors. It is not an error if the peer has closed its end.
    pub(crate) fn send(&self, octets: &[u8], fds: &[RawFd]) {
        let mut space = [0u64; 16];
        // SAFETY: everything the header points to outlives the call; the space is aligned, and larger than the descriptors need.
        unsafe {
            let mut vector = libc::iovec {
                iov_base: octets.as_ptr().cast_mut().cast(),
                iov_len: octets.len(),
            };
            let mut header: libc::msghdr = zeroed();
            (header.msg_iov, header.msg_iovlen) = (&raw mut vector, 1);
            if !fds.is_empty() {
                let length = size_of_val(fds) as u32;
                header.msg_control = space.as_mut_ptr().cast();
                header.msg_controllen = libc::CMSG_SPACE(length) as usize;
                let first = libc::CMSG_FIRSTHDR(&raw const header);
                ((*first).cmsg_level, (*first).cmsg_type) = (libc::SOL_SOCKET, libc::SCM_RIGHTS);
                (*first).cmsg_len = libc::CMSG_LEN(length) as usize;
                for (nth, fd) in fds.iter().enumerate() {
                    libc::CMSG_DATA(first)
                        .cast::<RawFd>()
                        .add(nth)
                        .write_unaligned(*fd);
                }
            }
            libc::sendmsg(self.0.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL);
        }
    }

    /// Returns the next message and its descriptor; an empty message if the other end was closed.
    pub(crate) fn receive(&self) -> (Vec<u8>, Option<OwnedFd>) {
        let (mut octets, mut space) = ([0; 256], [0u64; 16]);
        // SAFETY: as in `send`; a descriptor that was received is a new one of ours.
        unsafe {
            let mut vector = libc::iovec {
                iov_base: octets.as_mut_ptr().cast(),
                iov_len: octets.len(),
            };
            let mut header: libc::msghdr = zeroed();
            (header.msg_iov, header.msg_iovlen) = (&raw mut vector, 1);
            (header.msg_control, header.msg_controllen) = (space.as_mut_ptr().cast(), 128);
            let count = libc::recvmsg(self.0.as_raw_fd(), &raw mut header, 0).max(0) as usize;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            let fd = (!first.is_null())
                .then(|| owned(libc::CMSG_DATA(first).cast::<RawFd>().read_unaligned()));
            (octets[..count].to_vec(), fd)
        }
    }

    /// Returns the next message, which must have this type, and its descriptor.
    pub(crate) fn expect(&self, kind: u16) -> (Vec<u8>, Option<OwnedFd>) {
        let (octets, fd) = self.receive();
        assert_eq!(octets.len(), 128, "a message is due");
        assert_eq!(octets[..2], kind.to_ne_bytes());
        (octets, fd)
    }
}

/// Memory shared with the other end, all of which this end may write.
pub(crate) struct RawMemory {
    start: *mut u8,
    length: usize,
}

// SAFETY: only single octets are written and read, by one thread of this process at a time.
unsafe impl Send for RawMemory {}

impl RawMemory {
    pub(crate) fn map(fd: &OwnedFd, length: usize) -> Self {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping aliases nothing.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        assert!(start != libc::MAP_FAILED, "{}", Error::last_os_error());
        Self {
            start: start.cast(),
            length,
        }
    }

    pub(crate) fn put<const N: usize>(&self, at: usize, octets: [u8; N]) {
        assert!(at + N <= self.length);
        // SAFETY: within the mapping.
        unsafe { self.start.add(at).cast::<[u8; N]>().write_volatile(octets) };
    }

    pub(crate) fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        assert!(at + N <= self.length);
        // SAFETY: within the mapping; octets have no invalid values.
        unsafe { self.start.add(at).cast::<[u8; N]>().read_volatile() }
    }
}

impl Drop for RawMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

/// Returns a file in memory, optionally sealed against shrinking.
pub(crate) fn memory_file(length: usize, is_sealed: bool) -> OwnedFd {
    // SAFETY: the name outlives the call.
    let fd = owned(unsafe { libc::memfd_create(c"fake".as_ptr(), libc::MFD_ALLOW_SEALING) });
    File::from(fd.try_clone().expect("a copy"))
        .set_len(length as u64)
        .expect("memory");
    if is_sealed {
        // SAFETY: no pointer is passed.
        check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) });
    }
    fd
}

/// Has whoever rings this eventfd wait for ever: its counter is full, and it has lost the flag that says not to wait, which all its holders share.
pub(crate) fn jam(event: &OwnedFd) {
    let full = (u64::MAX - 1).to_ne_bytes();
    // SAFETY: the octets outlive the call, and no pointer is passed to the other.
    unsafe {
        assert_eq!(
            libc::write(event.as_raw_fd(), full.as_ptr().cast(), full.len()),
            8,
            "{}",
            Error::last_os_error()
        );
        check(libc::fcntl(event.as_raw_fd(), libc::F_SETFL, 0));
    }
}

/// Returns an eventfd.
pub(crate) fn event() -> OwnedFd {
    // SAFETY: no pointer is passed.
    owned(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK) })
}
