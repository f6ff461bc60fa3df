//! The authority as a separate service: threads, TCP, and sleeping while there are no queries.

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

/// The time for which to poll after the last query before sleeping: in a busy server, falling asleep and waking up cost more than they save.
const SPIN: Duration = Duration::from_micros(50);
/// The longest sleep, so that a request to stop is noticed in time.
const POLL_TIMEOUT: Duration = Duration::from_millis(100);
/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// Name servers for a zone at one or several addresses, over UDP and TCP, which already listen.
pub struct Service {
    over_udp: Vec<Authority>,
    over_tcp: Vec<OverTcp>,
    local: Vec<SocketAddr>,
}

impl Service {
    /// Listens on each address with `threads` threads.
    ///
    /// # Errors
    /// One of the addresses cannot be listened on; the error gives the reason and the next step.
    pub fn bind(
        listen: &Admitted<Vec<SocketAddr>>,
        zone: &Arc<AddressZone>,
        threads: usize,
    ) -> Result<Self, AuthorityError> {
        let own: Vec<IpAddr> = listen.iter().map(SocketAddr::ip).collect();
        let answerer = Arc::new(Answerer::new(zone.clone(), &own));
        let mut service = Self {
            over_udp: Vec::new(),
            over_tcp: Vec::new(),
            local: Vec::new(),
        };
        for address in listen.iter() {
            service.listen(*address, &answerer, threads)?;
        }
        Ok(service)
    }

    /// Listens on one address, over TCP first: TCP does not share its port, so a second server gets an error.
    fn listen(
        &mut self,
        address: SocketAddr,
        answerer: &Arc<Answerer>,
        threads: usize,
    ) -> Result<(), AuthorityError> {
        let failed = |cause| AuthorityError { address, cause };
        let listener = listen_over_tcp(address).map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        for _ in 0..threads.max(1) {
            self.over_udp
                .push(Authority::with(local, answerer.clone())?);
        }
        self.over_tcp
            .push(OverTcp::new(listener, answerer.clone())?);
        self.local.push(local);
        Ok(())
    }

    /// Returns the addresses it listens on, in the requested order.
    pub fn local(&self) -> &[SocketAddr] {
        &self.local
    }

    /// Answers until a stop is requested; returns the counts of all threads together.
    ///
    /// # Errors
    /// The kernel cannot wait for a socket (no descriptors left).
    pub fn run(self, stop: &AtomicBool) -> io::Result<AuthorityCounts> {
        thread::scope(|scope| {
            let over_udp: Vec<_> = self
                .over_udp
                .into_iter()
                .map(|authority| scope.spawn(|| serve(authority, stop)))
                .collect();
            let over_tcp: Vec<_> = self
                .over_tcp
                .into_iter()
                .map(|server| scope.spawn(|| Ok(server.run(stop))))
                .collect();
            over_udp
                .into_iter()
                .chain(over_tcp)
                .map(|thread| joined(thread.join()))
                .sum()
        })
    }
}

/// Listens like the standard library, except that an IPv6 address accepts only IPv6, as over UDP: otherwise `[::]` and `0.0.0.0` would be one port.
pub(crate) fn listen_over_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Serves on one thread, which polls while there are queries and sleeps when there are none.
fn serve(mut authority: Authority, stop: &AtomicBool) -> io::Result<AuthorityCounts> {
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(1));
    poll.registry().register(
        &mut SourceFd(&authority.as_raw_fd()),
        Token(0),
        Interest::READABLE,
    )?;
    let mut last = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        if authority.turn(None) > 0 {
            last = Instant::now();
        } else if last.elapsed() > SPIN {
            // The socket was just empty, so any new message causes an event. An interrupting signal causes none.
            let _ = poll.poll(&mut events, Some(POLL_TIMEOUT));
        }
    }
    Ok(authority.counts())
}
