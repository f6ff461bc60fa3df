//! Builds a small testbed with the code of a run and takes it down again: what works here works there.

use super::confinement::Confinement;
use super::finding::{Finding, Severity};
use crate::dut::{Devices, DutOptions};
use crate::exec::{RecipeError, Shell, TestbedError};
use crate::net::{Cores, LinkSettings};
use crate::recipe::Library;

/// The device that is brought up: a router of the kernel, which every machine has.
const DEVICE: &str = "linux-ipv6";
/// The name of the testbed among those of the process.
const RUN: &str = "probe";

/// Returns findings about a small testbed, and about what confines this process.
pub(super) fn findings(allowed_cores: &[u32]) -> Vec<Finding> {
    let confinement = Confinement::read();
    match small_testbed(allowed_cores) {
        Ok(()) => {
            let good = Finding::good(
                "a testbed can be built: namespaces, links, addresses, sysctls and a device were set up and removed",
            );
            let doubt = confinement
                .describe()
                .map(|words| Finding::warning(words, confinement.cure()));
            std::iter::once(good).chain(doubt).collect()
        }
        Err(error) => {
            let why = confinement
                .describe()
                .map_or_else(String::new, |words| format!(" ({words})"));
            vec![Finding::bad(
                Severity::Blocker,
                format!("no testbed can be built: {error}{why}"),
                confinement.cure(),
            )]
        }
    }
}

/// Builds the testbed with a device, and removes everything.
fn small_testbed(allowed_cores: &[u32]) -> Result<(), TestbedError> {
    let (shell, library) = (Shell::new(), Library::load::<&str>(&[])?);
    let recipe = library.get(DEVICE).ok_or_else(|| RecipeError::Unknown {
        name: DEVICE.to_owned(),
    })?;
    let cores = Cores::divide(allowed_cores);
    let topology = Devices::links(recipe, &shell, RUN, &cores, LinkSettings::of_mtu(1500))?;
    let mut devices = Devices::bring_up(recipe, &topology, &DutOptions::default())?;
    devices.check_alive()
}
