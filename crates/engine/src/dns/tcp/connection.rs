//! One connection to the server: the queries that wait for it, those that wait for their answers, and its identifiers.

use super::super::sockets::{ID_STEP, IDENTIFIERS, NONE};
use super::framing::{FrameReader, Misframed, frame};
use super::stream::ClientStream;
use super::tls::TlsStream;
use sixbench_method::trial::dns::TcpCounts;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryConnectionState {
    /// Not connected; the next attempt is due at this time, in nanoseconds.
    Closed {
        /// The time.
        retry_ns: u64,
    },
    /// An attempt that began at this time, with the TLS handshake if there is one.
    Connecting {
        /// The time.
        since_ns: u64,
    },
    /// Established.
    Open,
}

/// The octets that a connection has delivered in one turn.
pub(super) enum Delivery {
    /// This many octets.
    Octets(usize),
    /// Nothing more for now.
    Nothing,
    /// The end of the connection, or an error.
    End,
}

/// A connection of the client.
pub(super) struct QueryConnection {
    pub(super) stream: Option<ClientStream>,
    pub(super) state: QueryConnectionState,
    /// True if an answer has come since it was established.
    pub(super) has_answered: bool,
    pub(super) reader: FrameReader,
    first_id: u16,
    sent: u16,
    /// The query of each identifier: the last 32 bits of its number.
    by_id: Box<[u32]>,
    /// The numbers of the queries that wait to be sent, with the octets of each.
    waiting: VecDeque<(u64, u16)>,
    waiting_octets: VecDeque<u8>,
    /// The octets that the kernel is to take, and how many of them it has.
    outgoing: Vec<u8>,
    taken: usize,
    /// The first query that was sent since it was established.
    first_sent: Option<u64>,
    outstanding: u16,
}

impl QueryConnection {
    pub(super) fn new(first_id: u16) -> Self {
        Self {
            stream: None,
            state: QueryConnectionState::Closed { retry_ns: 0 },
            has_answered: false,
            reader: FrameReader::default(),
            first_id,
            sent: 0,
            by_id: vec![NONE; IDENTIFIERS as usize].into(),
            waiting: VecDeque::new(),
            waiting_octets: VecDeque::new(),
            outgoing: Vec::new(),
            taken: 0,
            first_sent: None,
            outstanding: 0,
        }
    }

    /// Returns whether an attempt to establish it is under way.
    pub(super) fn is_connecting(&self) -> bool {
        matches!(self.state, QueryConnectionState::Connecting { .. })
    }

    /// Adds a query; its message has any identifier.
    pub(super) fn enqueue(&mut self, sequence: u64, message: &[u8]) {
        self.waiting.push_back((sequence, message.len() as u16));
        self.waiting_octets.extend(message);
    }

    /// Returns the number of queries that wait to be sent.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns whether the kernel has not taken all octets.
    pub(super) fn is_blocked(&self) -> bool {
        self.taken < self.outgoing.len()
            || self.stream.as_ref().is_some_and(ClientStream::has_unsent)
    }

    /// Sends what may be sent: as long as no more than `most` queries wait for their answers, and the kernel takes all octets. Returns whether the
    /// connection still works.
    pub(super) fn pump(&mut self, most: u16) -> bool {
        if self.state != QueryConnectionState::Open {
            return true;
        }
        if !self.flush() {
            return false;
        }
        if self.is_blocked() || self.waiting.is_empty() || self.outstanding >= most {
            return true;
        }
        while self.outstanding < most {
            let Some((sequence, length)) = self.waiting.pop_front() else {
                break;
            };
            self.put(sequence, length);
        }
        self.flush()
    }

    /// Moves the octets of a waiting query to those that the kernel is to take.
    fn put(&mut self, sequence: u64, length: u16) {
        let id = self.first_id.wrapping_add(self.sent.wrapping_mul(ID_STEP));
        self.sent = self.sent.wrapping_add(1);
        self.by_id[usize::from(id)] = sequence as u32;
        let octets = self.waiting_octets.drain(..usize::from(length));
        let mut at = 0;
        frame(&mut self.outgoing, |out| {
            at = out.len();
            out.extend(octets);
        });
        self.outgoing[at..at + 2].copy_from_slice(&id.to_be_bytes());
        self.first_sent.get_or_insert(sequence);
        self.outstanding += 1;
    }

    /// Passes octets to the kernel until it takes no more. Returns whether the connection still works.
    fn flush(&mut self) -> bool {
        let Some(stream) = &mut self.stream else {
            return false;
        };
        while self.taken < self.outgoing.len() {
            match stream.write(&self.outgoing[self.taken..]) {
                Ok(0) => return false,
                Ok(octets) => self.taken += octets,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        self.outgoing.clear();
        self.taken = 0;
        match stream.flush() {
            Ok(()) => true,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }

    /// Reads once into `room`.
    pub(super) fn read(&mut self, room: &mut [u8]) -> Delivery {
        let Some(stream) = &mut self.stream else {
            return Delivery::Nothing;
        };
        loop {
            return match stream.read(room) {
                Ok(0) => Delivery::End,
                Ok(octets) => Delivery::Octets(octets),
                Err(error) if error.kind() == ErrorKind::WouldBlock => Delivery::Nothing,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => Delivery::End,
            };
        }
    }

    /// Hands each complete message to `take`, with the last 32 bits of the number of its query; `None` if it is no response. `take` returns whether the
    /// message was the first answer to its query.
    ///
    /// # Errors
    /// A length that no message has.
    pub(super) fn each_message(
        &mut self,
        mut take: impl FnMut(Option<u32>, &[u8]) -> bool,
    ) -> Result<(), Misframed> {
        while let Some(message) = self.reader.message()? {
            let sequence =
                super::super::judge::identifier(message).map(|id| self.by_id[usize::from(id)]);
            if take(sequence, message) {
                self.has_answered = true;
                self.outstanding = self.outstanding.saturating_sub(1);
            }
        }
        Ok(())
    }

    /// Notes that a query is no longer waited for, although it has no answer.
    pub(super) fn expire(&mut self, sequence: u64) {
        if let Some((first, length)) = self.waiting.front().copied()
            && first == sequence
        {
            self.waiting.pop_front();
            self.waiting_octets.drain(..usize::from(length));
        } else if self.first_sent.is_some_and(|first| sequence >= first) {
            self.outstanding = self.outstanding.saturating_sub(1);
        }
    }

    /// Closes an established connection and counts what that ends. It is tried again at `retry_ns`.
    pub(super) fn close(&mut self, retry_ns: u64, counts: &mut TcpCounts) {
        counts.closed += 1;
        self.count_tls_failure(counts);
        counts.misframed += u64::from(self.reader.is_within_message());
        counts.interrupted += u64::from(self.outstanding);
        self.reset(retry_ns);
    }

    /// Counts an attempt that has failed. The next one is due at `retry_ns`.
    pub(super) fn fail(&mut self, retry_ns: u64, counts: &mut TcpCounts) {
        counts.refused += 1;
        self.count_tls_failure(counts);
        self.reset(retry_ns);
    }

    fn count_tls_failure(&self, counts: &mut TcpCounts) {
        if let (Some(session), Some(counts)) = (self.session(), &mut counts.tls) {
            session.count_failure(counts);
        }
    }

    fn session(&self) -> Option<&TlsStream> {
        self.stream.as_ref()?.tls()
    }

    /// Continues to establish the connection. Returns whether it has been established now.
    ///
    /// # Errors
    /// The attempt has failed.
    pub(super) fn establish(&mut self, counts: &mut TcpCounts) -> io::Result<bool> {
        let Some(stream) = &mut self.stream else {
            return Ok(false);
        };
        if !stream.establish()? {
            return Ok(false);
        }
        self.state = QueryConnectionState::Open;
        counts.opened += 1;
        if let (Some(session), Some(counts)) = (self.session(), &mut counts.tls) {
            session.count_session(counts);
        }
        Ok(true)
    }

    /// Forgets the connection. Queries that wait to be sent are kept for the next one.
    fn reset(&mut self, retry_ns: u64) {
        self.stream = None;
        self.state = QueryConnectionState::Closed { retry_ns };
        self.has_answered = false;
        self.reader.clear();
        if self.first_sent.take().is_some() {
            self.by_id.fill(NONE);
        }
        self.outgoing.clear();
        self.taken = 0;
        self.outstanding = 0;
    }
}
