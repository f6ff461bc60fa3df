//! The client's TCP connections to the server (RFC 7766), with TLS on them (RFC 7858) or without. Query i of a thread belongs to connection i modulo their number; several queries are
//! in flight on each, and answers may come in any order. A query that is due while its connection carries as many as it may, or while it
//! is not established, waits here: the schedule goes on, and the time until the answer counts from when the query was due. What the server closes is opened again,
//! but the queries that were sent on it are not sent again.

mod connection;
mod framing;
mod stream;
#[cfg(test)]
mod tests;
mod tls;

pub use tls::{IdentityError, ServerIdentity, TlsProfile};

use super::sockets::{Reply, local_address};
use crate::delay::arrival::Polls;
use crate::pacing::pacer::ThreadShare;
use connection::{Delivery, QueryConnection, QueryConnectionState};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use sixbench_io::clock::Clock;
use sixbench_method::plan::{DnsTest, QueryTransport};
use sixbench_method::trial::dns::{TcpCounts, TlsCounts};
use socket2::{Domain, Protocol, Socket, Type};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use stream::ClientStream;
use tls::TlsClient;

/// Octets read in one call.
const READ: usize = 64 * 1024;
/// The time before the next attempt after one that failed, or after a connection without any answer, in nanoseconds.
const PAUSE_NS: u64 = 100_000_000;

/// The time that each TLS handshake may take longer because of the others, in nanoseconds: all of them share the cores of client and server.
const HANDSHAKE_NS: u64 = 2_000_000;

/// The client's use of TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryConnectionSettings {
    /// Connections of all threads.
    pub connections: u16,
    /// Queries that wait for their answers on each connection, at most.
    pub outstanding: u16,
    /// TLS on each of them.
    pub tls: Option<TlsProfile>,
}

impl QueryConnectionSettings {
    /// Returns the settings of a test; `None` over UDP. Over TLS, any certificate is accepted.
    pub fn new(dns: &DnsTest) -> Option<Self> {
        let tls = match dns.transport {
            QueryTransport::Udp => return None,
            QueryTransport::Tcp => None,
            QueryTransport::Tls => Some(TlsProfile::Opportunistic),
        };
        Some(Self {
            connections: dns.tcp_connections,
            outstanding: dns.tcp_outstanding,
            tls,
        })
    }

    /// Returns the number of connections of a thread, which shares them with the others: one at least.
    pub(crate) fn of_thread(&self, share: ThreadShare) -> u16 {
        share.part_of(self.connections.into()).max(1) as u16
    }
}

/// All connections of one thread.
pub(crate) struct QueryConnections {
    connections: Vec<QueryConnection>,
    polls: Vec<Polls>,
    /// The connections that may have octets or room since they were last looked at, each once.
    ready: Vec<usize>,
    is_ready: Vec<bool>,
    /// Those of `ready` that are looked at in this turn.
    serving: Vec<usize>,
    /// A time just before the last poll, in nanoseconds: connections that were not ready after it were empty then.
    polled_ns: u64,
    poll: Poll,
    events: Events,
    room: Box<[u8]>,
    from: SocketAddr,
    server: SocketAddr,
    outstanding: u16,
    tls: Option<TlsClient>,
    /// The longest time for establishing a connection, in nanoseconds.
    patience_ns: u64,
    /// Connections that are not established.
    down: usize,
    counts: TcpCounts,
    message: Vec<u8>,
}

impl QueryConnections {
    /// Makes room for `settings.connections` connections, which [`QueryConnections::establish`] opens.
    ///
    /// # Errors
    /// The kernel has no descriptors left.
    pub(crate) fn new(
        client: Option<IpAddr>,
        server: SocketAddr,
        settings: &QueryConnectionSettings,
        timeout_ns: u64,
        key: u64,
    ) -> io::Result<Self> {
        let count = usize::from(settings.connections.max(1));
        let profile = settings.tls.as_ref();
        let tls = profile.map(|profile| TlsClient::new(profile, server.ip()));
        let handshakes_ns = profile.map_or(0, |_| count as u64 * HANDSHAKE_NS);
        Ok(Self {
            connections: (0..count)
                .map(|index| QueryConnection::new(sixbench_stats::mix(key ^ index as u64) as u16))
                .collect(),
            polls: vec![Polls::default(); count],
            ready: Vec::with_capacity(count),
            is_ready: vec![false; count],
            serving: Vec::with_capacity(count),
            polled_ns: 0,
            poll: Poll::new()?,
            events: Events::with_capacity(count.clamp(8, 1024)),
            room: vec![0; READ].into(),
            from: local_address(client, server),
            server,
            outstanding: settings.outstanding.max(1),
            tls: tls.transpose()?,
            patience_ns: timeout_ns + handshakes_ns,
            down: count,
            counts: TcpCounts {
                connections: count as u64,
                tls: profile.map(|profile| TlsCounts {
                    is_verified: *profile != TlsProfile::Opportunistic,
                    ..TlsCounts::default()
                }),
                ..TcpCounts::default()
            },
            message: Vec::new(),
        })
    }

    /// Opens all connections, and waits until each is established or has failed once, so that the first query of a trial waits for none.
    ///
    /// # Errors
    /// The kernel's, of a socket: the client's address is not configured here, or too many files are open.
    pub(crate) fn establish(&mut self, clock: &Clock) -> io::Result<()> {
        let start_ns = clock.now_ns();
        for index in 0..self.connections.len() {
            match self.connect(index, start_ns) {
                // The client's own address, or its descriptors: no attempt of the trial could do better.
                Err(error) if !is_of_server(&error) => return Err(error),
                Err(_) => self.fail(index, start_ns),
                Ok(()) => {}
            }
        }
        while self.connections.iter().any(QueryConnection::is_connecting)
            && clock.now_ns() < start_ns + self.patience_ns
        {
            self.wait(Duration::from_millis(1));
            self.receive(clock, |_| false);
        }
        Ok(())
    }

    /// Sets the time before which no answer of the trial can arrive.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.polls
            .iter_mut()
            .for_each(|polls| polls.begin(start_ns));
    }

    /// Sends `count` queries: `write` appends the message of query `first + i`, with any identifier. All of them count as sent.
    pub(crate) fn send(
        &mut self,
        first: u64,
        count: usize,
        mut write: impl FnMut(usize, &mut Vec<u8>),
    ) -> usize {
        let connections = self.connections.len() as u64;
        let mut message = std::mem::take(&mut self.message);
        for index in 0..count {
            message.clear();
            write(index, &mut message);
            let sequence = first + index as u64;
            self.connections[(sequence % connections) as usize].enqueue(sequence, &message);
        }
        self.message = message;
        let of_each = count as u64 / connections;
        let more = count as u64 % connections;
        for offset in 0..(count as u64).min(connections) {
            let of_this = of_each + u64::from(offset < more);
            self.pump_new(((first + offset) % connections) as usize, of_this as usize);
        }
        count
    }

    /// Sends what may be sent of `count` queries that have just been added to a connection, and counts those that may not.
    fn pump_new(&mut self, index: usize, count: usize) {
        let connection = &mut self.connections[index];
        if !connection.pump(self.outstanding) {
            self.mark(index);
        }
        let connection = &self.connections[index];
        let held = connection.waiting().min(count) + usize::from(connection.is_blocked());
        self.counts.held_back += held.min(count) as u64;
    }

    /// Notes that a query is no longer waited for, although it has no answer.
    pub(crate) fn expire(&mut self, sequence: u64) {
        let index = (sequence % self.connections.len() as u64) as usize;
        self.connections[index].expire(sequence);
        if self.connections[index].waiting() > 0 {
            self.mark(index);
        }
    }

    /// Looks at a connection in the next turn.
    fn mark(&mut self, index: usize) {
        if !std::mem::replace(&mut self.is_ready[index], true) {
            self.ready.push(index);
        }
    }

    /// Receives from every connection that has octets, without blocking, and sends what may be sent since. `take` returns whether a message was the
    /// first answer to its query.
    pub(crate) fn receive(&mut self, clock: &Clock, mut take: impl FnMut(Reply<'_>) -> bool) {
        let before_ns = clock.now_ns();
        self.find_ready(before_ns);
        if self.down > 0 {
            self.reopen(before_ns);
        }
        std::mem::swap(&mut self.ready, &mut self.serving);
        for at in 0..self.serving.len() {
            let index = self.serving[at];
            self.is_ready[index] = false;
            self.serve(index, before_ns, clock, &mut take);
        }
        self.serving.clear();
    }

    /// Marks the connections at which something has happened since the last poll; `now_ns` is a time before this one.
    fn find_ready(&mut self, now_ns: u64) {
        let known = self.ready.len();
        self.wait(Duration::ZERO);
        for index in &self.ready[known..] {
            self.polls[*index].note_empty(self.polled_ns);
        }
        self.polled_ns = now_ns;
    }

    fn serve(
        &mut self,
        index: usize,
        before_ns: u64,
        clock: &Clock,
        take: &mut impl FnMut(Reply<'_>) -> bool,
    ) {
        if !self.is_established(index, before_ns) {
            return;
        }
        let works = self.read(index, before_ns, clock, take);
        let connection = &mut self.connections[index];
        if works && connection.pump(self.outstanding) {
            return;
        }
        // A server that closes connections without an answer would be asked for new ones as fast as it can close them.
        let retry_ns = before_ns + if connection.has_answered { 0 } else { PAUSE_NS };
        connection.close(retry_ns, &mut self.counts);
        self.down += 1;
    }

    /// Reads once and judges the messages that are complete. Returns whether the connection still works.
    fn read(
        &mut self,
        index: usize,
        before_ns: u64,
        clock: &Clock,
        take: &mut impl FnMut(Reply<'_>) -> bool,
    ) -> bool {
        let connection = &mut self.connections[index];
        let (mut taken, mut has_ended) = (0, false);
        let read = || {
            match connection.read(&mut self.room) {
                Delivery::Octets(octets) => taken = octets,
                Delivery::Nothing => {}
                Delivery::End => has_ended = true,
            }
            Ok::<_, Infallible>(taken)
        };
        let Ok(arrival) = self.polls[index].read(before_ns, READ, clock, read);
        let Some(arrival) = arrival else {
            return !has_ended;
        };
        connection.reader.add(&self.room[..taken]);
        let judged = connection.each_message(|sequence, octets| {
            take(Reply {
                sequence,
                octets,
                arrival,
            })
        });
        // There may be more; an edge of the poll is not repeated.
        self.mark(index);
        judged.is_ok()
    }

    /// Returns whether a connection is established, after looking at the attempt to.
    fn is_established(&mut self, index: usize, now_ns: u64) -> bool {
        let connection = &mut self.connections[index];
        if !connection.is_connecting() {
            return connection.state == QueryConnectionState::Open;
        }
        let Ok(is_established) = connection.establish(&mut self.counts) else {
            self.fail(index, now_ns);
            return false;
        };
        self.down -= usize::from(is_established);
        is_established
    }

    fn fail(&mut self, index: usize, now_ns: u64) {
        self.connections[index].fail(now_ns + PAUSE_NS, &mut self.counts);
    }

    /// Begins the attempts that are due, and ends those that take too long.
    #[cold]
    fn reopen(&mut self, now_ns: u64) {
        for index in 0..self.connections.len() {
            let has_failed = match self.connections[index].state {
                QueryConnectionState::Closed { retry_ns } => {
                    retry_ns <= now_ns && self.connect(index, now_ns).is_err()
                }
                QueryConnectionState::Connecting { since_ns } => {
                    since_ns + self.patience_ns < now_ns
                }
                QueryConnectionState::Open => false,
            };
            if has_failed {
                self.fail(index, now_ns);
            }
        }
    }

    fn connect(&mut self, index: usize, now_ns: u64) -> io::Result<()> {
        let tcp = self.begin_to_connect()?;
        let mut stream = match &self.tls {
            None => ClientStream::Plain(tcp),
            Some(tls) => ClientStream::Tls(Box::new(tls.stream(tcp)?)),
        };
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(stream.socket(), Token(index), interest)?;
        let connection = &mut self.connections[index];
        connection.stream = Some(stream);
        connection.state = QueryConnectionState::Connecting { since_ns: now_ns };
        Ok(())
    }

    fn begin_to_connect(&self) -> io::Result<TcpStream> {
        let domain = Domain::for_address(self.server);
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        // A query must not wait until the one before it is acknowledged.
        socket.set_tcp_nodelay(true)?;
        socket.bind(&self.from.into())?;
        match socket.connect(&self.server.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        Ok(TcpStream::from_std(socket.into()))
    }

    /// Waits until there is something to do, at most for `most`.
    pub(crate) fn wait(&mut self, most: Duration) {
        // If a signal interrupts this, the next poll comes soon.
        if self.poll.poll(&mut self.events, Some(most)).is_err() {
            return;
        }
        for event in &self.events {
            let index = event.token().0;
            if !std::mem::replace(&mut self.is_ready[index], true) {
                self.ready.push(index);
            }
        }
    }

    /// Returns the counts of the connections.
    pub(crate) fn counts(&self) -> TcpCounts {
        self.counts.clone()
    }
}

/// Returns whether the server's side refuses the connection.
fn is_of_server(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::TimedOut
    )
}
