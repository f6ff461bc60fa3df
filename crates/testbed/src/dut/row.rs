//! The device under test, or several devices in a row (RFC 8219 section 4.2), which the tester sees as one.
//!
//! # Devices in a row
//!
//! A recipe may describe several devices (`recipe::chain`). Each is a `Dut` in its own namespace, and the right link of one is the left link of the next
//! (`Topology::build_chain`). The tester sees them as `Devices`. In the recipe of a single device the tester plays its neighbour, at the same addresses;
//! recipes are checked for matching addresses when they are read. Each device has an equal number of the DUT's cores for itself, if there are enough, and
//! is watched by its cores (`monitor::device`); a virtual machine is watched by its processes, and another machine over ssh. If each device has its own
//! machine (`dut::remote::row`), all machines are prepared first, because the link between two has a carrier only when both ends are up. Then each must
//! find its neighbour, and only then are the devices brought up. After each trial every machine is asked for a sign of life, because a connection that
//! hangs looks like a device that loses everything.

use super::{RemoteMachine, remote};
use crate::dut::connections::ConnectionTable;
use crate::dut::device::Dut;
use crate::dut::running::ExecContext;
use crate::dut::template_vars::{DutOptions, TemplateVars};
use crate::exec::{Shell, ShellAccess, TestbedError};
use crate::facts::Machine;
use crate::monitor::{
    KernelLog, LossCounters, MemoryUse, MonitorTargets, WatchSource, WatchedDevice,
};
use crate::net::{Cores, LinkSettings, Topology};
use crate::recipe::{Recipe, System};
use sixbench_method::record::{DutFacts, LossCounter};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The devices of a topology, from left to right. Dropping this ends them.
#[derive(Debug)]
pub struct Devices {
    facts: DutFacts,
    names: Vec<String>,
    /// The cores of this host that each device in a row has to itself. Empty if they are shared.
    own_cores: Vec<Vec<u32>>,
    duts: Vec<Dut>,
}

impl Devices {
    /// Builds the links and namespaces for the device or devices of `recipe`. `run` distinguishes several testbeds of one process.
    ///
    /// # Errors
    /// A command fails. Everything done until then is undone.
    pub fn links(
        recipe: &Recipe,
        shell: &Shell,
        run: &str,
        cores: &Cores,
        settings: LinkSettings,
    ) -> Result<Topology, TestbedError> {
        if recipe.is_bare_wire() {
            Topology::build_wire(shell, run, cores.clone(), settings)
        } else {
            Topology::build_chain(shell, run, cores.clone(), settings, recipe.parts.len())
        }
    }

    /// Brings up the device or devices of `recipe`, the rightmost first: a device may depend on the one behind it to become ready.
    ///
    /// # Errors
    /// If a device cannot be set up or does not become ready; what was set up is taken down.
    pub fn bring_up(
        recipe: &Recipe,
        topology: &Topology,
        options: &DutOptions,
    ) -> Result<Self, TestbedError> {
        let parts = recipe.devices();
        let cores = |index| topology.cores().of_device(index, parts.len());
        let places = parts.iter().zip(topology.duts()).enumerate();
        let bring_up =
            |(index, (part, namespace))| Dut::bring_up_in(part, namespace, &cores(index), options);
        let mut duts = places.rev().map(bring_up).collect::<Result<Vec<_>, _>>()?;
        duts.reverse();
        let names = parts.iter().map(|part| part.name.clone()).collect();
        let has_own = parts.len() > 1 && topology.cores().are_enough_for(parts.len());
        let own_cores = if has_own {
            (0..parts.len()).map(|index| cores(index).dut).collect()
        } else {
            vec![]
        };
        Ok(Self {
            facts: facts(recipe, parts, &duts),
            names,
            own_cores,
            duts,
        })
    }

    /// Brings up one device with two shared-memory links; see [`Dut::bring_up_in_memory`].
    ///
    /// # Errors
    /// If the device cannot be set up or does not become ready.
    pub fn bring_up_in_memory(
        recipe: &Recipe,
        run: &str,
        cores: &Cores,
        shell: &Shell,
        options: &DutOptions,
    ) -> Result<Self, TestbedError> {
        let dut = Dut::bring_up_in_memory(recipe, run, cores, shell, options)?;
        Ok(Self {
            facts: dut.facts().clone(),
            names: vec![recipe.name.clone()],
            own_cores: vec![],
            duts: vec![dut],
        })
    }

    /// Brings up the devices of `recipe` on machines of their own, from left to right. `run` distinguishes several testbeds of one process.
    /// Everything done there is undone when this is dropped, and also when a connection breaks or this process is killed.
    ///
    /// # Errors
    /// The numbers of machines and devices differ, a command fails, a connection is lost, machines are not cabled to each other, or
    /// [`RemoteMachine::check`] would refuse a machine. Everything done until then is undone.
    pub fn bring_up_on(
        machines: &[RemoteMachine],
        recipe: &Recipe,
        run: &str,
        shell: &Shell,
        options: &DutOptions,
    ) -> Result<Self, TestbedError> {
        let places = remote::prepare(machines, recipe, run, options, shell)?;
        let parts = recipe.devices();
        // Read now, before a recipe moves an interface into a namespace, where it cannot be seen.
        let machine = machine_facts(machines, parts, &places);
        // The rightmost first, as in namespaces. Each place is undone with its device or, if a device fails, with the remaining places.
        let mut duts = parts
            .iter()
            .zip(places)
            .rev()
            .map(|(part, (context, vars))| Dut::bring_up_on(part, context, vars, options))
            .collect::<Result<Vec<_>, _>>()?;
        duts.reverse();
        let facts = DutFacts {
            machine,
            ..facts(recipe, parts, &duts)
        };
        let names = parts.iter().map(|part| part.name.clone()).collect();
        Ok(Self {
            facts,
            names,
            own_cores: vec![],
            duts,
        })
    }

    /// Returns the paths of the sockets that the device serves, left and right, or `None` if the devices have interfaces.
    pub fn sockets(&self) -> Option<[PathBuf; 2]> {
        self.duts.iter().find_map(Dut::sockets)
    }

    /// Returns the facts that the report states about the devices.
    pub fn facts(&self) -> &DutFacts {
        &self.facts
    }

    /// Makes the kernels in front of devices in user space forward datagrams with a source route, which Linux discards by default.
    ///
    /// # Errors
    /// A sysctl of a device's namespace or machine cannot be written.
    pub fn accept_source_routes(&self) -> Result<(), TestbedError> {
        self.duts.iter().try_for_each(Dut::accept_source_routes)
    }

    /// Returns the name of each device, with the means to run commands where it is.
    pub fn accesses(&self) -> impl Iterator<Item = (&str, ShellAccess)> {
        self.names
            .iter()
            .map(String::as_str)
            .zip(self.duts.iter().map(Dut::access))
    }

    /// Returns one sentence about the host of each device that does not just run in a namespace.
    pub fn layout(&self) -> Vec<String> {
        self.duts.iter().filter_map(Dut::layout).collect()
    }

    /// Returns an error if the process of a device has ended, with the last lines it wrote.
    ///
    /// # Errors
    /// If that is so.
    pub fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.duts.iter_mut().try_for_each(Dut::check_alive)
    }

    /// Returns the connections of the stateful device, if there is one.
    pub fn connections(&self) -> Option<ConnectionTable> {
        self.duts.iter().find_map(Dut::connections)
    }

    /// Returns the processes and devices that a monitor can watch.
    pub fn watched(&self) -> MonitorTargets {
        let watched = self
            .names
            .iter()
            .zip(&self.duts)
            .map(|(name, dut)| (name.as_str(), dut.watched()));
        let mut all = MonitorTargets::all(watched.collect());
        // A device in this kernel is watched through its cores, if it does not share them.
        for (name, cores) in self.names.iter().zip(&self.own_cores) {
            if !all.devices.iter().any(|device| device.name == *name) {
                all.devices.push(WatchedDevice {
                    name: name.clone(),
                    machine: None,
                    source: WatchSource::HostCores(cores.clone()),
                });
            }
        }
        all
    }

    /// Returns the memory of each device at present.
    pub fn memory_use(&self) -> Vec<MemoryUse> {
        self.duts.iter().map(Dut::memory_use).collect()
    }

    /// Returns the logs of the kernels that the devices run on, from now on, as far as they can be read.
    pub fn kernel_logs(&self) -> Vec<KernelLog> {
        self.duts.iter().filter_map(Dut::kernel_log).collect()
    }

    /// Returns the counters of each device's kernel, to be read between trials.
    pub fn loss_counters(&self) -> Vec<LossCounters> {
        self.duts.iter().map(Dut::loss_counters).collect()
    }

    /// Returns the counters of all devices that grew between two readings, as far as they matter among `missing` frames, the largest first.
    pub fn losses_between(
        &self,
        before: &[LossCounters],
        after: &[LossCounters],
        missing: u64,
    ) -> Vec<LossCounter> {
        let readings = self.names.iter().zip(before.iter().zip(after));
        let is_one = self.duts.len() == 1;
        let of_device = |(name, (before, after)): (&String, (&LossCounters, &LossCounters))| {
            after.since(before, missing, (!is_one).then_some(name))
        };
        let mut grown: Vec<LossCounter> = readings.flat_map(of_device).collect();
        grown.sort_by_key(|counter| std::cmp::Reverse(counter.frames));
        grown
    }

    /// Resets all devices while frames keep coming.
    ///
    /// # Errors
    /// If a command of a recipe fails.
    pub fn reset(&mut self) -> Result<(), TestbedError> {
        self.duts.iter_mut().try_for_each(Dut::reset)
    }

    /// Restarts the devices whose recipes require it before every trial.
    ///
    /// # Errors
    /// If a device does not become ready again.
    pub fn restart_for_trial(&mut self) -> Result<(), TestbedError> {
        self.duts.iter_mut().try_for_each(Dut::restart_for_trial)
    }

    /// Restarts the daemon of each device and waits until it is ready.
    ///
    /// # Errors
    /// If a device does not become ready again.
    pub fn restart(&mut self) -> Result<(), TestbedError> {
        self.duts.iter_mut().try_for_each(Dut::restart)
    }
}

/// Returns the facts of all machines that run Linux. In a row, each fact is prefixed with the name of its machine.
fn machine_facts(
    on: &[RemoteMachine],
    parts: &[Recipe],
    places: &[(ExecContext, TemplateVars)],
) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let devices = parts
        .iter()
        .zip(on)
        .zip(places)
        .filter(|((part, _), _)| part.system == System::Linux);
    for ((_, machine), (context, vars)) in devices {
        let links: Vec<&str> = vars.links.iter().flatten().map(String::as_str).collect();
        let before = if on.len() == 1 {
            String::new()
        } else {
            format!("{}: ", machine.name())
        };
        let own = Machine::read(&context.shell, &links).facts(&[], &links);
        facts.extend(
            own.into_iter()
                .map(|(fact, value)| (format!("{before}{fact}"), value)),
        );
    }
    facts
}

/// Returns the facts of a single device unchanged. For several devices, merges the facts of all, each under the name of its device.
fn facts(recipe: &Recipe, parts: &[Recipe], duts: &[Dut]) -> DutFacts {
    if let [only] = duts {
        return only.facts().clone();
    }
    let named = || {
        parts
            .iter()
            .map(|part| part.name.as_str())
            .zip(duts.iter().map(Dut::facts))
    };
    let files = named().flat_map(|(name, facts)| {
        facts
            .files
            .iter()
            .map(move |(path, content)| (format!("{name}/{path}"), content.clone()))
    });
    DutFacts {
        title: recipe.title.clone(),
        technology: recipe.technology.title().to_owned(),
        version: named()
            .map(|(name, facts)| format!("{name}: {}", facts.version))
            .collect::<Vec<_>>()
            .join("; "),
        files: files.collect(),
        ..DutFacts::default()
    }
}
