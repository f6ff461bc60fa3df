//! The thin layer over the kernel: raw system calls that more than one module needs, each as a function that returns an `io::Result`. A call that only
//! one module makes, such as `sendmmsg` of `udp::outbox` and of `backend::packet`, or `bpf` of `backend::xdp::program`, is made there.

pub(crate) mod counters;
pub(crate) mod interface;
pub(crate) mod mapping;
pub(crate) mod memfd;
pub(crate) mod seqpacket;

use crate::Obstacle;
use rustix::net::{AddressFamily, Protocol, RawProtocol, SendFlags, SocketFlags, SocketType};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Turns a result of -1 into the last system error.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Opens a socket, closed on exec.
pub(crate) fn socket(
    family: libc::c_int,
    kind: libc::c_int,
    protocol: libc::c_int,
) -> io::Result<OwnedFd> {
    let (family, kind) = (
        AddressFamily::from_raw(family as u16),
        SocketType::from_raw(kind as u32),
    );
    let protocol = RawProtocol::new(protocol as u32).map(Protocol::from_raw);
    Ok(rustix::net::socket_with(
        family,
        kind,
        SocketFlags::CLOEXEC,
        protocol,
    )?)
}

/// Returns an obstacle if the kernel has no sockets of this family, which the message calls `what`. Any other error, such as that of a missing
/// privilege, is none: it says that the kernel knows the family.
pub(crate) fn lacking(family: libc::c_int, what: &str, cure: &str) -> Option<Obstacle> {
    let error = socket(family, libc::SOCK_RAW, 0)
        .err()
        .filter(|error| error.raw_os_error() == Some(libc::EAFNOSUPPORT))?;
    Some(Obstacle {
        what: format!("the kernel has no {what} ({error})"),
        cure: cure.to_owned(),
    })
}

/// Sets a socket option to a plain value.
pub(crate) fn set_option<T: Copy>(
    fd: &impl AsRawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let pointer = std::ptr::from_ref(value).cast();
    // SAFETY: `value` outlives the call and the length is that of its type.
    check(unsafe {
        libc::setsockopt(fd.as_raw_fd(), level, name, pointer, size_of::<T>() as u32)
    })?;
    Ok(())
}

/// An integer of which any octets are a value. Private to this folder, so that there are no others.
trait PlainWord: Copy + Default {}

impl PlainWord for u32 {}
impl PlainWord for u64 {}

/// Reads a socket option that is a row of integers, as C structs without gaps are. Those that the kernel does not know are 0.
#[expect(
    private_bounds,
    reason = "callers choose among the words, and add none"
)]
pub(crate) fn get_option<W: PlainWord, const N: usize>(
    fd: &impl AsRawFd,
    level: libc::c_int,
    name: libc::c_int,
) -> io::Result<[W; N]> {
    let mut words = [W::default(); N];
    let mut length = size_of_val(&words) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` octets, those of `words`, and any octets are integers.
    check(unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            level,
            name,
            words.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(words)
}

/// Binds a socket to an address that is a C struct.
pub(crate) fn bind<T: Copy>(fd: &impl AsRawFd, address: &T) -> io::Result<()> {
    let pointer = std::ptr::from_ref(address).cast();
    // SAFETY: `address` outlives the call and the length is that of its type.
    check(unsafe { libc::bind(fd.as_raw_fd(), pointer, size_of::<T>() as u32) })?;
    Ok(())
}

/// Binds an AF_PACKET socket to an interface. With `protocol` 0 it receives nothing.
pub(crate) fn bind_packet(fd: &OwnedFd, index: u32, protocol: u16) -> io::Result<()> {
    // SAFETY: sockaddr_ll is a C struct of integers, for which all zeroes is a valid value.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index as i32;
    bind(fd, &address)
}

/// Gives the calling thread the lowest priority: the kernel runs it only on a core that is otherwise idle.
pub(crate) fn run_when_idle() -> io::Result<()> {
    // SAFETY: the struct has only integers (musl has more of them than glibc); all may be zero.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: `parameters` outlives the call, which only reads it; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) }).map(drop)
}

/// Returns whether the kernel only reports a full queue.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN))
}

/// Sends one buffer without blocking. If the peer's queue is full, the buffer is lost, as on a wire; a caller that needs an answer sends it again.
pub(crate) fn send_or_lose(fd: &impl AsFd, octets: &[u8]) -> io::Result<()> {
    let error = rustix::net::send(fd, octets, SendFlags::DONTWAIT)
        .err()
        .map(io::Error::from);
    error.filter(|error| !is_full(error)).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_read_into_the_words_that_it_has_and_the_others_are_zero() {
        let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0).expect("a socket");
        let words: [u32; 3] = get_option(&fd, libc::SOL_SOCKET, libc::SO_TYPE).expect("its type");
        assert_eq!(words, [libc::SOCK_DGRAM as u32, 0, 0]);
    }
}
