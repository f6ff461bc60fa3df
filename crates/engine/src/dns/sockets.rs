//! The client's sockets, each with its own source port and a table from identifier to query. A batch is sent on one socket as one message, which
//! the kernel splits into queries; the next batch uses the next socket.

use super::judge::identifier;
use super::network_errors::NetworkErrors;
use super::query::Query;
use crate::delay::arrival::{Arrival, Polls};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use sixbench_io::clock::Clock;
use sixbench_io::udp::{Inbox, UdpSocket};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// The most queries that leave together: with more, the time stamp they share would be inaccurate.
pub(crate) const MOST: usize = 32;
/// Messages taken in one call.
const TAKEN: usize = 32;
/// With an odd step, every identifier is used once before the first is repeated.
pub(crate) const ID_STEP: u16 = 0x9e37;
/// The number of identifiers of a socket. There must be fewer queries in flight.
pub(crate) const IDENTIFIERS: u64 = 1 << 16;
/// The entry for an identifier that no query has used yet: a number far above all others.
pub(crate) const NONE: u32 = u32::MAX;

/// One source port.
struct QuerySocket {
    udp: UdpSocket,
    first_id: u16,
    /// The number of queries sent.
    sent: u16,
    /// The query of each identifier: the last 32 bits of its number.
    by_id: Box<[u32]>,
    polls: Polls,
}

impl QuerySocket {
    /// Returns the identifier of the query that is `ahead` queries after the next.
    #[inline]
    fn id(&self, ahead: usize) -> u16 {
        self.first_id
            .wrapping_add(self.sent.wrapping_add(ahead as u16).wrapping_mul(ID_STEP))
    }

    /// Returns the query with the identifier of a response.
    #[inline]
    fn sequence_of(&self, octets: &[u8]) -> Option<u32> {
        Some(self.by_id[usize::from(identifier(octets)?)])
    }
}

/// All source ports of one thread.
pub(crate) struct QuerySockets {
    sockets: Vec<QuerySocket>,
    next: usize,
    poll: Poll,
    events: Events,
    inbox: Inbox,
    /// For each socket, true if there may be more to receive.
    is_ready: Vec<bool>,
    /// A time just before the last poll, in nanoseconds: sockets that were not ready after it were empty then.
    polled_ns: u64,
    query: Query,
    batch: Box<[u8]>,
    /// Messages of equal length that are not for names of the namespace.
    run: Vec<u8>,
    errors: NetworkErrors,
}

/// A message that was received.
pub(crate) struct Reply<'a> {
    /// The last 32 bits of the number of the query with this identifier, or of a number that was not sent yet if the identifier was not used.
    /// `None` if the message is not a response.
    pub(crate) sequence: Option<u32>,
    pub(crate) octets: &'a [u8],
    /// The interval in which it arrived.
    pub(crate) arrival: Arrival,
}

/// Returns the address of the client with a port that the kernel chooses; without a client, any address of the server's family.
pub(super) fn local_address(client: Option<IpAddr>, server: SocketAddr) -> SocketAddr {
    let any = if server.is_ipv4() {
        IpAddr::from([0; 4])
    } else {
        IpAddr::from([0u16; 8])
    };
    SocketAddr::new(client.unwrap_or(any), 0)
}

impl QuerySockets {
    /// Opens `count` sockets on ports that the kernel chooses.
    ///
    /// # Errors
    /// The kernel's: the address is not configured here, there is no route to the server, or too many files are open.
    pub(crate) fn open(
        client: Option<IpAddr>,
        server: SocketAddr,
        count: u16,
        query: Query,
        key: u64,
    ) -> io::Result<Self> {
        let local = local_address(client, server);
        let poll = Poll::new()?;
        let mut sockets = Vec::with_capacity(usize::from(count));
        for index in 0..usize::from(count.max(1)) {
            let socket = UdpSocket::connected(local, server)?;
            poll.registry().register(
                &mut SourceFd(&socket.as_raw_fd()),
                Token(index),
                Interest::READABLE,
            )?;
            let first_id = sixbench_stats::mix(key ^ index as u64) as u16;
            let by_id = vec![NONE; IDENTIFIERS as usize].into();
            sockets.push(QuerySocket {
                udp: socket,
                first_id,
                sent: 0,
                by_id,
                polls: Polls::default(),
            });
        }
        let mut batch = vec![0; MOST * query.len()].into_boxed_slice();
        batch
            .chunks_exact_mut(query.len())
            .for_each(|octets| query.write(octets, 0, 0));
        let is_ready = vec![true; sockets.len()];
        let events = Events::with_capacity(sockets.len().max(8));
        let inbox = Inbox::new(TAKEN);
        Ok(Self {
            sockets,
            next: 0,
            poll,
            events,
            inbox,
            is_ready,
            polled_ns: 0,
            query,
            batch,
            run: Vec::new(),
            errors: NetworkErrors::default(),
        })
    }

    /// Sets the time before which no answer of the trial can arrive.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.sockets
            .iter_mut()
            .for_each(|socket| socket.polls.begin(start_ns));
    }

    /// Sends `count` queries, at most [`MOST`]: query `first + i` for the name `address(i)`. Returns how many were sent.
    #[inline]
    pub(crate) fn send(
        &mut self,
        first: u64,
        count: usize,
        address: impl Fn(usize) -> u32,
    ) -> usize {
        let socket = &mut self.sockets[self.next];
        self.next = if self.next + 1 == self.is_ready.len() {
            0
        } else {
            self.next + 1
        };
        let length = self.query.len();
        let batch = &mut self.batch[..count * length];
        for (index, octets) in batch.chunks_exact_mut(length).enumerate() {
            let id = socket.id(index);
            socket.by_id[usize::from(id)] = (first + index as u64) as u32;
            Query::patch(octets, id, address(index));
        }
        // An error belongs to an earlier query (ICMP) and is thereby cleared, so the second attempt is for this one.
        let sent = socket.udp.send_segments(batch, length).or_else(|error| {
            self.errors.count(&error);
            socket.udp.send_segments(batch, length)
        });
        let sent = sent.unwrap_or_default();
        socket.sent = socket.sent.wrapping_add(sent as u16);
        sent
    }

    /// Sends `count` messages, at most [`MOST`]: query `first + i` is `message(i)`, with any identifier. Consecutive ones of equal length leave together.
    /// Returns how many were sent.
    pub(crate) fn send_messages<'m>(
        &mut self,
        first: u64,
        count: usize,
        message: impl Fn(usize) -> &'m [u8],
    ) -> usize {
        let index = self.next;
        self.next = (index + 1) % self.sockets.len();
        let mut sent = 0;
        while sent < count {
            let length = message(sent).len();
            self.run.clear();
            let mut of_run = 0;
            while sent + of_run < count && message(sent + of_run).len() == length {
                let socket = &mut self.sockets[index];
                let id = socket.id(of_run);
                socket.by_id[usize::from(id)] = (first + (sent + of_run) as u64) as u32;
                let at = self.run.len();
                self.run.extend_from_slice(message(sent + of_run));
                self.run[at..at + 2].copy_from_slice(&id.to_be_bytes());
                of_run += 1;
            }
            let left = self.send_run(index, length);
            sent += left;
            if left < of_run {
                break;
            }
        }
        sent
    }

    /// Sends the messages of `run`, each of this length; returns how many were sent.
    fn send_run(&mut self, index: usize, length: usize) -> usize {
        let socket = &mut self.sockets[index];
        let sent = socket
            .udp
            .send_segments(&self.run, length)
            .or_else(|error| {
                self.errors.count(&error);
                socket.udp.send_segments(&self.run, length)
            })
            .unwrap_or_default();
        socket.sent = socket.sent.wrapping_add(sent as u16);
        sent
    }

    /// Receives one batch from every socket that has messages, without blocking.
    #[inline]
    pub(crate) fn receive(&mut self, clock: &Clock, mut take: impl FnMut(Reply<'_>)) {
        let is_alone = self.sockets.len() == 1;
        let mut before_ns = clock.now_ns();
        if !is_alone {
            self.find_ready(before_ns);
        }
        for (socket, is_ready) in self
            .sockets
            .iter_mut()
            .zip(&mut self.is_ready)
            .filter(|(_, is_ready)| **is_ready)
        {
            let mut taken = 0;
            let read = || {
                self.inbox
                    .receive(&socket.udp)
                    .inspect(|messages| taken = *messages)
            };
            match socket.polls.read(before_ns, TAKEN, clock, read) {
                Ok(None) => *is_ready = is_alone,
                Ok(Some(arrival)) => {
                    *is_ready = taken == TAKEN || is_alone;
                    self.inbox.each(|_, octets| {
                        take(Reply {
                            sequence: socket.sequence_of(octets),
                            octets,
                            arrival,
                        });
                    });
                    before_ns = arrival.by_ns;
                }
                Err(error) => self.errors.count(&error),
            }
        }
    }

    /// Marks the sockets as ready at which something has arrived since the last poll; `now_ns` is a time before this one.
    #[inline]
    fn find_ready(&mut self, now_ns: u64) {
        // If a signal interrupts this, the next poll comes soon.
        if self
            .poll
            .poll(&mut self.events, Some(Duration::ZERO))
            .is_err()
        {
            return;
        }
        for index in self.events.iter().map(|event| event.token().0) {
            if !std::mem::replace(&mut self.is_ready[index], true) {
                self.sockets[index].polls.note_empty(self.polled_ns);
            }
        }
        self.polled_ns = now_ns;
    }

    /// Waits until there is something to receive, at most for `most`.
    pub(crate) fn wait(&mut self, most: Duration) {
        let _ = self.poll.poll(&mut self.events, Some(most));
        self.events
            .iter()
            .for_each(|event| self.is_ready[event.token().0] = true);
    }

    /// Returns the number of messages dropped because receive buffers were full.
    pub(crate) fn drops(&self) -> u64 {
        self.sockets.iter().map(|socket| socket.udp.drops()).sum()
    }

    /// Returns the numbers of network errors.
    pub(crate) fn errors(&self) -> NetworkErrors {
        self.errors
    }
}
