//! A DNS64 server on loopback that can be made faulty. It either knows the address of every name or actually queries an authority.

use std::collections::HashSet;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Octets of a header, and the offset of the address's label.
const HEADER: usize = 12;
const LABEL: usize = HEADER + 1;
/// Octets of the record at the end of an answer.
const RECORD: usize = 28;
/// The prefix before the IPv4 address: `64:ff9b::/96`.
pub(crate) const PREFIX: [u8; 12] = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];

/// A message that the server sends.
pub(crate) struct Reply {
    pub(crate) octets: Vec<u8>,
    pub(crate) after: Duration,
    pub(crate) is_from_elsewhere: bool,
}

impl From<Vec<u8>> for Reply {
    fn from(octets: Vec<u8>) -> Self {
        Self {
            octets,
            after: Duration::ZERO,
            is_from_elsewhere: false,
        }
    }
}

/// Takes the number of a query and its right answer, and returns the messages to be sent.
pub(crate) type Rig = Box<dyn FnMut(u64, Vec<u8>) -> Vec<Reply> + Send>;

/// Returns a rig that sends the right answers with changed octets.
pub(crate) fn each(mut change: impl FnMut(u64, Vec<u8>) -> Vec<Vec<u8>> + Send + 'static) -> Rig {
    Box::new(move |number, right| change(number, right).into_iter().map(Reply::from).collect())
}

/// Returns a rig without faults.
pub(crate) fn honest() -> Rig {
    each(|_, right| vec![right])
}

/// The way in which the server learns the addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Knows {
    /// From the names themselves, as if all of them were always in its cache.
    All,
    /// Queries this authority once for every name.
    Once(SocketAddr),
    /// Queries this authority every time, as it has no cache.
    Never(SocketAddr),
}

/// A server that runs until it is dropped.
pub(crate) struct Dns64 {
    pub(crate) address: SocketAddr,
    /// True once the rig is active; until then, all answers are right.
    pub(crate) is_rigged: Arc<AtomicBool>,
    /// The number of queries received.
    pub(crate) asked: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Dns64 {
    /// Starts a server that stops answering, and listening, after `most` queries with the rig.
    pub(crate) fn start(knows: Knows, rig: Rig, most: u64) -> Self {
        let socket = UdpSocket::bind("[::1]:0").expect("a socket");
        // While a flood is sent, queries wait in the socket; its default size is too small for 300 of them.
        socket2::SockRef::from(&socket)
            .set_recv_buffer_size(1 << 20)
            .expect("a buffer");
        let address = socket.local_addr().expect("an address");
        let (is_rigged, asked, stop) = (
            Arc::<AtomicBool>::default(),
            Arc::<AtomicU64>::default(),
            Arc::<AtomicBool>::default(),
        );
        let mut server = Server {
            socket,
            elsewhere: UdpSocket::bind("[::1]:0").expect("a socket"),
            knows,
            cache: HashSet::new(),
            rig,
            most,
            rigged: 0,
            waiting: Vec::new(),
        };
        let (rigged, counted, seen) = (is_rigged.clone(), asked.clone(), stop.clone());
        let serve = move || {
            // The client never sleeps and has the highest priority: a thread of ordinary priority would hardly run next to it on a busy machine.
            // If the priority cannot be raised here, the client's cannot be raised, either.
            let _ = sixbench_io::thread::raise_priority();
            while !seen.load(Ordering::Relaxed) && server.rigged < server.most {
                counted.fetch_add(server.turn(&rigged), Ordering::Relaxed);
            }
        };
        Self {
            address,
            is_rigged,
            asked,
            stop,
            thread: Some(std::thread::spawn(serve)),
        }
    }
}

impl Drop for Dns64 {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Server {
    socket: UdpSocket,
    elsewhere: UdpSocket,
    knows: Knows,
    cache: HashSet<Ipv4Addr>,
    rig: Rig,
    most: u64,
    rigged: u64,
    waiting: Vec<(Instant, SocketAddr, Reply)>,
}

impl Server {
    /// Answers one query, if there is one; returns the number answered.
    fn turn(&mut self, is_rigged: &AtomicBool) -> u64 {
        let mut query = [0; 512];
        self.socket
            .set_read_timeout(Some(Duration::from_millis(1)))
            .expect("a timeout");
        let came = self.socket.recv_from(&mut query);
        let Ok((length, from)) = came else {
            self.flush();
            return 0;
        };
        if let Some(right) = self.resolve(&query[..length]) {
            let replies = if is_rigged.load(Ordering::Relaxed) {
                self.rigged(right)
            } else {
                vec![right.into()]
            };
            let now = Instant::now();
            self.waiting.extend(
                replies
                    .into_iter()
                    .map(|reply| (now + reply.after, from, reply)),
            );
        }
        self.flush();
        1
    }

    fn rigged(&mut self, right: Vec<u8>) -> Vec<Reply> {
        self.rigged += 1;
        (self.rig)(self.rigged - 1, right)
    }

    fn flush(&mut self) {
        let now = Instant::now();
        for (_, to, reply) in self.waiting.extract_if(.., |(due, _, _)| *due <= now) {
            let socket = if reply.is_from_elsewhere {
                &self.elsewhere
            } else {
                &self.socket
            };
            // The client's socket may already be closed.
            let _ = socket.send_to(&reply.octets, to);
        }
    }

    fn resolve(&mut self, query: &[u8]) -> Option<Vec<u8>> {
        let address = address_of(query)?;
        let is_asked = match self.knows {
            Knows::All => None,
            Knows::Once(authority) => self.cache.insert(address).then_some(authority),
            Knows::Never(authority) => Some(authority),
        };
        if let Some(authority) = is_asked {
            // First AAAA, for which there is no record, then A, which ends with the address.
            let none = ask(authority, query)?;
            let mut second = query.to_vec();
            let at = second.len() - 3;
            second[at] = 1;
            let answer = ask(authority, &second)?;
            let is_it = none[6..8] == [0, 0] && answer.ends_with(&address.octets());
            assert!(is_it, "the authority says something else of {address}");
        }
        Some(answer(
            query,
            [&PREFIX[..], &address.octets()]
                .concat()
                .try_into()
                .expect("16 octets"),
        ))
    }
}

/// Sends one query to the authority, repeating it if there is no answer.
fn ask(authority: SocketAddr, query: &[u8]) -> Option<Vec<u8>> {
    let any = if authority.is_ipv4() {
        "127.0.0.1:0"
    } else {
        "[::1]:0"
    };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(authority).ok()?;
    socket
        .set_read_timeout(Some(Duration::from_millis(500)))
        .ok()?;
    let mut answer = [0; 512];
    (0..3).find_map(|_| {
        socket.send(query).ok()?;
        let length = socket.recv(&mut answer).ok()?;
        Some(answer[..length].to_vec())
    })
}

/// Returns the address whose name a query is for.
fn address_of(query: &[u8]) -> Option<Ipv4Addr> {
    let label = std::str::from_utf8(query.get(LABEL..LABEL + 15)?).ok()?;
    let octets: Vec<u8> = label
        .split('-')
        .map_while(|octet| octet.parse().ok())
        .collect();
    <[u8; 4]>::try_from(octets).ok().map(Ipv4Addr::from)
}

/// Returns the right answer: the query, and one record with a TTL of a minute.
fn answer(query: &[u8], address: [u8; 16]) -> Vec<u8> {
    let mut answer = query.to_vec();
    answer[2..HEADER].copy_from_slice(&[0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    answer.extend(record(60, address.into()));
    answer
}

/// Returns an AAAA record of the name in the question.
pub(crate) fn record(ttl: u32, address: Ipv6Addr) -> Vec<u8> {
    [
        &[0xc0, HEADER as u8, 0, 28, 0, 1][..],
        &ttl.to_be_bytes(),
        &[0, 16],
        &address.octets(),
    ]
    .concat()
}

/// Returns the offset at which the record of an answer begins.
pub(crate) fn at_record(answer: &[u8]) -> usize {
    answer.len() - RECORD
}

/// Returns an answer with a response code instead of the record.
pub(crate) fn error(mut answer: Vec<u8>, rcode: u8) -> Vec<u8> {
    answer.truncate(at_record(&answer));
    answer[3] |= rcode;
    answer[7] = 0;
    answer
}
