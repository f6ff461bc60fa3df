//! Receives many datagrams in one call.

use super::{UdpSocket, from_storage};
use crate::sys::{check, is_full};
use std::io;
use std::mem::{size_of, zeroed};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

/// Room for one message: datagrams that the kernel has coalesced are up to 64 KiB. It is not a power of two, so that the first lines of all
/// messages do not compete for the same cache lines.
const SLOT: usize = 65_536 + 576;

/// Ancillary data of one message: the length of its coalesced datagrams.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct ReceiveControl([u8; 64]);

/// Buffers for messages; filled by [`Inbox::receive`], read by [`Inbox::each`].
pub struct Inbox {
    octets: Box<[u8]>,
    from: Box<[libc::sockaddr_storage]>,
    control: Box<[ReceiveControl]>,
    /// Pointers into the boxes above, written by every call that uses them.
    parts: Box<[libc::iovec]>,
    headers: Box<[libc::mmsghdr]>,
    filled: usize,
}

// SAFETY: the raw pointers point into boxes that the same value owns, and are written again before each use.
unsafe impl Send for Inbox {}

/// The source address of a datagram, in the kernel's form, which makes it cheap to reply to.
#[derive(Clone, Copy)]
pub struct PeerAddress<'a> {
    pub(super) address: &'a libc::sockaddr_storage,
    pub(super) length: libc::socklen_t,
}

impl PeerAddress<'_> {
    /// Returns the address as a type of the standard library.
    pub fn address(&self) -> Option<SocketAddr> {
        from_storage(self.address)
    }
}

impl Inbox {
    /// Allocates room for this number of messages in one call.
    pub fn new(messages: usize) -> Self {
        // SAFETY: all of these are C structs of integers and pointers, for which all zeroes is a valid value.
        let (address, part, header): (libc::sockaddr_storage, libc::iovec, libc::mmsghdr) =
            unsafe { (zeroed(), zeroed(), zeroed()) };
        Self {
            octets: vec![0; messages * SLOT].into(),
            from: vec![address; messages].into(),
            control: vec![ReceiveControl([0; 64]); messages].into(),
            parts: vec![part; messages].into(),
            headers: vec![header; messages].into(),
            filled: 0,
        }
    }

    /// Takes messages that have arrived, without blocking; returns their number. Each is one datagram or several.
    ///
    /// # Errors
    /// The network reports an error for datagrams sent before (connection refused, unreachable). It reports each error once; nothing was taken then.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.filled = 0;
        // Pointers are computed in each call, as those of an earlier one may be stale.
        for (part, slot) in self
            .parts
            .iter_mut()
            .zip(self.octets.chunks_exact_mut(SLOT))
        {
            *part = libc::iovec {
                iov_base: slot.as_mut_ptr().cast(),
                iov_len: SLOT,
            };
        }
        let addresses = self
            .from
            .iter_mut()
            .zip(self.control.iter_mut())
            .zip(self.parts.iter_mut());
        for (header, ((address, control), part)) in self.headers.iter_mut().zip(addresses) {
            header.msg_hdr.msg_name = std::ptr::from_mut(address).cast();
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of::<ReceiveControl>() as _;
        }
        let (headers, count) = (
            self.headers.as_mut_ptr(),
            self.headers.len() as libc::c_uint,
        );
        // SAFETY: there are `count` headers, whose pointers are to buffers of the given lengths, all owned by `self`.
        let taken = check(unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers,
                count,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        });
        match taken {
            Ok(taken) => self.filled = taken as usize,
            Err(error) if is_full(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(self.filled)
    }

    /// Shows every datagram of the last call of [`Inbox::receive`], in order of arrival.
    #[inline]
    pub fn each(&self, mut take: impl FnMut(PeerAddress<'_>, &[u8])) {
        for index in 0..self.filled {
            let header = &self.headers[index];
            let source = PeerAddress {
                address: &self.from[index],
                length: header.msg_hdr.msg_namelen,
            };
            let message = &self.octets[index * SLOT..][..(header.msg_len as usize).min(SLOT)];
            match segment_length(&header.msg_hdr) {
                0 => take(source, message),
                length => message
                    .chunks(length)
                    .for_each(|datagram| take(source, datagram)),
            }
        }
    }
}

/// Returns the length of the datagrams that the kernel has coalesced into a message; 0 for a single one.
#[inline]
fn segment_length(header: &libc::msghdr) -> usize {
    // SAFETY: the kernel has filled in the control data of this header and its length; the macros stay within it.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(header);
        while let Some(this) = control.as_ref() {
            if this.cmsg_level == libc::SOL_UDP && this.cmsg_type == libc::UDP_GRO {
                return libc::CMSG_DATA(control)
                    .cast::<libc::c_int>()
                    .read_unaligned()
                    .max(0) as usize;
            }
            control = libc::CMSG_NXTHDR(header, control);
        }
    }
    0
}
