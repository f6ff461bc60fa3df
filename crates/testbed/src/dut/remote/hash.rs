//! Sets the RSS hash of a device's network cards, which decides how they spread UDP over its cores, until everything is undone.

use crate::exec::{MachineError, Shell, TestbedError, Undo};
use crate::net::{NicKind, NicSetting, nic};
use crate::recipe::{Recipe, System};

/// The kinds of traffic whose hash is set.
const FLOWS: [&str; 2] = ["udp4", "udp6"];

/// Sets the fields for both interfaces of a machine, whose name stands in errors.
///
/// # Errors
/// The machine does not run Linux, or a card has no such setting, does not take it, or has one now that could not be restored.
pub(super) fn set(
    fields: &str,
    name: &str,
    interfaces: &[String; 2],
    recipe: &Recipe,
    shell: &Shell,
    undo: &Undo,
) -> Result<(), TestbedError> {
    if recipe.system != System::Linux {
        return Err(MachineError::HashOfLinux {
            machine: name.to_owned(),
            system: recipe.system.title(),
        }
        .into());
    }
    let wanted = FLOWS.map(|flow| NicSetting::new(NicKind::HashFields, flow, fields));
    interfaces.iter().try_for_each(|interface| {
        nic::set_until_undone(shell, interface, &wanted, undo).map_err(|error| {
            let machine = name.to_owned();
            error.restated(|cause| MachineError::Hash { machine, cause })
        })
    })
}
