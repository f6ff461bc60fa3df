//! One query to the server under test, over UDP or TCP, and its answer.

use sixbench_conformance::dns::{DnsMessage, DnsQuery, DnsTransport};
use sixbench_conformance::judge::DnsAnswer;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// The longest wait in one call, so that a request to stop is noticed in time.
const POLL: Duration = Duration::from_millis(100);
/// Room for the largest message.
const LARGEST_MESSAGE: usize = 65_535;

/// A query on its way, and what came for it.
#[derive(Clone, Debug)]
pub(super) struct ClientExchange {
    pub(super) sent_at: SystemTime,
    pub(super) came_at: SystemTime,
    pub(super) local: SocketAddr,
    pub(super) query: Vec<u8>,
    /// The answer's octets; empty if none came.
    pub(super) answer_octets: Vec<u8>,
    pub(super) answer: DnsAnswer,
}

/// Asks one server.
#[derive(Clone, Copy)]
pub(super) struct DnsClient<'a> {
    pub(super) server: SocketAddr,
    pub(super) stop: &'a AtomicBool,
}

impl DnsClient<'_> {
    /// Sends a query once, and waits for its answer at most until a time has passed, or a stop is requested.
    ///
    /// # Errors
    /// The kernel cannot send it: there is no route or no socket.
    pub(super) fn ask(&self, query: &DnsQuery, timeout: Duration) -> io::Result<ClientExchange> {
        let octets = query
            .octets(random_id())
            .map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        let end = Instant::now() + timeout;
        match query.transport {
            DnsTransport::Udp => self.ask_over_udp(query, octets, end),
            DnsTransport::Tcp => self.ask_over_tcp(query, octets, end),
        }
    }

    fn ask_over_udp(
        &self,
        query: &DnsQuery,
        octets: Vec<u8>,
        end: Instant,
    ) -> io::Result<ClientExchange> {
        let any: IpAddr = match self.server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(self.server)?;
        socket.set_read_timeout(Some(POLL))?;
        let mut exchange = ClientExchange::new(socket.local_addr()?, octets);
        socket.send(&exchange.query)?;
        let mut room = vec![0; LARGEST_MESSAGE];
        while self.is_waiting(end) {
            match socket.recv(&mut room) {
                Ok(length) if exchange.take(query, &room[..length]) => break,
                Ok(_) => {}
                // The server's port may be closed for a moment: an ICMP error is no answer.
                Err(error) if is_to_be_waited_out(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(exchange)
    }

    fn ask_over_tcp(
        &self,
        query: &DnsQuery,
        octets: Vec<u8>,
        end: Instant,
    ) -> io::Result<ClientExchange> {
        let left = end.saturating_duration_since(Instant::now());
        let nowhere = SocketAddr::new(self.server.ip(), 0);
        // A server that does not accept the connection, or ends it, does not answer.
        let Ok(mut stream) = TcpStream::connect_timeout(&self.server, left.max(POLL)) else {
            return Ok(ClientExchange::new(nowhere, octets));
        };
        stream.set_read_timeout(Some(POLL))?;
        let mut exchange = ClientExchange::new(stream.local_addr()?, octets);
        let length = exchange.query.len() as u16;
        let framed = [&length.to_be_bytes()[..], &exchange.query].concat();
        if stream.write_all(&framed).is_err() {
            return Ok(exchange);
        }
        let (mut came, mut room) = (Vec::new(), [0; 4096]);
        while self.is_waiting(end) {
            match stream.read(&mut room) {
                Ok(0) => break,
                Ok(octets) => came.extend_from_slice(&room[..octets]),
                Err(error) if is_to_be_waited_out(&error) => {}
                Err(_) => break,
            }
            while let Some((message, octets)) = crate::dns::authority::framed(&came) {
                if exchange.take(query, message) {
                    return Ok(exchange);
                }
                came.drain(..octets);
            }
        }
        Ok(exchange)
    }

    fn is_waiting(&self, end: Instant) -> bool {
        Instant::now() < end && !self.stop.load(Ordering::Relaxed)
    }
}

impl ClientExchange {
    fn new(local: SocketAddr, query: Vec<u8>) -> Self {
        Self {
            sent_at: SystemTime::now(),
            came_at: SystemTime::now(),
            local,
            query,
            answer_octets: Vec::new(),
            answer: DnsAnswer::Nothing,
        }
    }

    /// Takes a message if it is the answer: it has the identifier and the question of the query. Returns false for any other, which is ignored.
    fn take(&mut self, query: &DnsQuery, message: &[u8]) -> bool {
        if message.get(..2) != self.query.get(..2) {
            return false;
        }
        let answer = match DnsMessage::parse(message) {
            Ok(parsed) if is_of_another_question(query, &parsed) => return false,
            Ok(parsed) => DnsAnswer::Message(parsed),
            Err(error) => DnsAnswer::Malformed(error.to_string()),
        };
        self.came_at = SystemTime::now();
        self.answer_octets = message.to_vec();
        self.answer = answer;
        true
    }
}

/// Returns true for an answer to something else. One without a question, which errors may lack, answers the query with its identifier.
fn is_of_another_question(query: &DnsQuery, message: &DnsMessage) -> bool {
    message.question.as_ref().is_some_and(|question| {
        let (name, rtype, class) = question;
        (name, *rtype, *class) != (&query.name, query.rtype, query.class)
    })
}

fn is_to_be_waited_out(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused
    )
}

/// Returns an identifier that nobody can foresee.
fn random_id() -> u16 {
    RandomState::new().build_hasher().finish() as u16
}
