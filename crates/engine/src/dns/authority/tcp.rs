//! The authority over TCP (RFC 7766), for completeness: several queries on a connection, each with its length before it, and a limited number of
//! connections. Only a separate service has it; a trial's queries use UDP.

use super::answer::Answerer;
use super::message::{MOST_OCTETS, QueryKind};
use super::{AuthorityError, note};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Registry, Token};
use sixbench_method::trial::dns::AuthorityCounts;
use slab::Slab;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The most connections at once.
pub(super) const MOST_CONNECTIONS: usize = 64;
/// The time after which an idle connection is closed, so that clients that do not close theirs cannot use up [`MOST_CONNECTIONS`] for long.
const IDLE: Duration = Duration::from_secs(5);
/// The longest wait for events, so that a request to stop is noticed in time.
const POLL_TIMEOUT: Duration = Duration::from_millis(100);
/// Octets of answers that a client has not read yet, above which its next queries must wait.
const MOST_WAITING: usize = 64 * 1024;

const LISTENER: Token = Token(usize::MAX);

/// A listening socket with its connections.
pub(super) struct OverTcp {
    listener: TcpListener,
    poll: Poll,
    answerer: Arc<Answerer>,
    connections: Slab<QueryStream>,
    counts: AuthorityCounts,
}

struct QueryStream {
    stream: TcpStream,
    messages: FramedMessages,
    /// The time of the last activity.
    alive: Instant,
    has_ended: bool,
}

/// The octets of a connection that are not yet answered or sent, however TCP divides them.
#[derive(Default)]
pub(crate) struct FramedMessages {
    /// Octets of queries that were not answered yet.
    queries: Vec<u8>,
    /// Octets of answers that were not sent yet.
    pub(crate) answers: Vec<u8>,
}

impl OverTcp {
    /// Accepts connections on a listening socket.
    pub(super) fn new(
        listener: std::net::TcpListener,
        answerer: Arc<Answerer>,
    ) -> Result<Self, AuthorityError> {
        let address = listener
            .local_addr()
            .unwrap_or_else(|_| SocketAddr::from(([0; 4], 0)));
        Self::from_listener(listener, answerer).map_err(|cause| AuthorityError { address, cause })
    }

    fn from_listener(listener: std::net::TcpListener, answerer: Arc<Answerer>) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let mut listener = TcpListener::from_std(listener);
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            listener,
            poll,
            answerer,
            connections: Slab::new(),
            counts: AuthorityCounts::default(),
        })
    }

    /// Serves until a stop is requested.
    pub(super) fn run(mut self, stop: &AtomicBool) -> AuthorityCounts {
        let mut events = Events::with_capacity(MOST_CONNECTIONS);
        while !stop.load(Ordering::Relaxed) {
            // This may be interrupted by a signal; the loop's condition shows whether that was a request to stop.
            let _ = self.poll.poll(&mut events, Some(POLL_TIMEOUT));
            let now = Instant::now();
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(now),
                    Token(key) => self.serve(key, now),
                }
            }
            self.connections
                .retain(|_, connection| now.duration_since(connection.alive) < IDLE);
        }
        self.counts
    }

    fn accept(&mut self, now: Instant) {
        while let Ok((stream, _)) = self.listener.accept() {
            // A connection above the limit is closed by dropping it.
            if self.connections.len() < MOST_CONNECTIONS {
                self.open(stream, now);
            }
        }
    }

    fn open(&mut self, mut stream: TcpStream, now: Instant) {
        let entry = self.connections.vacant_entry();
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registry: &Registry = self.poll.registry();
        if registry
            .register(&mut stream, Token(entry.key()), interest)
            .is_ok()
        {
            entry.insert(QueryStream {
                stream,
                messages: FramedMessages::default(),
                alive: now,
                has_ended: false,
            });
        }
    }

    fn serve(&mut self, key: usize, now: Instant) {
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        connection.alive = now;
        if connection.turn(&self.answerer, &mut self.counts).is_err() || connection.is_done() {
            self.connections.remove(key);
        }
    }
}

impl QueryStream {
    /// Reads, answers and writes until it would block: events are edge-triggered, so octets that are left in the socket would cause no further one.
    /// Where too many answers are waiting, the event of the socket becoming writable continues this.
    fn turn(&mut self, answerer: &Answerer, counts: &mut AuthorityCounts) -> io::Result<()> {
        let mut room = [0; 4096];
        loop {
            self.write()?;
            if self.messages.answers.len() > MOST_WAITING || self.has_ended {
                return Ok(());
            }
            match self.stream.read(&mut room) {
                Ok(0) => self.has_ended = true,
                Ok(octets) => self.messages.take(&room[..octets], answerer, counts),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        while !self.messages.answers.is_empty() {
            match self.stream.write(&self.messages.answers) {
                Ok(octets) => drop(self.messages.answers.drain(..octets)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.has_ended && self.messages.answers.is_empty()
    }
}

impl FramedMessages {
    /// Takes the next octets, and answers every complete query.
    pub(crate) fn take(
        &mut self,
        octets: &[u8],
        answerer: &Answerer,
        counts: &mut AuthorityCounts,
    ) {
        self.queries.extend_from_slice(octets);
        let (mut at, mut room) = (0, [0; MOST_OCTETS]);
        while let Some((query, end)) = framed(&self.queries[at..]) {
            let answer = answerer.answer(query, &mut room);
            counts.over_tcp += u64::from(answer.kind != QueryKind::Malformed);
            note(answer.kind, counts, None);
            if answer.octets > 0 {
                self.answers
                    .extend_from_slice(&(answer.octets as u16).to_be_bytes());
                self.answers.extend_from_slice(&room[..answer.octets]);
            }
            at += end;
        }
        self.queries.drain(..at);
    }
}

/// Returns the first message of a stream, and the offset of the next one (RFC 1035 section 4.2.2: two octets of length).
pub(crate) fn framed(octets: &[u8]) -> Option<(&[u8], usize)> {
    let (length, rest) = octets.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_be_bytes(*length));
    rest.get(..length).map(|message| (message, 2 + length))
}
