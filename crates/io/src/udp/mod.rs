//! Datagrams in batches over the kernel's UDP: many of equal length are sent in one call with segmentation offload (UDP_SEGMENT), and many are
//! received in one call with recvmmsg and receive offload (UDP_GRO). The content of a datagram is not interpreted here.

mod inbox;
mod outbox;

pub use inbox::{Inbox, PeerAddress};
pub use outbox::Outbox;

use crate::sys::{check, get_option, is_full, set_option, socket};
use std::io;
use std::mem::size_of;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// The most datagrams in one message with offload: the kernel's UDP_MAX_SEGMENTS before Linux 6.9.
pub const MOST_SEGMENTS: usize = 64;
/// The limit on the octets of a message with offload: a whole IP datagram has 65,535, and its headers need room.
const MOST_OCTETS: usize = 60_000;
/// The size requested for both buffers of a socket; the kernel doubles it for its own book-keeping.
const BUFFER_OCTETS: libc::c_int = 16 << 20;
/// The index in SO_MEMINFO of the number of datagrams dropped because the receive buffer was full.
const MEMINFO_DROPS: usize = 8;

/// A UDP socket that never blocks.
#[derive(Debug)]
pub struct UdpSocket {
    fd: OwnedFd,
    local: SocketAddr,
    /// True if the kernel splits messages into datagrams.
    has_offload: std::cell::Cell<bool>,
}

impl UdpSocket {
    /// Returns a client's socket from `local` (port 0 for any free port) to `peer` only.
    ///
    /// # Errors
    /// The kernel's: the address is not configured here, the port is in use, or there is no route.
    pub fn connected(local: SocketAddr, peer: SocketAddr) -> io::Result<Self> {
        let socket = Self::open(local, false)?;
        let (address, length) = raw(peer);
        // SAFETY: `address` is a socket address of `length` octets and outlives the call.
        check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        socket.with_local_addr()
    }

    /// Returns a server's socket at `local`; several may share it, and each serves a part of the clients.
    ///
    /// # Errors
    /// The kernel's: the address is not configured here, or the port is in use, or below 1024 without the privilege.
    pub fn listening(local: SocketAddr) -> io::Result<Self> {
        Self::open(local, true)?.with_local_addr()
    }

    fn open(local: SocketAddr, is_shared: bool) -> io::Result<Self> {
        let family = if local.is_ipv4() {
            libc::AF_INET
        } else {
            libc::AF_INET6
        };
        let fd = socket(family, libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, 0)?;
        for (forced, plain) in [
            (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
            (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
        ] {
            // Without the privilege the system's limit applies; drops are counted.
            let _ = set_option(&fd, libc::SOL_SOCKET, forced, &BUFFER_OCTETS)
                .or_else(|_| set_option(&fd, libc::SOL_SOCKET, plain, &BUFFER_OCTETS));
        }
        if is_shared {
            set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, &1i32)?;
        }
        if local.is_ipv6() {
            // Otherwise the socket would also take the port for IPv4.
            set_option(&fd, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, &1i32)?;
        }
        // An older kernel delivers datagrams one by one.
        let _ = set_option(&fd, libc::SOL_UDP, libc::UDP_GRO, &1i32);
        let (address, length) = raw(local);
        // SAFETY: `address` is a socket address of `length` octets and outlives the call.
        check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(Self {
            fd,
            local,
            has_offload: true.into(),
        })
    }

    /// Returns the socket with the address chosen by the kernel.
    fn with_local_addr(mut self) -> io::Result<Self> {
        // SAFETY: sockaddr_storage is a C struct of integers, for which all zeroes is a valid value.
        let mut address: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` octets, the size of `address`.
        check(unsafe {
            libc::getsockname(self.as_raw_fd(), (&raw mut address).cast(), &raw mut length)
        })?;
        self.local = from_storage(&address).unwrap_or(self.local);
        Ok(self)
    }

    /// Returns the address it is bound to.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Returns the number of datagrams dropped so far because the receive buffer was full; 0 if the kernel does not report it (`SO_MEMINFO`).
    pub fn drops(&self) -> u64 {
        let info: io::Result<[u32; 9]> = get_option(&self.fd, libc::SOL_SOCKET, libc::SO_MEMINFO);
        info.map_or(0, |info| u64::from(info[MEMINFO_DROPS]))
    }

    /// Sends `octets` to the peer as datagrams of `length` octets each, at most [`MOST_SEGMENTS`] of them. Returns how many were sent, which are
    /// fewer if the send buffer is full.
    ///
    /// # Errors
    /// The network reports an error for earlier datagrams (connection refused, host unreachable). The error is cleared, and nothing was sent.
    ///
    /// # Panics
    /// The length is zero or above 65,535.
    pub fn send_segments(&self, octets: &[u8], length: usize) -> io::Result<usize> {
        assert!(
            (1..=usize::from(u16::MAX)).contains(&length),
            "a datagram of {length} octets"
        );
        let count = (octets.len() / length).min(MOST_SEGMENTS);
        let octets = &octets[..count * length];
        if count > 1 && self.has_offload.get() && octets.len() <= MOST_OCTETS {
            match outbox::send_message(self.as_raw_fd(), octets, None, length as u16) {
                Ok(()) => return Ok(count),
                Err(error) if is_full(&error) => return Ok(0),
                Err(error) if lacks_offload(&error) => self.has_offload.set(false),
                Err(error) => return Err(error),
            }
        }
        for (sent, datagram) in octets.chunks_exact(length).enumerate() {
            match outbox::send_message(self.as_raw_fd(), datagram, None, 0) {
                Ok(()) => {}
                Err(error) if is_full(&error) => return Ok(sent),
                Err(error) if sent == 0 => return Err(error),
                // Datagrams that left must be counted as sent. The error is lost, as the kernel reports it only once.
                Err(_) => return Ok(sent),
            }
        }
        Ok(count)
    }
}

/// Returns whether the error means that the kernel, or the device below, cannot split messages.
fn lacks_offload(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EIO | libc::EINVAL | libc::ENOPROTOOPT | libc::EOPNOTSUPP)
    )
}

impl AsRawFd for UdpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Returns the address in the kernel's form, and its length.
fn raw(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: sockaddr_storage is a C struct of integers, for which all zeroes is a valid value.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let to = (&raw mut storage).cast::<u8>();
    let length = match address {
        SocketAddr::V4(address) => {
            // SAFETY: as above.
            let mut own: libc::sockaddr_in = unsafe { std::mem::zeroed() };
            own.sin_family = libc::AF_INET as u16;
            own.sin_port = address.port().to_be();
            own.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
            // SAFETY: sockaddr_storage has room for every socket address.
            unsafe {
                std::ptr::copy_nonoverlapping((&raw const own).cast::<u8>(), to, size_of_val(&own));
            };
            size_of_val(&own)
        }
        SocketAddr::V6(address) => {
            // SAFETY: as above.
            let mut own: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
            own.sin6_family = libc::AF_INET6 as u16;
            own.sin6_port = address.port().to_be();
            own.sin6_addr.s6_addr = address.ip().octets();
            own.sin6_scope_id = address.scope_id();
            // SAFETY: sockaddr_storage has room for every socket address.
            unsafe {
                std::ptr::copy_nonoverlapping((&raw const own).cast::<u8>(), to, size_of_val(&own));
            };
            size_of_val(&own)
        }
    };
    (storage, length as libc::socklen_t)
}

/// Returns the address as a type of the standard library; `None` for another family.
fn from_storage(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family shows that it is a sockaddr_in, and the storage is large enough and aligned for every address.
            let own = unsafe { &*std::ptr::from_ref(storage).cast::<libc::sockaddr_in>() };
            let address = IpAddr::from(own.sin_addr.s_addr.to_ne_bytes());
            Some(SocketAddr::new(address, u16::from_be(own.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: as above, for a sockaddr_in6.
            let own = unsafe { &*std::ptr::from_ref(storage).cast::<libc::sockaddr_in6>() };
            Some(SocketAddr::new(
                IpAddr::from(own.sin6_addr.s6_addr),
                u16::from_be(own.sin6_port),
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Far longer than any datagram takes on this machine.
    const LIMIT: Duration = Duration::from_secs(60);

    fn pair(address: &str) -> (UdpSocket, UdpSocket) {
        let server = UdpSocket::listening(address.parse().expect("address")).expect("server");
        let client = UdpSocket::connected(address.parse().expect("address"), server.local())
            .expect("client");
        (server, client)
    }

    fn take(inbox: &mut Inbox, socket: &UdpSocket, wanted: usize) -> Vec<Vec<u8>> {
        let end = Instant::now() + LIMIT;
        let mut taken = Vec::new();
        while taken.len() < wanted && Instant::now() < end {
            inbox.receive(socket).expect("receive");
            inbox.each(|_, datagram| taken.push(datagram.to_vec()));
        }
        taken
    }

    #[test]
    fn segments_arrive_as_datagrams_and_answers_go_back_to_where_they_came_from() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let (server, client) = pair(address);
            let sent: Vec<u8> = (0..40u8).flat_map(|i| [i; 50]).collect();
            assert_eq!(client.send_segments(&sent, 50).expect("sent"), 40);
            let (mut inbox, mut outbox) = (Inbox::new(8), Outbox::new(8));
            let mut count = 0;
            let end = Instant::now() + LIMIT;
            while count < 40 && Instant::now() < end {
                inbox.receive(&server).expect("receive");
                inbox.each(|from, datagram| {
                    assert_eq!(datagram, [count; 50]);
                    count += 1;
                    let answer = vec![count; 30 + usize::from(count % 2)];
                    if !outbox.put(from, &answer) {
                        outbox.flush(&server);
                        assert!(outbox.put(from, &answer));
                    }
                });
                outbox.flush(&server);
            }
            let answers = take(&mut inbox, &client, 40);
            assert_eq!(answers.len(), 40);
            assert!(
                answers
                    .iter()
                    .zip(1..)
                    .all(|(answer, n)| *answer == vec![n; 30 + usize::from(n % 2)])
            );
            assert_eq!(outbox.unsent(), 0);
        }
    }

    #[test]
    fn a_port_where_nobody_listens_is_an_error_of_the_network() {
        let (server, client) = pair("127.0.0.1:0");
        drop(server);
        let end = Instant::now() + LIMIT;
        while client.send_segments(b"hello", 5).is_ok() {
            assert!(Instant::now() < end, "no error of the network");
        }
    }

    #[test]
    fn what_a_full_buffer_turned_away_is_counted() {
        let (server, client) = pair("[::1]:0");
        set_option(&server, libc::SOL_SOCKET, libc::SO_RCVBUF, &4096i32).expect("option");
        (0..200).for_each(|_| drop(client.send_segments(&[7; 1000], 1000)));
        let arrived = take(&mut Inbox::new(8), &server, 0).len();
        assert!(server.drops() > 0 && arrived < 200);
    }
}
