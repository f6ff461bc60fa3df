//! The commands that a plan's testbeds would run, none of which is executed.

use super::manager::session_request;
use crate::ends::cores::{fewer, of_machine};
use crate::ends::{built_queues, defers_interrupts};
use crate::error::RunError;
use crate::profile;
use crate::request::SessionRequest;
use crate::version::VERSION;
use sixbench_method::plan::{DeviceIdentity, Test};
use sixbench_plan::LoadedPlan;
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{
    AuthorityMachine, Cores, Devices, DutOptions, Library, LinkSettings, Recipe, RemoteAuthority,
    Shell, lab,
};
use std::collections::BTreeSet;

/// Rehearses every device of a plan, and returns the commands that would be run as a shell script.
///
/// # Errors
/// A device's recipe cannot be followed.
pub fn rehearsed(loaded: &LoadedPlan, library: &Library) -> Result<String, RunError> {
    let rehearsal = Rehearsal {
        loaded,
        shell: Shell::rehearsal(),
        cores: of_machine()?,
    };
    let mut seen = BTreeSet::new();
    for test in &loaded.plan.tests {
        if seen.insert(DeviceIdentity::of_test(test)) {
            let request = session_request(&loaded.plan, library, test, String::new())?;
            rehearsal.device(&request, test)?;
        }
    }
    Ok(rehearsal.shell.transcript().text())
}

/// The plan that is rehearsed, and the shell that notes the commands.
struct Rehearsal<'a> {
    loaded: &'a LoadedPlan,
    shell: Shell,
    cores: Cores,
}

impl Rehearsal<'_> {
    /// Brings up one device in the way that fits its host, and takes it down again.
    fn device(&self, request: &SessionRequest<'_>, test: &Test) -> Result<(), RunError> {
        let recipe = request.recipe;
        if recipe.host == DeviceHost::Manual {
            self.comment(recipe, "set up by hand, on a machine of its own");
            return Ok(());
        }
        let links = &self.loaded.links;
        let _authority = links
            .authority
            .as_ref()
            .map(|machine| behind(machine, recipe, test, &self.shell))
            .transpose()?;
        let options = request.device_options()?;
        if !links.machines.is_empty() {
            let machines = &links.machines;
            drop(Devices::bring_up_on(
                machines,
                recipe,
                "",
                &self.shell,
                &options,
            )?);
            return Ok(());
        }
        // How a machine boots is only known if its lab exists.
        if let Err(error) = lab::check_for(recipe) {
            self.comment(recipe, &error.to_string());
            return Ok(());
        }
        let cores = match fewer(self.cores.clone(), request.cores.of_every(), Some(recipe)) {
            Ok(cores) => cores,
            // The commands name cores, and this machine has too few.
            Err(error) => {
                self.comment(recipe, &error.to_string());
                return Ok(());
            }
        };
        if recipe.host == DeviceHost::Memif {
            let shell = &self.shell;
            drop(Devices::bring_up_in_memory(
                recipe, "", &cores, shell, &options,
            )?);
            return Ok(());
        }
        self.in_namespaces(request, test, &cores, options)
    }

    fn comment(&self, recipe: &Recipe, text: &str) {
        let line = format!("{}: {text}", recipe.name);
        self.shell.transcript().comment(&line);
    }

    fn in_namespaces(
        &self,
        request: &SessionRequest<'_>,
        test: &Test,
        cores: &Cores,
        options: DutOptions,
    ) -> Result<(), RunError> {
        let recipe = request.recipe;
        let carries_frames = !test.measure.family().needs_hosts();
        let settings = LinkSettings {
            mtu: request.mtu(),
            queues: built_queues(&self.loaded.links, carries_frames),
        };
        let topology = Devices::links(recipe, &self.shell, "", cores, settings)?;
        let options = DutOptions {
            zone: profile::dns::zone(test, true)?,
            ..options
        };
        let dut = Devices::bring_up(recipe, &topology, &options)?;
        if defers_interrupts(&self.loaded.links, carries_frames) {
            topology.defer_interrupts()?;
        }
        // The device is taken down before its links.
        drop((dut, topology));
        Ok(())
    }
}

/// Rehearses the authority on its own machine.
fn behind(
    machine: &AuthorityMachine,
    recipe: &Recipe,
    test: &Test,
    rehearsal: &Shell,
) -> Result<RemoteAuthority, RunError> {
    let mut authority = RemoteAuthority::bring_up(machine, recipe, "", VERSION, rehearsal)?;
    if let Some(zone) = profile::dns::served_zone(recipe, test) {
        authority.serve(&zone)?;
    }
    Ok(authority)
}
