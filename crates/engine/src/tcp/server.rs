//! The server's end: accepts, answers every GET, closes when asked to, and notes where connections come from. Whatever the client did not
//! close by then ends with the trial.

use super::connection::reset;
use super::drive::{End, SERVER, Scene};
use super::http::{Heard, Request, RequestReader};
use super::{TcpEnds, TcpError, place, try_within};
use ipnet::IpNet;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Token};
use sixbench_method::trial::tcp::{ServerCounts, TcpSpec, TcpTrial};
use slab::Slab;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::{HashSet, VecDeque};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};

/// Connections that may wait to be accepted; the kernel allows net.core.somaxconn of them at most.
const BACKLOG: i32 = 65_535;

/// Most connections accepted in one turn.
const BURST: usize = 16;

/// Octets read at once: a request is much shorter.
const PIECE: usize = 4096;

/// Time for which connections may still be closed after the client has finished, in nanoseconds.
const GRACE_NS: u64 = 100_000_000;

/// One accepted connection.
#[derive(Debug)]
struct Visit {
    stream: TcpStream,
    reader: RequestReader,
    /// The request being answered, and octets of the response already written.
    answering: Option<(Request, usize)>,
    deadline_ns: u64,
}

/// A listening socket.
struct Door {
    listener: TcpListener,
    /// True if connections may be waiting to be accepted.
    is_knocked_at: bool,
}

/// The server.
pub(super) struct Server {
    doors: Vec<Door>,
    visits: Slab<Visit>,
    deadlines: VecDeque<(u64, usize)>,
    /// From accepting to giving up; none where connections are kept.
    time_limit_ns: Option<u64>,
    object_octets: u32,
    pool: Vec<IpNet>,
    sources: HashSet<IpAddr>,
    counts: ServerCounts,
    is_open: bool,
    /// The time until which connections may still be closed, once the client is through, in nanoseconds.
    leaves_ns: Option<u64>,
    is_over: bool,
    response: Vec<u8>,
    piece: Box<[u8]>,
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // Connections of an earlier trial are still in TIME-WAIT.
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

impl Server {
    /// Listens on every port, in the server's namespace.
    pub(super) fn open(address: IpAddr, ends: &TcpEnds, spec: &TcpSpec) -> Result<Self, TcpError> {
        let namespace = ends.server_namespace.as_deref();
        let open = |port| {
            let address = SocketAddr::new(address, port);
            let listener = listen(address).map_err(|source| TcpError::Listen { address, place: place(namespace), source })?;
            Ok(Door { listener, is_knocked_at: false })
        };
        let doors = try_within(namespace, || ends.server_ports.clone().map(open).collect::<Result<_, _>>())?;
        let kept = if spec.trial == TcpTrial::Capacity { spec.connections as usize } else { 0 };
        Ok(Self {
            doors,
            visits: Slab::with_capacity(kept),
            deadlines: VecDeque::new(),
            time_limit_ns: (spec.trial == TcpTrial::Rate).then_some(spec.time_limit_ns),
            object_octets: spec.object_octets,
            pool: ends.pool.clone(),
            sources: HashSet::new(),
            counts: ServerCounts::default(),
            is_open: false,
            leaves_ns: None,
            is_over: false,
            response: Vec::new(),
            piece: vec![0; PIECE].into_boxed_slice(),
        })
    }

    /// The counts of the trial. What is still open ends by a RST, as RFC 3511 recommends between trials.
    pub(super) fn finish(mut self) -> ServerCounts {
        self.counts.abandoned += self.visits.len() as u64;
        self.visits.drain().for_each(|visit| reset(visit.stream));
        self.counts.source_addresses = self.sources.len() as u64;
        self.counts
    }

    fn open_doors(&mut self, scene: &Scene<'_>) -> io::Result<()> {
        for (index, door) in self.doors.iter_mut().enumerate() {
            scene.registry.register(&mut door.listener, Token(SERVER | index), Interest::READABLE)?;
        }
        self.is_open = true;
        scene.run.open_server();
        Ok(())
    }

    fn accept(&mut self, scene: &Scene<'_>) -> io::Result<()> {
        for index in 0..self.doors.len() {
            for _ in 0..BURST {
                if !self.doors[index].is_knocked_at {
                    break;
                }
                match self.doors[index].listener.accept() {
                    Ok((stream, from)) => self.welcome(stream, from.ip(), scene)?,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.doors[index].is_knocked_at = false,
                    // It ended before it was accepted.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn welcome(&mut self, mut stream: TcpStream, from: IpAddr, scene: &Scene<'_>) -> io::Result<()> {
        self.note_source(from);
        let entry = self.visits.vacant_entry();
        let slot = entry.key();
        scene.registry.register(&mut stream, Token(SERVER | (self.doors.len() + slot)), Interest::READABLE)?;
        let deadline_ns = self.time_limit_ns.map_or(u64::MAX, |limit_ns| scene.now_ns() + limit_ns);
        entry.insert(Visit { stream, reader: RequestReader::default(), answering: None, deadline_ns });
        if self.time_limit_ns.is_some() {
            self.deadlines.push_back((deadline_ns, slot));
        }
        self.counts.accepted += 1;
        self.counts.most_open = self.counts.most_open.max(self.visits.len() as u64);
        Ok(())
    }

    fn note_source(&mut self, from: IpAddr) {
        self.sources.insert(from);
        if !self.pool.is_empty() && !self.pool.iter().any(|net| net.contains(&from)) {
            self.counts.outside_pool += 1;
            self.counts.outside_example.get_or_insert(from);
        }
    }

    /// Reads until nothing is left.
    fn read(&mut self, slot: usize, scene: &Scene<'_>) {
        while let Some(visit) = self.visits.get_mut(slot) {
            match visit.stream.read(&mut self.piece) {
                Ok(0) => self.leave(slot, |counts| &mut counts.finished),
                Ok(octets) => self.hear(slot, octets, scene),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.leave(slot, |counts| &mut counts.reset),
            }
        }
    }

    fn hear(&mut self, slot: usize, octets: usize, scene: &Scene<'_>) {
        let visit = &mut self.visits[slot];
        match visit.reader.take(&self.piece[..octets]) {
            Heard::Part => {}
            Heard::Whole(request) if visit.answering.is_none() => {
                self.counts.requests += 1;
                visit.answering = Some((request, 0));
                self.answer(slot, scene);
            }
            Heard::Whole(_) | Heard::Malformed => {
                self.counts.malformed += 1;
                reset(self.visits.remove(slot).stream);
            }
        }
    }

    /// Writes as much of the response as the socket takes.
    fn answer(&mut self, slot: usize, scene: &Scene<'_>) {
        let Some(visit) = self.visits.get_mut(slot) else { return };
        let Some((request, written)) = &mut visit.answering else { return };
        request.write_response(self.object_octets, &mut self.response);
        while *written < self.response.len() {
            match visit.stream.write(&self.response[*written..]) {
                Ok(octets) => *written += octets,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let token = Token(SERVER | (self.doors.len() + slot));
                    // Without it the client's time limit tells.
                    let _ = scene.registry.reregister(&mut visit.stream, token, Interest::READABLE | Interest::WRITABLE);
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.leave(slot, |counts| &mut counts.reset),
            }
        }
        self.counts.responses += 1;
        if request.closes {
            // Where it fails the connection is gone, and reading tells.
            let _ = visit.stream.shutdown(Shutdown::Write);
        }
        visit.answering = None;
    }

    /// The end of a connection that the client brought about.
    fn leave(&mut self, slot: usize, count: impl FnOnce(&mut ServerCounts) -> &mut u64) {
        drop(self.visits.remove(slot));
        *count(&mut self.counts) += 1;
    }

    fn expire(&mut self, now_ns: u64) {
        while let Some((deadline_ns, slot)) = self.deadlines.pop_front_if(|(deadline_ns, _)| *deadline_ns <= now_ns) {
            if self.visits.get(slot).is_some_and(|visit| visit.deadline_ns == deadline_ns) {
                reset(self.visits.remove(slot).stream);
                self.counts.abandoned += 1;
            }
        }
    }
}

impl End for Server {
    fn turn(&mut self, scene: &Scene<'_>) -> Result<(), TcpError> {
        if !self.is_open {
            self.open_doors(scene)?;
        }
        self.accept(scene)?;
        let now_ns = scene.now_ns();
        self.expire(now_ns);
        if scene.run.is_client_over() {
            let leaves_ns = *self.leaves_ns.get_or_insert(now_ns + GRACE_NS);
            self.is_over = self.visits.is_empty() || now_ns > leaves_ns;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, scene: &Scene<'_>) {
        let Token(token) = event.token();
        let index = token & !SERVER;
        match index.checked_sub(self.doors.len()) {
            None => self.doors[index].is_knocked_at = true,
            Some(slot) => {
                if event.is_writable() {
                    self.answer(slot, scene);
                }
                self.read(slot, scene);
            }
        }
    }

    fn wake_ns(&self) -> u64 {
        let is_knocked_at = self.doors.iter().any(|door| door.is_knocked_at);
        if is_knocked_at { 0 } else { self.deadlines.front().map_or(u64::MAX, |(deadline_ns, _)| *deadline_ns) }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
