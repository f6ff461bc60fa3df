//! The frame tester: two ports, a profile, and a trial whenever one is asked for.

use crate::delay::Delays;
use crate::driver::{self, Layout};
use crate::fault;
use crate::memory::{self, OutOfMemory};
use crate::neighbour::{self, NeighbourAnswerer};
use crate::profile::TrafficProfile;
use crate::reach::reach;
use crate::receiver::Receiver;
use crate::responder::Responder;
use crate::sender::Sender;
use crate::stateful::Conversation;
use crate::stream::{Stream, StreamSource};
use crate::tally::ExpectedFrames;
use crate::trial::{FrameRun, Task, Waiting};
use crate::verify::Verifier;
use sixbench_io::clock::Clock;
use sixbench_io::{Halves, Port, PortError, Receive, Transmit};
use sixbench_method::isolation::Admitted;
use sixbench_method::terms::{Direction, Directions};
use sixbench_method::trial::{DirectionResult, Measurer, Schedule, TrialKind, TrialResult, TrialSettings, TrialSpec};
use sixbench_wire::{MacAddress, WireError};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The reason why no trial could be performed.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The ranges of ports and addresses do not fit the connections asked for.
    #[error(
        "{connections} connections need as many combinations of ports and addresses, and no more than 2^63; \
         the test's ranges have {combinations}: widen `ports`, `left-addresses` or `right-addresses`, or lower `connections`"
    )]
    Combinations {
        /// N, the number of connections.
        connections: u64,
        /// Number of combinations that the ranges have.
        combinations: u128,
    },
    /// The DUT's connections could not be counted.
    #[error("cannot count the device's connections: {0}")]
    Counter(String),
    /// A trial that opens connections through a device that is not said to be stateful.
    #[error("the trial opens connections, but the device's recipe has no [state]")]
    Stateless,
    /// The Responder saw nothing in phase 1.
    #[error(
        "the Responder saw none of the {connections} frames of phase 1; does the device translate and forward from the \
         Initiator's side to the other, does it have routes to both, and is it set up for the addresses of [foreground] in its \
         recipe?"
    )]
    NothingArrived {
        /// Frames sent.
        connections: u64,
    },
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The frames of the profile cannot be built.
    #[error("cannot build the test frames: {0}")]
    Frame(#[from] WireError),
    /// The DUT does not answer.
    #[error("{port}: no answer from {address} after {tries} requests; is the DUT up, and is that its address on this link?")]
    Silent {
        /// The tester's port.
        port: String,
        /// The DUT's address asked for.
        address: IpAddr,
        /// Number of times it was asked.
        tries: u32,
    },
    /// Requests through a stateful gateway: no frame of phase 2 opens a connection, so none has a reply of its own.
    #[error(
        "the trial consists of requests and replies, but connections are opened before it; replies are only for devices without [state]"
    )]
    StatefulResponse,
    /// The trial's tables do not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system denied something else.
    #[error("cannot run the tester: {0}")]
    System(#[from] io::Error),
}

/// Batches thrown away before a trial at most: more than a receive ring holds.
const MOST_DRAINED: usize = 1024;

/// One port with its halves.
struct TesterPort {
    name: String,
    mac: MacAddress,
    halves: Halves,
}

impl TesterPort {
    fn new(port: Port) -> Self {
        Self { name: port.name.clone(), mac: MacAddress(port.mac), halves: port.into_single_queue() }
    }

    /// Throws away what arrived before the trial, and forgets what did not fit.
    fn drain(&mut self) -> Result<(), PortError> {
        // A device that never stops sending does not keep the trial from starting.
        for _ in 0..MOST_DRAINED {
            if self.halves.receive.receive(&mut |_| ())? == 0 {
                break;
            }
        }
        self.halves.receive.overruns().map(drop)
    }
}

/// The frame engine as a [`Measurer`].
pub struct FrameTester {
    left: TesterPort,
    right: TesterPort,
    pub(crate) profile: TrafficProfile,
    settings: TrialSettings,
    layout: Layout,
    pub(crate) clock: Clock,
    pub(crate) stop: Arc<AtomicBool>,
    trial: u8,
    /// Asks the DUT how many connections it has.
    pub(crate) counter: Option<ConnectionCounter>,
    /// True if a frame that opens a connection ever came through.
    pub(crate) has_delivered: bool,
}

/// Asks the DUT how many connections it has; `None` where it does not say, an error in words where it should and could not be asked.
pub type ConnectionCounter = Box<dyn FnMut() -> Result<Option<u64>, String> + Send>;

impl FrameTester {
    /// A tester between two open ports. `stop` ends a trial early.
    pub fn new(
        ports: (Port, Port),
        profile: Admitted<TrafficProfile>,
        settings: TrialSettings,
        layout: Layout,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let (left, right) = (TesterPort::new(ports.0), TesterPort::new(ports.1));
        Self {
            left,
            right,
            profile: profile.into_inner(),
            settings,
            layout,
            clock: Clock::new(),
            stop,
            trial: 0,
            counter: None,
            has_delivered: false,
        }
    }

    /// Measures other traffic from now on, over the same ports.
    pub fn set_profile(&mut self, profile: Admitted<TrafficProfile>, settings: TrialSettings) {
        self.profile = profile.into_inner();
        self.settings = settings;
    }

    /// Asks `counter` between the phases of a stateful trial, and at its end, how many connections the DUT has.
    pub fn set_counter(&mut self, counter: Option<ConnectionCounter>) {
        self.counter = counter;
    }

    /// Runs what takes time between the phases where the tester runs, not on the DUT's core.
    pub(crate) fn on_own_core<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let core = self.layout.cores.first().copied();
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                driver::pin(core);
                work()
            });
            driver::joined(worker.join())
        })
    }

    /// A trial with everything the profile loads.
    pub(crate) fn whole<'a>(&self, spec: &'a TrialSpec, conversation: Option<&'a Conversation>) -> TrialPhase<'a> {
        let TrialSettings { residual_ns, frame_timeout_ns, .. } = self.settings;
        // Requests go one way and replies the other, whatever else the profile loads.
        let loaded = if spec.kind == TrialKind::Response { Directions::Both } else { self.profile.directions };
        TrialPhase { spec, loaded: loaded.each(), residual_ns, frame_timeout_ns, conversation }
    }

    /// Asks both sides of the DUT for their hardware addresses, which also tells it ours (learning frames of RFC 2544 section 23).
    pub fn resolve(&mut self) -> Result<(MacAddress, MacAddress), MeasureError> {
        let left = self.resolve_end(Direction::Forward)?;
        let right = self.resolve_end(Direction::Reverse)?;
        Ok((left, right))
    }

    /// The DUT's hardware address on the link from which `direction` is sent.
    fn resolve_end(&mut self, direction: Direction) -> Result<MacAddress, MeasureError> {
        let (end, neighbours) = match direction {
            Direction::Forward => (&mut self.left, &self.profile.left),
            Direction::Reverse => (&mut self.right, &self.profile.right),
        };
        let silent = |address| MeasureError::Silent { port: end.name.clone(), address, tries: neighbour::TRIES };
        match neighbour::resolve(&mut *end.halves.receive, end.mac, neighbours, &self.clock, &self.stop)? {
            neighbour::NeighbourResolution::All(mac) => Ok(mac),
            neighbour::NeighbourResolution::Interrupted => Err(MeasureError::Interrupted),
            neighbour::NeighbourResolution::Silent(address) => {
                end.halves.transmit.check_link()?;
                Err(silent(address))
            }
        }
    }

    /// Sends and receives: the trial itself, or a phase of it.
    pub(crate) fn exchange(&mut self, phase: &TrialPhase<'_>) -> Result<TrialResult, MeasureError> {
        self.trial = (self.trial + 1) % 64;
        let peers = self.resolve()?;
        self.left.drain()?;
        self.right.drain()?;
        let run = FrameRun::new(&self.clock, &self.stop, phase.spec, phase.residual_ns, phase.loaded.len());
        let context = TrialContext {
            phase,
            profile: &self.profile,
            settings: &self.settings,
            macs: [(self.left.mac, peers.0), (self.right.mac, peers.1)],
            trial: self.trial,
        };
        let tasks = context.tasks(&mut self.left.halves, &mut self.right.halves)?;
        let result = context.collect(run.perform(tasks, &self.layout)?)?;
        self.check_links(phase.spec)?;
        Ok(result)
    }

    /// A link that is down at the end of a trial is no loss by the device: frames were lost before they reached it. Only a reset may take
    /// a link down, and not bring it back.
    fn check_links(&self, spec: &TrialSpec) -> Result<(), MeasureError> {
        if !matches!(spec.kind, TrialKind::Reset { .. }) {
            self.left.halves.transmit.check_link()?;
            self.right.halves.transmit.check_link()?;
        }
        Ok(())
    }
}

/// The part of a trial that is sent at a time: a whole stateless trial, or a phase of a stateful one.
pub(crate) struct TrialPhase<'a> {
    pub(crate) spec: &'a TrialSpec,
    /// The directions in which frames are sent.
    pub(crate) loaded: &'a [Direction],
    /// The longest wait for residual frames, nanoseconds.
    pub(crate) residual_ns: u64,
    /// A frame later than this is not received; 0: no limit.
    pub(crate) frame_timeout_ns: u64,
    /// Connections the foreground frames are of.
    pub(crate) conversation: Option<&'a Conversation>,
}

impl Measurer for FrameTester {
    type Error = MeasureError;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, MeasureError> {
        memory::ensure(spec, &self.profile)?;
        match spec.opens() {
            Some(_) if spec.kind == TrialKind::Response => Err(MeasureError::StatefulResponse),
            Some(phase_one) => self.converse(spec, phase_one),
            None => self.exchange(&self.whole(spec, None)),
        }
    }
}

/// Everything a trial's tasks are made from.
struct TrialContext<'a> {
    phase: &'a TrialPhase<'a>,
    profile: &'a TrafficProfile,
    settings: &'a TrialSettings,
    /// Own and peer's hardware address: left, right.
    macs: [(MacAddress, MacAddress); 2],
    trial: u8,
}

impl TrialContext<'_> {
    fn is_loaded(&self, direction: Direction) -> bool {
        self.phase.loaded.contains(&direction)
    }

    /// Returns whether reverse frames are replies to forward ones.
    fn is_exchange(&self) -> bool {
        self.phase.spec.kind == TrialKind::Response
    }

    /// The tasks of an exchange. The responder receives and sends on one thread, so that no reply waits for another one to take it up.
    fn exchange<'p>(&self, left: &'p mut Halves, right: &'p mut Halves) -> Result<Vec<Task<'p>>, MeasureError> {
        use Direction::{Forward, Reverse};
        let (receiver, replies) = (self.receiver(&mut *right.receive, Forward)?, self.sent(Reverse)?);
        let frames = reach(&self.phase.spec.schedule());
        let responder = Responder::new(receiver, &mut *right.transmit, replies, frames, self.settings.stall_ns);
        Ok(vec![
            Task::Send(Forward, Box::new(self.sender(&mut *left.transmit, Forward)?)),
            Task::Respond(Box::new(responder), Waiting::Due),
            Task::Receive(Reverse, Box::new(self.receiver(&mut *left.receive, Reverse)?), Waiting::Due),
        ])
    }

    /// The trial's tasks: senders before receivers.
    fn tasks<'p>(&self, left: &'p mut Halves, right: &'p mut Halves) -> Result<Vec<Task<'p>>, MeasureError> {
        use Direction::{Forward, Reverse};
        if self.is_exchange() {
            return self.exchange(left, right);
        }
        let mut tasks = Vec::with_capacity(4);
        for (direction, port) in [(Forward, &mut left.transmit), (Reverse, &mut right.transmit)] {
            if self.is_loaded(direction) {
                tasks.push(Task::Send(direction, Box::new(self.sender(&mut **port, direction)?)));
            }
        }
        for (direction, port) in [(Forward, &mut right.receive), (Reverse, &mut left.receive)] {
            let receiver = Box::new(self.receiver(&mut **port, direction)?);
            let waiting = if self.is_loaded(direction) { Waiting::Due } else { Waiting::Idle };
            tasks.push(Task::Receive(direction, receiver, waiting));
        }
        Ok(tasks)
    }

    fn source(&self, direction: Direction) -> StreamSource<'_> {
        let TrialPhase { spec, conversation, .. } = *self.phase;
        StreamSource { profile: self.profile, spec, direction, trial: self.trial, conversation }
    }

    /// The frames of a direction as they leave.
    fn sent(&self, direction: Direction) -> Result<Stream, MeasureError> {
        let (own, peer) = self.macs[direction as usize];
        Ok(Stream::sent(self.source(direction), (own, peer))?)
    }

    fn sender<'p>(&self, port: &'p mut dyn Transmit, direction: Direction) -> Result<Sender<'p>, MeasureError> {
        let stream = self.sent(direction)?;
        Ok(Sender::new(port, stream, &self.phase.spec.schedule(), self.settings.stall_ns))
    }

    fn receiver<'p>(&self, port: &'p mut dyn Receive, direction: Direction) -> Result<Receiver<'p>, MeasureError> {
        let (own, peer) = self.macs[1 - direction as usize];
        let stream = Stream::expected(self.source(direction), (own, peer))?;
        let schedule = if self.is_loaded(direction) { self.phase.spec.schedule() } else { Schedule::default() };
        let expected = ExpectedFrames {
            verifier: Verifier::new(stream, reach(&schedule), self.profile.zero_checksum_is_known),
            delays: Delays::new(self.tagged(&schedule), self.profile.ipdv),
            schedule,
            duration_ns: self.phase.spec.duration_ns,
            timeout_ns: self.phase.frame_timeout_ns,
        };
        let neighbours = match direction {
            Direction::Forward => &self.profile.right,
            Direction::Reverse => &self.profile.left,
        };
        let answerer = NeighbourAnswerer::new(own, neighbours);
        Ok(Receiver::new(port, answerer, expected, self.settings.stall_ns))
    }

    /// The first frame to be tagged and the distance to the next, so that they are spread evenly.
    fn tagged(&self, schedule: &Schedule) -> Option<(u64, u64)> {
        let tagging = self.phase.spec.tagging.filter(|_| schedule.frames() > 0)?;
        let first = schedule.first_due_from(tagging.after_ns);
        Some((first, (schedule.frames() - first) / tagging.frames.max(1)))
    }

    /// Puts the tasks' counts together.
    fn collect(&self, tasks: Vec<Task<'_>>) -> Result<TrialResult, MeasureError> {
        let (mut directions, mut receivers, mut replies) = (Vec::with_capacity(2), Vec::with_capacity(2), None);
        for task in tasks {
            match task {
                Task::Send(direction, sender) => directions.push(sender.finish(direction)),
                Task::Receive(direction, receiver, _) => receivers.push((direction, receiver)),
                Task::Respond(responder, _) => {
                    let (receiver, result, sent) = responder.finish();
                    receivers.push((Direction::Forward, Box::new(receiver)));
                    directions.push(result);
                    replies = Some(sent);
                }
            }
        }
        directions.sort_by_key(|result: &DirectionResult| result.direction);
        let mut faults = Vec::new();
        for (direction, receiver) in receivers {
            if let Some(result) = directions.iter_mut().find(|r| r.direction == direction) {
                let (gaps, lost) = (receiver.gaps(), receiver.lost_neighbours().to_vec());
                let sent = replies.as_ref().filter(|_| direction == Direction::Reverse);
                receiver.finish(result, sent)?;
                faults.extend(fault::of_direction(result, self.phase.spec.rate, self.settings.stall_ns, gaps, &lost));
            }
        }
        Ok(TrialResult::new(*self.phase.spec, directions, faults))
    }
}
