//! The client's schedule: it opens connections when they are due, regardless of the earlier ones. The cost of an attempt does not depend on the
//! number of open connections. The state of each connection is in `set`.

use super::connection::{ConnectionStep, Failure, TcpConnection, connect, socket};
use super::connection_set::{ClientTask, ConnectionSet};
use super::drive::{EventHandler, LoopContext};
use super::error::TcpError;
use super::tally::ClientPhase;
use crate::driver::HEAD_START_NS;
use crate::pacing::pacer::Pacer;
use mio::event::Event;
use mio::{Interest, Token};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::Schedule;
use sixbench_method::trial::tcp::{Close, KernelCounts, ServerCounts, TcpResult, TcpTrial};
use std::io;

/// The most connections opened before the sockets are polled again.
const BURST: usize = 8;

pub(super) struct TcpClient {
    pacer: Pacer,
    /// The order in which connections are checked and closed.
    turns: Vec<usize>,
    set: ConnectionSet,
}

impl TcpClient {
    pub(super) fn new(task: ClientTask) -> Self {
        let pacer = Pacer::new(&Schedule::constant(
            FrameRate(task.spec.rate),
            task.spec.connections,
        ));
        let set = ConnectionSet::new(task, pacer.nominal_ns());
        Self {
            pacer,
            turns: Vec::new(),
            set,
        }
    }

    /// Returns the counts of the trial.
    pub(super) fn finish(self, server: Option<ServerCounts>, kernel: KernelCounts) -> TcpResult {
        self.set.tally.finish(self.set.task.spec, server, kernel)
    }

    pub(super) fn note_gap(&mut self, worst_gap_ns: u64) {
        self.set.tally.pace.worst_gap_ns = worst_gap_ns;
    }

    fn offer(&mut self, context: &LoopContext<'_>) {
        for _ in 0..self.pacer.due(context.now_ns(), BURST) {
            let turn = self.pacer.sent();
            match self.set.phase {
                ClientPhase::Opening => self.open(turn, context),
                ClientPhase::Checking => self.check(self.turns[turn as usize], context),
                _ => self.close_kept(self.turns[turn as usize], context),
            }
            self.pacer.advance(1);
        }
    }

    /// Opens a connection. If the tester's own side refuses it, it counts as not attempted.
    fn open(&mut self, number: u64, context: &LoopContext<'_>) {
        match self.try_open(number, context) {
            Ok(()) => {}
            Err(error) if Failure::from_error(&error) == Failure::Refused => {
                self.set
                    .tally
                    .attempt(self.pacer.due_time(number), context.now_ns());
                self.set.tally.connections.refused += 1;
            }
            Err(error) => self.set.note(number, || format!("not attempted: {error}")),
        }
    }

    fn try_open(&mut self, number: u64, context: &LoopContext<'_>) -> io::Result<()> {
        let (own, peer) = self
            .set
            .task
            .addresses
            .pair(self.set.task.first_pair + number);
        let socket = socket(own)?;
        let started_ns = context.now_ns();
        let mut stream = connect(socket, peer)?;
        let entry = self.set.connections.vacant_entry();
        let slot = entry.key();
        context.registry.register(
            &mut stream,
            Token(slot),
            Interest::READABLE | Interest::WRITABLE,
        )?;
        entry.insert(TcpConnection {
            stream,
            number,
            started_ns,
            deadline_ns: 0,
            step: ConnectionStep::Connecting,
        });
        self.set
            .tally
            .attempt(self.pacer.due_time(number), started_ns);
        self.set.set_deadline(slot, started_ns);
        Ok(())
    }

    /// Sends the second GET on a connection, if it is still there.
    fn check(&mut self, slot: usize, context: &LoopContext<'_>) {
        if self.set.connections.contains(slot) {
            self.set.tally.check.requested += 1;
            self.set.set_deadline(slot, context.now_ns());
            self.set.ask(slot, false);
        }
    }

    /// Closes a kept connection. If the server is to close first, a third GET asks it to.
    fn close_kept(&mut self, slot: usize, context: &LoopContext<'_>) {
        if self.set.connections.contains(slot) {
            self.set.set_deadline(slot, context.now_ns());
            match self.set.task.spec.close {
                Close::ServerFirst => drop(self.set.ask(slot, true)),
                Close::ClientFirst | Close::Reset => self.set.close(slot),
            }
        }
    }

    /// Begins the next phase when everything in this one is settled.
    fn move_on(&mut self, now_ns: u64) {
        if !self.pacer.is_done() || !self.set.are_settled() {
            return;
        }
        self.set.phase = match self.set.phase {
            ClientPhase::Opening if self.set.task.spec.trial == TcpTrial::Capacity => {
                ClientPhase::Checking
            }
            ClientPhase::Checking => ClientPhase::Closing,
            _ => ClientPhase::Over,
        };
        self.turns = self.set.connections.iter().map(|(slot, _)| slot).collect();
        self.turns
            .sort_unstable_by_key(|&slot| self.set.connections[slot].number);
        self.pacer = Pacer::new(&Schedule::constant(
            FrameRate(self.set.task.spec.rate),
            self.turns.len() as u64,
        ));
        self.pacer.begin(now_ns + HEAD_START_NS);
    }
}

impl EventHandler for TcpClient {
    fn turn(&mut self, context: &LoopContext<'_>) -> Result<(), TcpError> {
        let now_ns = context.now_ns();
        if self.set.phase == ClientPhase::Waiting {
            if context.run.is_server_ready() {
                self.set.phase = ClientPhase::Opening;
                self.pacer.begin(now_ns + HEAD_START_NS);
            }
            return Ok(());
        }
        self.offer(context);
        self.set.expire(now_ns);
        self.move_on(now_ns);
        if self.set.phase == ClientPhase::Over {
            context.run.end_client();
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, context: &LoopContext<'_>) {
        let (Token(slot), now_ns) = (event.token(), context.now_ns());
        let Some(connection) = self.set.connections.get(slot) else {
            return;
        };
        if matches!(connection.step, ConnectionStep::Connecting) {
            self.set.establish(slot, now_ns);
        }
        if event.is_readable() {
            self.set.read(slot, now_ns);
        }
    }

    fn wake_ns(&self) -> u64 {
        let next = if self.set.phase == ClientPhase::Waiting || self.pacer.is_done() {
            u64::MAX
        } else {
            self.pacer.next_due_time()
        };
        next.min(self.set.next_deadline_ns().unwrap_or(u64::MAX))
    }

    fn is_pacing(&self) -> bool {
        true
    }

    fn is_over(&self) -> bool {
        self.set.phase == ClientPhase::Over
    }
}
