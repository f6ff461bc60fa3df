//! The frame tester: two ports, a profile, and trials on request. One of the ports may be on another machine, which does its part of each trial.

use super::companion::{Companion, DistantPort, EndResult, EndTrial};
use super::footprint::QueuedTraffic;
use super::neighbour;
use super::outcome::{shares, trial_result};
use super::profile::TrafficProfile;
use super::ramp::FinishedRamp;
use super::stateful::Conversation;
use super::stream::LinkMacs;
use super::tally::CLOCKS_APART_NS;
use super::tasks::{TrialContext, TrialPhase};
use super::tester_port::{AllQueues, TesterPort};
use super::trial::{FrameRun, Task, placement};
use super::window::RequestLog;
use crate::driver::{self, Layout};
use crate::error::MeasureError;
use crate::memory;
use crate::pacing::fault;
use sixbench_io::Port;
use sixbench_io::clock::Clock;
use sixbench_method::isolation::Admitted;
use sixbench_method::terms::{Direction, Directions};
use sixbench_method::trial::{Fault, Measurer, TrialKind, TrialResult, TrialSettings, TrialSpec};
use sixbench_wire::MacAddress;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

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
    /// Asks the DUT for the number of its connections.
    pub(crate) counter: Option<ConnectionCounter>,
    /// True if a frame that opens a connection has ever passed.
    pub(crate) has_delivered: bool,
    /// The ramp that was sent for the next trial.
    pub(crate) ramped: Option<FinishedRamp>,
    /// The moment at which the first frame of the last trial was due, in nanoseconds of the clock.
    pub(crate) began_ns: Option<u64>,
    /// The same of the first trial.
    first_trial_ns: Option<u64>,
    /// The same of the trial in progress, 0 until it is chosen: for threads that have to know it meanwhile.
    start_notice: Arc<AtomicU64>,
}

/// A trial, or a phase of it, in which all frames are done.
struct FinishedRun<'t> {
    tasks: Vec<Task<'t>>,
    /// The longest time for which a thread was ready but had no core, nanoseconds.
    kept_off_ns: u64,
    /// The moment at which the first frame was due, in nanoseconds of the clock.
    began_ns: u64,
}

/// One end of a tester on two machines.
pub struct OneEnd {
    /// The direction that it sends. It receives the other one.
    pub sends: Direction,
    /// Its port.
    pub port: Port,
    /// The port of the other end.
    pub distant: DistantPort,
}

/// Asks the DUT for the number of its connections; `None` if it does not provide it, or an error message if it should but could not be asked.
pub type ConnectionCounter = Box<dyn FnMut() -> Result<Option<u64>, String> + Send>;

impl FrameTester {
    /// Returns a tester between two open ports. `stop` ends a trial early.
    pub fn new(
        ports: (Port, Port),
        profile: Admitted<TrafficProfile>,
        settings: TrialSettings,
        layout: Layout,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self::between(
            TesterPort::new(ports.0),
            TesterPort::new(ports.1),
            profile.into_inner(),
            settings,
            layout,
            stop,
        )
    }

    /// Returns one end of a tester, whose other end is on another machine. `stop` ends a trial early.
    pub fn at_one_end(
        end: OneEnd,
        profile: Admitted<TrafficProfile>,
        settings: TrialSettings,
        layout: Layout,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let here = TesterPort::new(end.port);
        let there = TesterPort::distant(end.distant);
        let (left, right) = if end.sends == Direction::Forward {
            (here, there)
        } else {
            (there, here)
        };
        Self::between(left, right, profile.into_inner(), settings, layout, stop)
    }

    fn between(
        left: TesterPort,
        right: TesterPort,
        profile: TrafficProfile,
        settings: TrialSettings,
        layout: Layout,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            left,
            right,
            profile,
            settings,
            layout,
            clock: Clock::new(),
            stop,
            trial: 0,
            counter: None,
            has_delivered: false,
            ramped: None,
            began_ns: None,
            first_trial_ns: None,
            start_notice: Arc::default(),
        }
    }

    /// Returns the number of queues of the port that has more.
    pub(crate) fn queue_count(&self) -> usize {
        self.left.count.max(self.right.count)
    }

    /// Returns a description of which core serves which queues, and of how order is judged; `None` if each port has one queue.
    pub fn queues_in_words(&self) -> Option<String> {
        let queues = [self.left.count, self.right.count];
        let placement = placement(queues, &self.layout.cores);
        (queues != [1, 1]).then(|| {
            format!(
                "each queue has a sender and a receiver of its own: {placement}; order is checked only between frames with the \
                 same sending and receiving queue"
            )
        })
    }

    /// Returns the moment at which the first frame of the last trial, or of its last phase, was due; `None` before the first trial.
    pub fn began(&self) -> Option<Instant> {
        let ago_ns = self.clock.now_ns().saturating_sub(self.began_ns?);
        Instant::now().checked_sub(Duration::from_nanos(ago_ns))
    }

    /// Returns the place where each trial notes the moment at which its first frame is due, in nanoseconds of the clock, once it is chosen. Until then
    /// it is 0.
    pub(crate) fn start_notice(&self) -> Arc<AtomicU64> {
        self.start_notice.clone()
    }

    /// Returns the clock used for sending and receiving.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Sets the clock used for sending and receiving, which shows the other machine's time if the tester has an end there.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Switches to other traffic over the same ports.
    pub fn set_profile(&mut self, profile: Admitted<TrafficProfile>, settings: TrialSettings) {
        self.profile = profile.into_inner();
        self.settings = settings;
    }

    /// Sets the `counter` that is called between the phases of a stateful trial, and at its end, for the number of the DUT's connections.
    pub fn set_counter(&mut self, counter: Option<ConnectionCounter>) {
        self.counter = counter;
    }

    /// Runs slow work between the phases on the tester's core, not on the DUT's.
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

    /// Returns a trial in all directions that the profile loads.
    pub(crate) fn whole<'a>(
        &self,
        spec: &'a TrialSpec,
        conversation: Option<&'a Conversation>,
    ) -> TrialPhase<'a> {
        let TrialSettings {
            residual_ns,
            frame_timeout_ns,
            ..
        } = self.settings;
        // Requests go one way and replies the other, regardless of the profile's directions.
        let loaded = if spec.kind == TrialKind::Response {
            Directions::Both
        } else {
            self.profile.directions
        };
        TrialPhase {
            spec,
            loaded: loaded.each(),
            residual_ns,
            frame_timeout_ns,
            conversation,
            burst: self.profile.burst.unwrap_or(NonZeroU32::MIN),
        }
    }

    /// Resolves the DUT's hardware address on both sides, which also tells it ours (learning frames of RFC 2544 section 23).
    ///
    /// # Errors
    /// If nobody answers for an address within the time for resolution, or a port fails.
    pub fn resolve(&mut self) -> Result<(MacAddress, MacAddress), MeasureError> {
        // A port on another machine is resolved there.
        let left = if self.left.is_here() {
            self.resolve_end(Direction::Forward)?
        } else {
            self.left.mac
        };
        let right = if self.right.is_here() {
            self.resolve_end(Direction::Reverse)?
        } else {
            self.right.mac
        };
        Ok((left, right))
    }

    /// Returns the DUT's hardware address on the link from which `direction` is sent.
    fn resolve_end(&mut self, direction: Direction) -> Result<MacAddress, MeasureError> {
        let (end, neighbours) = match direction {
            Direction::Forward => (&mut self.left, &self.profile.left),
            Direction::Reverse => (&mut self.right, &self.profile.right),
        };
        let mut queues = AllQueues(&mut end.queues);
        let resolved =
            neighbour::resolve(&mut queues, end.mac, neighbours, &self.clock, &self.stop)?;
        if let neighbour::NeighbourResolution::Silent(_) = resolved {
            end.check_link()?;
        }
        resolved.into_station(&end.name)
    }

    /// Sends and receives the frames of a trial, or of a phase of it.
    pub(crate) fn exchange(&mut self, phase: &TrialPhase<'_>) -> Result<TrialResult, MeasureError> {
        // The tag has six bits for it.
        self.trial = (self.trial + 1) % 64;
        let stall_ns = self.settings.stall_ns;
        let FinishedRun {
            tasks,
            kept_off_ns,
            began_ns,
        } = self.run(phase, CLOCKS_APART_NS, None)?;
        let mut result = trial_result(tasks, *phase.spec, stall_ns)?;
        self.note_trial(began_ns);
        result
            .faults
            .extend(fault::kept_off(&result.faults, kept_off_ns));
        result.faults.extend(self.links_that_were_down(phase.spec)?);
        Ok(result)
    }

    /// Runs this end's part of a trial, while `companion` runs the other part.
    ///
    /// # Errors
    /// The trial must be run by one machine; the other machine cannot run its part, or is lost; or the errors of any other trial.
    pub fn measure_end(
        &mut self,
        trial: &EndTrial,
        companion: &mut dyn Companion,
    ) -> Result<EndResult, MeasureError> {
        let EndTrial {
            spec,
            number,
            clocks_apart_ns,
            measures_delays,
        } = trial;
        let traffic = QueuedTraffic {
            profile: &self.profile,
            queues: self.queue_count(),
        };
        memory::ensure(spec, &traffic)?;
        check_kind(spec)?;
        self.trial = *number;
        if !*measures_delays {
            self.settings.frame_timeout_ns = 0;
        }
        let (phase, stall_ns) = (self.whole(spec, None), self.settings.stall_ns);
        let run = self.run(
            &phase,
            clocks_apart_ns + CLOCKS_APART_NS,
            Some(&mut *companion),
        )?;
        let FinishedRun {
            tasks,
            kept_off_ns,
            began_ns,
        } = run;
        let (sent, received, mut faults) = shares(tasks, phase.loaded, stall_ns);
        let elsewhere = companion.swap(&sent)?;
        let mut directions = Vec::with_capacity(1);
        for share in received {
            let Some((result, of_receiver)) = share.result(&elsewhere, spec.rate, stall_ns)? else {
                continue;
            };
            directions.push(if *measures_delays {
                result
            } else {
                result.without_delays()
            });
            faults.extend(of_receiver);
        }
        self.note_trial(began_ns);
        faults.extend(fault::kept_off(&faults, kept_off_ns));
        faults.extend(self.links_that_were_down(spec)?);
        Ok(EndResult { directions, faults })
    }

    /// Runs the tasks of a trial, or of a phase of it, to their end. Without a `companion` both ends are here.
    fn run<'t>(
        &'t mut self,
        phase: &'t TrialPhase<'t>,
        clocks_apart_ns: u64,
        companion: Option<&mut dyn Companion>,
    ) -> Result<FinishedRun<'t>, MeasureError> {
        self.start_notice.store(0, Ordering::Release);
        let peers = self.resolve()?;
        self.left.drain()?;
        self.right.drain()?;
        let context = TrialContext {
            phase,
            profile: &self.profile,
            settings: &self.settings,
            macs: self.hardware_addresses(peers),
            trial: self.trial,
            queues: [self.left.count, self.right.count],
            clocks_apart_ns,
            first_trial_ns: self.first_trial_ns,
            requests: RequestLog::for_trial(phase.spec, &self.profile),
        };
        let tasks = context.tasks(&mut self.left.queues, &mut self.right.queues)?;
        let mut run = FrameRun::new(
            &self.clock,
            &self.stop,
            phase.spec,
            phase.residual_ns,
            &tasks,
        )
        .noting_start_in(self.start_notice.clone());
        if let Some(companion) = companion {
            run = run.with_other_end(companion, phase.spec, phase.loaded, clocks_apart_ns);
        }
        let tasks = run.complete(tasks, &self.layout)?;
        Ok(FinishedRun {
            tasks,
            kept_off_ns: run.kept_off_ns(),
            began_ns: run.began_ns(),
        })
    }

    /// Notes the moment at which the first frame of a trial was due, in nanoseconds of the clock.
    fn note_trial(&mut self, began_ns: u64) {
        self.began_ns = Some(began_ns);
        self.first_trial_ns.get_or_insert(began_ns);
    }

    /// Returns the own and the peer's hardware address, left and right. Behind a wire the peer is the tester's other port.
    fn hardware_addresses(&self, peers: (MacAddress, MacAddress)) -> [LinkMacs; 2] {
        let (left, right) = (self.left.mac, self.right.mac);
        let peers = match self.profile.wire {
            Some(_) => (right, left),
            None => peers,
        };
        [(left, peers.0), (right, peers.1)].map(|(own, peer)| LinkMacs { own, peer })
    }

    /// Returns the faults of links that are down at the end of a trial, on which frames were lost before they reached the device, after waiting until they
    /// are up again: a switch or an autonegotiation takes seconds, and the next trial needs them. Only a reset may take a link down without bringing it
    /// back up.
    ///
    /// # Errors
    /// A link stays down.
    fn links_that_were_down(&self, spec: &TrialSpec) -> Result<Vec<Fault>, MeasureError> {
        if matches!(spec.kind, TrialKind::Reset { .. }) {
            return Ok(Vec::new());
        }
        let mut faults = Vec::new();
        for port in [&self.left, &self.right] {
            if port.wait_for_link(&self.stop)? {
                faults.push(Fault::LinkWentDown {
                    interface: port.name.clone(),
                    times: 1,
                });
            }
        }
        Ok(faults)
    }
}

/// Refuses trials that must be run by one machine.
fn check_kind(spec: &TrialSpec) -> Result<(), MeasureError> {
    match spec.kind {
        _ if spec.opens().is_some() => Err(MeasureError::OnTwoMachines("connections")),
        TrialKind::Response => Err(MeasureError::OnTwoMachines("requests and replies")),
        _ => Ok(()),
    }
}

impl Measurer for FrameTester {
    type Error = MeasureError;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, MeasureError> {
        let queues = self.queue_count();
        memory::ensure(
            spec,
            &QueuedTraffic {
                profile: &self.profile,
                queues,
            },
        )?;
        match spec.opens() {
            Some(_) if spec.kind == TrialKind::Response => Err(MeasureError::StatefulResponse),
            Some(phase_one) => self.converse(spec, phase_one),
            None => self.exchange_after_ramp(spec),
        }
    }
}
