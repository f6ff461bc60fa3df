//! The tasks of a trial, or of a phase of one: what each queue of the two ports has to send and receive.

use super::neighbour::NeighbourAnswerer;
use super::profile::{TrafficProfile, WireAddresses};
use super::receiver::Receiver;
use super::responder::Responder;
use super::sender::Sender;
use super::stateful::Conversation;
use super::stream::{LinkMacs, Stream, StreamSource};
use super::tally::{ExpectedFrames, FrameTally, QueueCounts};
use super::tester_port::PortHalves;
use super::trial::{DirectionQueue, ReceiverState, Task};
use super::verify::Verifier;
use super::window::RequestLog;
use crate::delay::Delays;
use crate::error::MeasureError;
use crate::pacing::pacer::ThreadShare;
use crate::pacing::reach::reach;
use sixbench_io::{Halves, Receive, Transmit};
use sixbench_method::terms::Direction;
use sixbench_method::trial::{Schedule, TrialKind, TrialSettings, TrialSpec};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A part of a trial that is sent at once: a whole stateless trial, or a phase of a stateful one.
pub(crate) struct TrialPhase<'a> {
    pub(crate) spec: &'a TrialSpec,
    /// The directions in which frames are sent.
    pub(crate) loaded: &'a [Direction],
    /// The longest wait for residual frames, nanoseconds.
    pub(crate) residual_ns: u64,
    /// The time after which a frame no longer counts as received; 0 for no limit.
    pub(crate) frame_timeout_ns: u64,
    /// The connections to which the foreground frames belong.
    pub(crate) conversation: Option<&'a Conversation>,
    /// The frames of each burst, 1 if every frame leaves at its own time.
    pub(crate) burst: NonZeroU32,
}

/// Everything needed to create a trial's tasks.
pub(crate) struct TrialContext<'a> {
    pub(crate) phase: &'a TrialPhase<'a>,
    pub(crate) profile: &'a TrafficProfile,
    pub(crate) settings: &'a TrialSettings,
    /// The hardware addresses of the links: left, right.
    pub(crate) macs: [LinkMacs; 2],
    pub(crate) trial: u8,
    /// Queues of the ports: left, right.
    pub(crate) queues: [usize; 2],
    /// The time by which the clocks of sender and receiver may differ, nanoseconds.
    pub(crate) clocks_apart_ns: u64,
    /// The time at which the tester sent the first frame of its first trial, nanoseconds; `None` if this is the first.
    pub(crate) first_trial_ns: Option<u64>,
    /// The requests and their replies, if clients wait for these.
    pub(crate) requests: Option<Arc<RequestLog>>,
}

impl TrialContext<'_> {
    fn is_loaded(&self, direction: Direction) -> bool {
        self.phase.loaded.contains(&direction)
    }

    /// Returns whether reverse frames are replies to forward ones.
    fn is_exchange(&self) -> bool {
        self.phase.spec.kind == TrialKind::Response
    }

    /// Returns the trial's tasks, with senders before receivers.
    pub(crate) fn tasks<'p>(
        &self,
        left: &'p mut [Halves],
        right: &'p mut [Halves],
    ) -> Result<Vec<Task<'p>>, MeasureError> {
        use Direction::{Forward, Reverse};
        let mut tasks = Vec::with_capacity(2 * (left.len() + right.len()));
        let (mut left, mut right) = (PortHalves::new(left), PortHalves::new(right));
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

    /// Returns the responders of an exchange. Each receives and sends on one thread, so that no reply waits for another thread.
    fn responders<'p>(
        &self,
        PortHalves { transmit, receive }: PortHalves<'p>,
    ) -> Result<Vec<Task<'p>>, MeasureError> {
        let frames = reach(
            &self.phase.spec.schedule(),
            self.queues[Direction::Forward as usize],
        );
        let responder =
            |(queue, (transmit, receive)): (usize, (&'p mut dyn Transmit, &'p mut dyn Receive))| {
                let (receiver, replies) = (
                    self.receiver(receive, Direction::Forward)?,
                    self.sent(Direction::Reverse)?,
                );
                let responder =
                    Responder::new(receiver, transmit, replies, frames, self.settings.stall_ns);
                Ok(Task::Respond(
                    queue,
                    Box::new(responder),
                    ReceiverState::Due,
                ))
            };
        transmit
            .into_iter()
            .zip(receive)
            .enumerate()
            .map(responder)
            .collect()
    }

    fn senders<'p>(
        &self,
        ports: Vec<&'p mut dyn Transmit>,
        direction: Direction,
    ) -> Result<Vec<Task<'p>>, MeasureError> {
        // In a closed loop one queue sends the requests of all clients, as it must know which of them wait.
        let of = if self.requests.is_some() {
            1
        } else {
            ports.len()
        };
        let loaded = if self.is_loaded(direction) {
            ports
        } else {
            Vec::new()
        };
        let queues = loaded.into_iter().take(of).enumerate();
        queues
            .map(|(queue, port)| self.sender(port, DirectionQueue { direction, queue }, of))
            .collect()
    }

    /// Returns the task of one of `queues` senders of a direction.
    fn sender<'p>(
        &self,
        port: &'p mut dyn Transmit,
        queue: DirectionQueue,
        queues: usize,
    ) -> Result<Task<'p>, MeasureError> {
        let share = ThreadShare {
            index: queue.queue as u64,
            of: queues as u64,
        };
        let stream = self.sent(queue.direction)?;
        let sender = Sender::new(
            port,
            stream,
            &self.phase.spec.schedule(),
            share,
            self.settings.stall_ns,
        );
        let sender = sender
            .waiting_for_replies(self.requests.clone())
            .in_bursts_of(self.phase.burst);
        Ok(Task::Send(queue, Box::new(sender)))
    }

    fn receivers<'p>(
        &self,
        ports: Vec<&'p mut dyn Receive>,
        direction: Direction,
    ) -> Result<Vec<Task<'p>>, MeasureError> {
        let waiting = if self.is_loaded(direction) {
            ReceiverState::Due
        } else {
            ReceiverState::Idle
        };
        ports
            .into_iter()
            .enumerate()
            .map(|(queue, port)| {
                Ok(Task::Receive(
                    DirectionQueue { direction, queue },
                    Box::new(self.receiver(port, direction)?),
                    waiting,
                ))
            })
            .collect()
    }

    fn source(&self, direction: Direction) -> StreamSource<'_> {
        let TrialPhase {
            spec, conversation, ..
        } = *self.phase;
        StreamSource {
            profile: self.profile,
            spec,
            direction,
            trial: self.trial,
            conversation,
        }
    }

    /// Returns the frames of a direction as they leave.
    fn sent(&self, direction: Direction) -> Result<Stream, MeasureError> {
        let macs = self.macs[direction as usize];
        Ok(Stream::sent(self.source(direction), macs)?.of_clients(self.requests.as_ref()))
    }

    fn receiver<'p>(
        &self,
        port: &'p mut dyn Receive,
        direction: Direction,
    ) -> Result<Receiver<'p>, MeasureError> {
        let link = self.macs[1 - direction as usize];
        let macs = if self.profile.wire == Some(WireAddresses::Exchanged) {
            link.exchanged()
        } else {
            link
        };
        let stream =
            Stream::expected(self.source(direction), macs)?.of_clients(self.requests.as_ref());
        let schedule = if self.is_loaded(direction) {
            self.phase.spec.schedule()
        } else {
            Schedule::default()
        };
        let [sending, receiving] =
            [direction as usize, 1 - direction as usize].map(|side| self.queues[side]);
        let expected = ExpectedFrames {
            verifier: Verifier::new(
                stream,
                reach(&schedule, sending),
                self.profile.zero_checksum_is_known,
            )
            .knowing_absent_checksums(self.profile.absent_checksum_is_known),
            delays: Delays::new(self.tagged(&schedule), self.profile.ipdv),
            schedule,
            burst: self.phase.burst,
            duration_ns: self.phase.spec.duration_ns,
            timeout_ns: self.phase.frame_timeout_ns,
            clocks_apart_ns: self.clocks_apart_ns,
            first_trial_ns: self.first_trial_ns,
        };
        let neighbours = match direction {
            Direction::Forward => &self.profile.right,
            Direction::Reverse => &self.profile.left,
        };
        let answerer = NeighbourAnswerer::new(link.own, neighbours);
        let tally = FrameTally::new(expected, QueueCounts { sending, receiving });
        Ok(Receiver::new(port, answerer, tally, self.settings.stall_ns))
    }

    /// Returns the first frame to be tagged and the distance to the next, so that the tagged frames are spread evenly.
    fn tagged(&self, schedule: &Schedule) -> Option<(u64, u64)> {
        let tagging = self.phase.spec.tagging.filter(|_| schedule.frames() > 0)?;
        let first = schedule.first_due_from(tagging.after_ns);
        Some((first, (schedule.frames() - first) / tagging.frames.max(1)))
    }
}
