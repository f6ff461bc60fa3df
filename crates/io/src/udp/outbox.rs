//! Sends many datagrams to many destinations in one call: consecutive ones of equal length and destination are one message.

use super::PeerAddress;
use super::{MOST_OCTETS, MOST_SEGMENTS, UdpSocket, lacks_offload};
use crate::sys::check;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, RawFd};

/// Octets of all messages together.
const ROOM: usize = 256 * 1024;

/// Control data that carries one u16: `CMSG_SPACE(2)`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct SendControl([u8; CONTROL]);

// SAFETY: computes a length.
const CONTROL: usize = unsafe { libc::CMSG_SPACE(size_of::<u16>() as u32) } as usize;

impl SendControl {
    /// Returns the control data with the length of the datagrams into which the kernel is to split a message.
    fn segment(length: u16) -> Self {
        let mut control = Self([0; CONTROL]);
        // SAFETY: the space is that of a header and a u16, and aligned for a header.
        unsafe {
            let header = control.0.as_mut_ptr().cast::<libc::cmsghdr>();
            (*header).cmsg_level = libc::SOL_UDP;
            (*header).cmsg_type = libc::UDP_SEGMENT;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as u32) as _;
            libc::CMSG_DATA(header)
                .cast::<u16>()
                .write_unaligned(length);
        }
        control
    }
}

/// One message: its position in the room, the length of its datagrams, and its destination.
#[derive(Clone, Copy)]
struct OutgoingMessage {
    at: usize,
    octets: usize,
    length: usize,
    to: libc::sockaddr_storage,
    to_length: libc::socklen_t,
}

/// Datagrams that wait to be sent together.
pub struct Outbox {
    octets: Box<[u8]>,
    used: usize,
    messages: Vec<OutgoingMessage>,
    most: usize,
    has_offload: bool,
    unsent: u64,
    // Control data of `flush`, kept so that it does not allocate.
    control: Vec<SendControl>,
    parts: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

// SAFETY: the raw pointers in `parts` and `headers` are read only by `flush`, which writes them in every call.
unsafe impl Send for Outbox {}

impl Outbox {
    /// Allocates room for this number of messages.
    pub fn new(messages: usize) -> Self {
        Self {
            octets: vec![0; ROOM].into(),
            used: 0,
            messages: Vec::with_capacity(messages),
            most: messages,
            has_offload: true,
            unsent: 0,
            control: Vec::with_capacity(messages),
            parts: Vec::with_capacity(messages),
            headers: Vec::with_capacity(messages),
        }
    }

    /// Returns the number of datagrams that could not be sent so far, because the send buffer was full or the network unreachable.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Returns the room for a datagram of `length` octets; `None` if that is 0, or if the outbox must be flushed first.
    #[inline]
    fn room(&mut self, to: PeerAddress<'_>, length: usize) -> Option<&mut [u8]> {
        let at = self.used;
        if length == 0 || at + length > self.octets.len() {
            return None;
        }
        let (has_offload, is_full) = (self.has_offload, self.messages.len() == self.most);
        let joins = |last: &&mut OutgoingMessage| {
            has_offload
                && last.length == length
                && last.octets + length <= MOST_OCTETS
                && last.octets / length < MOST_SEGMENTS
                && is_same(&last.to, to.address)
        };
        match self.messages.last_mut().filter(joins) {
            Some(last) => last.octets += length,
            None if is_full => return None,
            None => {
                let (to, to_length) = (*to.address, to.length);
                self.messages.push(OutgoingMessage {
                    at,
                    octets: length,
                    length,
                    to,
                    to_length,
                });
            }
        }
        self.used += length;
        Some(&mut self.octets[at..at + length])
    }

    /// Adds a datagram for this peer; returns whether there was room.
    #[inline]
    pub fn put(&mut self, to: PeerAddress<'_>, datagram: &[u8]) -> bool {
        let room = self.room(to, datagram.len());
        room.map(|room| room.copy_from_slice(datagram)).is_some()
    }

    /// Sends everything.
    pub fn flush(&mut self, socket: &UdpSocket) {
        let mut first = 0;
        while first < self.messages.len() {
            match self.send_from(socket, first) {
                Ok(sent) => first += sent.max(1),
                Err(error) => {
                    self.send_alone(socket, first, &error);
                    first += 1;
                }
            }
        }
        self.messages.clear();
        self.used = 0;
    }

    /// Handles a message that could not be sent: it is sent datagram by datagram if offload was the reason.
    fn send_alone(&mut self, socket: &UdpSocket, index: usize, error: &io::Error) {
        let message = self.messages[index];
        let octets = &self.octets[message.at..][..message.octets];
        if message.octets == message.length || !lacks_offload(error) {
            self.unsent += (message.octets / message.length) as u64;
            return;
        }
        self.has_offload = false;
        let to = Some((&message.to, message.to_length));
        let sent = octets
            .chunks_exact(message.length)
            .filter(|d| send_message(socket.as_raw_fd(), d, to, 0).is_ok());
        self.unsent += (message.octets / message.length - sent.count()) as u64;
    }

    fn send_from(&mut self, socket: &UdpSocket, first: usize) -> io::Result<usize> {
        let messages = &self.messages[first..];
        self.control.clear();
        self.control.extend(
            messages
                .iter()
                .map(|message| SendControl::segment(message.length as u16)),
        );
        self.parts.clear();
        let base = self.octets.as_mut_ptr();
        let part = |message: &OutgoingMessage| {
            // SAFETY: every message lies within the room.
            let start = unsafe { base.add(message.at) };
            libc::iovec {
                iov_base: start.cast(),
                iov_len: message.octets,
            }
        };
        self.parts.extend(messages.iter().map(part));
        self.headers.clear();
        for ((message, control), part) in
            messages.iter().zip(&mut self.control).zip(&mut self.parts)
        {
            // SAFETY: mmsghdr is a C struct of integers and pointers, for which all zeroes is a valid value.
            let mut header: libc::mmsghdr = unsafe { zeroed() };
            header.msg_hdr.msg_name = (&raw const message.to).cast_mut().cast();
            header.msg_hdr.msg_namelen = message.to_length;
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            // A single datagram has none, so that it can be sent where the kernel or the interface lacks the offload.
            if message.octets > message.length {
                header.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
                header.msg_hdr.msg_controllen = CONTROL as _;
            }
            self.headers.push(header);
        }
        let (headers, count) = (
            self.headers.as_mut_ptr(),
            self.headers.len() as libc::c_uint,
        );
        // The flags are signed in glibc and unsigned in musl.
        // SAFETY: there are `count` headers, whose pointers are to buffers of the given lengths, all owned by `self` and not touched during the
        // call; the kernel does not write to the destinations.
        let sent = check(unsafe {
            libc::sendmmsg(socket.as_raw_fd(), headers, count, libc::MSG_DONTWAIT as _)
        })?;
        Ok(sent as usize)
    }
}

/// Returns whether two addresses in the kernel's form are the same, in family, port and address.
#[inline]
fn is_same(a: &libc::sockaddr_storage, b: &libc::sockaddr_storage) -> bool {
    // A sockaddr_in6 has 28 octets; the octets of a sockaddr_in from 8 on may hold anything, so they are left out.
    let length = if i32::from(a.ss_family) == libc::AF_INET {
        8
    } else {
        size_of::<libc::sockaddr_in6>()
    };
    // SAFETY: both are storage of 128 octets, initialised when created and since then written only by the kernel.
    unsafe {
        let octets =
            |s: *const libc::sockaddr_storage| std::slice::from_raw_parts(s.cast::<u8>(), length);
        octets(a) == octets(b)
    }
}

/// Sends one message to the peer or to an address, split into datagrams of `segment` octets unless that is 0.
pub(super) fn send_message(
    fd: RawFd,
    octets: &[u8],
    to: Option<(&libc::sockaddr_storage, libc::socklen_t)>,
    segment: u16,
) -> io::Result<()> {
    let mut part = libc::iovec {
        iov_base: octets.as_ptr().cast_mut().cast(),
        iov_len: octets.len(),
    };
    let mut control = SendControl::segment(segment);
    // SAFETY: msghdr is a C struct of integers and pointers, for which all zeroes is a valid value.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    if let Some((address, length)) = to {
        header.msg_name = std::ptr::from_ref(address).cast_mut().cast();
        header.msg_namelen = length;
    }
    if segment > 0 {
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = CONTROL as _;
    }
    // SAFETY: the header's pointers are to buffers that outlive the call; sendmsg only reads them.
    let sent = unsafe {
        libc::sendmsg(
            fd,
            &raw const header,
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    if sent < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
