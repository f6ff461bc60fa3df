//! The authority's sockets: one thread that answers over UDP and TCP, and keeps what it was asked.

use crate::dns::authority::{AuthorityError, framed, listen_over_tcp};
use sixbench_conformance::dns::{
    AuthorityReply, DnsName, DnsTransport, ResolvedExchange, Rtype, VectorAuthority,
};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The pause after a round in which no datagram has come.
const PAUSE: Duration = Duration::from_micros(200);
/// The most connections at once.
const MOST_CONNECTIONS: usize = 64;
/// The time after which an idle connection is closed.
const IDLE: Duration = Duration::from_secs(5);
/// The most different questions, and the most exchanges of one vector, that are kept: a server may ask without end.
const MOST_KEPT: usize = 4096;
/// The most octets that a connection may hold: a longer message than any query of a resolver.
const MOST_WAITING: usize = 128 * 1024;
/// Room for the largest message.
const LARGEST_MESSAGE: usize = 65_535;

/// A query to the authority, and its answer.
#[derive(Clone, Debug)]
pub(super) struct AuthorityExchange {
    pub(super) at: SystemTime,
    pub(super) from: SocketAddr,
    pub(super) transport: DnsTransport,
    pub(super) query: Vec<u8>,
    pub(super) answer: Option<Vec<u8>>,
}

/// The questions that the authority was asked, and its latest exchanges.
#[derive(Default)]
pub(super) struct AuthorityLog {
    questions: Mutex<BTreeSet<(DnsName, Rtype)>>,
    exchanges: Mutex<Vec<AuthorityExchange>>,
}

impl AuthorityLog {
    /// Returns the different questions so far.
    pub(super) fn questions(&self) -> Vec<(DnsName, Rtype)> {
        let questions = self.questions.lock();
        let questions = questions.unwrap_or_else(PoisonError::into_inner);
        questions.iter().cloned().collect()
    }

    /// Takes the exchanges about a vector; those about vectors that are asked at the same time stay.
    pub(super) fn take_exchanges(&self, vector: &ResolvedExchange) -> Vec<AuthorityExchange> {
        let exchanges = self.exchanges.lock();
        let mut exchanges = exchanges.unwrap_or_else(PoisonError::into_inner);
        let (taken, left) = std::mem::take(&mut *exchanges)
            .into_iter()
            .partition(|exchange| {
                let question = VectorAuthority::question(&exchange.query);
                question.is_none_or(|(name, _)| vector.has_name(&name))
            });
        *exchanges = left;
        taken
    }

    /// Forgets all exchanges so far.
    pub(super) fn forget_exchanges(&self) {
        let exchanges = self.exchanges.lock();
        exchanges.unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn note(&self, exchange: AuthorityExchange) {
        if let Some(question) = VectorAuthority::question(&exchange.query) {
            let questions = self.questions.lock();
            let mut questions = questions.unwrap_or_else(PoisonError::into_inner);
            if questions.len() < MOST_KEPT {
                questions.insert(question);
            }
        }
        let exchanges = self.exchanges.lock();
        let mut exchanges = exchanges.unwrap_or_else(PoisonError::into_inner);
        if exchanges.len() < MOST_KEPT {
            exchanges.push(exchange);
        }
    }
}

/// The authority's sockets, which already listen.
pub(super) struct AuthorityServer {
    over_udp: UdpSocket,
    over_tcp: TcpListener,
    connections: Vec<AuthorityConnection>,
}

/// A connection of a server under test.
struct AuthorityConnection {
    stream: TcpStream,
    from: SocketAddr,
    queries: Vec<u8>,
    answers: Vec<u8>,
    last_active: Instant,
}

impl AuthorityServer {
    /// Listens in the network namespace of the calling thread.
    pub(super) fn bind(listen: SocketAddr) -> Result<Self, AuthorityError> {
        Self::open(listen).map_err(|cause| AuthorityError {
            address: listen,
            cause,
        })
    }

    fn open(listen: SocketAddr) -> io::Result<Self> {
        let over_tcp = listen_over_tcp(listen)?;
        let over_udp = UdpSocket::bind(listen)?;
        over_tcp.set_nonblocking(true)?;
        over_udp.set_nonblocking(true)?;
        Ok(Self {
            over_udp,
            over_tcp,
            connections: Vec::new(),
        })
    }

    /// Answers until a stop is requested.
    pub(super) fn run(
        mut self,
        authority: &VectorAuthority,
        log: &AuthorityLog,
        stop: &AtomicBool,
    ) {
        let mut room = vec![0; LARGEST_MESSAGE];
        while !stop.load(Ordering::Relaxed) {
            let is_busy = self.answer_datagram(authority, log, &mut room);
            self.accept();
            let now = Instant::now();
            self.connections
                .retain_mut(|connection| connection.turn(authority, log, now).is_ok());
            if !is_busy {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Answers one datagram. Returns false if none has come.
    fn answer_datagram(
        &self,
        authority: &VectorAuthority,
        log: &AuthorityLog,
        room: &mut [u8],
    ) -> bool {
        // There is none, or the error is a report about an earlier answer whose receiver has gone.
        let Ok((octets, from)) = self.over_udp.recv_from(room) else {
            return false;
        };
        let query = &room[..octets];
        if let Some(answer) = answer_and_note(authority, log, query, from, DnsTransport::Udp) {
            // A server that does not receive the answer asks again.
            let _ = self.over_udp.send_to(&answer, from);
        }
        true
    }

    fn accept(&mut self) {
        while let Ok((stream, from)) = self.over_tcp.accept() {
            if self.connections.len() < MOST_CONNECTIONS && stream.set_nonblocking(true).is_ok() {
                self.connections.push(AuthorityConnection {
                    stream,
                    from,
                    queries: Vec::new(),
                    answers: Vec::new(),
                    last_active: Instant::now(),
                });
            }
        }
    }
}

impl AuthorityConnection {
    /// Reads, answers and writes what it can. An error ends the connection.
    fn turn(
        &mut self,
        authority: &VectorAuthority,
        log: &AuthorityLog,
        now: Instant,
    ) -> io::Result<()> {
        self.read(now)?;
        let mut at = 0;
        while let Some((query, end)) = framed(&self.queries[at..]) {
            let answer = answer_and_note(authority, log, query, self.from, DnsTransport::Tcp);
            if let Some(answer) = answer {
                let length = answer.len() as u16;
                self.answers.extend_from_slice(&length.to_be_bytes());
                self.answers.extend_from_slice(&answer);
            }
            at += end;
        }
        self.queries.drain(..at);
        self.write()?;
        let is_excessive = self.answers.len().max(self.queries.len()) > MOST_WAITING;
        if is_excessive || now.duration_since(self.last_active) > IDLE {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    fn read(&mut self, now: Instant) -> io::Result<()> {
        let mut room = [0; 4096];
        match self.stream.read(&mut room) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(octets) => {
                self.queries.extend_from_slice(&room[..octets]);
                self.last_active = now;
                Ok(())
            }
            Err(error) if is_temporary(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.answers.is_empty() {
            return Ok(());
        }
        match self.stream.write(&self.answers) {
            Ok(octets) => {
                self.answers.drain(..octets);
                Ok(())
            }
            Err(error) if is_temporary(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn answer_and_note(
    authority: &VectorAuthority,
    log: &AuthorityLog,
    query: &[u8],
    from: SocketAddr,
    transport: DnsTransport,
) -> Option<Vec<u8>> {
    let answer = match authority.reply(query, transport) {
        AuthorityReply::Answer(octets) => Some(octets),
        AuthorityReply::Silence => None,
    };
    log.note(AuthorityExchange {
        at: SystemTime::now(),
        from,
        transport,
        query: query.to_vec(),
        answer: answer.clone(),
    });
    answer
}
