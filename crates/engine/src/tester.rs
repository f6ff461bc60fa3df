//! The frame tester: two ports, a profile, and a trial whenever one is asked for.

use crate::delay::Delays;
use crate::driver::{self, Layout};
use crate::memory::{self, OutOfMemory, QueuedTraffic};
use crate::neighbour::{self, NeighbourAnswerer};
use crate::outcome::trial_result;
use crate::pacer::ThreadShare;
use crate::profile::TrafficProfile;
use crate::reach::reach;
use crate::receiver::Receiver;
use crate::responder::Responder;
use crate::sender::Sender;
use crate::stateful::Conversation;
use crate::stream::{Stream, StreamSource};
use crate::tally::{ExpectedFrames, FrameTally, QueueCounts};
use crate::trial::{DirectionQueue, FrameRun, Task, Waiting};
use crate::verify::Verifier;
use sixbench_io::clock::Clock;
use sixbench_io::{Halves, Port, PortError, Receive, Transmit};
use sixbench_method::isolation::Admitted;
use sixbench_method::terms::{Direction, Directions};
use sixbench_method::trial::{Measurer, Schedule, TrialKind, TrialResult, TrialSettings, TrialSpec};
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

/// One port with its queues.
struct TesterPort {
    name: String,
    mac: MacAddress,
    queues: Vec<Halves>,
}

impl TesterPort {
    fn new(port: Port) -> Self {
        Self { name: port.name, mac: MacAddress(port.mac), queues: port.queues }
    }

    /// Throws away what arrived before the trial, and forgets what did not fit.
    fn drain(&mut self) -> Result<(), PortError> {
        for queue in &mut self.queues {
            // A device that never stops sending does not keep the trial from starting.
            for _ in 0..MOST_DRAINED {
                if queue.receive.receive(&mut |_| ())? == 0 {
                    break;
                }
            }
            queue.receive.overruns()?;
        }
        Ok(())
    }

    fn check_link(&self) -> Result<(), PortError> {
        self.queues.iter().try_for_each(|queue| queue.transmit.check_link())
    }
}

/// The receiving halves of all queues of a port as one.
struct AllQueues<'a>(&'a mut [Halves]);

impl Receive for AllQueues<'_> {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        self.0.iter_mut().try_fold(0, |sum, queue| Ok(sum + queue.receive.receive(each)?))
    }

    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        self.0.first_mut().map_or(Ok(()), |queue| queue.receive.answer(frame))
    }

    fn overruns(&mut self) -> Result<u64, PortError> {
        self.0.iter_mut().try_fold(0, |sum, queue| Ok(sum + queue.receive.overruns()?))
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
        match neighbour::resolve(&mut AllQueues(&mut end.queues), end.mac, neighbours, &self.clock, &self.stop)? {
            neighbour::NeighbourResolution::All(mac) => Ok(mac),
            neighbour::NeighbourResolution::Interrupted => Err(MeasureError::Interrupted),
            neighbour::NeighbourResolution::Silent(address) => {
                end.check_link()?;
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
        let context = TrialContext {
            phase,
            profile: &self.profile,
            settings: &self.settings,
            macs: [(self.left.mac, peers.0), (self.right.mac, peers.1)],
            trial: self.trial,
            queues: [self.left.queues.len(), self.right.queues.len()],
        };
        let tasks = context.tasks(&mut self.left.queues, &mut self.right.queues)?;
        let mut run = FrameRun::new((&self.clock, &self.stop), phase.spec, phase.residual_ns, &tasks);
        let tasks = run.complete(tasks, &self.layout)?;
        let result = trial_result(tasks, *phase.spec, self.settings.stall_ns)?;
        self.check_links(phase.spec)?;
        Ok(result)
    }

    /// A link that is down at the end of a trial is no loss by the device: frames were lost before they reached it. Only a reset may take
    /// a link down, and not bring it back.
    fn check_links(&self, spec: &TrialSpec) -> Result<(), MeasureError> {
        if !matches!(spec.kind, TrialKind::Reset { .. }) {
            self.left.check_link()?;
            self.right.check_link()?;
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
        let queues = self.left.queues.len().max(self.right.queues.len());
        memory::ensure(spec, &QueuedTraffic { profile: &self.profile, queues })?;
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
    /// Queues of the ports: left, right.
    queues: [usize; 2],
}

impl TrialContext<'_> {
    fn is_loaded(&self, direction: Direction) -> bool {
        self.phase.loaded.contains(&direction)
    }

    /// Returns whether reverse frames are replies to forward ones.
    fn is_exchange(&self) -> bool {
        self.phase.spec.kind == TrialKind::Response
    }

    /// The trial's tasks: senders before receivers.
    fn tasks<'p>(&self, left: &'p mut [Halves], right: &'p mut [Halves]) -> Result<Vec<Task<'p>>, MeasureError> {
        use Direction::{Forward, Reverse};
        let mut tasks = Vec::with_capacity(2 * (left.len() + right.len()));
        let (mut left, mut right) = (Ends::of(left), Ends::of(right));
        tasks.extend(self.senders(std::mem::take(&mut left.transmit), Forward)?);
        if self.is_exchange() {
            tasks.extend(self.responders(std::mem::take(&mut right))?);
        } else {
            tasks.extend(self.senders(std::mem::take(&mut right.transmit), Reverse)?);
        }
        tasks.extend(self.receivers(right.receive, Forward)?);
        tasks.extend(self.receivers(left.receive, Reverse)?);
        Ok(tasks)
    }

    /// The responders of an exchange. Each receives and sends on one thread, so that no reply waits for another one to take it up.
    fn responders<'p>(&self, Ends { transmit, receive }: Ends<'p>) -> Result<Vec<Task<'p>>, MeasureError> {
        let frames = reach(&self.phase.spec.schedule());
        let responder = |(queue, (transmit, receive)): (usize, (&'p mut dyn Transmit, &'p mut dyn Receive))| {
            let (receiver, replies) = (self.receiver(receive, Direction::Forward)?, self.sent(Direction::Reverse)?);
            let responder = Responder::new(receiver, transmit, replies, frames, self.settings.stall_ns);
            Ok(Task::Respond(queue, Box::new(responder), Waiting::Due))
        };
        transmit.into_iter().zip(receive).enumerate().map(responder).collect()
    }

    fn senders<'p>(&self, ports: Vec<&'p mut dyn Transmit>, direction: Direction) -> Result<Vec<Task<'p>>, MeasureError> {
        let of = ports.len() as u64;
        let sender = |(queue, port): (usize, &'p mut dyn Transmit)| {
            let share = ThreadShare { index: queue as u64, of };
            let sender = Sender::new(port, self.sent(direction)?, (&self.phase.spec.schedule(), share), self.settings.stall_ns);
            Ok(Task::Send(DirectionQueue { direction, queue }, Box::new(sender)))
        };
        let loaded = if self.is_loaded(direction) { ports } else { Vec::new() };
        loaded.into_iter().enumerate().map(sender).collect()
    }

    fn receivers<'p>(&self, ports: Vec<&'p mut dyn Receive>, direction: Direction) -> Result<Vec<Task<'p>>, MeasureError> {
        let waiting = if self.is_loaded(direction) { Waiting::Due } else { Waiting::Idle };
        let receiver = |(queue, port): (usize, &'p mut dyn Receive)| {
            Ok(Task::Receive(DirectionQueue { direction, queue }, Box::new(self.receiver(port, direction)?), waiting))
        };
        ports.into_iter().enumerate().map(receiver).collect()
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
        let [sending, receiving] = [direction as usize, 1 - direction as usize].map(|side| self.queues[side]);
        let tally = FrameTally::new(expected, QueueCounts { sending, receiving });
        Ok(Receiver::new(port, answerer, tally, self.settings.stall_ns))
    }

    /// The first frame to be tagged and the distance to the next, so that they are spread evenly.
    fn tagged(&self, schedule: &Schedule) -> Option<(u64, u64)> {
        let tagging = self.phase.spec.tagging.filter(|_| schedule.frames() > 0)?;
        let first = schedule.first_due_from(tagging.after_ns);
        Some((first, (schedule.frames() - first) / tagging.frames.max(1)))
    }
}

/// The halves of the queues of a port, apart.
#[derive(Default)]
struct Ends<'p> {
    transmit: Vec<&'p mut dyn Transmit>,
    receive: Vec<&'p mut dyn Receive>,
}

impl<'p> Ends<'p> {
    fn of(queues: &'p mut [Halves]) -> Self {
        let mut ends = Self::default();
        for Halves { transmit, receive } in queues {
            ends.transmit.push(&mut **transmit);
            ends.receive.push(&mut **receive);
        }
        ends
    }
}
