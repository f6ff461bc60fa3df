//! The authority on its own: threads, TCP, and sleep while no query arrives.

use super::answer::Answerer;
use super::tcp::OverTcp;
use super::{AddressZone, Authority, AuthorityError};
use crate::driver::joined;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use sixbench_method::isolation::Admitted;
use sixbench_method::trial::dns::AuthorityCounts;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Looked for queries this long after the last before sleeping: falling asleep and waking up costs more than it saves in a busy server.
const SPIN: Duration = Duration::from_micros(50);
/// The longest sleep, so that a request to stop is seen in time.
const POLL_TIMEOUT: Duration = Duration::from_millis(100);
/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// Name servers of a zone at one or several addresses, over UDP and TCP, that listen already.
pub struct Service {
    over_udp: Vec<Authority>,
    over_tcp: Vec<OverTcp>,
    local: Vec<SocketAddr>,
}

impl Service {
    /// Listens at each address with `threads` threads.
    ///
    /// # Errors
    /// One of the addresses cannot be listened on; says why, and what next.
    pub fn bind(listen: &Admitted<Vec<SocketAddr>>, zone: &Arc<AddressZone>, threads: usize) -> Result<Self, AuthorityError> {
        let own: Vec<IpAddr> = listen.iter().map(SocketAddr::ip).collect();
        let answerer = Arc::new(Answerer::new(zone.clone(), &own));
        let mut service = Self { over_udp: Vec::new(), over_tcp: Vec::new(), local: Vec::new() };
        for address in listen.iter() {
            service.listen(*address, &answerer, threads)?;
        }
        Ok(service)
    }

    /// TCP goes first: it shares no port, so a second server is told that there is one.
    fn listen(&mut self, address: SocketAddr, answerer: &Arc<Answerer>, threads: usize) -> Result<(), AuthorityError> {
        let failed = |cause| AuthorityError { address, cause };
        let listener = listen_over_tcp(address).map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        for _ in 0..threads.max(1) {
            self.over_udp.push(Authority::with(local, answerer.clone())?);
        }
        self.over_tcp.push(OverTcp::new(listener, answerer.clone())?);
        self.local.push(local);
        Ok(())
    }

    /// Returns the addresses it listens on, in the order asked for.
    pub fn local(&self) -> &[SocketAddr] {
        &self.local
    }

    /// Answers until told to stop; returns what came, all threads together.
    ///
    /// # Errors
    /// The kernel has no way to wait for a socket (descriptors used up).
    pub fn run(self, stop: &AtomicBool) -> io::Result<AuthorityCounts> {
        thread::scope(|scope| {
            let over_udp: Vec<_> = self.over_udp.into_iter().map(|authority| scope.spawn(|| serve(authority, stop))).collect();
            let over_tcp: Vec<_> = self.over_tcp.into_iter().map(|server| scope.spawn(|| Ok(server.run(stop)))).collect();
            over_udp.into_iter().chain(over_tcp).map(|thread| joined(thread.join())).sum()
        })
    }
}

/// As the standard library does it, but at an IPv6 address for IPv6 alone, as over UDP: else `[::]` and `0.0.0.0` are one port.
fn listen_over_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// One thread: as fast as it can while queries come, asleep when none do.
fn serve(mut authority: Authority, stop: &AtomicBool) -> io::Result<AuthorityCounts> {
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(1));
    poll.registry().register(&mut SourceFd(&authority.as_raw_fd()), Token(0), Interest::READABLE)?;
    let mut last = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        if authority.turn(None) > 0 {
            last = Instant::now();
        } else if last.elapsed() > SPIN {
            // The socket was empty just now, so whatever comes next is an event. A signal that interrupts is none.
            let _ = poll.poll(&mut events, Some(POLL_TIMEOUT));
        }
    }
    Ok(authority.counts())
}
