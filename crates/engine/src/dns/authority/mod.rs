//! An authoritative name server for the namespace of the tests. It computes its answers, so it loads no zone file and its memory does not grow;
//! it never recurses, transfers zones or signs.
//!
//! # Structure
//!
//! `dns::authority` is the server behind a DNS64 server under test, and `sixbench authority` when run alone. Its zone has a name for every
//! IPv4 address and is computed, so nothing is loaded. `answer` is a function of octets. For a query like those of trials, it copies the question and
//! appends octets that were cut once from an answer of the general path (`message`, with the crate `domain`). So both paths give the same answers, which
//! a test verifies. An `Authority` is a socket with its batches and its counts, for one thread. Those that share a port share only the `AskedNames`, one
//! bit for each name. Only `Service` has threads, TCP and sleep: in a trial the caller's loop calls its `turn`s.

mod answer;
mod asked;
mod message;
mod service;
mod tcp;
#[cfg(test)]
mod tests;
mod zone;

pub use answer::Answerer;
pub use asked::AskedNames;
pub use message::{Answer, MOST_OCTETS, QueryKind};
pub use service::Service;
pub(crate) use service::listen_over_tcp;
pub(crate) use tcp::{FramedMessages, framed};
pub use zone::AddressZone;
pub(crate) use zone::{ANYBODY, MAILBOX, SECONDARIES, SERIAL, SERVER};

use sixbench_io::udp::{Inbox, Outbox, UdpSocket};
use sixbench_method::trial::dns::AuthorityCounts;
use socket2::{Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// Messages taken in one call, each of one query or of several coalesced ones.
const BATCH: usize = 32;
/// Messages sent in one call.
const ANSWERS: usize = 256;

/// The reason why the authority cannot listen.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {}", reason(.cause))]
pub struct AuthorityError {
    /// The address at which it was to listen.
    pub address: SocketAddr,
    /// The kernel's error, which the message above already includes; it is not a `source`, so that it is not printed twice.
    pub cause: io::Error,
}

fn reason(error: &io::Error) -> String {
    let words = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "address already in use; is another name server running there? (ss -lutnp shows which)"
        }
        io::ErrorKind::AddrNotAvailable => {
            "no interface here has this address (ip address lists them)"
        }
        io::ErrorKind::PermissionDenied => "permission denied; ports below 1024 need root",
        _ => return error.to_string(),
    };
    words.to_owned()
}

/// One socket of the authority, with the state needed to answer on it; there is one for each thread.
pub struct Authority {
    socket: UdpSocket,
    inbox: Inbox,
    outbox: Outbox,
    answerer: Arc<Answerer>,
    counts: AuthorityCounts,
    /// Losses from before counting began.
    lost_before: u64,
}

/// Returns an error if another process listens: the kernel then refuses a socket that does not share its port.
fn alone(address: SocketAddr) -> io::Result<()> {
    let socket = Socket::new(
        socket2::Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())
}

impl Authority {
    /// Listens in the network namespace of the calling thread. Several may share an address; each serves a part of the clients. With an
    /// unspecified address (`[::]`), answers leave from the address of the route, which on a host with several addresses may be a different one.
    ///
    /// # Errors
    /// The address cannot be listened on; the error gives the reason and the next step.
    pub fn bind(listen: SocketAddr, zone: Arc<AddressZone>) -> Result<Self, AuthorityError> {
        Self::with(listen, Arc::new(Answerer::new(zone, &[listen.ip()])))
    }

    /// Binds `count` authorities that share an address. No other process may have it: a server there would get a part of the queries.
    ///
    /// # Errors
    /// Those of [`Authority::bind`]; also if another server listens, even one that would share its port.
    pub fn bind_together(
        listen: SocketAddr,
        zone: &Arc<AddressZone>,
        count: usize,
    ) -> Result<Vec<Self>, AuthorityError> {
        alone(listen).map_err(|cause| AuthorityError {
            address: listen,
            cause,
        })?;
        (0..count)
            .map(|_| Self::bind(listen, zone.clone()))
            .collect()
    }

    /// Does the same as [`Authority::bind`], with an existing answerer.
    pub(crate) fn with(
        listen: SocketAddr,
        answerer: Arc<Answerer>,
    ) -> Result<Self, AuthorityError> {
        let socket = UdpSocket::listening(listen).map_err(|cause| AuthorityError {
            address: listen,
            cause,
        })?;
        let (inbox, outbox) = (Inbox::new(BATCH), Outbox::new(ANSWERS));
        Ok(Self {
            socket,
            inbox,
            outbox,
            answerer,
            counts: AuthorityCounts::default(),
            lost_before: 0,
        })
    }

    /// Returns the address at which it listens.
    pub fn local(&self) -> SocketAddr {
        self.socket.local()
    }

    /// Takes one batch of messages that have arrived and answers it, without blocking. Returns the number of messages taken.
    #[inline]
    pub fn turn(&mut self, asked: Option<&AskedNames>) -> usize {
        // An error is a report about an earlier answer whose client has gone.
        if self.inbox.receive(&self.socket).unwrap_or(0) == 0 {
            return 0;
        }
        let Self {
            socket,
            inbox,
            outbox,
            answerer,
            counts,
            ..
        } = self;
        let (mut taken, mut room) = (0, [0; MOST_OCTETS]);
        inbox.each(|from, query| {
            taken += 1;
            let answer = answerer.answer(query, &mut room);
            note(answer.kind, counts, asked);
            let octets = &room[..answer.octets];
            if answer.octets > 0 && !outbox.put(from, octets) {
                outbox.flush(socket);
                outbox.put(from, octets);
            }
        });
        outbox.flush(socket);
        taken
    }

    /// Returns the counts since the last reset. `names` is 0: only [`AskedNames`] knows it.
    pub fn counts(&self) -> AuthorityCounts {
        AuthorityCounts {
            overruns: self.lost().saturating_sub(self.lost_before),
            ..self.counts
        }
    }

    /// Sets all counts to zero.
    pub fn reset_counts(&mut self) {
        self.counts = AuthorityCounts::default();
        self.lost_before = self.lost();
    }

    /// Returns the number of queries dropped because the receive buffer was full, and of answers dropped because the send buffer was.
    fn lost(&self) -> u64 {
        self.socket.drops() + self.outbox.unsent()
    }
}

impl AsRawFd for Authority {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// Counts a query and marks its name.
#[inline]
fn note(kind: QueryKind, counts: &mut AuthorityCounts, asked: Option<&AskedNames>) {
    let address = match kind {
        QueryKind::Aaaa(address) => {
            counts.aaaa += 1;
            address
        }
        QueryKind::A(address) => {
            counts.a += 1;
            address
        }
        QueryKind::Other => return counts.other += 1,
        QueryKind::Malformed => return counts.malformed += 1,
    };
    if let Some(asked) = asked {
        asked.note(address);
    }
}
