//! The server's end: accepts, answers every GET of the trial, closes when asked to, and notes where connections come from. Whatever the client did not
//! close by then ends with the trial. Connections of others take nothing from the trial's own: see `accepted`.

use super::accepted::{AcceptedConnection, AcceptedSet, ServerBounds};
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
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::HashSet;
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

struct ListeningSocket {
    socket: TcpListener,
    /// True if connections may be waiting to be accepted.
    is_accept_ready: bool,
}

pub(super) struct TcpServer {
    listeners: Vec<ListeningSocket>,
    accepted: AcceptedSet,
    /// From accepting to giving up; none where connections are kept.
    time_limit_ns: Option<u64>,
    object_octets: u32,
    pool: Vec<IpNet>,
    /// Where connections of the trial came from.
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
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    if address.is_ipv6() {
        // Otherwise the socket would also take the port for IPv4.
        socket.set_only_v6(true)?;
    }
    // Connections of an earlier trial may still be in TIME-WAIT.
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

/// Returns whether the system has no descriptor or memory left for another connection.
fn is_exhausted(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
    )
}

impl TcpServer {
    /// Listens on every port, in the server's namespace.
    pub(super) fn open(
        address: IpAddr,
        ends: &TcpEnds,
        spec: &TcpSpec,
        bounds: ServerBounds,
    ) -> Result<Self, TcpError> {
        let namespace = ends.server_namespace.as_deref();
        let listeners = try_within(namespace, || {
            ends.server_ports
                .clone()
                .map(|port| {
                    let address = SocketAddr::new(address, port);
                    let socket = listen(address).map_err(|source| TcpError::Listen {
                        address,
                        place: place(namespace),
                        source,
                    })?;
                    Ok(ListeningSocket {
                        socket,
                        is_accept_ready: false,
                    })
                })
                .collect::<Result<_, _>>()
        })?;
        Ok(Self {
            listeners,
            accepted: AcceptedSet::new(bounds),
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
        self.counts.abandoned += self.accepted.connections.len() as u64;
        self.accepted
            .connections
            .drain()
            .for_each(|connection| reset(connection.stream));
        self.counts.source_addresses = self.sources.len() as u64;
        self.counts
    }

    fn register_listeners(&mut self, context: &LoopContext<'_>) -> io::Result<()> {
        for (index, listener) in self.listeners.iter_mut().enumerate() {
            context.registry.register(
                &mut listener.socket,
                Token(SERVER | index),
                Interest::READABLE,
            )?;
        }
        self.is_open = true;
        context.run.open_server();
        Ok(())
    }

    fn accept(&mut self, context: &LoopContext<'_>) -> io::Result<()> {
        for index in 0..self.listeners.len() {
            for _ in 0..BURST {
                if !self.listeners[index].is_accept_ready
                    || self.accepted.must_wait(context.now_ns())
                {
                    break;
                }
                match self.listeners[index].socket.accept() {
                    Ok((stream, from)) => self.on_accept(stream, from.ip(), context)?,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.listeners[index].is_accept_ready = false;
                    }
                    // The connection ended before it was accepted.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    // Those that wait may be the trial's own: they are accepted at the next turn.
                    Err(error) if is_exhausted(&error) => {
                        self.give_way();
                        return Ok(());
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn on_accept(
        &mut self,
        mut stream: TcpStream,
        from: IpAddr,
        context: &LoopContext<'_>,
    ) -> io::Result<()> {
        self.counts.accepted += 1;
        if self.accepted.is_full() && !self.make_room() {
            self.turn_away(stream);
            return Ok(());
        }
        let (slot, since_ns) = (self.accepted.connections.vacant_key(), context.now_ns());
        context.registry.register(
            &mut stream,
            Token(SERVER | (self.listeners.len() + slot)),
            Interest::READABLE,
        )?;
        self.accepted.insert(AcceptedConnection {
            stream,
            from,
            number: self.counts.accepted,
            reader: RequestReader::default(),
            answering: None,
            is_own: false,
            since_ns,
            deadline_ns: self
                .time_limit_ns
                .map_or(u64::MAX, |limit_ns| since_ns + limit_ns),
        });
        self.counts.most_open = self
            .counts
            .most_open
            .max(self.accepted.connections.len() as u64);
        Ok(())
    }

    /// Leaves descriptors to the client and to the rest of the process, which took more than was known before the trial.
    fn give_way(&mut self) {
        self.accepted.lower_bound();
        while let Some(stranger) = self.accepted.take_surplus() {
            self.turn_away(stranger.stream);
        }
    }

    /// Ends the oldest connection that is not known to be the trial's own, or else the oldest one with a time limit: more of the trial's own than the
    /// client may have open are those that it gave up, and whose end the device lost. Returns whether there was one.
    fn make_room(&mut self) -> bool {
        if let Some(stranger) = self.accepted.take_stranger() {
            self.turn_away(stranger.stream);
            return true;
        }
        self.accepted
            .take_expired(u64::MAX)
            .map(|oldest| self.abandon(oldest))
            .is_some()
    }

    /// Ends a connection that is not the trial's own.
    fn turn_away(&mut self, stream: TcpStream) {
        self.counts.foreign += 1;
        reset(stream);
    }

    fn abandon(&mut self, connection: AcceptedConnection) {
        self.counts.abandoned += 1;
        reset(connection.stream);
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
        while let Some(connection) = self.accepted.connections.get_mut(slot) {
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
        let connection = &mut self.accepted.connections[slot];
        match connection.reader.take(&self.piece[..octets]) {
            ParsedRequest::Part => {}
            ParsedRequest::Whole(request) if connection.answering.is_none() => {
                self.on_request(slot, request, context);
            }
            ParsedRequest::Whole(_) | ParsedRequest::Malformed => {
                self.counts.malformed += 1;
                reset(self.accepted.connections.remove(slot).stream);
            }
        }
    }

    /// Begins the response, if the connection is the trial's own.
    fn on_request(&mut self, slot: usize, request: HttpRequest, context: &LoopContext<'_>) {
        if !self.accepted.connections[slot].is_own {
            if !self.accepted.claim(slot, request) {
                let stranger = self.accepted.connections.remove(slot);
                return self.turn_away(stranger.stream);
            }
            self.note_source(self.accepted.connections[slot].from);
        }
        self.counts.requests += 1;
        self.accepted.connections[slot].answering = Some((request, 0));
        self.answer(slot, context);
    }

    /// Writes as much of the response as the socket takes.
    fn answer(&mut self, slot: usize, context: &LoopContext<'_>) {
        let Some(connection) = self.accepted.connections.get_mut(slot) else {
            return;
        };
        let Some((request, written)) = &mut connection.answering else {
            return;
        };
        request.write_response(self.object_octets, &mut self.response);
        while *written < self.response.len() {
            match connection.stream.write(&self.response[*written..]) {
                Ok(octets) => *written += octets,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let token = Token(SERVER | (self.listeners.len() + slot));
                    // If this fails, the client's time limit shows it.
                    let _ = context.registry.reregister(
                        &mut connection.stream,
                        token,
                        Interest::READABLE | Interest::WRITABLE,
                    );
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
        drop(self.accepted.connections.remove(slot));
        *count(&mut self.counts) += 1;
    }

    fn expire(&mut self, now_ns: u64) {
        while let Some(expired) = self.accepted.take_expired(now_ns) {
            self.abandon(expired);
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
            self.is_over = self.accepted.connections.is_empty() || now_ns > leaves_ns;
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
        let is_accept_ready = self
            .listeners
            .iter()
            .any(|listener| listener.is_accept_ready);
        if is_accept_ready {
            0
        } else {
            self.accepted.next_deadline_ns()
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
