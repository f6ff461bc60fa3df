//! The client's schedule: makes connections when they are due, whatever became of those before. What one attempt costs does not depend on
//! how many are open. The state of each connection is kept in `lives`.

use super::TcpError;
use super::connection::{Connection, Failure, Step, connect, socket};
use super::drive::{End, Scene};
use super::lives::{Lives, Plan};
use super::tally::Phase;
use crate::pacer::Pacer;
use mio::event::Event;
use mio::{Interest, Token};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::TrialSpec;
use sixbench_method::trial::tcp::{Close, KernelCounts, ServerCounts, TcpResult, TcpTrial};
use std::io;

/// Most connections made before the sockets are looked at again.
const BURST: usize = 8;

/// Time between choosing the first moment of a phase and that moment.
const HEAD_START_NS: u64 = 1_000_000;

/// The client.
pub(super) struct Client {
    pacer: Pacer,
    /// Checking and closing: whose turn it is when.
    turns: Vec<usize>,
    lives: Lives,
}

/// A schedule of `count` events at `rate` per second.
fn pacer(rate: u64, count: u64) -> Pacer {
    Pacer::new(&TrialSpec::burst(FrameRate(rate), count).schedule())
}

impl Client {
    pub(super) fn new(plan: Plan) -> Self {
        let pacer = pacer(plan.spec.rate, plan.spec.connections);
        let lives = Lives::new(plan, pacer.nominal_ns());
        Self { pacer, turns: Vec::new(), lives }
    }

    /// The counts of the trial.
    pub(super) fn finish(self, server: Option<ServerCounts>, kernel: KernelCounts) -> TcpResult {
        self.lives.tally.finish(self.lives.plan.spec, server, kernel)
    }

    pub(super) fn note_gap(&mut self, worst_gap_ns: u64) {
        self.lives.tally.pace.worst_gap_ns = worst_gap_ns;
    }

    fn offer(&mut self, scene: &Scene<'_>) {
        for _ in 0..self.pacer.due(scene.now_ns(), BURST) {
            let turn = self.pacer.sent();
            match self.lives.phase {
                Phase::Opening => self.open(turn, scene),
                Phase::Checking => self.check(self.turns[turn as usize], scene),
                _ => self.close_kept(self.turns[turn as usize], scene),
            }
            self.pacer.advance(1);
        }
    }

    /// Makes a connection. Where the tester's own side denies it, it is one that was not attempted.
    fn open(&mut self, number: u64, scene: &Scene<'_>) {
        match self.try_open(number, scene) {
            Ok(()) => {}
            Err(error) if Failure::of(&error) == Failure::Refused => {
                self.lives.tally.attempt(self.pacer.due_time(number), scene.now_ns());
                self.lives.tally.connections.refused += 1;
            }
            Err(error) => self.lives.note(number, || format!("not attempted: {error}")),
        }
    }

    fn try_open(&mut self, number: u64, scene: &Scene<'_>) -> io::Result<()> {
        let (own, peer) = self.lives.plan.addresses.pair(self.lives.plan.first_pair + number);
        let socket = socket(own)?;
        let started_ns = scene.now_ns();
        let mut stream = connect(socket, peer)?;
        let entry = self.lives.connections.vacant_entry();
        let slot = entry.key();
        scene.registry.register(&mut stream, Token(slot), Interest::READABLE | Interest::WRITABLE)?;
        entry.insert(Connection { stream, number, started_ns, deadline_ns: 0, step: Step::Connecting });
        self.lives.tally.attempt(self.pacer.due_time(number), started_ns);
        self.lives.set_deadline(slot, started_ns);
        Ok(())
    }

    /// The second GET of a connection, if it is still there.
    fn check(&mut self, slot: usize, scene: &Scene<'_>) {
        if self.lives.connections.contains(slot) {
            self.lives.tally.check.requested += 1;
            self.lives.set_deadline(slot, scene.now_ns());
            self.lives.ask(slot, false);
        }
    }

    /// The close of a kept connection. The server closes first when it is asked to, by a third GET.
    fn close_kept(&mut self, slot: usize, scene: &Scene<'_>) {
        if self.lives.connections.contains(slot) {
            self.lives.set_deadline(slot, scene.now_ns());
            match self.lives.plan.spec.close {
                Close::ServerFirst => drop(self.lives.ask(slot, true)),
                Close::ClientFirst | Close::Reset => self.lives.close(slot),
            }
        }
    }

    /// Begins the next phase when everything of this one is settled.
    fn move_on(&mut self, now_ns: u64) {
        if !self.pacer.is_done() || !self.lives.are_settled() {
            return;
        }
        self.lives.phase = match self.lives.phase {
            Phase::Opening if self.lives.plan.spec.trial == TcpTrial::Capacity => Phase::Checking,
            Phase::Checking => Phase::Closing,
            _ => Phase::Over,
        };
        self.turns = self.lives.connections.iter().map(|(slot, _)| slot).collect();
        self.turns.sort_unstable_by_key(|&slot| self.lives.connections[slot].number);
        self.pacer = pacer(self.lives.plan.spec.rate, self.turns.len() as u64);
        self.pacer.begin(now_ns + HEAD_START_NS);
    }
}

impl End for Client {
    fn turn(&mut self, scene: &Scene<'_>) -> Result<(), TcpError> {
        let now_ns = scene.now_ns();
        if self.lives.phase == Phase::Waiting {
            if scene.run.is_server_ready() {
                self.lives.phase = Phase::Opening;
                self.pacer.begin(now_ns + HEAD_START_NS);
            }
            return Ok(());
        }
        self.offer(scene);
        self.lives.expire(now_ns);
        self.move_on(now_ns);
        if self.lives.phase == Phase::Over {
            scene.run.end_client();
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, scene: &Scene<'_>) {
        let (Token(slot), now_ns) = (event.token(), scene.now_ns());
        let Some(connection) = self.lives.connections.get(slot) else { return };
        if matches!(connection.step, Step::Connecting) {
            self.lives.establish(slot, now_ns);
        }
        if event.is_readable() {
            self.lives.read(slot, now_ns);
        }
    }

    fn wake_ns(&self) -> u64 {
        let next = if self.lives.phase == Phase::Waiting || self.pacer.is_done() {
            u64::MAX
        } else {
            self.pacer.due_time(self.pacer.sent())
        };
        next.min(self.lives.next_deadline_ns().unwrap_or(u64::MAX))
    }

    fn is_pacing(&self) -> bool {
        true
    }

    fn is_over(&self) -> bool {
        self.lives.phase == Phase::Over
    }
}
