//! AF_UNIX sockets that carry whole messages, with file descriptors.

use super::{check, set_option, socket};
use std::io;
use std::mem::{offset_of, size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// The most descriptors taken with one message: more than any message may have, so that an excess is detected.
const MOST_DESCRIPTORS: usize = 4;

/// Room for the descriptors and their header, suitably aligned.
type ControlSpace = [u64; 8];

pub(crate) struct ReceivedMessage {
    /// Its octets; 0 if the other end was closed.
    pub(crate) octets: usize,
    /// The descriptors that came with it.
    pub(crate) descriptors: Vec<OwnedFd>,
    /// True if the message was longer than its buffer, or came with more descriptors than are taken.
    pub(crate) is_cut: bool,
}

/// Returns a socket connected to the one at `path`, with this time limit on its calls.
pub(crate) fn connect(path: &str, limit: Duration) -> io::Result<OwnedFd> {
    let fd = socket(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0)?;
    set_time_limit(&fd, limit)?;
    let (address, length) = address(path)?;
    // SAFETY: the address outlives the call and has at least this length.
    check(unsafe { libc::connect(fd.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(fd)
}

/// Returns a socket that listens at `path`.
pub(crate) fn listen(path: &str) -> io::Result<OwnedFd> {
    let fd = socket(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0)?;
    let (address, length) = address(path)?;
    // SAFETY: as in `connect`; `listen` takes no pointer.
    unsafe {
        check(libc::bind(
            fd.as_raw_fd(),
            (&raw const address).cast(),
            length,
        ))?;
        check(libc::listen(fd.as_raw_fd(), 1))?;
    }
    Ok(fd)
}

/// Waits up to `patience` for a connection, and returns it, with this time limit on its calls.
///
/// # Errors
/// `TimedOut` if there was no connection.
pub(crate) fn accept(
    listener: &OwnedFd,
    patience: Duration,
    limit: Duration,
) -> io::Result<OwnedFd> {
    let end = Instant::now() + patience;
    while !is_readable(listener, end.saturating_duration_since(Instant::now()))? {
        if Instant::now() >= end {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    // SAFETY: the peer's address is not requested; the descriptor is new and has no other owner.
    let fd = unsafe {
        let accepted = libc::accept4(
            listener.as_raw_fd(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            libc::SOCK_CLOEXEC,
        );
        OwnedFd::from_raw_fd(check(accepted)?)
    };
    set_time_limit(&fd, limit)?;
    Ok(fd)
}

/// Waits up to `patience` until the next call would not block, because of a message, a connection or a closed other end; returns whether that is
/// so. A signal ends the wait early.
pub(crate) fn is_readable(fd: &OwnedFd, patience: Duration) -> io::Result<bool> {
    let mut entry = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, alive during the call.
    match check(unsafe {
        libc::poll(
            &raw mut entry,
            1,
            patience.as_millis().min(60_000) as libc::c_int,
        )
    }) {
        Ok(ready) => Ok(ready > 0),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sends one message, optionally with a descriptor.
pub(crate) fn send(
    fd: &OwnedFd,
    octets: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut space: ControlSpace = [0; 8];
    let mut vector = libc::iovec {
        iov_base: octets.as_ptr().cast_mut().cast(),
        iov_len: octets.len(),
    };
    // SAFETY: msghdr is a C struct of integers and pointers, for which all zeroes is a valid value. Everything it points to outlives the calls;
    // the kernel only reads it. The space is aligned as a cmsghdr and larger than one descriptor needs.
    let sent = unsafe {
        let mut header: libc::msghdr = zeroed();
        (header.msg_iov, header.msg_iovlen) = (&raw mut vector, 1);
        if let Some(descriptor) = descriptor {
            header.msg_control = space.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size_of::<libc::c_int>() as u32) as _;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as _;
            libc::CMSG_DATA(first)
                .cast::<libc::c_int>()
                .write_unaligned(descriptor.as_raw_fd());
        }
        libc::sendmsg(fd.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL)
    };
    check(sent as libc::c_int).map(drop)
}

/// Receives one message; waits for it up to the socket's time limit, or not at all.
pub(crate) fn receive(
    fd: &OwnedFd,
    room: &mut [u8],
    may_wait: bool,
) -> io::Result<ReceivedMessage> {
    let mut space: ControlSpace = [0; 8];
    let mut vector = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    let flags = libc::MSG_CMSG_CLOEXEC | if may_wait { 0 } else { libc::MSG_DONTWAIT };
    // SAFETY: as in `send`; the kernel does not write beyond the given lengths.
    let (header, octets) = unsafe {
        let mut header: libc::msghdr = zeroed();
        (header.msg_iov, header.msg_iovlen) = (&raw mut vector, 1);
        header.msg_control = space.as_mut_ptr().cast();
        header.msg_controllen =
            libc::CMSG_SPACE((MOST_DESCRIPTORS * size_of::<libc::c_int>()) as u32) as _;
        let octets = check(libc::recvmsg(fd.as_raw_fd(), &raw mut header, flags) as libc::c_int)?;
        (header, octets as usize)
    };
    let is_cut = header.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0;
    Ok(ReceivedMessage {
        octets,
        descriptors: descriptors(&header),
        is_cut,
    })
}

/// Returns the descriptors that came with a message, which we then own.
fn descriptors(header: &libc::msghdr) -> Vec<OwnedFd> {
    let mut found = Vec::new();
    // SAFETY: the kernel filled the control space that `header` points to, which is alive; the macros stay within it. Descriptors that came with
    // a message are new ones of this process, which have no other owner.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(header);
        while !at.is_null() {
            if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_RIGHTS {
                let octets = (*at).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                let first = libc::CMSG_DATA(at).cast::<libc::c_int>();
                found.extend(
                    (0..octets / size_of::<libc::c_int>())
                        .map(|nth| OwnedFd::from_raw_fd(first.add(nth).read_unaligned())),
                );
            }
            at = libc::CMSG_NXTHDR(header, at);
        }
    }
    found
}

fn set_time_limit(fd: &OwnedFd, limit: Duration) -> io::Result<()> {
    let limit = libc::timeval {
        tv_sec: limit.as_secs() as _,
        tv_usec: limit.subsec_micros().into(),
    };
    set_option(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO, &limit)?;
    set_option(fd, libc::SOL_SOCKET, libc::SO_SNDTIMEO, &limit)
}

/// Returns the address of `path`, and its length. A leading @ selects the abstract namespace, which needs no file.
fn address(path: &str) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: sockaddr_un is a C struct of integers, for which all zeroes is a valid value.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // The first octet of an abstract name is zero; a path ends with a zero.
    let (at, octets, end) = match path.strip_prefix('@') {
        Some(name) => (1, name.as_bytes(), 0),
        None => (0, path.as_bytes(), 1),
    };
    if at + octets.len() + end > address.sun_path.len() || octets.contains(&0) {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    for (to, from) in address.sun_path[at..].iter_mut().zip(octets) {
        *to = *from as libc::c_char;
    }
    Ok((
        address,
        (offset_of!(libc::sockaddr_un, sun_path) + at + octets.len() + end) as libc::socklen_t,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    const LIMIT: Duration = Duration::from_secs(10);

    fn pair(name: &str) -> (OwnedFd, OwnedFd) {
        let path = format!("@sixbench-test-{}-{name}", std::process::id());
        let listener = listen(&path).expect("a name of our own");
        let client = connect(&path, LIMIT).expect("it listens");
        (
            client,
            accept(&listener, LIMIT, LIMIT).expect("a connection"),
        )
    }

    #[test]
    fn messages_keep_their_bounds_and_carry_descriptors() {
        let (left, right) = pair("bounds");
        send(&left, b"one", None).expect("sent");
        send(&left, b"two!", Some(right.as_fd())).expect("sent");
        drop(left);
        let mut room = [0; 16];
        let mut next = || {
            let message = receive(&right, &mut room, true).expect("a message");
            (
                room[..message.octets].to_vec(),
                message.descriptors.len(),
                message.is_cut,
            )
        };
        assert_eq!(next(), (b"one".to_vec(), 0, false));
        assert_eq!(next(), (b"two!".to_vec(), 1, false));
        assert_eq!(next(), (Vec::new(), 0, false), "the other end was closed");
    }

    #[test]
    fn a_message_that_is_too_long_is_said_to_be_cut() {
        let (left, right) = pair("cut");
        send(&left, b"longer", None).expect("sent");
        assert!(
            receive(&right, &mut [0; 3], true)
                .expect("a message")
                .is_cut
        );
    }

    #[test]
    fn waiting_has_an_end() {
        let (left, right) = pair("end");
        assert!(!is_readable(&right, Duration::ZERO).expect("a socket"));
        let error = receive(&right, &mut [0; 3], false)
            .err()
            .expect("nothing was sent");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(left);
        assert!(is_readable(&right, LIMIT).expect("a socket"));
    }

    #[test]
    fn a_path_has_as_many_octets_as_the_kernel_takes() {
        assert!(
            address(&"x".repeat(107)).is_ok() && address(&format!("@{}", "x".repeat(107))).is_ok()
        );
        assert!(
            address(&"x".repeat(108)).is_err()
                && address(&format!("@{}", "x".repeat(108))).is_err()
        );
    }
}
