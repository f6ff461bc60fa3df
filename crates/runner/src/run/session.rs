//! A device with the tester on its two links, ready for trials.

use super::built::BuiltTestbed;
use super::state::TrackedConnections;
use super::tester::Tester;
use crate::ends::TesterLinks;
use crate::ends::cables::{PortFacts, cables};
use crate::ends::counters::PortCounters;
use crate::ends::lateness::explain_lateness;
use crate::error::{RunError, TrialError};
use crate::profile::Job;
use crate::request::{SessionRequest, Site};
use crate::run::origin;
use sixbench_engine::{Layout, MeasureError};
use sixbench_io::files::Folder;
use sixbench_io::round_trip_ns;
use sixbench_io::thread::{allowed_cores, keep_to};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::record::{Cable, DutFacts, LinkKind, Warning, Watch};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::dns::Certificate;
use sixbench_method::trial::{Fault, TrialKind, TrialResult, TrialSpec};
use sixbench_plan::Links;
use sixbench_testbed::monitor::{LossCounters, Monitor, Occupant, interval_for, occupant};
use sixbench_testbed::topology::SHARED_CORE;
use sixbench_testbed::{Devices, PlacedInterrupts, Recipe, TestbedError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A device and its tester. Fields are dropped in the order of declaration: first the ports, then the device with its links.
pub struct Session {
    tester: Tester,
    /// The interrupts of the tester's interfaces, which go back before the interfaces do.
    _interrupts: PlacedInterrupts,
    testbed: BuiltTestbed,
    isolation: Isolation,
    /// The connection tracking of a stateful device, or `None` for any other device.
    state: Option<TrackedConnections>,
    stop: Arc<AtomicBool>,
    warnings: Vec<Warning>,
    /// The counters of the devices' kernels since which no frame was lost; `None` where they must be read before the next trial.
    counters: Option<Vec<LossCounters>>,
    /// The counters of the tester's own interfaces.
    port_counters: PortCounters,
    /// The facts about the tester's interfaces, with the settings used while the device is measured.
    interface_facts: BTreeMap<String, String>,
    /// The cables, if the links are ports that the plan names.
    cables: Vec<Cable>,
}

impl Session {
    /// Builds the testbed for a device, brings the device up, and sets up the tester on its links, ready for `job`.
    ///
    /// # Errors
    /// The testbed cannot be built, a port cannot be opened, or the traffic must not leave an isolated environment.
    pub fn open(site: &Site<'_>, request: &SessionRequest<'_>, job: Job) -> Result<Self, RunError> {
        let carries_frames = matches!(job, Job::Frames(..));
        let mut testbed = BuiltTestbed::build(site, request, carries_frames)?;
        let threads = Layout {
            cores: testbed.cores.tester.clone(),
        };
        let warnings = threads.warnings();
        let state = TrackedConnections::new(request, testbed.dut.as_ref(), &site.shell)?;
        let remote = std::mem::take(&mut testbed.remote);
        let placed = Tester::place(site, request, &testbed.links, remote, job, threads);
        // The device may have ended: that error names the cause.
        let (tester, how) = placed.or_else(|error| {
            testbed.check_alive()?;
            Err(error)
        })?;
        testbed.layout.push(how);
        let (interrupts, port_counters) = settle_interfaces(site, &mut testbed)?;
        let warnings = [warnings, tester.warnings()].concat();
        let mut session = Self {
            tester,
            _interrupts: interrupts,
            testbed,
            isolation: site.isolation,
            state,
            stop: site.stop.clone(),
            warnings,
            counters: None,
            port_counters,
            interface_facts: BTreeMap::new(),
            cables: Vec::new(),
        };
        session.read_interfaces();
        session.cables = session.cables_of(site.links, request.recipe);
        let counter = session.state.as_ref().map(TrackedConnections::counter);
        session.tester.set_counter(counter);
        Ok(session)
    }

    /// Changes the traffic, which must be of the kind for which the session was opened.
    ///
    /// # Errors
    /// The traffic must not leave an isolated environment.
    pub fn set_job(&mut self, job: Job) -> Result<(), RunError> {
        self.tester.set_job(self.isolation, job)
    }

    /// Performs the self-test of RFC 8219 section 9.2.1 for rates up to `most`. Returns `None` if this is not a DNS tester, or has already passed
    /// it with its current settings. `duration_ns` is the duration of a trial in nanoseconds.
    ///
    /// # Errors
    /// The self-test could not be performed, or a stop was requested.
    pub fn certify(
        &mut self,
        most: FrameRate,
        duration_ns: u64,
    ) -> Result<Option<Certificate>, RunError> {
        Ok(self.tester.certify(most, duration_ns)?)
    }

    /// Refuses a test whose connections the device cannot track, or not for long enough.
    ///
    /// # Errors
    /// The test with the setting to change, or the device cannot be queried.
    pub fn check_state(&self, test: &Test, plan: &Plan) -> Result<(), RunError> {
        self.state
            .as_ref()
            .map_or(Ok(()), |state| state.check(test, plan))
    }

    /// Refuses a test of one-way delays whose frames are sent and received by different clocks, if the accuracy of these is unknown.
    ///
    /// # Errors
    /// The test, and the reason.
    pub fn check_clocks(&mut self, test: &Test, plan: &Plan) -> Result<(), RunError> {
        if test.needs_one_way_delays(plan) {
            self.tester.require_delays(&test.name)
        } else {
            Ok(())
        }
    }

    /// Keeps the record of every query of the next trial in the file `name` of a folder, for a DNS server.
    pub fn keep_queries(&mut self, folder: &Folder, name: &str) {
        self.tester.keep_queries(folder, name);
    }

    /// Performs one trial, with the processors watched.
    ///
    /// # Errors
    /// The trial could not be performed, the device has ended, or a stop was requested.
    pub fn measure(&mut self, spec: &TrialSpec) -> Result<(TrialResult, Watch), RunError> {
        let before = self.begin_empty(spec)?;
        // Nothing that is watched in a trial contains the frames of its ramp.
        self.ramp(spec)?;
        let counters = self.counters.take().unwrap_or_else(|| self.loss_counters());
        let start = Instant::now();
        let (mut result, mut watch) = self.watched(spec)?;
        let took = start.elapsed();
        self.explain_losses(counters, &result, &mut watch);
        if let Some(state) = &self.state {
            on_cores(&self.testbed.cores.dut, || {
                state.settle(&mut result, before, took)
            })?;
        }
        Ok((result, watch))
    }

    /// Sends the ramp of a trial, if it has one. If a device lost some of its frames, the counters of the kernels have to be read again; otherwise they are
    /// left, because reading them takes time in which a device may forget the flows.
    fn ramp(&mut self, spec: &TrialSpec) -> Result<(), RunError> {
        if !self.tester.has_ramp() {
            return Ok(());
        }
        match self.tester.ramp(spec) {
            Ok(0) => Ok(()),
            Ok(_) => {
                self.counters = None;
                Ok(())
            }
            Err(TrialError::Interrupted) => Err(RunError::Interrupted),
            // The device may have ended: that error names the cause.
            Err(error) => self.check_alive().and(Err(error.into())),
        }
    }

    /// Reads the counters of the devices' kernels; none for a device that the user set up.
    fn loss_counters(&self) -> Vec<LossCounters> {
        let read = || {
            self.testbed
                .dut
                .as_ref()
                .map(Devices::loss_counters)
                .unwrap_or_default()
        };
        on_cores(&self.testbed.cores.dut, read)
    }

    /// Adds to the watch of a trial that lost much the counters that grew. The counters are read only after such a trial, and before the first trial
    /// after any loss: a trial that passes costs nothing.
    fn explain_losses(
        &mut self,
        before: Vec<LossCounters>,
        result: &TrialResult,
        watch: &mut Watch,
    ) {
        let missing = result.not_received();
        if missing == 0 {
            self.counters = Some(before);
        } else if has_lost_much(result) {
            let after = self.loss_counters();
            let devices = self.testbed.dut.as_ref();
            watch.losses = devices.map_or_else(Vec::new, |devices| {
                devices.losses_between(&before, &after, missing)
            });
            self.counters = Some(after);
        }
    }

    /// Deletes the device's connections, or restarts the device, so that no trial depends on the one before: otherwise, a DNS server might have
    /// cached its names or consider the authority unreachable. Returns the number of connections that the device then counts.
    fn begin_empty(&mut self, spec: &TrialSpec) -> Result<Option<u64>, RunError> {
        // The device's process ends with the thread that started it, so the device is restarted from this thread.
        let restarted = match &mut self.testbed.dut {
            Some(dut) if self.tester.wants_new_server(spec) => {
                dut.restart().map(|()| self.tester.has_new_server())
            }
            Some(dut) => dut.restart_for_trial(),
            None => Ok(()),
        };
        restarted?;
        match &self.state {
            Some(state) => on_cores(&self.testbed.cores.dut, || state.empty()),
            None => Ok(None),
        }
    }

    /// Returns who else uses the cores of tester or device now, between two trials, or `None` if they are free. Takes a fifth of a second on each
    /// of the tester's machines.
    pub fn occupant(&self) -> Option<Occupant> {
        let here = occupant(
            &self.testbed.cores,
            self.testbed
                .dut
                .as_ref()
                .map(Devices::watched)
                .unwrap_or_default(),
        );
        here.or_else(|| self.tester.occupant())
    }

    fn watched(&mut self, spec: &TrialSpec) -> Result<(TrialResult, Watch), RunError> {
        let watched = self
            .testbed
            .dut
            .as_ref()
            .map(Devices::watched)
            .unwrap_or_default();
        // Before and after: a host may move its virtual cores during the trial.
        let before_ns = self.round_trip_ns();
        let interval = interval_for(Duration::from_nanos(spec.duration_ns));
        let monitor = Monitor::start_every(interval, &self.testbed.cores, watched);
        self.port_counters.begin().map_err(MeasureError::from)?;
        let (result, reset) = self.send(spec);
        let mut watch = monitor.stop_after(self.tester.began());
        watch.round_trips_ns = before_ns.into_iter().chain(self.round_trip_ns()).collect();
        reset?;
        match result {
            Ok(mut result) => {
                let of_ports = self.port_counters.faults(spec.kind);
                add_faults_of_ports(&mut result.faults, of_ports.map_err(MeasureError::from)?);
                add_faults_of_the_machine(&mut result, &watch, self.testbed.cores.dut.len());
                explain_lateness(&mut result.faults, &watch, self.testbed.cores.are_shared());
                self.check_alive().map(|()| (result, watch))
            }
            Err(TrialError::Interrupted) => Err(RunError::Interrupted),
            // The device may have ended: that error names the cause.
            Err(error) => self.check_alive().and(Err(error.into())),
        }
    }

    /// Returns the round-trip time between the tester's first core and the device's, if both are on this machine. A trial is not abandoned if this
    /// measurement fails.
    fn round_trip_ns(&self) -> Option<u64> {
        let is_here = matches!(
            self.testbed.links,
            TesterLinks::Built(_) | TesterLinks::Started(_)
        );
        let cores = [
            *self.testbed.cores.tester.first()?,
            *self.testbed.cores.dut.first()?,
        ];
        is_here
            .then(|| round_trip_ns(cores).ok().flatten())
            .flatten()
    }

    fn send(
        &mut self,
        spec: &TrialSpec,
    ) -> (Result<TrialResult, TrialError>, Result<(), TestbedError>) {
        let (TrialKind::Reset { at_ns }, Some(dut)) = (spec.kind, self.testbed.dut.as_mut()) else {
            return (self.tester.measure(spec), Ok(()));
        };
        let (tester, stop, dut_cores) = (&mut self.tester, &self.stop, &self.testbed.cores.dut);
        std::thread::scope(|scope| {
            let measuring = scope.spawn(move || tester.measure(spec));
            // The device is restarted from this thread, which outlives it, because its process ends with the thread that started it.
            let moment = Instant::now() + Duration::from_nanos(at_ns);
            while Instant::now() < moment
                && !measuring.is_finished()
                && !stop.load(Ordering::Relaxed)
            {
                std::thread::sleep(
                    Duration::from_millis(5).min(moment.saturating_duration_since(Instant::now())),
                );
            }
            let is_due = Instant::now() >= moment && !stop.load(Ordering::Relaxed);
            let reset = if is_due {
                on_cores(dut_cores, || dut.reset())
            } else {
                Ok(())
            };
            (
                measuring
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                reset,
            )
        })
    }

    pub(crate) fn check_alive(&mut self) -> Result<(), RunError> {
        Ok(self
            .testbed
            .check_alive()
            .and_then(|()| self.tester.check_alive())?)
    }

    /// Returns the facts about this machine by name, with the settings used while the device is measured.
    pub(crate) fn host_facts(&self, site: &Site<'_>) -> BTreeMap<String, String> {
        let mut facts = origin::of_host(site);
        facts.extend(self.interface_facts.clone());
        facts.extend(self.tester.facts());
        facts
    }

    /// Reads the facts about the tester's interfaces, whose ports are open.
    fn read_interfaces(&mut self) {
        if let TesterLinks::Taken(interfaces) = &self.testbed.links {
            self.interface_facts = interfaces.facts();
        }
    }

    /// Returns the kinds of UDP whose frames interfaces of the tester spread over their queues by addresses alone, by interface.
    pub(crate) fn spread_by_addresses(&self) -> BTreeMap<String, Vec<&'static str>> {
        match &self.testbed.links {
            TesterLinks::Taken(interfaces) => interfaces.spread_by_addresses(),
            _ => BTreeMap::new(),
        }
    }

    fn cables_of(&self, links: &Links, recipe: &Recipe) -> Vec<Cable> {
        if self.testbed.links.kind() != LinkKind::Interfaces {
            return Vec::new();
        }
        let mut tester = self.tester.facts();
        tester.extend(self.interface_facts.clone());
        let dut = self.testbed.dut.as_ref().map(Devices::facts);
        let facts = PortFacts {
            tester: &tester,
            devices: &dut.map_or_else(BTreeMap::new, |facts| facts.machine.clone()),
            authority: &self.tester.authority_facts(),
        };
        cables(links, recipe, &facts)
    }

    /// Returns the facts about the device for the report. For a device that the user set up, only the recipe is known.
    pub fn dut_facts(&self, recipe: &Recipe) -> DutFacts {
        let unknown = || DutFacts {
            title: recipe.honest_title(),
            technology: recipe.technology.title().to_owned(),
            version: "set up by hand: version not known to sixbench".to_owned(),
            ..DutFacts::default()
        };
        let facts = self
            .testbed
            .dut
            .as_ref()
            .map_or_else(unknown, |dut| dut.facts().clone());
        let links = self.testbed.links.kind();
        DutFacts {
            path: recipe.path_facts(),
            defect_vectors: recipe.defect_vectors.clone(),
            authority: self.tester.authority_facts(),
            links,
            cables: self.cables.clone(),
            ..facts
        }
    }

    /// Returns a shell in the device's namespace, or `None` if the device does not run in a namespace of the testbed.
    #[cfg(test)]
    pub(crate) fn dut_shell(&self) -> Option<sixbench_testbed::Shell> {
        match &self.testbed.links {
            TesterLinks::Built(topology) => Some(topology.duts()[0].shell()),
            TesterLinks::Taken(_) | TesterLinks::Addresses(_) | TesterLinks::Started(_) => None,
        }
    }

    pub(crate) fn testbed(&self) -> &BuiltTestbed {
        &self.testbed
    }

    /// Returns the namespaces of the left and the right end, if they are hosts.
    pub(crate) fn hosts(&self) -> Option<(String, String)> {
        self.tester.hosts()
    }

    /// Returns sentences about the layout of the testbed.
    pub fn layout(&self) -> &[String] {
        &self.testbed.layout
    }

    /// Returns the sentence of the layout that tester and device share a core, if they do.
    pub fn shared_core(&self) -> Option<&str> {
        self.layout()
            .iter()
            .map(String::as_str)
            .find(|sentence| *sentence == SHARED_CORE)
    }

    /// Returns the warnings about the testbed.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Waits for the links of the tester's interfaces, whose ports are open, places their interrupts, and prepares to read their counters.
fn settle_interfaces(
    site: &Site<'_>,
    testbed: &mut BuiltTestbed,
) -> Result<(PlacedInterrupts, PortCounters), RunError> {
    let links = &testbed.links;
    // A driver may take its link down when a port is opened, as most do for an XDP program.
    links.wait_for_carriers()?;
    let interrupts = links.place_interrupts(&testbed.cores.tester, &site.shell)?;
    testbed.layout.extend_from_slice(interrupts.sentences());
    let counters = testbed.links.counters(site.links)?;
    Ok((interrupts, counters))
}

/// Returns whether a tenth of the frames of a direction is missing.
fn has_lost_much(result: &TrialResult) -> bool {
    result
        .directions
        .iter()
        .any(|direction| direction.not_received() * 10 >= direction.offered.max(1))
}

/// Runs commands on the device's cores instead of the tester's, which may be in the middle of a trial. If the cores cannot be chosen, the worst
/// outcome is an invalid trial.
fn on_cores<T>(cores: &[u32], run: impl FnOnce() -> T) -> T {
    let everywhere = allowed_cores().unwrap_or_default();
    let _ = keep_to(cores);
    let done = run();
    let _ = keep_to(&everywhere);
    done
}

/// Adds what the interfaces counted. A link that the tester found down at the end of the trial is told once: the interface knows how often it went down.
fn add_faults_of_ports(faults: &mut Vec<Fault>, of_ports: Vec<Fault>) {
    faults.retain(|fault| {
        let Fault::LinkWentDown { interface, .. } = fault else {
            return true;
        };
        !of_ports.iter().any(
            |counted| matches!(counted, Fault::LinkWentDown { interface: of, .. } if of == interface),
        )
    });
    faults.extend(of_ports);
}

/// Adds to a trial's faults the time that the host of this virtual machine and other processes took from the DUT's cores, whose number is
/// `dut_cores`.
pub(crate) fn add_faults_of_the_machine(result: &mut TrialResult, watch: &Watch, dut_cores: usize) {
    // Only phase 2 of a stateful trial is judged.
    let before_ns = result
        .phase_one_result()
        .map_or(0, |connections| connections.delay_ns);
    let milliseconds = watch.stolen_ms(before_ns);
    if milliseconds > 0 {
        result.faults.push(Fault::CpuStolen { milliseconds });
    }
    let taken = taken(watch, dut_cores).or_else(|| taken_where_lost(watch, result));
    result.faults.extend(taken);
    if !result.faults.is_empty()
        && let Some(lost) = watch.lost_undisturbed(result)
    {
        result.set_lost_undisturbed(lost);
    }
}

/// Returns a fault if other processes took more than a negligible time from the DUT's cores.
fn taken(watch: &Watch, cores: usize) -> Option<Fault> {
    let samples = watch
        .cores
        .iter()
        .map(|core| core.samples.len() as u64)
        .max()
        .unwrap_or(0);
    let lasted_ms = samples * watch.interval_ns / 1_000_000 * cores as u64;
    let milliseconds = watch.taken_ms()?;
    (milliseconds > lasted_ms * Fault::UNNOTICED_PER_MILLE / 1000)
        .then_some(Fault::CpuTaken { milliseconds })
}

/// Returns a fault if other processes took a core, for however short a time, while the device lost frames.
fn taken_where_lost(watch: &Watch, result: &TrialResult) -> Option<Fault> {
    watch
        .taken_where_lost_ms(result)
        .map(|milliseconds| Fault::CpuTaken { milliseconds })
}
