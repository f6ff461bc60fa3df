//! The client's connections: follows each to its end or its time limit, and counts. It opens none and knows no schedule.

use super::addresses::AddressPairs;
use super::connection::{ConnectionStep, Failure, TcpConnection};
use super::http::{HttpRequest, ResponseProgress, ResponseReader};
use super::request_key::RequestKey;
use super::tally::{ClientPhase, Loss, TcpTally};
use sixbench_method::trial::tcp::{Close, TcpSpec, TcpTrial};
use slab::Slab;
use std::collections::VecDeque;
use std::io;
use std::net::Shutdown;

/// Octets read at a time.
const PIECE: usize = 1 << 16;

/// The client's task in a trial.
pub(super) struct ClientTask {
    pub spec: TcpSpec,
    pub addresses: AddressPairs,
    /// The address pair of the first connection.
    pub first_pair: u64,
    pub stall_ns: u64,
    /// The trial's number, by which the requests of two trials differ.
    pub trial: u64,
}

/// The connections of a trial.
pub(super) struct ConnectionSet {
    pub task: ClientTask,
    pub phase: ClientPhase,
    pub connections: Slab<TcpConnection>,
    /// The times at which the connections' time limits are over, in order, as the limit is the same for all. An entry whose connection has
    /// another deadline by then is obsolete.
    deadlines: VecDeque<(u64, usize)>,
    /// The number of connections that wait for something, and so have a deadline other than 0.
    pending: usize,
    pub tally: TcpTally,
    request: Vec<u8>,
    piece: Box<[u8]>,
}

impl ConnectionSet {
    /// Creates an empty set. `nominal_ns` is the time from the first attempt to the last in the schedule.
    pub(super) fn new(task: ClientTask, nominal_ns: u64) -> Self {
        let kept = if task.spec.trial == TcpTrial::Capacity {
            task.spec.connections as usize
        } else {
            0
        };
        Self {
            tally: TcpTally::new(task.spec.connections, nominal_ns, task.stall_ns),
            phase: ClientPhase::Waiting,
            connections: Slab::with_capacity(kept),
            deadlines: VecDeque::new(),
            pending: 0,
            request: Vec::new(),
            piece: vec![0; PIECE].into_boxed_slice(),
            task,
        }
    }

    /// Returns whether no connection is waiting for anything.
    pub(super) fn are_settled(&self) -> bool {
        self.pending == 0
    }

    /// Returns the time at which the next time limit is over, in nanoseconds.
    pub(super) fn next_deadline_ns(&self) -> Option<u64> {
        self.deadlines.front().map(|(deadline_ns, _)| *deadline_ns)
    }

    /// Sends a request on a connection; returns whether it was sent.
    pub(super) fn ask(&mut self, slot: usize, closes: bool) -> bool {
        let connection = &mut self.connections[slot];
        let key = RequestKey {
            trial: self.task.trial,
            connection: connection.number,
            phase: self.phase as u64,
        }
        .number();
        let (_, peer) = self
            .task
            .addresses
            .pair(self.task.first_pair + connection.number);
        HttpRequest { key, closes }.write(peer, &mut self.request);
        match connection.send(&self.request) {
            Ok(()) => {
                connection.step =
                    ConnectionStep::Waiting(ResponseReader::new(key, self.task.spec.object_octets));
                return true;
            }
            // The socket is not connected yet; an event will report that.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected
                ) => {}
            Err(error) => self.lose(slot, Loss::Failed(Failure::from_error(&error))),
        }
        false
    }

    /// Handles a connection whose socket has become writable: it is established, or will never be.
    pub(super) fn establish(&mut self, slot: usize, now_ns: u64) {
        let started_ns = self.connections[slot].started_ns;
        let reset_before = self.tally.connections.reset;
        let closes =
            self.task.spec.trial == TcpTrial::Rate && self.task.spec.close == Close::ServerFirst;
        let is_out = self.ask(slot, closes);
        // A RST that is not a refusal can only follow a SYN/ACK, so the connection was established although the request could not be sent.
        if is_out || self.tally.connections.reset > reset_before {
            self.tally.connections.established += 1;
            self.tally.connect.take(now_ns - started_ns);
        }
    }

    /// Reads until nothing is left, because the next event only comes with new data.
    pub(super) fn read(&mut self, slot: usize, now_ns: u64) {
        while let Some(connection) = self.connections.get_mut(slot) {
            match connection.read(&mut self.piece) {
                Ok(None) => return,
                Ok(Some(0)) => self.end(slot),
                Ok(Some(octets)) => self.take(slot, octets, now_ns),
                Err(error) => self.lose(slot, Loss::Failed(Failure::from_error(&error))),
            }
        }
    }

    fn take(&mut self, slot: usize, octets: usize, now_ns: u64) {
        let seen = match &mut self.connections[slot].step {
            ConnectionStep::Waiting(reader) => reader.take(&self.piece[..octets]),
            _ => ResponseProgress::Wrong("octets that were not requested"),
        };
        match seen {
            ResponseProgress::Part => {}
            ResponseProgress::Right => self.answered(slot, now_ns),
            ResponseProgress::Wrong(why) => self.lose(slot, Loss::Wrong(why)),
        }
    }

    /// Handles a complete and right response.
    fn answered(&mut self, slot: usize, now_ns: u64) {
        match self.phase {
            ClientPhase::Opening => {
                self.tally.connections.completed += 1;
                self.tally
                    .complete
                    .take(now_ns - self.connections[slot].started_ns);
            }
            ClientPhase::Checking => self.tally.check.alive += 1,
            _ => {}
        }
        let is_kept =
            self.task.spec.trial == TcpTrial::Capacity && self.phase != ClientPhase::Closing;
        if is_kept {
            self.keep(slot);
        } else {
            self.close(slot);
        }
    }

    fn keep(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        connection.step = ConnectionStep::Open;
        connection.deadline_ns = 0;
        self.pending -= 1;
    }

    /// Closes the connection, or lets the server do so.
    pub(super) fn close(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        connection.step = ConnectionStep::Closing;
        match self.task.spec.close {
            Close::ServerFirst => {}
            // If this fails, reading shows the end.
            Close::ClientFirst => drop(connection.stream.shutdown(Shutdown::Write)),
            Close::Reset => self.remove(slot).reset(),
        }
    }

    /// Handles the other end's FIN.
    fn end(&mut self, slot: usize) {
        if matches!(self.connections[slot].step, ConnectionStep::Closing) {
            drop(self.remove(slot));
        } else {
            self.lose(slot, Loss::Ended);
        }
    }

    fn lose(&mut self, slot: usize, loss: Loss) {
        let connection = self.remove(slot);
        self.tally.lose(self.phase, &connection.step, loss);
        let step = match connection.step {
            ConnectionStep::Connecting => "connecting",
            ConnectionStep::Waiting(_) => "waiting for a response",
            ConnectionStep::Open => "kept open",
            ConnectionStep::Closing => "closing",
        };
        self.note(connection.number, || format!("{loss:?} while {step}"));
        connection.reset();
    }

    pub(super) fn note(&mut self, number: u64, what: impl FnOnce() -> String) {
        let (own, peer) = self.task.addresses.pair(self.task.first_pair + number);
        self.tally
            .note(|| format!("connection {number} from {own} to {peer}: {}", what()));
    }

    fn remove(&mut self, slot: usize) -> TcpConnection {
        let connection = self.connections.remove(slot);
        self.pending -= usize::from(connection.deadline_ns != 0);
        connection
    }

    /// Sets the deadline of a connection that has none: one that begins, or a kept one that is asked again or closed.
    pub(super) fn set_deadline(&mut self, slot: usize, now_ns: u64) {
        debug_assert_eq!(self.connections[slot].deadline_ns, 0);
        let deadline_ns = now_ns + self.task.spec.time_limit_ns;
        self.connections[slot].deadline_ns = deadline_ns;
        self.deadlines.push_back((deadline_ns, slot));
        self.pending += 1;
    }

    pub(super) fn expire(&mut self, now_ns: u64) {
        while let Some((deadline_ns, slot)) = self
            .deadlines
            // All deadlines are equally far ahead, so they are in order.
            .pop_front_if(|(deadline_ns, _)| *deadline_ns <= now_ns)
        {
            if self
                .connections
                .get(slot)
                // An entry of a connection that has ended, or was kept and has a later deadline now, is obsolete.
                .is_some_and(|connection| connection.deadline_ns == deadline_ns)
            {
                self.lose(slot, Loss::Late);
            }
        }
    }
}
