//! The commands that a plan's testbeds would run, none of which is executed.

use crate::ends::cores::of_machine;
use crate::ends::{built_queues, defers_interrupts};
use crate::error::RunError;
use crate::profile;
use crate::version::VERSION;
use sixbench_method::plan::Test;
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
        let server = profile::dns::server_of(test);
        if let Some(recipe) = library.get(&test.dut)
            && seen.insert((&test.dut, server))
        {
            rehearsal.device(recipe, test)?;
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
    fn device(&self, recipe: &Recipe, test: &Test) -> Result<(), RunError> {
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
        let most = profile::subscribers::most(recipe, &self.loaded.plan.tests);
        let options = DutOptions {
            subscribers: profile::subscribers::by_recipe(recipe, most)?,
            ..DutOptions::default()
        };
        if !links.machines.is_empty() {
            return self.on_machines(recipe, test, options);
        }
        // How a machine boots is only known if its lab exists.
        if let Err(error) = lab::check_for(recipe) {
            self.comment(recipe, &error.to_string());
            return Ok(());
        }
        if recipe.host == DeviceHost::Memif {
            let Self { shell, cores, .. } = self;
            drop(Devices::bring_up_in_memory(
                recipe, "", cores, shell, &options,
            )?);
            return Ok(());
        }
        self.in_namespaces(recipe, test, options)
    }

    fn comment(&self, recipe: &Recipe, text: &str) {
        let line = format!("{}: {text}", recipe.name);
        self.shell.transcript().comment(&line);
    }

    fn on_machines(
        &self,
        recipe: &Recipe,
        test: &Test,
        options: DutOptions,
    ) -> Result<(), RunError> {
        let options = DutOptions {
            cores: test.core_limits(),
            rss_hash: test.dut_rss_hash.clone(),
            ..options
        };
        let machines = &self.loaded.links.machines;
        drop(Devices::bring_up_on(
            machines,
            recipe,
            "",
            &self.shell,
            &options,
        )?);
        Ok(())
    }

    fn in_namespaces(
        &self,
        recipe: &Recipe,
        test: &Test,
        options: DutOptions,
    ) -> Result<(), RunError> {
        let carries_frames = !test.measure.family().needs_hosts();
        let settings = LinkSettings {
            mtu: 1500,
            queues: built_queues(&self.loaded.links, carries_frames),
        };
        let topology = Devices::links(recipe, &self.shell, "", &self.cores, settings)?;
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
