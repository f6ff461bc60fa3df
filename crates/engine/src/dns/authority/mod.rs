//! An authoritative name server for the namespace of the tests. It computes its answers, so no zone file is loaded and no memory fills;
//! it never recurses, transfers or signs.

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
pub(crate) use tcp::FramedMessages;
pub use zone::AddressZone;
pub(crate) use zone::{ANYBODY, MAILBOX, SECONDARIES, SERIAL, SERVER};

use sixbench_io::udp::{Inbox, Outbox, UdpSocket};
use sixbench_method::trial::dns::AuthorityCounts;
use socket2::{Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// Messages taken in one call, each of one query or of many that came together.
const BATCH: usize = 32;
/// Messages sent in one call.
const ANSWERS: usize = 256;

/// Why the authority does not listen.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {}", in_words(.cause))]
pub struct AuthorityError {
    /// Where it was to listen.
    pub address: SocketAddr,
    /// The kernel's answer, which the words above say already: it is no `source`, so that it is not printed twice.
    pub cause: io::Error,
}

fn in_words(error: &io::Error) -> String {
    let words = match error.kind() {
        io::ErrorKind::AddrInUse => "address already in use; is another name server running there? (ss -lutnp shows which)",
        io::ErrorKind::AddrNotAvailable => "no interface here has this address (ip address lists them)",
        io::ErrorKind::PermissionDenied => "permission denied; ports below 1024 need root",
        _ => return error.to_string(),
    };
    words.to_owned()
}

/// One socket of the authority with all that answers on it: one for each thread.
pub struct Authority {
    socket: UdpSocket,
    inbox: Inbox,
    outbox: Outbox,
    answerer: Arc<Answerer>,
    counts: AuthorityCounts,
    /// What was lost before the counts began.
    lost_before: u64,
}

/// Returns an error where another process listens: a socket that does not share its port is refused then.
fn alone(address: SocketAddr) -> io::Result<()> {
    let socket = Socket::new(socket2::Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())
}

impl Authority {
    /// Listens in the network namespace of the calling thread. Several may share an address; each gets a part of the clients. From an
    /// unspecified address (`[::]`) answers leave with the address that the route has, which on a host with several may be another.
    ///
    /// # Errors
    /// The address cannot be listened on; says why, and what next.
    pub fn bind(listen: SocketAddr, zone: Arc<AddressZone>) -> Result<Self, AuthorityError> {
        Self::with(listen, Arc::new(Answerer::new(zone, &[listen.ip()])))
    }

    /// Binds `count` authorities that share an address. No other process may have it: a server there would get a part of the queries.
    ///
    /// # Errors
    /// As [`Authority::bind`]; also where another server listens, even one that would share its port.
    pub fn bind_together(listen: SocketAddr, zone: &Arc<AddressZone>, count: usize) -> Result<Vec<Self>, AuthorityError> {
        alone(listen).map_err(|cause| AuthorityError { address: listen, cause })?;
        (0..count).map(|_| Self::bind(listen, zone.clone())).collect()
    }

    /// As [`Authority::bind`], with what answers already made.
    pub(crate) fn with(listen: SocketAddr, answerer: Arc<Answerer>) -> Result<Self, AuthorityError> {
        let socket = UdpSocket::listening(listen).map_err(|cause| AuthorityError { address: listen, cause })?;
        let (inbox, outbox) = (Inbox::new(BATCH), Outbox::new(ANSWERS));
        Ok(Self { socket, inbox, outbox, answerer, counts: AuthorityCounts::default(), lost_before: 0 })
    }

    /// Where it listens.
    pub fn local(&self) -> SocketAddr {
        self.socket.local()
    }

    /// Takes one batch of what has arrived and answers it; never waits. Returns the messages taken.
    #[inline]
    pub fn turn(&mut self, asked: Option<&AskedNames>) -> usize {
        // An error is the network's about an answer sent before, whose client has gone.
        if self.inbox.receive(&self.socket).unwrap_or(0) == 0 {
            return 0;
        }
        let Self { socket, inbox, outbox, answerer, counts, .. } = self;
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

    /// What has come since the last reset. `names` is 0: the [`AskedNames`] knows.
    pub fn counts(&self) -> AuthorityCounts {
        AuthorityCounts { overruns: self.lost().saturating_sub(self.lost_before), ..self.counts }
    }

    /// Sets all counts to zero.
    pub fn reset_counts(&mut self) {
        self.counts = AuthorityCounts::default();
        self.lost_before = self.lost();
    }

    /// Queries the full receive buffer turned away, and answers the full send buffer did.
    fn lost(&self) -> u64 {
        self.socket.drops() + self.outbox.unsent()
    }
}

impl AsRawFd for Authority {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// Counts a query and marks the name it was for.
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
