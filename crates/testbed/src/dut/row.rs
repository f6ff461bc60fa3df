//! What is under test: a device, or several in a row (RFC 8219 section 4.2). Seen from the tester they are one.

use super::{RemoteMachine, remote};
use crate::dut::connections::ConnectionTable;
use crate::dut::device::Dut;
use crate::dut::running::ExecContext;
use crate::dut::template_vars::{DutOptions, TemplateVars};
use crate::exec::{Shell, ShellAccess, TestbedError};
use crate::facts::Machine;
use crate::monitor::{WatchSource, Watched, WatchedDevice};
use crate::net::{Cores, LinkSettings, Topology};
use crate::recipe::{Recipe, System};
use sixbench_method::record::DutFacts;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The devices of a topology, from left to right. Dropping it ends them.
#[derive(Debug)]
pub struct Devices {
    facts: DutFacts,
    names: Vec<String>,
    /// The host's cores of each in a row; empty where they are not divided.
    own_cores: Vec<Vec<u32>>,
    duts: Vec<Dut>,
}

impl Devices {
    /// Builds the links and namespaces of what `recipe` stands for. `run` tells several testbeds of one process apart.
    ///
    /// # Errors
    /// A command that fails. All that was done until then is undone.
    pub fn links(
        recipe: &Recipe,
        shell: &Shell,
        run: &str,
        cores: &Cores,
        settings: LinkSettings,
    ) -> Result<Topology, TestbedError> {
        match recipe.is_bare_wire() {
            true => Topology::build_wire(shell, run, cores.clone(), settings),
            false => Topology::build_chain(shell, run, cores.clone(), settings, recipe.parts.len()),
        }
    }

    /// Brings up what `recipe` stands for, the rightmost first: what a device needs to be ready may lie behind it.
    pub fn bring_up(recipe: &Recipe, topology: &Topology, options: &DutOptions) -> Result<Self, TestbedError> {
        let parts = recipe.devices();
        let cores = |index| topology.cores().of_device(index, parts.len());
        let places = parts.iter().zip(topology.duts()).enumerate();
        let bring_up = |(index, (part, namespace))| Dut::bring_up_in(part, namespace, &cores(index), options);
        let mut duts = places.rev().map(bring_up).collect::<Result<Vec<_>, _>>()?;
        duts.reverse();
        let names = parts.iter().map(|part| part.name.clone()).collect();
        let has_own = parts.len() > 1 && topology.cores().are_enough_for(parts.len());
        let own_cores = if has_own { (0..parts.len()).map(|index| cores(index).dut).collect() } else { vec![] };
        Ok(Self { facts: facts(recipe, parts, &duts), names, own_cores, duts })
    }

    /// Brings one device up at two links in shared memory; see [`Dut::bring_up_in_memory`].
    pub fn bring_up_in_memory(
        recipe: &Recipe,
        run: &str,
        cores: &Cores,
        shell: &Shell,
        options: &DutOptions,
    ) -> Result<Self, TestbedError> {
        let dut = Dut::bring_up_in_memory(recipe, run, cores, shell, options)?;
        Ok(Self { facts: dut.facts().clone(), names: vec![recipe.name.clone()], own_cores: vec![], duts: vec![dut] })
    }

    /// Brings up what `recipe` stands for on machines of their own, one for each device, from left to right. `run` tells several testbeds of one
    /// process apart. Everything that is done there is undone there when this is dropped; also when a connection breaks or this process is killed.
    ///
    /// # Errors
    /// Another number of machines than of devices, a command that fails, a connection that is lost, machines that are not cabled to each other, or
    /// any reason for which [`RemoteMachine::check`] refuses a machine. All that was done until then is undone.
    pub fn bring_up_on(
        machines: &[RemoteMachine],
        recipe: &Recipe,
        run: &str,
        shell: &Shell,
        options: &DutOptions,
    ) -> Result<Self, TestbedError> {
        let places = remote::prepare(machines, recipe, (run, options), shell)?;
        let parts = recipe.devices();
        // Before a recipe moves an interface into a namespace, where it is out of sight.
        let machine = machine_facts(machines, parts, &places);
        // The rightmost first, as in namespaces. Each place is undone with its device, or with those that are left when one fails.
        let bring_up = |(part, place)| Dut::bring_up_on(part, place, options);
        let mut duts = parts.iter().zip(places).rev().map(bring_up).collect::<Result<Vec<_>, _>>()?;
        duts.reverse();
        let facts = DutFacts { machine, ..facts(recipe, parts, &duts) };
        let names = parts.iter().map(|part| part.name.clone()).collect();
        Ok(Self { facts, names, own_cores: vec![], duts })
    }

    /// Returns the paths of the sockets that the device serves, left and right; `None` of devices with interfaces.
    pub fn sockets(&self) -> Option<[PathBuf; 2]> {
        self.duts.iter().find_map(Dut::sockets)
    }

    /// Returns the facts that the report states about the devices.
    pub fn facts(&self) -> &DutFacts {
        &self.facts
    }

    /// Returns the name of each device, with the way to where it runs.
    pub fn accesses(&self) -> impl Iterator<Item = (&str, ShellAccess)> {
        self.names.iter().map(String::as_str).zip(self.duts.iter().map(Dut::access))
    }

    /// Returns a description of the host of each device that does not run in a mere namespace, one sentence each.
    pub fn layout(&self) -> Vec<String> {
        self.duts.iter().filter_map(Dut::layout).collect()
    }

    /// Returns an error if the process of a device has ended, with the last lines it wrote.
    pub fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.duts.iter_mut().try_for_each(Dut::check_alive)
    }

    /// Returns the connections of the device that is stateful, if there is one.
    pub fn connections(&self) -> Option<ConnectionTable> {
        self.duts.iter().find_map(Dut::connections)
    }

    /// Returns the processes and devices that a monitor can watch.
    pub fn watched(&self) -> Watched {
        let watched = self.names.iter().zip(&self.duts).map(|(name, dut)| (name.as_str(), dut.watched()));
        let mut all = Watched::all(watched.collect());
        // A device that is this kernel's own is seen by its cores, where they are its alone.
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

    /// Resets all while frames go on coming.
    pub fn reset(&mut self) -> Result<(), TestbedError> {
        self.duts.iter_mut().try_for_each(Dut::reset)
    }

    /// Restarts those whose recipes require that before every trial.
    pub fn restart_for_trial(&mut self) -> Result<(), TestbedError> {
        self.duts.iter_mut().try_for_each(Dut::restart_for_trial)
    }

    /// Restarts the daemon of each and waits until it is ready.
    pub fn restart(&mut self) -> Result<(), TestbedError> {
        self.duts.iter_mut().try_for_each(Dut::restart)
    }
}

/// Returns the facts of all machines that run Linux, in a row each with the name of its machine before its own.
fn machine_facts(on: &[RemoteMachine], parts: &[Recipe], places: &[(ExecContext, TemplateVars)]) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let devices = parts.iter().zip(on).zip(places).filter(|((part, _), _)| part.system == System::Linux);
    for ((_, machine), (context, vars)) in devices {
        let links: Vec<&str> = vars.links.iter().flatten().map(String::as_str).collect();
        let before = if on.len() == 1 { String::new() } else { format!("{}: ", machine.name()) };
        let own = Machine::read(&context.shell, &links).facts(&[], &links);
        facts.extend(own.into_iter().map(|(fact, value)| (format!("{before}{fact}"), value)));
    }
    facts
}

/// Returns the facts of a single device unchanged; for several devices, merges the facts of all, each under the name of its
/// device.
fn facts(recipe: &Recipe, parts: &[Recipe], duts: &[Dut]) -> DutFacts {
    if let [only] = duts {
        return only.facts().clone();
    }
    let named = || parts.iter().map(|part| part.name.as_str()).zip(duts.iter().map(Dut::facts));
    let files = named()
        .flat_map(|(name, facts)| facts.files.iter().map(move |(path, content)| (format!("{name}/{path}"), content.clone())));
    DutFacts {
        title: recipe.title.clone(),
        technology: recipe.technology.title().to_owned(),
        version: named().map(|(name, facts)| format!("{name}: {}", facts.version)).collect::<Vec<_>>().join("; "),
        files: files.collect(),
        ..DutFacts::default()
    }
}
