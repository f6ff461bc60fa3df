//! The server's end: it accepts connections, answers every GET, closes when asked to, and notes the sources of connections. Connections that the
//! client has not closed by the end of the trial are ended then.

use super::connection::reset;
use super::drive::{EventHandler, LoopContext, SERVER};
use super::error::{TcpError, try_within};
use super::http::{HttpRequest, ParsedRequest, RequestReader};
use super::settings::TcpEnds;
use crate::driver::place;
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

/// Connections that may wait to be accepted; the kernel limits this to net.core.somaxconn.
const BACKLOG: i32 = 65_535;

/// The most connections accepted in one turn.
const BURST: usize = 16;

/// Octets read at a time; a request is much shorter.
const PIECE: usize = 4096;

/// The time in which connections may still be closed after the client has finished, in nanoseconds.
const GRACE_NS: u64 = 100_000_000;

/// One accepted connection.
#[derive(Debug)]
struct AcceptedConnection {
    stream: TcpStream,
    reader: RequestReader,
    /// The request being answered, and the octets of the response already written.
    answering: Option<(HttpRequest, usize)>,
    deadline_ns: u64,
}

/// A listening socket.
struct ListeningSocket {
    socket: TcpListener,
    /// True if connections may be waiting to be accepted.
    is_accept_ready: bool,
}

/// The server.
pub(super) struct TcpServer {
    listeners: Vec<ListeningSocket>,
    connections: Slab<AcceptedConnection>,
    deadlines: VecDeque<(u64, usize)>,
    /// The time limit from accepting a connection to giving it up; none if connections are kept.
    time_limit_ns: Option<u64>,
    object_octets: u32,
    pool: Vec<IpNet>,
    sources: HashSet<IpAddr>,
    counts: ServerCounts,
    is_open: bool,
    /// The time until which connections may still be closed once the client has finished, in nanoseconds.
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
    // Connections of an earlier trial may still be in TIME-WAIT.
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

impl TcpServer {
    /// Listens on every port, in the server's namespace.
    pub(super) fn open(address: IpAddr, ends: &TcpEnds, spec: &TcpSpec) -> Result<Self, TcpError> {
        let namespace = ends.server_namespace.as_deref();
        let open = |port| {
            let address = SocketAddr::new(address, port);
            let socket = listen(address).map_err(|source| TcpError::Listen { address, place: place(namespace), source })?;
            Ok(ListeningSocket { socket, is_accept_ready: false })
        };
        let listeners = try_within(namespace, || ends.server_ports.clone().map(open).collect::<Result<_, _>>())?;
        let kept = if spec.trial == TcpTrial::Capacity { spec.connections as usize } else { 0 };
        Ok(Self {
            listeners,
            connections: Slab::with_capacity(kept),
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

    /// Returns the counts of the trial. Connections that are still open are ended with a RST, as RFC 3511 recommends between trials.
    pub(super) fn finish(mut self) -> ServerCounts {
        self.counts.abandoned += self.connections.len() as u64;
        self.connections.drain().for_each(|connection| reset(connection.stream));
        self.counts.source_addresses = self.sources.len() as u64;
        self.counts
    }

    fn register_listeners(&mut self, context: &LoopContext<'_>) -> io::Result<()> {
        for (index, listener) in self.listeners.iter_mut().enumerate() {
            context.registry.register(&mut listener.socket, Token(SERVER | index), Interest::READABLE)?;
        }
        self.is_open = true;
        context.run.open_server();
        Ok(())
    }

    fn accept(&mut self, context: &LoopContext<'_>) -> io::Result<()> {
        for index in 0..self.listeners.len() {
            for _ in 0..BURST {
                if !self.listeners[index].is_accept_ready {
                    break;
                }
                match self.listeners[index].socket.accept() {
                    Ok((stream, from)) => self.on_accept(stream, from.ip(), context)?,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.listeners[index].is_accept_ready = false,
                    // The connection ended before it was accepted.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn on_accept(&mut self, mut stream: TcpStream, from: IpAddr, context: &LoopContext<'_>) -> io::Result<()> {
        self.note_source(from);
        let entry = self.connections.vacant_entry();
        let slot = entry.key();
        context.registry.register(&mut stream, Token(SERVER | (self.listeners.len() + slot)), Interest::READABLE)?;
        let deadline_ns = self.time_limit_ns.map_or(u64::MAX, |limit_ns| context.now_ns() + limit_ns);
        entry.insert(AcceptedConnection { stream, reader: RequestReader::default(), answering: None, deadline_ns });
        if self.time_limit_ns.is_some() {
            self.deadlines.push_back((deadline_ns, slot));
        }
        self.counts.accepted += 1;
        self.counts.most_open = self.counts.most_open.max(self.connections.len() as u64);
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
    fn on_readable(&mut self, slot: usize, context: &LoopContext<'_>) {
        while let Some(connection) = self.connections.get_mut(slot) {
            match connection.stream.read(&mut self.piece) {
                Ok(0) => self.close(slot, |counts| &mut counts.finished),
                Ok(octets) => self.on_octets(slot, octets, context),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.close(slot, |counts| &mut counts.reset),
            }
        }
    }

    fn on_octets(&mut self, slot: usize, octets: usize, context: &LoopContext<'_>) {
        let connection = &mut self.connections[slot];
        match connection.reader.take(&self.piece[..octets]) {
            ParsedRequest::Part => {}
            ParsedRequest::Whole(request) if connection.answering.is_none() => {
                self.counts.requests += 1;
                connection.answering = Some((request, 0));
                self.answer(slot, context);
            }
            ParsedRequest::Whole(_) | ParsedRequest::Malformed => {
                self.counts.malformed += 1;
                reset(self.connections.remove(slot).stream);
            }
        }
    }

    /// Writes as much of the response as the socket accepts.
    fn answer(&mut self, slot: usize, context: &LoopContext<'_>) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let Some((request, written)) = &mut connection.answering else { return };
        request.write_response(self.object_octets, &mut self.response);
        while *written < self.response.len() {
            match connection.stream.write(&self.response[*written..]) {
                Ok(octets) => *written += octets,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let token = Token(SERVER | (self.listeners.len() + slot));
                    // If this fails, the client's time limit shows it.
                    let _ = context.registry.reregister(&mut connection.stream, token, Interest::READABLE | Interest::WRITABLE);
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.close(slot, |counts| &mut counts.reset),
            }
        }
        self.counts.responses += 1;
        if request.closes {
            // If this fails, the connection is gone, and reading shows it.
            let _ = connection.stream.shutdown(Shutdown::Write);
        }
        connection.answering = None;
    }

    /// Removes a connection that the client has ended, and counts it.
    fn close(&mut self, slot: usize, count: impl FnOnce(&mut ServerCounts) -> &mut u64) {
        drop(self.connections.remove(slot));
        *count(&mut self.counts) += 1;
    }

    fn expire(&mut self, now_ns: u64) {
        while let Some((deadline_ns, slot)) = self.deadlines.pop_front_if(|(deadline_ns, _)| *deadline_ns <= now_ns) {
            if self.connections.get(slot).is_some_and(|connection| connection.deadline_ns == deadline_ns) {
                reset(self.connections.remove(slot).stream);
                self.counts.abandoned += 1;
            }
        }
    }
}

impl EventHandler for TcpServer {
    fn turn(&mut self, context: &LoopContext<'_>) -> Result<(), TcpError> {
        if !self.is_open {
            self.register_listeners(context)?;
        }
        self.accept(context)?;
        let now_ns = context.now_ns();
        self.expire(now_ns);
        if context.run.is_client_over() {
            let leaves_ns = *self.leaves_ns.get_or_insert(now_ns + GRACE_NS);
            self.is_over = self.connections.is_empty() || now_ns > leaves_ns;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, context: &LoopContext<'_>) {
        let Token(token) = event.token();
        let index = token & !SERVER;
        match index.checked_sub(self.listeners.len()) {
            None => self.listeners[index].is_accept_ready = true,
            Some(slot) => {
                if event.is_writable() {
                    self.answer(slot, context);
                }
                self.on_readable(slot, context);
            }
        }
    }

    fn wake_ns(&self) -> u64 {
        let is_accept_ready = self.listeners.iter().any(|listener| listener.is_accept_ready);
        if is_accept_ready { 0 } else { self.deadlines.front().map_or(u64::MAX, |(deadline_ns, _)| *deadline_ns) }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
