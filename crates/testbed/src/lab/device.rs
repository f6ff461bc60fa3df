//! The virtual machine of a device. The ends of the device's links in a namespace become the machine's.

use super::{BuiltVpp, GuestLink, KernelLab, MachineSpec, VirtualMachine, cache};
use crate::exec::{Shell, TestbedError};
use crate::net::namespace::Namespace;
use crate::net::topology::{LINKS, hand_over, link_local};
use crate::recipe::{DeviceHost, LabProgram, Recipe};
use serde::Serialize;
use std::path::Path;

/// The memory that a machine may use, in MiB, allocated on demand. It is enough for two million tracked connections.
const MEMORY_MIB: u32 = 1024;

/// The layer 3 MTU in octets if the interface cannot be queried.
const ORDINARY_MTU: u32 = 1500;

/// The hardware addresses of the machine's interfaces, locally administered and the same in every run. The interfaces in the namespace have
/// different ones.
const MACS: [&str; 2] = ["02:73:62:01:00:01", "02:73:62:01:00:02"];

impl VirtualMachine {
    pub(crate) fn of_device(
        recipe: &Recipe,
        namespace: &Namespace,
        cores: &str,
        directory: &Path,
    ) -> Result<Self, TestbedError> {
        let shell = namespace.shell();
        let lab = KernelLab::find(&cache(), &recipe.modules)?;
        hand_over(&shell)?;
        let wanted = MachineSpec {
            directory: directory.to_owned(),
            links: LINKS
                .into_iter()
                .zip(MACS)
                .map(|(name, mac)| GuestLink {
                    name: name.to_owned(),
                    mac: mac.to_owned(),
                    local: link_local(name),
                })
                .collect(),
            cores: cores.to_owned(),
            mtu: mtu_of(&shell),
            memory_mib: MEMORY_MIB,
            modules: recipe.modules.clone(),
        };
        Self::boot(&lab, &wanted, &shell)
    }
}

/// Checks that the lab, and whatever else has to be built into its cache, is available for the device or devices of a recipe. Passes if none of
/// them needs it.
///
/// # Errors
/// The lab, a module in it, or a program is missing. The error names the command that builds it.
pub fn check_for(recipe: &Recipe) -> Result<(), TestbedError> {
    lacking(recipe).map_or(Ok(()), |(_, error)| Err(error))
}

/// A part of the kernel lab that is built by a command of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabPart {
    /// The kernel with its modules.
    Kernel,
    /// VPP, from its source.
    Vpp,
}

/// Returns the part of the lab that the device or devices of a recipe need and that is missing, with the error that names the command.
pub(crate) fn lacking(recipe: &Recipe) -> Option<(LabPart, TestbedError)> {
    recipe.devices().iter().find_map(lacking_for_one)
}

fn lacking_for_one(device: &Recipe) -> Option<(LabPart, TestbedError)> {
    if device.host == DeviceHost::Lab
        && let Err(error) = KernelLab::find(&cache(), &device.modules)
    {
        return Some((LabPart::Kernel, error));
    }
    let vpp = if device.built.contains(&LabProgram::Vpp) {
        BuiltVpp::find(&cache()).err()
    } else {
        None
    };
    vpp.map(|error| (LabPart::Vpp, error))
}

fn mtu_of(shell: &Shell) -> u32 {
    let printed = shell
        .look(&["cat", &format!("/sys/class/net/{}/mtu", LINKS[0])])
        .unwrap_or_default();
    printed.trim().parse().unwrap_or(ORDINARY_MTU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_no_lab_has_is_told_before_anything_is_touched() {
        let text = include_str!("../../../../recipes/linux-ipv4.toml");
        assert!(check_for(&toml::from_str(text).expect("a recipe")).is_ok());
        let nowhere = text.replacen(
            "technology",
            "host = \"lab\"\nmodules = [\"no_such_module\"]\ntechnology",
            1,
        );
        let error = check_for(&toml::from_str(&nowhere).expect("a recipe"))
            .expect_err("none")
            .to_string();
        assert!(error.contains("sixbench lab build"), "{error}");
    }
}
