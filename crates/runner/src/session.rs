//! One device with the tester at its two links, ready for trials.

use super::RunError;
use super::state::TrackedConnections;
use super::tester::{Tester, TrialError};
use crate::profile::{self, Job};
use sixbench_engine::Layout;
use sixbench_io::thread::{allowed_cores, keep_to};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::record::{DutFacts, Watch};
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_method::trial::dns::Certificate;
use sixbench_method::trial::{Fault, TrialKind, TrialResult, TrialSpec};
use sixbench_plan::Links;
use sixbench_testbed::monitor::Monitor;
use sixbench_testbed::topology::LINKS;
use sixbench_testbed::{Cores, Devices, Interfaces, Library, Recipe, Shell, TestbedError, Topology, Zone, existing};
use sixbench_testbed::{DutOptions, RemoteMachine};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The least MTU of the testbed's own links, octets of layer 3: room for every frame size up to Ethernet's ordinary maximum.
const ORDINARY_MTU: u32 = 1500;

/// The surroundings of a measurement: the links, and how devices are run on them.
pub struct Site<'a> {
    /// Runs the testbed's commands, and writes them down.
    pub shell: Shell,
    /// The links on which frames leave and come back.
    pub links: &'a Links,
    /// Set when everything is to end: the trial under way is given up.
    pub stop: Arc<AtomicBool>,
    /// The user's declaration, if any, that test traffic cannot leave the environment.
    pub isolation: Isolation,
    /// The directory of the first frames of both ports; `None` if they are not kept.
    pub pcap: Option<&'a std::path::Path>,
}

/// The device to set up, and what its testbed must be able to do.
pub struct SessionRequest<'a> {
    /// The recipe of the device.
    pub recipe: &'a Recipe,
    /// A name that tells the testbeds of one process apart.
    pub name: String,
    /// The number of cores of the device; `None` for all its cores.
    pub cores: Option<u32>,
    /// Entries of its connection tracking table, if its recipe can set that.
    pub table_size: Option<u64>,
    /// For a DNS server: the zone it is set up for, and the real authority that stands at the tester's right end, if one does.
    pub dns: Option<(Zone, Option<&'a Recipe>)>,
    /// The number of subscribers that its configuration files name, if its recipe has a rule for them.
    pub subscribers: u32,
    /// The largest frame size, for which the links must have room.
    pub largest: FrameSize,
}

impl<'a> SessionRequest<'a> {
    /// Returns the request for the only testbed of this process.
    pub fn alone(recipe: &'a Recipe, largest: FrameSize) -> Self {
        let subscribers = recipe.subscribers.as_ref().map_or(1, |section| section.count);
        Self { recipe, name: String::new(), cores: None, table_size: None, dns: None, subscribers, largest }
    }
}

/// Refuses numbers of cores that this machine has not got, before anything is touched. Another machine is asked for its own.
pub(crate) fn check_cores(links: &Links, plan: &Plan, library: &Library) -> Result<(), RunError> {
    if links.machine.is_some() {
        return cores(links).map(drop);
    }
    let cores = cores(links)?;
    plan.tests.iter().try_for_each(|test| {
        let of_test = |error: RunError| error.of_test(&test.name);
        fewer(cores.clone(), test.cores, library.get(&test.dut)).map(drop).map_err(of_test)
    })
}

/// Limits the device to the wanted number of its cores; each of several devices in a row gets that many. Virtual machines may
/// have to share cores: each has at least one virtual core of its own, and the watch shows the sharing.
fn fewer(cores: Cores, wanted: Option<u32>, recipe: Option<&Recipe>) -> Result<Cores, RunError> {
    let Some(wanted) = wanted.map(|cores| cores as usize) else { return Ok(cores) };
    let devices = recipe.map_or(1, |recipe| recipe.parts.len().max(1));
    let wanted = match recipe.is_some_and(Recipe::is_in_lab) {
        true => (wanted * devices).min(cores.dut.len()).max(wanted),
        false => wanted * devices,
    };
    if wanted > cores.dut.len() {
        return Err(RunError::FewCores { wanted, own: cores.dut });
    }
    Ok(Cores { dut: cores.dut[..wanted].to_vec(), ..cores })
}

/// The tester's ends: always in network namespaces of the tester's own, so that nothing gets from one to the other but through the device.
pub(super) enum TesterLinks {
    /// The testbed's own links to devices in namespaces.
    Built(Topology),
    /// Interfaces of this machine.
    Taken(Interfaces),
}

impl TesterLinks {
    /// Returns the namespace and the name of the left and of the right interface.
    pub(super) fn ends(&self) -> [(&str, &str); 2] {
        match self {
            Self::Built(topology) => LINKS.map(|link| (topology.tester().name(), link)),
            Self::Taken(interfaces) => {
                let ([left, right], [left_name, right_name]) = (interfaces.namespaces(), interfaces.names());
                [(left.name(), left_name), (right.name(), right_name)]
            }
        }
    }
}

/// A device and its tester. Fields are dropped in the order in which they stand: ports, then the device, then its links.
pub struct Session {
    tester: Tester,
    dut: Option<Devices>,
    /// The links, kept only to be dropped last.
    _links: TesterLinks,
    cores: Cores,
    isolation: Isolation,
    /// The connection tracking of a stateful device; `None` for any other device.
    state: Option<TrackedConnections>,
    stop: Arc<AtomicBool>,
    layout: Vec<String>,
    warnings: Vec<String>,
}

impl Session {
    /// Builds the testbed for a device, brings it up and places the tester at its links, ready for `job`.
    ///
    /// # Errors
    /// The testbed cannot be built, a port cannot be opened, or the traffic must not leave an isolated environment.
    pub fn open(site: &Site<'_>, wanted: &SessionRequest<'_>, job: Job) -> Result<Self, RunError> {
        let recipe = wanted.recipe;
        let of_namespace = wanted.cores.filter(|_| site.links.machine.is_none());
        let cores = fewer(cores(site.links)?, of_namespace, Some(recipe))?;
        // Ethernet's header and FCS are no part of it.
        let largest = u32::from(wanted.largest.0 + recipe.overhead()).saturating_sub(18);
        let zone = wanted.dns.as_ref().map(|(zone, _)| zone.clone());
        let subscribers = profile::subscribers::words(recipe, wanted.subscribers)?;
        let options = DutOptions { table_size: wanted.table_size, zone, subscribers, cores: wanted.cores };
        let (links, dut) = match &site.links.interfaces {
            Some((left, right)) => {
                [left, right].into_iter().try_for_each(|interface| existing::check_mtu(interface, largest))?;
                let interfaces = Interfaces::take(&site.shell, &wanted.name, [left, right])?;
                let machine = site.links.machine.as_ref();
                let dut = machine.map(|machine| away(site, machine, wanted, &options)).transpose()?;
                interfaces.wait_for_carriers()?;
                (TesterLinks::Taken(interfaces), dut)
            }
            None => {
                let (mtu, devices) = (ORDINARY_MTU.max(largest), recipe.parts.len());
                let topology = Topology::build_chain(&site.shell, &wanted.name, cores.clone(), mtu, devices)?;
                let dut = Devices::bring_up(recipe, &topology, &options)?;
                (TesterLinks::Built(topology), Some(dut))
            }
        };
        let mut layout = match &links {
            TesterLinks::Built(topology) => topology.layout(),
            TesterLinks::Taken(_) => on_interfaces(site.links),
        };
        layout.extend(dut.iter().flat_map(Devices::layout));
        let threads = Layout { cores: cores.tester.clone() };
        let warnings = threads.warnings();
        let state = TrackedConnections::of(wanted, dut.as_ref(), &site.shell)?;
        let (tester, how) = Tester::place(site, wanted, &links, job, threads)?;
        layout.push(how);
        let mut session = Self {
            tester,
            dut,
            _links: links,
            cores,
            isolation: site.isolation,
            state,
            stop: site.stop.clone(),
            layout,
            warnings,
        };
        let counter = session.state.as_ref().map(TrackedConnections::counter);
        session.tester.set_counter(counter);
        Ok(session)
    }

    /// Changes the traffic, which must be of the kind the session was opened for.
    ///
    /// # Errors
    /// Traffic that must not leave an isolated environment.
    pub fn set_job(&mut self, job: Job) -> Result<(), RunError> {
        self.tester.set_job(self.isolation, job)
    }

    /// Makes the self-test of RFC 8219 section 9.2.1 for rates up to `most`. `None` if the tester is not one of DNS, or has
    /// already passed it with its present settings. `duration_ns` is the length of its trials, nanoseconds.
    ///
    /// # Errors
    /// The self-test could not be made, or a stop was requested.
    pub fn certify(&mut self, most: FrameRate, duration_ns: u64) -> Result<Option<Certificate>, RunError> {
        Ok(self.tester.certify(most, duration_ns)?)
    }

    /// Refuses a test that the device's connection tracking table cannot hold, or not for long enough.
    ///
    /// # Errors
    /// The test, with the setting to change; or the device cannot be asked.
    pub fn check_state(&self, test: &Test, plan: &Plan) -> Result<(), RunError> {
        self.state.as_ref().map_or(Ok(()), |state| state.check(test, plan))
    }

    /// Keeps the record of every query of the next trial in the file `path`, for a DNS server.
    pub fn keep_queries(&mut self, path: PathBuf) {
        self.tester.keep_queries(path);
    }

    /// Makes one trial, with the processors watched.
    ///
    /// # Errors
    /// The trial could not be made, the device has ended, or a stop was requested.
    pub fn measure(&mut self, spec: &TrialSpec) -> Result<(TrialResult, Watch), RunError> {
        let before = self.begin_empty(spec)?;
        let start = Instant::now();
        let (mut result, watch) = self.watched(spec)?;
        let took = start.elapsed();
        if let Some(state) = &self.state {
            self.on_dut_cores(|| state.settle(&mut result, before, took))?;
        }
        Ok((result, watch))
    }

    /// Brings the device into its state without connections, or restarts it, so that no trial depends on the one before: a DNS server may
    /// otherwise have cached its names, or treat the authority as unreachable. Returns the number of connections the device then counts.
    fn begin_empty(&mut self, spec: &TrialSpec) -> Result<Option<u64>, RunError> {
        // The device's process ends with the thread that started it, so the device is restarted from this thread.
        let restarted = match &mut self.dut {
            Some(dut) if self.tester.wants_new_server(spec) => dut.restart().map(|()| self.tester.has_new_server()),
            Some(dut) => dut.restart_for_trial(),
            None => Ok(()),
        };
        restarted?;
        match &self.state {
            Some(state) => self.on_dut_cores(|| state.empty()),
            None => Ok(None),
        }
    }

    /// Runs commands on the device's cores and not on the tester's. Where cores cannot be chosen a trial may be invalid, no more.
    fn on_dut_cores<T>(&self, run: impl FnOnce() -> T) -> T {
        let everywhere = allowed_cores().unwrap_or_default();
        let _ = keep_to(&self.cores.dut);
        let done = run();
        let _ = keep_to(&everywhere);
        done
    }

    fn watched(&mut self, spec: &TrialSpec) -> Result<(TrialResult, Watch), RunError> {
        let watched = self.dut.as_ref().map(Devices::watched).unwrap_or_default();
        let monitor = Monitor::start(&self.cores, watched);
        let (result, reset) = self.send(spec);
        let watch = monitor.stop();
        reset?;
        match result {
            Ok(mut result) => {
                add_faults_of_the_machine(&mut result, &watch, self.cores.dut.len());
                self.check_alive().map(|()| (result, watch))
            }
            Err(TrialError::Interrupted) => Err(RunError::Interrupted),
            // A device that does not answer may have ended: that error names the cause.
            Err(error) => self.check_alive().and(Err(error.into())),
        }
    }

    /// Makes the trial itself. A device that is to be reset in the middle of it is reset from a thread beside.
    fn send(&mut self, spec: &TrialSpec) -> (Result<TrialResult, TrialError>, Result<(), TestbedError>) {
        let (TrialKind::Reset { at_ns }, Some(dut)) = (spec.kind, self.dut.as_mut()) else {
            return (self.tester.measure(spec), Ok(()));
        };
        let (tester, stop, dut_cores) = (&mut self.tester, &self.stop, &self.cores.dut);
        std::thread::scope(|scope| {
            let measuring = scope.spawn(move || tester.measure(spec));
            // The device is restarted from this thread, which outlives it: its process ends with the thread that started it.
            let moment = Instant::now() + Duration::from_nanos(at_ns);
            while Instant::now() < moment && !measuring.is_finished() && !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5).min(moment.saturating_duration_since(Instant::now())));
            }
            let is_due = Instant::now() >= moment && !stop.load(Ordering::Relaxed);
            // Not on the tester's core, which is in the middle of a trial. Where cores cannot be chosen the trial may be invalid, no more.
            let everywhere = allowed_cores().unwrap_or_default();
            let _ = keep_to(dut_cores);
            let reset = if is_due { dut.reset() } else { Ok(()) };
            let _ = keep_to(&everywhere);
            (measuring.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), reset)
        })
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        let dut = self.dut.as_mut().map_or(Ok(()), Devices::check_alive);
        Ok(dut.and_then(|()| self.tester.check_alive())?)
    }

    /// Returns what the report says of the device. Of one that the user set up only the recipe is known.
    pub fn dut_facts(&self, recipe: &Recipe) -> DutFacts {
        let unknown = || DutFacts {
            title: recipe.honest_title(),
            technology: recipe.technology.title().to_owned(),
            version: "set up by hand: version not known to sixbench".to_owned(),
            ..DutFacts::default()
        };
        let facts = self.dut.as_ref().map_or_else(unknown, |dut| dut.facts().clone());
        DutFacts { path: recipe.path_facts(), ..facts }
    }

    /// Returns a shell beside the device; `None` if the device does not run in a namespace of the testbed.
    #[cfg(test)]
    pub(crate) fn dut_shell(&self) -> Option<Shell> {
        match &self._links {
            TesterLinks::Built(topology) => Some(topology.dut().shell()),
            TesterLinks::Taken(_) => None,
        }
    }

    /// Returns the layout of the testbed, in sentences.
    pub fn layout(&self) -> &[String] {
        &self.layout
    }

    /// Returns the warnings about the testbed, in sentences.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Brings up the device on a machine of its own.
fn away(
    site: &Site<'_>,
    machine: &RemoteMachine,
    wanted: &SessionRequest<'_>,
    options: &DutOptions,
) -> Result<Devices, TestbedError> {
    Devices::bring_up_on(&machine.reach(&site.shell)?, wanted.recipe, &wanted.name, &site.shell, options)
}

/// Adds to the faults of a trial what the host of this virtual machine and other processes took from the DUT's cores, of which there are
/// `dut_cores`.
pub(crate) fn add_faults_of_the_machine(result: &mut TrialResult, watch: &Watch, dut_cores: usize) {
    // Of a stateful trial only phase 2 is judged.
    let before_ns = result.phase_1().map_or(0, |connections| connections.delay_ns);
    let milliseconds = watch.stolen_ms("dut", before_ns);
    if milliseconds > 0 {
        result.faults.push(Fault::CpuStolen { milliseconds });
    }
    let taken = taken(watch, dut_cores).or_else(|| taken_where_lost(watch, result));
    result.faults.extend(taken);
}

/// Returns the fault of other processes on the DUT's cores, if they took more time than goes unnoticed.
fn taken(watch: &Watch, cores: usize) -> Option<Fault> {
    let samples = watch.cores.iter().map(|core| core.samples.len() as u64).max().unwrap_or(0);
    let lasted_ms = samples * watch.interval_ns / 1_000_000 * cores as u64;
    let milliseconds = watch.taken_ms()?;
    (milliseconds > lasted_ms * Fault::UNNOTICED_PER_MILLE / 1000).then_some(Fault::CpuTaken { milliseconds })
}

/// Returns the fault of other processes that took a core at the moment the device lost frames, however short it was.
fn taken_where_lost(watch: &Watch, result: &TrialResult) -> Option<Fault> {
    watch.taken_where_lost_ms(result).map(|milliseconds| Fault::CpuTaken { milliseconds })
}

/// Returns the cores of the tester and of the DUT: as the plan says, else divided.
pub(crate) fn cores(links: &Links) -> Result<Cores, RunError> {
    let allowed = allowed_cores()?;
    let mut wanted = links.tester_cores.iter().chain(&links.dut_cores);
    if let Some(core) = wanted.find(|core| !allowed.contains(core)) {
        return Err(RunError::ForeignCore { core: *core, allowed });
    }
    let divided = Cores::divide(&allowed);
    let or = |wanted: &[u32], otherwise: Vec<u32>| if wanted.is_empty() { otherwise } else { wanted.to_vec() };
    Ok(match links.interfaces {
        // The device has a machine of its own; all cores are the tester's.
        Some(_) => Cores { tester: or(&links.tester_cores, allowed.into_iter().take(4).collect()), dut: vec![] },
        None => Cores { tester: or(&links.tester_cores, divided.tester), dut: or(&links.dut_cores, divided.dut) },
    })
}

/// The way interfaces of this machine are kept apart.
const IN_NAMESPACES: &str = "each in a network namespace of the tester's own";

fn on_interfaces(links: &Links) -> Vec<String> {
    let (left, right) = links.interfaces.clone().unwrap_or_default();
    if let Some(machine) = &links.machine {
        return vec![machine.layout(), format!("the tester's are {left} and {right}, {IN_NAMESPACES}")];
    }
    vec![format!(
        "the DUT is cabled to this machine's interfaces {left} and {right}, {IN_NAMESPACES}; it was not set up by sixbench"
    )]
}
