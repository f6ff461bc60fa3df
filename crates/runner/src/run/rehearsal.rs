//! The commands that a plan's testbeds would run, none of which is executed.

use crate::ends::cores::of_machine;
use crate::ends::{defers_interrupts, queues};
use crate::error::RunError;
use crate::profile;
use crate::version::VERSION;
use sixbench_method::plan::Test;
use sixbench_plan::Loaded;
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{
    AuthorityMachine, Devices, DutOptions, Library, LinkSettings, Recipe, RemoteAuthority, Shell,
    lab,
};
use std::collections::BTreeSet;

/// Rehearses every device of a plan, and returns the commands that would be run as a shell script.
///
/// # Errors
/// A device's recipe cannot be followed.
pub fn rehearsed(loaded: &Loaded, library: &Library) -> Result<String, RunError> {
    let plan = &loaded.plan;
    let rehearsal = Shell::rehearsal();
    let cores = of_machine()?;
    let mut seen = BTreeSet::new();
    for test in &plan.tests {
        let server = profile::dns::server_of(test);
        let Some(recipe) = library
            .get(&test.dut)
            .filter(|_| seen.insert((&test.dut, server)))
        else {
            continue;
        };
        if recipe.host == DeviceHost::Manual {
            rehearsal.transcript().comment(&format!(
                "{}: set up by hand, on a machine of its own",
                recipe.name
            ));
            continue;
        }
        let _authority = loaded
            .links
            .authority
            .as_ref()
            .map(|machine| behind(machine, recipe, test, &rehearsal))
            .transpose()?;
        let subscribers =
            profile::subscribers::words(recipe, profile::subscribers::most(recipe, &plan.tests))?;
        if !loaded.links.machines.is_empty() {
            let options = DutOptions {
                cores: test.core_limits(),
                rss_hash: test.dut_rss_hash.clone(),
                subscribers,
                ..DutOptions::default()
            };
            drop(Devices::bring_up_on(
                &loaded.links.machines,
                recipe,
                "",
                &rehearsal,
                &options,
            )?);
            continue;
        }
        // How a machine boots is only known if its lab exists.
        if let Err(error) = lab::check_for(recipe) {
            rehearsal
                .transcript()
                .comment(&format!("{}: {error}", recipe.name));
            continue;
        }
        if recipe.host == DeviceHost::Memif {
            let options = DutOptions {
                subscribers,
                ..DutOptions::default()
            };
            drop(Devices::bring_up_in_memory(
                recipe, "", &cores, &rehearsal, &options,
            )?);
            continue;
        }
        let carries_frames = !test.measure.family().needs_hosts();
        let links = LinkSettings {
            mtu: 1500,
            queues: queues(&loaded.links, carries_frames),
        };
        let topology = Devices::links(recipe, &rehearsal, "", &cores, links)?;
        let zone = profile::dns::zone(test, true)?;
        let dut = Devices::bring_up(
            recipe,
            &topology,
            &DutOptions {
                zone,
                subscribers,
                ..DutOptions::default()
            },
        )?;
        if defers_interrupts(&loaded.links, carries_frames) {
            topology.defer_interrupts()?;
        }
        drop((dut, topology));
    }
    Ok(rehearsal.transcript().text())
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
