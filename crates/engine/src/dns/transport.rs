//! How the client's queries are carried: over UDP, or over TCP, with TLS or without.

use super::network_errors::NetworkErrors;
use super::query::Query;
use super::sockets::{QuerySockets, Reply};
use super::tcp::QueryConnections;
use sixbench_io::clock::Clock;
use sixbench_method::trial::dns::TcpCounts;
use std::time::Duration;

/// The sockets of one thread.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each thread, and UDP is spared an indirection"
)]
pub(crate) enum ClientTransport {
    Udp(QuerySockets),
    /// The connections, and a query of the namespace.
    Tcp(Box<QueryConnections>, Query),
}

impl ClientTransport {
    /// Sets the time before which no answer of the trial can arrive.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        match self {
            Self::Udp(sockets) => sockets.begin(start_ns),
            Self::Tcp(connections, _) => connections.begin(start_ns),
        }
    }

    /// Sends `count` queries, at most [`super::sockets::MOST`]: query `first + i` for the name of `address(i)`. Returns how many were sent.
    #[inline]
    pub(crate) fn send(
        &mut self,
        first: u64,
        count: usize,
        address: impl Fn(usize) -> u32,
    ) -> usize {
        match self {
            Self::Udp(sockets) => sockets.send(first, count, address),
            Self::Tcp(connections, query) => connections.send(first, count, |index, out| {
                out.resize(query.len(), 0);
                query.write(out, 0, address(index));
            }),
        }
    }

    /// Does the same with whole messages, whose identifiers are replaced.
    pub(crate) fn send_messages<'m>(
        &mut self,
        first: u64,
        count: usize,
        message: impl Fn(usize) -> &'m [u8],
    ) -> usize {
        match self {
            Self::Udp(sockets) => sockets.send_messages(first, count, message),
            Self::Tcp(connections, _) => connections.send(first, count, |index, out| {
                out.extend_from_slice(message(index));
            }),
        }
    }

    /// Receives what has arrived, without blocking. `take` returns whether a message was the first answer to its query.
    #[inline]
    pub(crate) fn receive(&mut self, clock: &Clock, mut take: impl FnMut(Reply<'_>) -> bool) {
        match self {
            Self::Udp(sockets) => sockets.receive(clock, |reply| {
                take(reply);
            }),
            Self::Tcp(connections, _) => connections.receive(clock, take),
        }
    }

    /// Notes that a query is no longer waited for, although it has no answer.
    #[inline]
    pub(crate) fn expire(&mut self, sequence: u64) {
        if let Self::Tcp(connections, _) = self {
            connections.expire(sequence);
        }
    }

    /// Waits until there is something to receive, at most for `most`.
    pub(crate) fn wait(&mut self, most: Duration) {
        match self {
            Self::Udp(sockets) => sockets.wait(most),
            Self::Tcp(connections, _) => connections.wait(most),
        }
    }

    /// Returns the number of messages dropped because receive buffers were full: none over TCP, which makes the server wait.
    pub(crate) fn drops(&self) -> u64 {
        match self {
            Self::Udp(sockets) => sockets.drops(),
            Self::Tcp(..) => 0,
        }
    }

    /// Returns the numbers of network errors of datagrams.
    pub(crate) fn errors(&self) -> NetworkErrors {
        match self {
            Self::Udp(sockets) => sockets.errors(),
            Self::Tcp(..) => NetworkErrors::default(),
        }
    }

    /// Returns the counts of connections; `None` over UDP.
    pub(crate) fn connections(&self) -> Option<TcpCounts> {
        match self {
            Self::Udp(_) => None,
            Self::Tcp(connections, _) => Some(connections.counts()),
        }
    }
}
